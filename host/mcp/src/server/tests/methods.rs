//! Lists, reads and errors, for clients of both eras.

use rmcp::model::sha256_digest;
use serde_json::{Value, json};

use super::{Client, MODERN, names, shelf};

const TTL: u64 = 86_400_000;

#[tokio::test]
async fn both_eras_are_told_of_the_extension_with_its_settings_inline() {
    let shelf = shelf();
    let (mut legacy, welcome) = Client::legacy(&shelf).await;
    let mut modern = Client::modern(&shelf).await;
    let discovered = modern.ask("server/discover", json!({})).await;
    for capabilities in [&welcome["capabilities"], &discovered["capabilities"]] {
        let skills = &capabilities["extensions"]["io.modelcontextprotocol/skills"];
        assert_eq!(*skills, json!({ "directoryRead": true }));
        assert_eq!(capabilities["resources"], json!({ "subscribe": true, "listChanged": true }));
        assert_eq!(capabilities["prompts"], json!({ "listChanged": true }));
        assert!(capabilities["tools"].is_object());
    }
    assert_eq!(welcome["serverInfo"]["name"], "portcullis-skills");
    assert!(discovered["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)));
    // The same question has the same answer, whoever asks.
    let lists = ["skills/list", "resources/list", "tools/list", "prompts/list", "resources/templates/list"];
    for method in lists {
        let mut new = modern.ask(method, json!({})).await;
        let old = legacy.ask(method, json!({})).await;
        assert_eq!((&new["resultType"], &new["ttlMs"]), (&json!("complete"), &json!(TTL)), "{method}");
        assert_eq!(new["cacheScope"], "private");
        assert_eq!(new["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "portcullis-skills");
        for added in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            new.as_object_mut().unwrap().remove(added);
        }
        assert_eq!(new, old, "{method}");
    }
}

#[tokio::test]
async fn a_list_of_skills_is_one_page_with_every_file_and_its_digest() {
    let shelf = shelf();
    for number in 0..150 {
        shelf.skill(&format!("more/skill-{number}"), "x");
    }
    let mut client = Client::modern(&shelf).await;
    let list = client.ask("skills/list", json!({})).await;
    assert_eq!((list["skills"].as_array().unwrap().len(), &list["nextCursor"]), (152, &Value::Null));
    let skill =
        list["skills"].as_array().unwrap().iter().find(|skill| skill["uri"] == "skill://git-commit/SKILL.md");
    let skill = skill.unwrap().clone();
    assert_eq!(skill.as_object().unwrap().keys().collect::<Vec<_>>(), ["uri", "frontmatter", "resources"]);
    assert_eq!(
        skill["frontmatter"],
        json!({
            "name": "git-commit", "description": "Does git-commit.", "title": "Commit",
            "Nested": { "kebab-key": [1, 2.50, true, null] },
        })
    );
    assert_eq!(
        names(&skill["resources"], "uri"),
        [
            "skill://git-commit/SKILL.md",
            "skill://git-commit/logo.png",
            "skill://git-commit/references/scm/style.md",
            "skill://git-commit/scripts/check.py",
        ]
    );
    let got = client.ask("skills/get", json!({ "uri": "skill://git-commit/SKILL.md" })).await;
    assert_eq!((&got["skill"], &got["ttlMs"]), (&skill, &json!(TTL)));
    for row in skill["resources"].as_array().unwrap() {
        let read = client.ask("resources/read", json!({ "uri": row["uri"] })).await;
        let contents = &read["contents"][0];
        let bytes = match contents["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => super::super::entry::decode(contents["blob"].as_str().unwrap()),
        };
        assert_eq!(
            (&row["digest"], &row["size"]),
            (&json!(sha256_digest(&bytes)), &json!(bytes.len())),
            "{row}"
        );
        assert_eq!((&contents["uri"], &read["ttlMs"]), (&row["uri"], &json!(TTL)));
    }
}

#[tokio::test]
async fn what_is_no_skill_of_a_list_is_an_error_of_the_parameters() {
    let mut client = Client::modern(&shelf()).await;
    for uri in [
        "skill://none/SKILL.md",
        "skill://git-commit",
        "skill://git-commit/scripts/check.py",
        "skill://git-commit/skill.md",
        "skill://git-commit/%53KILL.md",
        "portcullis://skills",
        "",
    ] {
        assert_eq!(client.refused("skills/get", json!({ "uri": uri })).await, -32602, "{uri}");
    }
    for (method, params) in [
        ("skills/list", json!({ "cursor": "x" })),
        ("resources/list", json!({ "cursor": "x" })),
        ("resources/directory/read", json!({ "uri": "skill://acme", "cursor": "x" })),
        ("skills/get", json!({})),
        ("resources/read", json!({ "uri": 7 })),
        ("tools/call", json!({ "name": "rm" })),
        ("prompts/get", json!({ "name": "none" })),
    ] {
        assert_eq!(client.refused(method, params.clone()).await, -32602, "{method} {params}");
    }
    assert_eq!(client.refused("skills/none", json!({})).await, -32601);
    assert_eq!(client.refused("ping", json!({})).await, -32601);
}

#[tokio::test]
async fn a_directory_lists_its_direct_children_and_a_file_is_none() {
    let shelf = shelf();
    shelf.skill("acme/billing", "Bill.\n");
    let mut client = Client::modern(&shelf).await;
    let list = |uri: &str| json!({ "uri": uri });
    let top = client.ask("resources/directory/read", list("skill://acme")).await;
    let billing = json!({ "uri": "skill://acme/billing", "name": "billing", "mimeType": "inode/directory" });
    assert_eq!(top["resources"], json!([billing]));
    let inner = client.ask("resources/directory/read", list("skill://acme/billing")).await;
    assert_eq!(
        names(&inner["resources"], "uri"),
        ["skill://acme/billing/SKILL.md", "skill://acme/billing/refunds"]
    );
    let entry = &inner["resources"][0];
    assert_eq!((&entry["name"], &entry["description"]), (&json!("billing"), &json!("Does billing.")));
    assert_eq!(
        (&entry["mimeType"], &inner["resources"][1]["mimeType"]),
        (&json!("text/markdown"), &json!("inode/directory"))
    );
    let files = client.ask("resources/directory/read", list("skill://git-commit/scripts")).await;
    assert_eq!(
        files["resources"],
        json!([{ "uri": "skill://git-commit/scripts/check.py", "name": "check.py", "mimeType": "text/x-python", "size": 10 }])
    );
    for uri in [
        "skill://git-commit/SKILL.md",
        "skill://none",
        "skill://",
        "skill://git-commit/",
        "portcullis://skills",
    ] {
        assert_eq!(client.refused("resources/directory/read", list(uri)).await, -32602, "{uri}");
    }
}

#[tokio::test]
async fn resources_are_the_index_a_line_for_each_skill_and_one_for_each_prompt() {
    let shelf = shelf();
    let mut client = Client::modern(&shelf).await;
    let list = client.ask("resources/list", json!({})).await;
    assert_eq!(
        names(&list["resources"], "uri"),
        [
            "portcullis://skills",
            "skill://acme/billing/refunds/SKILL.md",
            "skill://git-commit/SKILL.md",
            "portcullis://prompts/AGENTS",
        ]
    );
    let skill = &list["resources"][2];
    assert_eq!((&skill["name"], &skill["title"]), (&json!("git-commit"), &json!("Commit")));
    assert_eq!(
        (&skill["description"], &skill["mimeType"]),
        (&json!("Does git-commit."), &json!("text/markdown"))
    );
    let block = &skill["_meta"]["io.portcullis/skill"];
    assert_eq!(
        *block,
        json!({
            "name": "git-commit", "Nested": { "kebab-key": [1, 2.50, true, null] },
            "path": "/home/u/skills/git-commit/SKILL.md", "bundleDir": "/home/u/skills/git-commit",
            "size": skill["size"], "modified": "2026-08-04T09:12:33Z",
        })
    );
    let index = client.ask("resources/read", json!({ "uri": "portcullis://skills" })).await;
    let index = index["contents"][0]["text"].as_str().unwrap();
    for part in
        ["read_skill", "## git-commit\n\nDoes git-commit.", "## acme/billing/refunds", "Does refunds."]
    {
        assert!(index.contains(part), "{part}: {index}");
    }
    // A shared file has an address of its own and is in no list.
    let style = "file:///home/u/skills/references/scm/style.md";
    let read = client.ask("resources/read", json!({ "uri": style })).await;
    assert_eq!(read["contents"][0]["text"], "Short lines.\n");
}

#[tokio::test]
async fn a_prompt_is_a_prompt_and_a_resource() {
    let mut client = Client::modern(&shelf()).await;
    let list = client.ask("prompts/list", json!({})).await;
    let row = json!({ "name": "AGENTS", "title": "The AGENTS", "description": "Says AGENTS." });
    assert_eq!(list["prompts"], json!([row]));
    let got = client.ask("prompts/get", json!({ "name": "AGENTS" })).await;
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Be brief.\n" } });
    assert_eq!(got["messages"], json!([message]));
    let read = client.ask("resources/read", json!({ "uri": "portcullis://prompts/AGENTS" })).await;
    assert_eq!(read["contents"][0]["text"], "Be brief.\n");
}

#[tokio::test]
async fn an_invalid_skill_spoils_no_list() {
    let shelf = shelf();
    shelf.skill("other-name", "x");
    shelf.withhold("other-name", "its name is another one");
    // A source that lets a wrong one through is not believed either.
    shelf.skill_with("wrong", "x", json!({ "name": "Not A Name" }), &[]);
    let mut client = Client::modern(&shelf).await;
    let list = client.ask("skills/list", json!({})).await;
    assert_eq!(
        names(&list["skills"], "uri"),
        ["skill://acme/billing/refunds/SKILL.md", "skill://git-commit/SKILL.md"]
    );
    for uri in ["skill://wrong/SKILL.md", "skill://other-name/SKILL.md"] {
        assert_eq!(client.refused("skills/get", json!({ "uri": uri })).await, -32602);
    }
    assert_eq!(
        client.refused("resources/read", json!({ "uri": "skill://other-name/SKILL.md" })).await,
        -32602
    );
    let read = client.call("read_skill", json!({ "slug": "other-name" })).await;
    assert_eq!(read["structuredContent"]["body"], "x", "a tool reaches it");
}

/// What leads out of a skill, in every way that addresses can be written.
pub(super) const ESCAPES: [&str; 26] = [
    "skill://git-commit/../../etc/passwd",
    "skill://git-commit/..",
    "skill://git-commit/./SKILL.md",
    "skill://git-commit//SKILL.md",
    "skill://git-commit/%2e%2e/%2e%2e/etc/passwd",
    "skill://git-commit/%252e%252e/x",
    "skill://git-commit/..%2f..%2fetc%2fpasswd",
    "skill://git-commit%2f..%2fx",
    "skill://git-commit/..%5c..%5cx",
    "skill://git-commit\\..\\x",
    "skill://git-commit/SKILL.md%00",
    "skill://git-commit/SKILL.md\0.png",
    "skill://git-commit/SKILL.md?x",
    "skill://git-commit/SKILL.md#x",
    "skill://git-commit/.venv/x",
    "skill://git-commit/.git/config",
    "skill:///etc/passwd",
    "skill://%2fetc/passwd",
    "skill://C:/x",
    "skill://",
    "file:///etc/hostname",
    "file:///home/u/skills/references/scm/../../git-commit/SKILL.md",
    "file:///home/u/skills/git-commit/SKILL.md",
    "/home/u/skills/git-commit/SKILL.md",
    "portcullis://prompts/../AGENTS",
    "https://example.com/SKILL.md",
];

#[tokio::test]
async fn no_address_leads_out_of_what_is_served_on_any_surface() {
    let (mut legacy, _) = Client::legacy(&shelf()).await;
    let mut modern = Client::modern(&shelf()).await;
    for uri in ESCAPES {
        for client in [&mut legacy, &mut modern] {
            for method in ["resources/read", "skills/get", "resources/directory/read"] {
                assert_eq!(client.refused(method, json!({ "uri": uri })).await, -32602, "{method} {uri:?}");
            }
            let calls = [
                ("read_skill_files", json!({ "files": [uri] })),
                ("read_skill_files", json!({ "files": ["skill://git-commit/SKILL.md", uri] })),
                ("read_skill_references", json!({ "references": [uri] })),
                ("read_skill", json!({ "slug": uri })),
                ("list_skill_references", json!({ "slug": uri })),
            ];
            for (tool, arguments) in calls {
                let result = client.call(tool, arguments).await;
                assert_eq!(result["isError"], true, "{tool} {uri:?}");
                assert_eq!(result["structuredContent"], Value::Null);
            }
        }
    }
}
