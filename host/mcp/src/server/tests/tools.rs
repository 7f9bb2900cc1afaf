//! The tools.

use portcullis_model::extension::Coverage;
use serde_json::{Value, json};

use super::{Client, names, shelf, strings, text};

const STYLE: &str = "/home/u/skills/references/scm/style.md";

#[tokio::test]
async fn there_are_six_tools_and_all_of_them_only_read() {
    let mut client = Client::modern(&shelf()).await;
    let list = client.ask("tools/list", json!({})).await;
    assert_eq!(
        names(&list["tools"], "name"),
        [
            "list_skills",
            "read_skill",
            "list_skill_references",
            "read_skill_references",
            "read_skill_files",
            "reload",
        ]
    );
    for tool in list["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
}

#[tokio::test]
async fn a_list_has_counts_metadata_and_the_roots_that_nobody_watches() {
    let shelf = shelf();
    shelf.root("/mnt/share/skills", Coverage::Off);
    shelf.root("/gone", Coverage::Degraded("it is not there".to_owned()));
    shelf.skill("odd", "x");
    shelf.withhold("odd", "its name is another one");
    let mut client = Client::modern(&shelf).await;
    let result = client.call("list_skills", json!({})).await;
    let data = &result["structuredContent"];
    assert_eq!(names(&data["skills"], "slug"), ["acme/billing/refunds", "git-commit", "odd"]);
    let commit = &data["skills"][1];
    assert_eq!((&commit["referenceCount"], &commit["fileCount"]), (&json!(1), &json!(4)));
    assert_eq!(commit["metadata"]["bundleDir"], "/home/u/skills/git-commit");
    assert_eq!(commit["metadata"].get("references"), None);
    assert_eq!(
        (&data["skills"][2]["served"], &data["skills"][2]["reason"]),
        (&json!(false), &json!("its name is another one"))
    );
    assert_eq!(
        data["watch"],
        json!({ "active": false, "roots": [
            { "path": "/home/u/skills", "state": "watching" },
            { "path": "/mnt/share/skills", "state": "off" },
            { "path": "/gone", "state": "degraded", "reason": "it is not there" },
        ] })
    );
    for part in ["/mnt/share/skills", "/gone", "git-commit: Does git-commit."] {
        assert!(text(&result).contains(part), "{part}");
    }
    assert!(!text(&result).contains("`/home/u/skills`"), "a root that is watched needs no word");
}

#[tokio::test]
async fn the_watch_is_active_when_there_is_a_root_and_each_is_watched() {
    let shelf = std::sync::Arc::new(super::Shelf::default());
    let mut client = Client::modern(&shelf).await;
    let active = |result: &Value| result["structuredContent"]["watch"]["active"].clone();
    assert_eq!(active(&client.call("list_skills", json!({})).await), false);
    shelf.root("/a", Coverage::Watching);
    assert_eq!(active(&client.call("list_skills", json!({})).await), true);
    shelf.root("/b", Coverage::Off);
    assert_eq!(active(&client.call("reload", json!({})).await), false);
}

#[tokio::test]
async fn a_skill_is_its_text_with_both_manifests() {
    let mut client = Client::modern(&shelf()).await;
    let result = client.call("read_skill", json!({ "slug": "git-commit" })).await;
    let data = &result["structuredContent"];
    assert_eq!((&data["uri"], &data["body"]), (&json!("skill://git-commit/SKILL.md"), &json!("# Commit\n")));
    assert_eq!(
        data["references"],
        json!([{
            "path": STYLE, "uri": format!("file://{STYLE}"), "name": "style", "size": 13,
            "modified": "2026-08-04T09:12:33Z",
        }])
    );
    assert_eq!(
        data["files"][2],
        json!({ "uri": "skill://git-commit/scripts/check.py", "size": 10, "mimeType": "text/x-python" })
    );
    assert_eq!(data["files"].as_array().unwrap().len(), 3);
    assert!(data.get("bundle").is_none() && !text(&result).contains("Short lines."));
    for part in ["# Commit\n", STYLE, "skill://git-commit/scripts/check.py"] {
        assert!(text(&result).contains(part), "{part}");
    }
    let bundled = client.call("read_skill", json!({ "slug": "git-commit", "bundle": true })).await;
    assert_eq!(bundled["structuredContent"]["bundle"][0]["body"], "Short lines.\n");
    assert!(text(&bundled).contains("Short lines."));
    let none = client.call("read_skill", json!({ "slug": "git-comit" })).await;
    assert_eq!(none["isError"], true);
    let wrong = client.call("read_skill", json!({ "slug": "git-commit", "extra": 1 })).await;
    assert!(wrong["isError"] == true && text(&wrong).contains("extra"));
}

#[tokio::test]
async fn a_missing_reference_keeps_its_place_and_has_no_path() {
    let shelf = shelf();
    let (one, two, three) = ("/s/references/one.md", "/s/references/two.md", "/s/references/three.md");
    shelf.skill_with("three", "x", json!({}), &[one, two, three]);
    shelf.shared(one, "1");
    shelf.shared(three, "3");
    let mut client = Client::modern(&shelf).await;
    let result = client.call("list_skill_references", json!({ "slug": "three" })).await;
    let rows = &result["structuredContent"]["references"];
    assert_eq!(names(rows, "name"), ["one", "two", "three"]);
    assert_eq!(rows[1], json!({ "name": "two", "status": "not-found" }));
    assert!(!result.to_string().contains("\"1\"") && !text(&result).contains("two.md"));
    let bundled = client.call("read_skill", json!({ "slug": "three", "bundle": true })).await;
    let bodies = bundled["structuredContent"]["bundle"].as_array().unwrap();
    assert_eq!(
        (&bodies[0]["body"], &bodies[1]["status"], &bodies[2]["body"]),
        (&json!("1"), &json!("not-found"), &json!("3"))
    );
    let gone = client.call("read_skill_references", json!({ "references": [two] })).await;
    assert_eq!(gone["isError"], true);
}

#[tokio::test]
async fn references_are_read_by_path_across_skills_each_once_and_all_or_none() {
    let shelf = shelf();
    let other = "/home/u/skills/references/other.md";
    shelf.skill_with("linear", "x", json!({}), &[other, STYLE]);
    shelf.shared(other, "Other.\n");
    let mut client = Client::modern(&shelf).await;
    let result = client.call("read_skill_references", json!({ "references": [STYLE, other, STYLE] })).await;
    let rows = result["structuredContent"]["references"].as_array().unwrap().clone();
    assert_eq!(
        (rows.len(), &rows[0]["body"], &rows[1]["body"]),
        (2, &json!("Short lines.\n"), &json!("Other.\n"))
    );
    // The header of a text says what its row in a manifest says.
    let listed = client.call("list_skill_references", json!({ "slug": "git-commit" })).await;
    let row = listed["structuredContent"]["references"][0].as_object().unwrap().clone();
    let header: String = row
        .iter()
        .map(|(key, value)| format!("  {key}: {}\n", value.as_str().map_or(value.to_string(), str::to_owned)))
        .collect();
    assert!(
        text(&result).contains(&format!("---\nreference:\n{header}---\n\nShort lines.\n")),
        "{}",
        text(&result)
    );
    let partly = client.call("read_skill_references", json!({ "references": [STYLE, "/etc/passwd"] })).await;
    assert!(partly["isError"] == true && !partly.to_string().contains("Short lines."));
    for wrong in [json!([]), json!(vec!["x"; 257]), json!("x")] {
        let refused = client.call("read_skill_references", json!({ "references": wrong })).await;
        assert_eq!(refused["isError"], true);
    }
    // What a shared file is now, and not what it was at the last look.
    shelf.shared(STYLE, "Longer lines.\n");
    let now = client.call("read_skill_references", json!({ "references": [STYLE] })).await;
    assert_eq!(now["structuredContent"]["references"][0]["body"], "Longer lines.\n");
}

#[tokio::test]
async fn a_file_that_is_no_text_is_described() {
    let mut client = Client::modern(&shelf()).await;
    let files = ["skill://git-commit/scripts/check.py", "skill://git-commit/logo.png"];
    let result = client.call("read_skill_files", json!({ "files": files })).await;
    assert_eq!(
        result["structuredContent"]["files"],
        json!([
            { "uri": files[0], "size": 10, "mimeType": "text/x-python", "text": "print(1)\r\n" },
            { "uri": files[1], "size": 5, "mimeType": "image/png" },
        ])
    );
    assert!(text(&result).contains("image/png"));
}

#[tokio::test]
async fn a_reload_says_what_changed_and_a_second_one_that_nothing_did() {
    let shelf = shelf();
    let mut client = Client::modern(&shelf).await;
    client.call("list_skills", json!({})).await;
    shelf.skill("new", "x");
    shelf.file("skill://git-commit/scripts/check.py", "print(2)\n");
    shelf.skill("acme/billing/refunds", "Refund all.\n");
    shelf.shared(STYLE, "Other lines.\n");
    shelf.prompt("AGENTS", "Be long.\n");
    shelf.prompt("more", "x");
    let data = client.call("reload", json!({})).await["structuredContent"].clone();
    assert_eq!((&data["reloaded"], &data["prompts"]), (&json!(3), &json!(2)));
    assert_eq!(data["membershipChanged"], true);
    assert_eq!(strings(&data["updated"]), ["acme/billing/refunds"]);
    assert_eq!(strings(&data["filesChanged"]), ["skill://git-commit/scripts/check.py"]);
    assert_eq!(strings(&data["referencesChanged"]), [STYLE]);
    assert_eq!(strings(&data["promptsChanged"]), ["AGENTS", "more"]);
    assert_eq!(data["watch"]["active"], true);
    let again = client.call("reload", json!({})).await["structuredContent"].clone();
    assert_eq!(again["membershipChanged"], false);
    for key in ["updated", "filesChanged", "referencesChanged", "promptsChanged"] {
        assert_eq!(again[key], json!([]), "{key}");
    }
}
