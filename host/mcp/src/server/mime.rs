//! The type of a file, by the end of its name.

/// The type of a skill's text.
pub(super) const MARKDOWN: &str = "text/markdown";

const TYPES: &[(&str, &str)] = &[
    ("md", MARKDOWN),
    ("markdown", MARKDOWN),
    ("txt", "text/plain"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("bash", "application/x-sh"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("ts", "text/x-typescript"),
    ("rs", "text/x-rust"),
    ("go", "text/x-go"),
    ("rb", "text/x-ruby"),
    ("sql", "application/sql"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("wasm", "application/wasm"),
];

/// The type of the file at `uri`. A name that says nothing leaves it to the bytes.
pub(super) fn of(uri: &str, bytes: &[u8]) -> &'static str {
    let name = uri.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let known = end.and_then(|end| TYPES.iter().find(|(own, _)| *own == end));
    match known {
        Some((_, mime)) => mime,
        None if std::str::from_utf8(bytes).is_ok() => "text/plain",
        None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_name_says_the_type_and_else_the_bytes_do() {
        assert_eq!(of("skill://a/SKILL.md", b""), "text/markdown");
        assert_eq!(of("skill://a/x.PNG", b""), "image/png");
        assert_eq!(of("skill://a.md/LICENSE", b"MIT"), "text/plain");
        assert_eq!(of("skill://a/x.unknown", b"\xff"), "application/octet-stream");
    }
}
