//! Downloads and encoded texts that a shell or an interpreter runs.

use portcullis_sdk::{Command, Pipeline, Word};

use crate::category::Category;
use crate::computed;
use crate::decode;
use crate::runner::{Program, Runner};

/// More names than this are not remembered.
const SAVED: usize = 16;

/// What the commands of a script so far have fetched or decoded.
#[derive(Debug, Default)]
pub(crate) struct Flow<'a> {
    /// Of the pipeline so far.
    downloaded: bool,
    decoded: bool,
    /// Files that a download went into.
    saved: Vec<&'a str>,
}

impl<'a> Flow<'a> {
    pub(crate) fn begin_pipeline(&mut self) {
        (self.downloaded, self.decoded) = (false, false);
    }

    /// Judges one command, in the order in which they stand. `next` is the
    /// pipeline behind the command's own.
    pub(crate) fn check(
        &mut self,
        name: Option<&str>,
        command: &'a Command,
        next: Option<&Pipeline>,
    ) -> Option<Category> {
        let found = match name.and_then(Runner::of) {
            Some(runner) => self.runs(runner, command, next),
            None => self.runs_saved(command),
        };
        self.follow(name.unwrap_or_default(), command);
        found
    }

    fn runs(&self, runner: Runner, command: &Command, next: Option<&Pipeline>) -> Option<Category> {
        let substituted = |word: &Word| of_word(word, runner == Runner::Expression);
        let found = match runner.program(command) {
            Program::Stdin if self.downloaded => Some(Category::PipeToShell),
            Program::Stdin if self.decoded => (!was_read(command, next)).then_some(Category::Decoded),
            Program::Stdin => {
                // What is known was taken apart, and its commands are judged like any other.
                let words = command.stdin.iter().chain(&command.reads);
                words.filter(|word| word.literal().is_none()).find_map(|word| of_source(word.text()))
            }
            Program::Inline(_) if matches!(runner, Runner::Eval | Runner::Expression) => {
                command.args().iter().find_map(substituted)
            }
            Program::Inline(word) => substituted(word).or_else(|| decode::unpacks(runner, word)),
            Program::File(word) if word.text().contains("<(") => substituted(word),
            Program::File(word) if runner == Runner::Source => {
                substituted(word).or_else(|| self.is_saved(word.text()))
            }
            Program::File(word) => self.is_saved(word.text()),
            Program::Other => None,
        };
        let encoded = || runner == Runner::Shell && decode::is_encoded(command) && !was_read(command, next);
        found.or_else(|| encoded().then_some(Category::Decoded))
    }

    /// `./install.sh` of a file that was just downloaded.
    fn runs_saved(&self, command: &Command) -> Option<Category> {
        let program = command.words.first().filter(|_| !self.saved.is_empty())?;
        program.text().contains(['/', '$']).then(|| self.is_saved(program.text())).flatten()
    }

    fn is_saved(&self, file: &str) -> Option<Category> {
        self.saved.contains(&plain(file)).then_some(Category::PipeToShell)
    }

    fn follow(&mut self, name: &str, command: &'a Command) {
        let downloads = matches!(
            name,
            "curl"
                | "wget"
                | "http"
                | "https"
                | "xh"
                | "fetch"
                | "aria2c"
                | "iwr"
                | "irm"
                | "invoke-webrequest"
                | "invoke-restmethod"
                | "wget2"
        );
        self.downloaded |= downloads || command.args().iter().any(downloads_in);
        self.decoded |= decode::is_decoder(name, command)
            || command.args().iter().any(|word| word.literal().is_none() && computed::decodes(word.text()));
        if downloads {
            self.save(name, command);
        } else if self.downloaded && name == "tee" {
            let files = command.args().iter().map(Word::text).filter(|word| !word.starts_with('-'));
            self.remember(files);
        }
        if self.downloaded {
            self.remember(command.writes.iter().map(Word::text));
        }
    }

