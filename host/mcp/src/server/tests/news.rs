//! Exactly what changed is told, and to whom it is told.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Client, Shelf, shelf};

const STYLE: &str = "/home/u/skills/references/scm/style.md";
const INDEX: &str = "portcullis://skills";
const LIST: &str = "resources/list_changed";
const PROMPTS: &str = "prompts/list_changed";

/// Each notification as a word, sorted: a multiset. An update is its address.
fn words(messages: &[Value]) -> Vec<String> {
    let word = |message: &Value| {
        let method = message["method"].as_str().unwrap().strip_prefix("notifications/").unwrap();
        match message["params"]["uri"].as_str() {
            Some(uri) => uri.to_owned(),
            None => method.to_owned(),
        }
    };
    let mut words: Vec<String> = messages.iter().map(word).collect();
    words.sort();
    words
}

/// What a client of an older revision hears of `change`. News comes in order, so that of a
/// second change marks the end of that of the first.
async fn heard(shelf: &Arc<Shelf>, change: impl FnOnce(&Shelf)) -> Vec<String> {
    shelf.prompt("fence", "1");
    let (mut client, _) = Client::legacy(shelf).await;
    client.call("list_skills", json!({})).await;
    change(shelf);
    client.call("reload", json!({})).await;
    shelf.prompt("fence", "2");
    client.call("reload", json!({})).await;
    let mut told = std::mem::take(&mut client.news);
    let at_fence =
        |told: &[Value]| told.iter().position(|one| one["params"]["uri"] == "portcullis://prompts/fence");
    while at_fence(&told).is_none_or(|at| told.len() < at + 3) {
        told.push(client.next().await.unwrap());
    }
    told.truncate(at_fence(&told).unwrap());
    words(&told)
}

