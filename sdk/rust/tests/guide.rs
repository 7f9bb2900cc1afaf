//! What the guide shows is what is compiled.

#[test]
fn the_guide_shows_the_example_word_for_word() {
    let guide = include_str!("../../../docs/guides/writing-a-guard.md");
    let example = include_str!("../examples/no-scp.rs");
    assert!(guide.contains(&format!("```rust\n{example}```\n")));
}

#[test]
fn a_guard_is_about_twenty_lines() {
    let example = include_str!("../examples/no-scp.rs");
    let lines = example.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 20, "{lines} lines");
}
