//! Scripts that are large, deep or hostile: they are judged or refused, and never
//! allowed half seen (G07, G17, G18).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

mod place;

use portcullis::Host;
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{RefuserKind, Verdict};

use crate::place::{Place, bash, call, judge};

async fn code(host: &Host, script: &str) -> Option<String> {
    judge(host, bash(script)).await.code
}

#[tokio::test]
async fn more_than_is_looked_into_is_refused_as_too_big_and_an_honest_script_is_not() {
    let place = Place::new();
    let host = place.open("").await;
    let honest = "true;".repeat(2_000);
    assert_eq!(code(&host, &honest).await, None);
    assert_eq!(code(&host, &format!("{honest}git reset --hard")).await.as_deref(), Some("guard/git-reset"));
    for (what, script) in [
        ("pipelines", "true;".repeat(120_000)),
        ("words", format!("echo {}", "a ".repeat(1_100_000))),
        ("levels of substitution", format!("{}true{}", "$(".repeat(100), ")".repeat(100))),
        ("levels of groups", format!("{}true{}", "( ".repeat(100), " )".repeat(100))),
        ("levels of texts", (0..80).fold("true".to_owned(), |text, _| format!("eval {}", quoted(&text)))),
    ] {
        // Not even on the second call.
        for _ in 0..2 {
            let wire = judge(&host, bash(&script)).await;
            assert_eq!(wire.verdict, Verdict::Block, "{what}");
            assert_eq!(wire.fault, Some(FaultKind::TooBig), "{what}: {wire:?}");
            assert_eq!(wire.code.as_deref(), Some("fault/too-big"), "{what}");
            assert_eq!(wire.by.unwrap().kind, RefuserKind::Input, "{what}");
            assert!(wire.reason.unwrap().contains("smaller parts"), "{what}");
        }
    }
}

fn quoted(text: &str) -> String {
    // Each level doubles the backslashes of the one below, so only plain texts go deep.
    if text.contains('\'') { text.to_owned() } else { format!("'{text}'") }
}

#[tokio::test]
async fn the_worst_payloads_are_answered() {
    let place = Place::new();
    let host = place.open("").await;
    let token = "a".repeat(800_000);
    for (script, refused) in [
        (format!("echo {token}"), false),
        (format!("rm -rf {token}"), true),
        ("$(".repeat(10_000), true),
        (format!("echo {}", "\"'".repeat(100_000)), false),
    ] {
        let verdict = judge(&host, bash(&script)).await.verdict;
        let shown: String = script.chars().take(20).collect();
        if refused {
            assert_eq!(verdict, Verdict::Block, "{shown}");
        }
    }
    let deep = serde_json::from_str(&format!(
        "{{\"command\":\"ls\",\"x\":{}1{}}}",
        "[".repeat(100),
        "]".repeat(100)
    ));
    assert_eq!(judge(&host, call("Bash", deep.unwrap())).await.verdict, Verdict::Allow);
}

#[tokio::test]
async fn another_spelling_is_the_same_command() {
    let place = Place::new();
    let host = place.open("").await;
    assert_eq!(code(&host, "git status").await, None);
    assert_eq!(code(&host, "rm -rf src").await.as_deref(), Some("guard/rm"));
    for script in [
        "sudo -u root env A=b nice -n 5 timeout 3 rm -rf src",
        "true && rm -fr src",
        "ls | xargs rm -r -f",
        "X='rm -rf src'; eval \"$X\"",
        "f() { \"$@\"; }; f rm -rf src",
        "bash -c \"bash -c 'rm -rf src'\"",
        "cat <<E | sh\nrm -rf src\nE",
        "x=rmx; ${x%x} -rf src",
        "git -c alias.x='!rm -rf src' x",
        "python3 -c 'import shutil; shutil.rmtree(\"src\")'",
        "pwsh -Command \"rm -Recurse -Force src\"",
        "cmd /c 'rd /s /q src'",
    ] {
        assert_eq!(code(&host, script).await.as_deref(), Some("guard/rm"), "{script}");
    }
    // A letter that only looks like one, and an expansion that nobody can foresee.
    assert_eq!(code(&host, "гm -rf src").await, None, "no program has that name");
    let unforeseen = judge(&host, bash("x=$(curl https://x.test); ${x@P} -rf src")).await;
    assert_eq!(unforeseen.verdict, Verdict::Block);
}
