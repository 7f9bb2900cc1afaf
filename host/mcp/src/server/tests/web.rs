//! Over HTTP, on the loopback.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::{BODY_MAX, HttpSettings, Manner, PATH, Server};
use super::{LEGACY, MODERN, Shelf, server, shelf};

struct Web {
    server: Server,
    address: SocketAddr,
}

impl Web {
    async fn open(shelf: &Arc<Shelf>, settings: HttpSettings) -> Self {
        let server = server(shelf, Manner::http()).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = server.clone();
        tokio::spawn(async move { serving.serve_http(listener, settings).await });
        Self { server, address }
    }

    fn body(method: &str, mut params: Value) -> String {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    }

    async fn connect(&self, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        let own = self.address.to_string();
        let usual = [
            ("Host", own.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        let usual = usual.iter().filter(|(name, _)| !is_given(name));
        for (name, value) in usual.chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        stream
    }

    /// The status and the body.
    async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = self.connect(path, headers, body).await;
        let mut text = Vec::new();
        // A server that turns a body away may reset the connection.
        let _ = stream.read_to_end(&mut text).await;
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    async fn ask(&self, method: &str, params: Value, more: &[(&str, &str)]) -> (u16, Value) {
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if matches!(method, "tools/call" | "resources/read" | "prompts/get") {
            headers.push(("Mcp-Name", name.as_str()));
        }
        headers.extend(more);
        let (status, body) = self.post(PATH, &headers, &Self::body(method, params)).await;
        (status, serde_json::from_str(&body).unwrap_or(json!(body)))
    }
}

#[tokio::test]
async fn no_answer_over_http_may_be_kept_and_none_tells_a_path() {
    let web = Web::open(&shelf(), HttpSettings::default()).await;
    let mut all = String::new();
    for method in ["server/discover", "skills/list", "resources/list", "tools/list", "prompts/list"] {
        let (status, answer) = web.ask(method, json!({}), &[]).await;
        assert_eq!((status, &answer["result"]["ttlMs"]), (200, &json!(0)), "{method}: {answer}");
        all.push_str(&answer.to_string());
    }
    for (tool, arguments) in [
        ("list_skills", json!({})),
        ("read_skill", json!({ "slug": "git-commit", "bundle": true })),
        ("list_skill_references", json!({ "slug": "git-commit" })),
        ("reload", json!({})),
    ] {
        let (status, answer) =
            web.ask("tools/call", json!({ "name": tool, "arguments": arguments }), &[]).await;
        assert_eq!((status, &answer["result"]["isError"]), (200, &json!(false)), "{answer}");
        all.push_str(&answer.to_string());
    }
    assert!(!all.contains("/home/u") && !all.contains("file://"), "{all}");
    // What takes the place of a path is an address all the same.
    let (_, listed) = web
        .ask(
            "tools/call",
            json!({ "name": "list_skill_references", "arguments": { "slug": "git-commit" } }),
            &[],
        )
        .await;
    let row = &listed["result"]["structuredContent"]["references"][0];
    let asked = json!({ "name": "read_skill_references", "arguments": { "references": [row["path"]] } });
    let (_, read) = web.ask("tools/call", asked, &[]).await;
    assert_eq!(read["result"]["structuredContent"]["references"][0]["body"], "Short lines.\n");
    let (_, read) = web.ask("resources/read", json!({ "uri": row["uri"] }), &[]).await;
    assert_eq!(read["result"]["contents"][0]["text"], "Short lines.\n");
    let real = json!({ "uri": "file:///home/u/skills/references/scm/style.md" });
    let (_, refused) = web.ask("resources/read", real, &[]).await;
    assert_eq!(refused["error"]["code"], -32602);
}

#[tokio::test]
async fn a_foreign_origin_and_a_foreign_host_are_forbidden() {
    let web = Web::open(&shelf(), HttpSettings::default()).await;
    let own = format!("http://{}", web.address);
    let other_port = format!("http://127.0.0.1:{}", web.address.port().wrapping_add(1));
    for (header, value, status) in [
        ("Origin", own.as_str(), 200),
        ("Origin", "https://evil.example", 403),
        ("Origin", &other_port, 403),
        ("Origin", "null", 403),
        ("Origin", "%", 403),
        ("Host", "localhost", 200),
        ("Host", "evil.example", 403),
        ("Host", "evil.example:80", 403),
    ] {
        let (seen, _) = web.ask("tools/list", json!({}), &[(header, value)]).await;
        assert_eq!(seen, status, "{header}: {value}");
    }
    let settings = HttpSettings {
        allow_remote: true,
        origins: vec!["https://app.example:443".to_owned()],
        token: Some("secret".to_owned()),
    };
    let remote = Web::open(&shelf(), settings).await;
    let bearer = ("Authorization", "Bearer secret");
    let (status, _) = remote.ask("tools/list", json!({}), &[bearer, ("Host", "skills.example")]).await;
    assert_eq!(status, 200);
    let (status, _) = remote.ask("tools/list", json!({}), &[bearer, ("Origin", "https://app.example")]).await;
    assert_eq!(status, 200);
    let (status, _) =
        remote.ask("tools/list", json!({}), &[bearer, ("Origin", "https://evil.example")]).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn without_the_token_there_is_a_bare_401() {
    let settings = HttpSettings { token: Some("secret".to_owned()), ..HttpSettings::default() };
    assert!(!format!("{settings:?}").contains("secret"));
    let web = Web::open(&shelf(), settings).await;
    for wrong in [
        None,
        Some("Bearer secre"),
        Some("Bearer secrets"),
        Some("Bearer Secret"),
        Some("Basic secret"),
        Some("secret"),
    ] {
        let headers: Vec<_> = wrong.iter().map(|value| ("Authorization", *value)).collect();
        let (status, body) = web.ask("tools/list", json!({}), &headers).await;
        assert_eq!((status, body), (401, json!("")), "{wrong:?}");
    }
    for right in ["Bearer secret", "bearer secret"] {
        let (status, _) = web.ask("tools/list", json!({}), &[("Authorization", right)]).await;
        assert_eq!(status, 200);
    }
}

#[tokio::test]
async fn what_is_too_large_or_elsewhere_is_turned_away() {
    let web = Web::open(&shelf(), HttpSettings::default()).await;
    let (status, _) = web.post("/", &[], &Web::body("tools/list", json!({}))).await;
    assert_eq!(status, 404);
    let large = Web::body("tools/list", json!({ "x": "y".repeat(BODY_MAX) }));
    let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")];
    let (status, _) = web.post(PATH, &headers, &large).await;
    assert_eq!(status, 413);
    let (status, _) = web.post(PATH, &headers, "[]").await;
    assert!((400..500).contains(&status), "{status}");
    let (status, answer) = web.ask("skills/none", json!({}), &[]).await;
    assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32601)));
}

