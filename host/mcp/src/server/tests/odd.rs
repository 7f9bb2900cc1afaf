//! What clients do that no client should, over pipes.

use serde_json::{Value, json};

use super::super::LINE_MAX;
use super::{Client, shelf};

#[tokio::test]
async fn an_id_is_given_back_as_it_came() {
    let (mut client, _) = Client::legacy(&shelf()).await;
    for id in [json!(0), json!("x-1"), json!(9_007_199_254_740_991_i64), json!(-3)] {
        client.line(&json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/list" }).to_string()).await;
        let answer = client.next().await.unwrap();
        assert_eq!((&answer["id"], answer["result"]["prompts"].is_array()), (&id, true), "{answer}");
    }
}

#[tokio::test]
async fn what_is_no_message_ends_no_session() {
    let (mut client, _) = Client::legacy(&shelf()).await;
    for line in ["", "not json", "{", "\u{1b}[31mred", "7", "null", "\"x\"", "[]"] {
        client.line(line).await;
    }
    client.line(&"x".repeat(LINE_MAX + 1)).await;
    client.line(&json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }]).to_string()).await;
    let list = client.ask("prompts/list", json!({})).await;
    assert_eq!(list["prompts"].as_array().unwrap().len(), 1);
    for refusal in client.end().await {
        assert_eq!((&refusal["error"]["code"], &refusal["id"]), (&json!(-32600), &Value::Null), "{refusal}");
    }
}

#[tokio::test]
async fn a_request_that_is_not_understood_is_refused_by_its_id() {
    let (mut client, _) = Client::legacy(&shelf()).await;
    client.line(r#"{"jsonrpc":"1.0","id":41,"method":"tools/list"}"#).await;
    let answer = client.next().await.unwrap();
    assert_eq!((&answer["id"], answer["error"]["code"].is_i64()), (&json!(41), true), "{answer}");
    client.ask("tools/list", json!({})).await;
}

#[tokio::test]
async fn a_session_that_has_not_begun_is_ended_by_no_notification_and_no_probe() {
    let mut client = Client::raw(&shelf()).await;
    for method in ["notifications/cancelled", "notifications/initialized", "notifications/other"] {
        client
            .line(&json!({ "jsonrpc": "2.0", "method": method, "params": { "requestId": 1 } }).to_string())
            .await;
    }
    client.line(&json!({ "jsonrpc": "2.0", "id": 90, "result": {} }).to_string()).await;
    assert_eq!(client.refused("server/discover", json!({})).await, -32602, "it says nothing of itself");
    client
        .line(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })
                .to_string(),
        )
        .await;
    let hello = json!({
        "protocolVersion": super::LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    });
    let welcome = client.ask("initialize", hello).await;
    assert_eq!(welcome["protocolVersion"], super::LEGACY);
    client.ask("tools/list", json!({})).await;
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let shelf = shelf();
    let mut client = Client::modern(&shelf).await;
    let listen = json!({ "notifications": { "promptsListChanged": true } });
    let id = client.send("subscriptions/listen", listen).await;
    client.next().await.unwrap();
    let again =
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": client.meta } });
    client.line(&again.to_string()).await;
    let refusal = client.next().await.unwrap();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(id), &json!(-32600)));
    shelf.prompt("AGENTS", "Be long.\n");
    shelf.tell();
    let news = client.next().await.unwrap();
    assert_eq!(news["method"], "notifications/prompts/list_changed", "the first one is served on");
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_those_that_are_known() {
    let mut client = Client::modern(&shelf()).await;
    client.meta.as_mut().unwrap()["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let id = client.send("skills/list", json!({})).await;
    let answer = client.answer(id).await;
    assert_eq!(answer["error"]["code"], -32022);
    assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!(super::MODERN)));
}
