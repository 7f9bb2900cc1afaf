//! Skills and prompts of a server, through a host.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;
mod served;

use std::fs;

use portcullis::extension::Scope;
use serde_json::{Value, json};

use crate::served::{Served, mcp};

/// A directory with one skill, listed with its digest.
fn skill(served: &Served, body: &str) -> Value {
    use sha2::{Digest as _, Sha256};
    let dir = served.path("skills").join("pdf");
    fs::create_dir_all(&dir).unwrap();
    let text = format!("---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: bash\n---\n\n{body}\n");
    fs::write(dir.join("SKILL.md"), &text).unwrap();
    let digest: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let uri = "skill://pdf/SKILL.md";
    json!([{
        "uri": uri, "frontmatter": { "name": "pdf", "description": "Reads PDF files." },
        "resources": [{ "uri": uri, "digest": format!("sha256:{digest}"), "size": text.len() }],
    }])
}

#[tokio::test]
async fn a_servers_skill_is_read_as_it_was_listed_and_is_never_taken_for_the_users_own() {
    let mut served = Served::new("");
    let dir = format!("--skills={}", served.path("skills").display());
    served = served.with("acme", &["--discover=modern", &dir], "");
    let list = skill(&served, "Read it.");
    fs::write(served.path("skills").join("skills.json"), list.to_string()).unwrap();
    let host = served.open().await;
    mcp(&host.session("s1").turn(), json!({ "action": "list" })).await;
    let turn = host.session("s1").turn();
    let section = turn.standing().await.text;
    assert!(section.contains("- acme/pdf: Reads PDF files. (of the MCP server `acme`)"), "{section}");
    // Nothing was read to list it, and that it is there is known from the list.
    let asked = |what: &str| served.log().iter().filter(|line| *line == what).count();
    assert_eq!((asked("skills/list"), asked("resources/read")), (1, 0));
    for _ in 0..100 {
        assert_eq!(host.extensions().exists("skill://pdf/SKILL.md", &Scope::new()).await, Ok(true));
    }
    assert_eq!((asked("skills/list"), asked("resources/read")), (1, 0));
    let text = turn.skill("acme/pdf").await.unwrap();
    assert!(text.starts_with("This skill comes from the MCP server `acme`"), "{text}");
    assert!(text.ends_with("Read it.\n") && !text.contains("allowed-tools"), "{text}");
    assert!(turn.skill("pdf").await.is_err(), "it has no name of its own");
    // Other bytes than were listed are refused.
    skill(&served, "Sell it.");
    let error = turn.skill("acme/pdf").await.unwrap_err();
    assert_eq!(error.code(), "server/skill", "{error}");
}

#[tokio::test]
async fn a_servers_prompt_is_a_command_that_is_typed_with_the_servers_name() {
    let served = Served::new("").with("acme", &["--discover=modern"], "");
    let host = served.open().await;
    assert!(host.session("s1").turn().commands().is_empty(), "nobody asks a server for that alone");
    mcp(&host.session("s1").turn(), json!({ "action": "list" })).await;
    let turn = host.session("s1").turn();
    let [own] = &turn.commands()[..] else { panic!("{:?}", turn.commands()) };
    assert_eq!((own.name.as_str(), own.from.as_str()), ("acme:greet", "server:acme"));
    assert_eq!((own.arguments.as_str(), own.description.as_str()), ("<who>", "Greets somebody."));
    let asked = || served.log().iter().filter(|line| line.starts_with("prompts/get")).count();
    assert_eq!(asked(), 0);
    assert_eq!(turn.expand("acme:greet", "the team", "/").await.unwrap(), "Greet the team.");
    let error = turn.expand("acme:greet", "", "/").await.unwrap_err();
    assert_eq!(error.code(), "server/prompt");
    assert!(error.to_string().contains("`who` is missing; type <who>"), "{error}");
    assert_eq!(turn.expand("acme:none", "", "/").await.unwrap_err().code(), "unknown_capability");
    assert_eq!(asked(), 1);
}

#[tokio::test]
async fn a_server_that_is_hidden_brings_no_prompts_and_no_skills_that_are_remembered_of_it() {
    let mut served = Served::new("").with("acme", &["--discover=modern"], "");
    let host = served.open().await;
    mcp(&host.session("s1").turn(), json!({ "action": "list" })).await;
    assert_eq!(host.session("s1").turn().commands().len(), 1);
    drop(host);
    let again = served.open().await;
    assert_eq!(again.session("s1").turn().commands().len(), 1, "it is remembered");
    drop(again);
    served = served.with_config("[channels.servers]\ndeny = [\"acme\"]\n");
    let hidden = served.open().await;
    let turn = hidden.session("s1").turn();
    assert!(turn.commands().is_empty());
    let error = turn.expand("acme:greet", "x", "/").await.unwrap_err();
    assert_eq!(error.code(), "not_usable");
    assert!(error.to_string().contains("channels.servers"), "{error}");
}