#[tokio::test]
async fn a_client_of_an_older_revision_is_promised_no_news_over_http() {
    let web = Web::open(&shelf(), HttpSettings::default()).await;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let (status, body) = web.post(PATH, &[], &hello.to_string()).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!(LEGACY)));
    assert_eq!(answer["result"]["capabilities"]["resources"], json!({}));
    assert_eq!(answer["result"]["capabilities"]["prompts"], json!({}));
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "skills/list" });
    let (_, body) = web.post(PATH, &[("MCP-Protocol-Version", LEGACY)], &list.to_string()).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["result"]["skills"].as_array().unwrap().len(), 2);
    // No session is given, and one that a client makes up is nobody's.
    let made_up = [("MCP-Protocol-Version", LEGACY), ("Mcp-Session-Id", "made-up")];
    let mut stream = web.connect(PATH, &made_up, &list.to_string()).await;
    let mut whole = String::new();
    stream.read_to_string(&mut whole).await.unwrap();
    assert!(
        whole.starts_with("HTTP/1.1 200") && !whole.to_ascii_lowercase().contains("mcp-session-id"),
        "{whole}"
    );
    let subscribe = json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": { "uri": "portcullis://skills" } });
    let (_, body) = web.post(PATH, &[("MCP-Protocol-Version", LEGACY)], &subscribe.to_string()).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
}

#[tokio::test]
async fn news_comes_on_the_stream_of_a_subscription_until_the_server_closes() {
    let shelf = shelf();
    let web = Web::open(&shelf, HttpSettings::default()).await;
    let body =
        Web::body("subscriptions/listen", json!({ "notifications": { "resourcesListChanged": true } }));
    let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "subscriptions/listen")];
    let mut stream = web.connect(PATH, &headers, &body).await;
    let mut text = String::new();
    let mut seen = async |part: &str| {
        while !text.contains(part) {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).await.unwrap();
            assert!(read > 0, "the stream ended without `{part}`: {text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    };
    seen("notifications/subscriptions/acknowledged").await;
    shelf.skill("new", "x");
    shelf.tell();
    seen("notifications/resources/list_changed").await;
    web.server.close();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
}
