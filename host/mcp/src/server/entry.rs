//! What is served, in the words of the protocol.

use portcullis_model::extension::{FileFacts, LibraryFile, LibraryPrompt, LibrarySkill};
use portcullis_model::product;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, JsonObject, MetaObject, Prompt, Resource, ResourceContents, Skill, SkillFrontmatter,
    SkillResource, SkillResources,
};
use serde_json::{Value, json};

use super::address;
use super::manner::Manner;
use super::mime;
use super::view::View;

/// Fields of the frontmatter that another field of a resource or of a tool's answer says.
const SAID_ELSEWHERE: [&str; 3] = ["title", "description", "references"];

/// A skill as the extension lists it; none when its frontmatter lacks what it needs.
pub(super) fn skill(skill: &LibrarySkill, view: &View) -> Option<Skill> {
    let text = |key: &str| skill.frontmatter.get(key).and_then(Value::as_str);
    let mut frontmatter = SkillFrontmatter::new(text("name")?, text("description")?);
    let rest = skill.frontmatter.iter().filter(|(key, _)| !matches!(key.as_str(), "name" | "description"));
    frontmatter.extra = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    let resource = |uri: &String| {
        let file = view.library.files.get(uri)?;
        Some(SkillResource::new(uri, &file.digest, file.facts.size))
    };
    let files: Option<Vec<SkillResource>> = skill.files.iter().map(resource).collect();
    let skill = Skill::new(&skill.uri, frontmatter, SkillResources::Files(files?));
    // One invalid entry would spoil the whole list.
    skill.validate().inspect_err(|error| tracing::warn!("a skill is not listed: {error}")).ok()?;
    Some(skill)
}

/// The one block of everything else that is known of a skill.
pub(super) fn metadata(skill: &LibrarySkill, manner: Manner) -> JsonObject {
    let own = skill.frontmatter.iter().filter(|(key, _)| !SAID_ELSEWHERE.contains(&key.as_str()));
    let mut block: JsonObject = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    if manner.shows_paths {
        block.insert("path".to_owned(), json!(skill.path));
        block.insert("bundleDir".to_owned(), json!(skill.directory));
    }
    put_facts(&mut block, &skill.facts);
    block
}

/// Size and times, where they are known.
pub(super) fn put_facts(object: &mut JsonObject, facts: &FileFacts) {
    object.insert("size".to_owned(), json!(facts.size));
    let times = [("modified", &facts.modified), ("created", &facts.created)];
    for (key, time) in times.into_iter().filter_map(|(key, time)| Some((key, time.as_ref()?))) {
        object.insert(key.to_owned(), json!(time));
    }
}

/// A skill's `SKILL.md` as a resource.
pub(super) fn skill_resource(skill: &LibrarySkill, manner: Manner) -> Resource {
    let mut resource = Resource::new(&skill.uri, &skill.name)
        .with_description(&skill.description)
        .with_mime_type(mime::MARKDOWN)
        .with_size(skill.facts.size)
        .with_meta(meta("skill", metadata(skill, manner)));
    resource.title.clone_from(&skill.title);
    resource
}

/// A file of a skill as a resource.
pub(super) fn file_resource(uri: &str, file: &LibraryFile) -> Resource {
    Resource::new(uri, address::last(uri))
        .with_mime_type(mime::of(uri, &file.bytes))
        .with_size(file.facts.size)
}

/// A directory as a resource.
pub(super) fn directory_resource(uri: &str) -> Resource {
    Resource::new(uri, address::last(uri)).with_mime_type(DIRECTORY_MIME_TYPE)
}

/// A prompt as a resource.
pub(super) fn prompt_resource(prompt: &LibraryPrompt) -> Resource {
    let mut resource = Resource::new(address::prompt(&prompt.name), &prompt.name)
        .with_mime_type(mime::MARKDOWN)
        .with_size(prompt.body.len() as u64);
    resource.title.clone_from(&prompt.title);
    resource.description.clone_from(&prompt.description);
    resource
}

/// A prompt as a list names it.
pub(super) fn prompt(prompt: &LibraryPrompt) -> Prompt {
    let mut listed = Prompt::new(&prompt.name, prompt.description.clone(), None);
    listed.title.clone_from(&prompt.title);
    listed
}

/// The bytes of a file: text as it is, and anything else as a blob.
pub(super) fn contents(uri: &str, file: &LibraryFile) -> ResourceContents {
    let contents = match std::str::from_utf8(&file.bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(_) => ResourceContents::blob(encode(&file.bytes), uri),
    };
    contents.with_mime_type(mime::of(uri, &file.bytes))
}

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}

fn meta(key: &str, block: JsonObject) -> MetaObject {
    let key = format!("io.{}/{key}", product::NAME);
    MetaObject(JsonObject::from_iter([(key, Value::Object(block))]))
}

/// The bytes of a blob.
#[cfg(test)]
pub(super) fn decode(blob: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.decode(blob).unwrap()
}