#[track_caller]
fn assert_heard(heard: &[String], expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn each_change_is_told_by_exactly_what_it_touches() {
    let commit = "skill://git-commit/SKILL.md";
    let edited = heard(&shelf(), |shelf| shelf.skill("acme/billing/refunds", "Refund all.\n")).await;
    assert_heard(&edited, &["skill://acme/billing/refunds/SKILL.md", INDEX, LIST]);

    let file = "skill://git-commit/scripts/check.py";
    let edited = heard(&shelf(), |shelf| shelf.file(file, "print(2)\n")).await;
    assert_heard(&edited, &[file, commit, INDEX, LIST]);

    let added = heard(&shelf(), |shelf| shelf.skill("new", "x")).await;
    assert_heard(&added, &[INDEX, LIST]);
    let removed = heard(&shelf(), |shelf| shelf.remove("git-commit")).await;
    assert_heard(&removed, &[INDEX, LIST]);

    let prompt = heard(&shelf(), |shelf| shelf.prompt("AGENTS", "Be long.\n")).await;
    assert_heard(&prompt, &["portcullis://prompts/AGENTS", LIST, PROMPTS]);
    let prompt = heard(&shelf(), |shelf| shelf.prompt("new", "x")).await;
    assert_heard(&prompt, &[LIST, PROMPTS]);

    let nothing = heard(&shelf(), |_| {}).await;
    assert_heard(&nothing, &[]);
}

#[tokio::test]
async fn a_shared_file_is_told_of_to_every_skill_that_cites_it() {
    let shelf = shelf();
    shelf.skill_with("linear", "x", json!({}), &[STYLE]);
    let told = heard(&shelf, |shelf| shelf.shared(STYLE, "Other lines.\n")).await;
    assert_heard(
        &told,
        &[
            "file:///home/u/skills/references/scm/style.md",
            "skill://git-commit/references/scm/style.md",
            "skill://git-commit/SKILL.md",
            "skill://linear/references/scm/style.md",
            "skill://linear/SKILL.md",
            INDEX,
            LIST,
        ],
    );
}

#[tokio::test]
async fn a_file_of_two_skills_is_told_of_once() {
    let shelf = Arc::new(Shelf::default());
    shelf.skill("team", "x");
    shelf.skill("team/review", "x");
    let file = "skill://team/review/list.md";
    shelf.file(file, "1");
    let told = heard(&shelf, |shelf| shelf.file(file, "2")).await;
    assert_heard(&told, &[file, "skill://team/SKILL.md", "skill://team/review/SKILL.md", INDEX, LIST]);
}

#[tokio::test]
async fn what_the_watch_sees_is_told_without_a_question() {
    let shelf = shelf();
    let (mut client, _) = Client::legacy(&shelf).await;
    client.call("list_skills", json!({})).await;
    shelf.skill("acme/billing/refunds", "Refund all.\n");
    shelf.tell();
    let mut told = Vec::new();
    while told.len() < 3 {
        told.push(client.next().await.unwrap());
    }
    assert_heard(&words(&told), &["skill://acme/billing/refunds/SKILL.md", INDEX, LIST]);
    let read = client.ask("resources/read", json!({ "uri": "skill://acme/billing/refunds/SKILL.md" })).await;
    assert!(read["contents"][0]["text"].as_str().unwrap().ends_with("Refund all.\n"));
}

#[tokio::test]
async fn a_subscriber_hears_first_what_it_gets_and_then_that_alone() {
    let shelf = shelf();
    let mut client = Client::modern(&shelf).await;
    let file = "skill://git-commit/scripts/check.py";
    let prompts =
        client.send("subscriptions/listen", json!({ "notifications": { "promptsListChanged": true } })).await;
    let acknowledged = client.next().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], prompts);
    let wanted = json!({
        "resourceSubscriptions": [file, "skill://none/SKILL.md", "file:///etc/passwd"],
        "toolsListChanged": true,
    });
    let files = client.send("subscriptions/listen", json!({ "notifications": wanted })).await;
    let acknowledged = client.next().await.unwrap();
    assert_eq!(acknowledged["params"]["notifications"], json!({ "resourceSubscriptions": [file] }));
    shelf.file(file, "print(2)\n");
    shelf.prompt("AGENTS", "Be long.\n");
    shelf.tell();
    let mut heard = [client.next().await.unwrap(), client.next().await.unwrap()];
    heard
        .sort_by_key(|message| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_u64());
    let said: Vec<_> = heard
        .iter()
        .map(|message| {
            let id = message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_u64().unwrap();
            (id, message["method"].as_str().unwrap(), message["params"]["uri"].clone())
        })
        .collect();
    assert_eq!(
        said,
        [
            (prompts, "notifications/prompts/list_changed", Value::Null),
            (files, "notifications/resources/updated", json!(file)),
        ]
    );
    // The end of the input ends both, each with its result, and nothing else came.
    let mut ends = client.end().await;
    ends.sort_by_key(|end| end["id"].as_u64());
    let ids: Vec<_> =
        ends.iter().map(|end| (end["id"].as_u64().unwrap(), &end["result"]["resultType"])).collect();
    assert_eq!(ids, [(prompts, &json!("complete")), (files, &json!("complete"))]);
}

#[tokio::test]
async fn a_modern_client_that_did_not_ask_hears_nothing() {
    let shelf = shelf();
    let mut client = Client::modern(&shelf).await;
    client.call("list_skills", json!({})).await;
    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
    client.call("list_skills", json!({})).await;
    for number in 0..3 {
        shelf.skill(&format!("new-{number}"), "x");
        client.call("reload", json!({})).await;
    }
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_client_that_says_twice_that_it_is_ready_hears_everything_once() {
    let shelf = shelf();
    let (mut client, _) = Client::legacy(&shelf).await;
    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
    client.call("list_skills", json!({})).await;
    for _ in 0..2 {
        shelf.prompt("AGENTS", "Be long.\n");
        client.call("reload", json!({})).await;
        shelf.prompt("AGENTS", "Be brief.\n");
        client.call("reload", json!({})).await;
    }
    let mut told = std::mem::take(&mut client.news);
    while told.len() < 12 {
        told.push(client.next().await.unwrap());
    }
    assert_eq!(words(&told).iter().filter(|word| *word == PROMPTS).count(), 4);
}

#[tokio::test]
async fn a_subscription_that_is_cancelled_hears_no_more() {
    let shelf = shelf();
    let mut client = Client::modern(&shelf).await;
    let id = client
        .send("subscriptions/listen", json!({ "notifications": { "resourcesListChanged": true } }))
        .await;
    client.next().await.unwrap();
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    client.line(&cancel.to_string()).await;
    // A request behind it is answered behind it.
    client.call("list_skills", json!({})).await;
    shelf.skill("new", "x");
    client.call("reload", json!({})).await;
    assert_eq!(client.end().await, Vec::<Value>::new());
}
