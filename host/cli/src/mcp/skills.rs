//! `portcullis mcp skills`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, ensure};
use portcullis::SkillChannel;
use portcullis::skill::{
    LibraryPlaces, LocalLibrary, PromptDirectory, PromptPlaces, QUIET, Selection, SkillOrigin, SkillRoot,
};
use portcullis_mcp::server::{HttpSettings, Manner, PATH, Server};
use tokio::io::{stdin, stdout};
use tokio::net::TcpListener;

use crate::args::{Common, McpSkillsArguments, PlaceArgument, TransportChoice};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};
use crate::{open, process, signal, skill};

/// The variable that holds the token when no file does.
const TOKEN_VARIABLE: &str = "PORTCULLIS_MCP_TOKEN";
/// The most bytes of a token.
const TOKEN_MAX: u64 = 4096;

pub(crate) fn run(
    common: &Common,
    verb: &McpSkillsArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let library = Arc::new(LocalLibrary::new(places(common, verb, environment)?));
    let http = (verb.transport == TransportChoice::Http).then(|| settings(verb, environment)).transpose()?;
    let manner = match verb.transport {
        TransportChoice::Stdio => Manner::default(),
        TransportChoice::Http => Manner { shows_paths: verb.show_paths, ..Manner::http() },
    };
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    executor.block_on(async {
        let server = Server::new(Arc::clone(&library) as _, manner).await?;
        for warning in library.warnings() {
            printer.tell(&printer::plain(&format!("warning: {warning}")));
        }
        let ending = server.clone();
        signal::follow(move || ending.close())?;
        match (http, verb.listen) {
            (Some(http), Some(address)) => {
                if http.token.is_none() {
                    printer.tell(
                        "warning: every program on this machine may ask, because there is no token; hint: \
                         give one with `--token-file`",
                    );
                }
                let listener = TcpListener::bind(address)
                    .await
                    .with_context(|| format!("nobody can listen at `{address}`"))?;
                printer.line(&format!("http://{}{PATH}", listener.local_addr()?))?;
                server.serve_http(listener, http).await?;
            }
            _ => server.serve_pipes(stdin(), stdout()).await?,
        }
        anyhow::Ok(())
    })?;
    // A read of standard input that nobody waits for any more would keep the process.
    process::end(Exit::Done)
}

fn places(
    common: &Common,
    verb: &McpSkillsArguments,
    environment: &Environment,
) -> anyhow::Result<LibraryPlaces> {
    let (configured, config) = skill::roots(common, environment)?;
    let roots = if verb.skill_dirs.is_empty() {
        configured.into_iter().map(|root| (root, true)).collect()
    } else {
        let named = verb.skill_dirs.iter().map(|place| {
            let selection = selection(place, "--skill-dir")?;
            let root = SkillRoot::new(absolute(&place.dir, environment), SkillOrigin::Named);
            Ok((SkillRoot { selection, expected: true, ..root }, place.watch))
        });
        named.collect::<anyhow::Result<Vec<_>>>()?
    };
    let directories = verb.prompt_dirs.iter().map(|place| {
        let selection = selection(place, "--prompt-dir")?;
        Ok(PromptDirectory { path: absolute(&place.dir, environment), selection })
    });
    let prompts = PromptPlaces {
        files: verb.prompt_files.iter().map(|file| absolute(file, environment)).collect(),
        directories: directories.collect::<anyhow::Result<_>>()?,
    };
    let unwatched = verb.prompt_dirs.iter().filter(|place| !place.watch);
    let unwatched_prompts: BTreeSet<PathBuf> =
        unwatched.map(|place| absolute(&place.dir, environment)).collect();
    let channel = SkillChannel::new(&config.channels).context("`[channels]` cannot be used")?;
    let trust_file = open::trust(common, environment).map(|store| store.file().to_owned());
    Ok(LibraryPlaces { roots, prompts, unwatched_prompts, channel, trust_file, quiet: QUIET })
}

fn selection(place: &PlaceArgument, flag: &str) -> anyhow::Result<Selection> {
    Selection::new(&place.include, &place.ignore)
        .map_err(|why| anyhow!("`{flag}` of `{}` cannot be used: {why}", place.dir.display()))
}

fn absolute(path: &Path, environment: &Environment) -> PathBuf {
    environment.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
}

fn settings(verb: &McpSkillsArguments, environment: &Environment) -> anyhow::Result<HttpSettings> {
    let token = match &verb.token_file {
        Some(file) => Some(token_in(file)?),
        None => environment
            .variables
            .get(TOKEN_VARIABLE)
            .map(|token| checked(token, TOKEN_VARIABLE))
            .transpose()?,
    };
    let is_remote = verb.listen.is_some_and(|address| !address.ip().is_loopback());
    ensure!(
        verb.allow_remote || !is_remote,
        "the address can be reached from other machines, and `--allow-remote` is not given"
    );
    ensure!(
        !verb.allow_remote || token.is_some(),
        "`--allow-remote` needs a token; hint: give one with `--token-file`"
    );
    Ok(HttpSettings { token, allow_remote: verb.allow_remote, origins: verb.origins.clone() })
}

fn token_in(file: &Path) -> anyhow::Result<String> {
    let read = || {
        let mut text = String::new();
        File::open(file)?.take(TOKEN_MAX + 1).read_to_string(&mut text)?;
        std::io::Result::Ok(text)
    };
    let text = read().with_context(|| format!("the token cannot be read from `{}`", file.display()))?;
    checked(&text, &file.display().to_string())
}

/// A token is one word of visible characters, because it goes into a header.
fn checked(text: &str, from: &str) -> anyhow::Result<String> {
    let token = text.trim();
    let is_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    ensure!(
        is_word && token.len() as u64 <= TOKEN_MAX,
        "there is no token of visible characters in `{from}`"
    );
    Ok(token.to_owned())
}