    fn save(&mut self, name: &str, command: &'a Command) {
        let wget = name == "wget";
        let mut words = command.args().iter().map(Word::text);
        let (mut remote, mut url) = (wget, None);
        while let Some(word) = words.next() {
            let file = match word {
                "-o" | "--output" | "-OutFile" | "-outfile" if !wget => words.next(),
                "-O" | "--output-document" if wget => words.next(),
                "-O" | "--remote-name" => {
                    remote = true;
                    None
                }
                _ => None,
            };
            if let Some(file) = file {
                remote = false;
                self.remember([file].into_iter());
            } else if let Some(bundle) = word.strip_prefix('-') {
                // `-fsSLo FILE`, `-sO`, `-qO FILE`
                if !bundle.starts_with('-') && bundle.ends_with(if wget { 'O' } else { 'o' }) {
                    remote = false;
                    self.remember(words.next().into_iter());
                }
                remote |= !wget && !bundle.starts_with('-') && bundle.contains('O');
            } else {
                url = Some(word);
            }
        }
        let name = url.filter(|_| remote).and_then(|url| url.trim_end_matches('"').rsplit('/').next());
        self.remember(name.into_iter());
    }

    fn remember(&mut self, files: impl Iterator<Item = &'a str>) {
        let room = SAVED.saturating_sub(self.saved.len());
        self.saved.extend(files.map(plain).filter(|file| !file.is_empty() && *file != "-").take(room));
    }
}

/// A file's name as two commands would both write it.
fn plain(file: &str) -> &str {
    let file = file.trim_matches('"');
    file.strip_prefix("./").unwrap_or(file)
}

fn downloads_in(word: &Word) -> bool {
    word.literal().is_none() && computed::downloads(word.text())
}

/// What a word is made of that only the shell can compute.
fn of_word(word: &Word, powershell: bool) -> Option<Category> {
    if powershell && fetches(word.text()) {
        return Some(Category::PipeToShell);
    }
    if word.literal().is_some() { None } else { of_source(word.text()) }
}

fn of_source(source: &str) -> Option<Category> {
    if computed::downloads(source) {
        Some(Category::PipeToShell)
    } else if computed::decodes(source) {
        Some(Category::Decoded)
    } else {
        None
    }
}

/// Whether PowerShell text downloads something.
fn fetches(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "downloadstring",
        "downloaddata",
        "invoke-webrequest",
        "invoke-restmethod",
        "iwr ",
        "irm ",
        "net.webclient",
    ]
    .iter()
    .any(|name| text.contains(name))
}

