//! The index: every skill with what it is for, as one text that costs no call of a tool.

use portcullis_model::extension::Library;

/// How the skills are loaded, and which there are.
pub(super) fn text(library: &Library) -> String {
    let mut text = "# Skills\n\n\
        Each skill below is a set of instructions for one kind of task. When a task fits a description, \
        load the skill before you begin: call the tool `read_skill` with its slug, or read the resource \
        `skill://SLUG/SKILL.md`. Load only what the task needs.\n"
        .to_owned();
    if library.skills.is_empty() {
        text.push_str("\nThere are no skills.\n");
    }
    for skill in &library.skills {
        text.push_str(&format!("\n## {}\n\n{}\n", skill.slug, line(&skill.description)));
        if skill.is_for_the_user {
            text.push_str("\nOnly when the user asks for it.\n");
        }
    }
    text
}

/// On one line.
pub(super) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
