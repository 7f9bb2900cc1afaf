//! Its skills, prompts and resources.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Server;

impl Server {
    pub fn provide(&mut self, method: &str, id: &Value, params: &Value) {
        let prompt = json!({
            "name": "greet", "description": "Greets somebody.",
            "arguments": [{ "name": "who", "required": true }],
        });
        match method {
            "prompts/list" => self.answer(id, json!({ "prompts": [prompt] })),
            "prompts/get" => {
                let text = format!("Greet {}.", params["arguments"]["who"].as_str().unwrap_or_default());
                let content = json!({ "type": "text", "text": text });
                self.answer(id, json!({ "messages": [{ "role": "user", "content": content }] }));
            }
            "skills/list" => {
                let skills: Vec<Value> = self.skills();
                self.answer(id, json!({ "skills": skills, "ttlMs": 0, "cacheScope": "private" }));
            }
            "resources/list" => {
                let uris = self
                    .skills()
                    .into_iter()
                    .map(|skill| json!({ "uri": skill["uri"], "name": skill["frontmatter"]["name"] }));
                self.answer(id, json!({ "resources": uris.collect::<Vec<_>>() }));
            }
            "resources/read" => {
                let uri = params["uri"].as_str().unwrap();
                let text = self.file(uri).and_then(|file| fs::read_to_string(file).ok());
                match text {
                    Some(text) => {
                        self.answer(id, json!({ "contents": [{ "uri": uri, "mimeType": "text/markdown", "text": text }] }));
                    }
                    None => self.refuse(id, -32602, "Resource not found"),
                }
            }
            _ => self.refuse(id, -32602, "unknown"),
        }
    }

    fn file(&self, uri: &str) -> Option<PathBuf> {
        Some(self.manner.skills.as_ref()?.join(uri.strip_prefix("skill://")?))
    }

    /// What `skills.json` beside the skills says, so that a test can make it lie.
    fn skills(&self) -> Vec<Value> {
        let file = self.manner.skills.as_ref().map(|dir| dir.join("skills.json"));
        let text = file.and_then(|file| fs::read_to_string(file).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}