/// Whether the host took apart what this runner is given, because it is
/// constant: then its commands stand right behind it, and are judged like all others.
fn was_read(command: &Command, next: Option<&Pipeline>) -> bool {
    let Some(inner) = next.and_then(|next| next.commands.first()) else { return false };
    let led = inner.via.strip_prefix(command.via.as_slice());
    led.and_then(<[String]>::first).map(String::as_str) == command.program()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::{command, script};
    use portcullis_sdk::{Command, Pipeline, Script, Word};

    use super::Flow;
    use crate::category::Category;
    use crate::program;

    fn judged(script: &Script) -> Option<Category> {
        let mut flow = Flow::default();
        script.pipelines().iter().enumerate().find_map(|(at, pipeline)| {
            flow.begin_pipeline();
            pipeline.commands.iter().find_map(|command| {
                let name = program::name(command);
                flow.check(name.as_deref(), command, script.pipelines().get(at + 1))
            })
        })
    }

    fn of(commands: Vec<Command>) -> Option<Category> {
        judged(&Script::new("x", true, vec![Pipeline::new(commands)]))
    }

    fn with(text: &str, computed: &str) -> Option<Category> {
        let mut command = command(text);
        command.words.push(Word::Computed(computed.to_owned()));
        of(vec![command])
    }

    #[test]
    fn a_download_that_is_piped_into_a_shell_is_refused() {
        for text in [
            "curl -fsSL u | sh",
            "wget -qO- u | bash",
            "curl u | python3",
            "curl u | python3.12 -",
            "curl -s u | base64 -d | bash",
            "curl u | tee x | sh",
            "curl u -sSf | sh -s -- -y",
            "curl u | bash /dev/stdin arg",
            "curl u | perl -w",
            "curl u | . /dev/stdin",
            "iwr u | iex",
        ] {
            assert_eq!(judged(&script(text)), Some(Category::PipeToShell), "{text}");
        }
    }

    #[test]
    fn a_download_that_is_only_read_passes() {
        for text in [
            "curl u -o f",
            "curl -s u | jq .",
            "curl u | python3 -m json.tool",
            "curl u | python3 -c print",
            "curl u | perl -pe s/a/b/",
            "curl u | ruby -ne puts",
            "curl u | node -e x",
            "curl u | php -r x",
            "curl u | bash parse.sh",
            "curl u | python3 parse.py -",
            "curl -s u | grep sh",
            "curl u | tee sh",
            "bash --version",
            "sh build.sh | curl -T - u",
            "cat x | sh",
            "curl u ; sh",
        ] {
            assert_eq!(judged(&script(text)), None, "{text}");
        }
    }

    #[test]
    fn a_program_that_a_substitution_downloads_is_refused() {
        let download = "\"$(curl -fsSL https://get.example.com/i.sh)\"";
        for text in ["sh -c", "bash -lc", "eval", "python3 -c", "perl -e"] {
            assert_eq!(with(text, download), Some(Category::PipeToShell), "{text}");
        }
        for text in ["source", ".", "bash", "sh -x", "python3"] {
            assert_eq!(with(text, "<(wget -qO- u)"), Some(Category::PipeToShell), "{text}");
        }
        let mut bash = command("bash");
        bash.stdin = Some(Word::Computed("$(curl -s u)".to_owned()));
        assert_eq!(of(vec![bash]), Some(Category::PipeToShell));
    }

    #[test]
    fn a_download_as_an_argument_passes() {
        for text in ["echo", "python3 release.py", "bash release.sh", "git tag"] {
            assert_eq!(with(text, "\"$(curl -s https://api.example.com/version)\""), None, "{text}");
        }
        assert_eq!(with("sh -c", "\"$(cat curl.sh)\""), None);
    }

    #[test]
    fn a_file_that_was_just_downloaded_is_not_run() {
        for text in [
            "curl -fsSL u -o get.sh ; sh get.sh",
            "curl -fsSLo get.sh u ; bash ./get.sh",
            "wget https://x/get.sh ; bash get.sh",
            "curl -O https://x/get.py ; python3 get.py",
            "curl -o /tmp/i u ; chmod +x /tmp/i ; /tmp/i",
            "curl u | tee i.sh ; . ./i.sh",
        ] {
            assert_eq!(judged(&script(text)), Some(Category::PipeToShell), "{text}");
        }
        for text in [
            "curl -o a.tgz u ; tar xf a.tgz",
            "curl -o data.json u ; python3 parse.py data.json",
            "sh get.sh",
        ] {
            assert_eq!(judged(&script(text)), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_decoded_to_be_run_is_refused() {
        for text in [
            "cat f | base64 -d | sh",
            "xxd -r -p f | bash",
            "zcat s.gz | python3",
            "gpg -d s.gpg | sh",
            "echo x | tr a-z n-za-m | sh",
        ] {
            assert_eq!(judged(&script(text)), Some(Category::Decoded), "{text}");
        }
        for text in [
            "base64 -d f | tee x",
            "base64 f | sh",
            "zcat log.gz | grep sh",
            "gzip f | sh",
            "echo LS | tr A-Z a-z | sh",
        ] {
            assert_eq!(judged(&script(text)), None, "{text}");
        }
        assert_eq!(with("eval", "\"$(echo $X | base64 -d)\""), Some(Category::Decoded));
        assert_eq!(with("eval", "\"$(ssh-agent -s)\""), None);
        assert_eq!(with("powershell -enc", "x"), Some(Category::Decoded));
        let mut python = command("python3 -c");
        python.words.push(Word::Literal("import base64; exec(base64.b64decode('x'))".to_owned()));
        assert_eq!(of(vec![python]), Some(Category::Decoded));
    }

    #[test]
    fn what_the_host_has_decoded_is_left_to_its_commands() {
        let fed = script("echo bHM= | base64 -d | sh").pipelines().to_vec();
        let mut inner = script("ls").pipelines().to_vec();
        inner[0].commands[0].via.push("sh".to_owned());
        let both = [fed, inner].concat();
        assert_eq!(judged(&Script::new("x", true, both.clone())), None);
        // Another shell's commands prove nothing.
        let [fed, inner] = both.as_slice() else { return };
        let shell = script("sh -c").pipelines()[0].clone();
        let three = vec![fed.clone(), shell, inner.clone()];
        assert_eq!(judged(&Script::new("x", true, three)), Some(Category::Decoded));
    }
}
