//! What holds for every file: it is short, and it does not tell which machine it
//! was made on.

use super::tree::{Tree, has_extension};

/// No Rust file is longer than this, in lines.
const LINES_MAX: usize = 600;
/// From here on a file is told of.
const LINES_LONG: usize = 500;

/// People who do not exist, and whose homes examples may therefore name.
const NOBODY: &[&str] = &["dev", "u"];
/// Folders of the machines that this is built on.
const MACHINE: &[&str] = &["root", "work"];

/// No Rust file of ours is too long to be read in one go.
pub(super) fn short_files(tree: &Tree) -> Vec<String> {
    lengths(tree)
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(path, lines)| {
            format!("{path}: has {lines} lines; {LINES_MAX} is the most, so split it by duty")
        })
        .collect()
}

/// The Rust files that will soon be too long.
pub(super) fn long_files(tree: &Tree) -> Vec<String> {
    lengths(tree)
        .filter(|(_, lines)| (LINES_LONG + 1..=LINES_MAX).contains(lines))
        .map(|(path, lines)| format!("{path} has {lines} lines; past {LINES_MAX} it must be split"))
        .collect()
}

fn lengths(tree: &Tree) -> impl Iterator<Item = (&str, usize)> {
    tree.rust().map(|(file, _)| (file.path.as_str(), file.text().map_or(0, |text| text.lines().count())))
}

/// No text and no component holds a path of somebody's machine.
pub(super) fn no_machine_paths(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for file in &tree.files {
        let Some(text) = file.text() else {
            if has_extension(&file.path, "wasm")
                && let Some(path) = machine_path(&String::from_utf8_lossy(&file.bytes))
            {
                problems.push(format!("{}: holds `{path}`; build it with `cargo xtask plugins`", file.path));
            }
            continue;
        };
        for (line, text) in text.lines().enumerate() {
            if let Some(path) = machine_path(text) {
                problems.push(format!(
                    "{}:{}: names `{path}`; write a path that is the same everywhere, such as one below `/home/dev`",
                    file.path,
                    line + 1
                ));
            }
        }
    }
    problems
}

/// The first path of somebody's machine in `text`.
fn machine_path(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    for (at, _) in text.match_indices('/') {
        // A path begins here, and not in the middle of a longer one.
        let begins = !text
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|c| is_part(c) || "~/$}".contains(c));
        let mut parts = text.get(at + 1..).unwrap_or_default().splitn(3, '/');
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        let second: String = second.unwrap_or_default().chars().take_while(|c| is_part(*c)).collect();
        let somebody = first == "home" && !NOBODY.contains(&second.as_str());
        if begins && !second.is_empty() && (MACHINE.contains(&first) || somebody) {
            return Some(format!("/{first}/{second}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{long_files, no_machine_paths, short_files};
    use crate::tidy::tests::broken;

    #[test]
    fn a_file_that_is_too_long_is_told() {
        let text = "\n".repeat(601);
        assert!(broken(short_files, &[("xtask/src/a.rs", &text)])[0].contains("has 601 lines"));
        assert_eq!(broken(short_files, &[("xtask/src/a.rs", &text[1..])]), [""; 0]);
        assert_eq!(broken(long_files, &[("xtask/src/a.rs", &text[1..])]).len(), 1);
    }

    #[test]
    fn a_path_of_a_machine_is_told() {
        // Put together here, so that this file may be looked at as well.
        for (folder, rest) in [("root", "x.rs"), ("work", "main"), ("home", "alice/x")] {
            let text = format!("see\n\"/{folder}/{rest}\"");
            let problems = broken(no_machine_paths, &[("docs/a.md", &text)]);
            assert!(problems[0].starts_with(&format!("docs/a.md:2: names `/{folder}/")), "{problems:?}");
        }
        let [home, root, work] = ["home", "root", "work"].map(|folder| format!("/{folder}"));
        let good = format!(
            "{home}/dev/app ~{work}/x https://a{work}/b src{root}/x.rs \"{home}/\" \"{root}/\" {home} {home}/u/x"
        );
        assert_eq!(broken(no_machine_paths, &[("docs/a.md", &good)]), [""; 0]);
    }

    #[test]
    fn a_component_that_tells_where_it_was_built_is_told() {
        let bytes = [b"\0asm\xff\xff panicked at /".as_slice(), b"root/.cargo/x.rs\0"].concat();
        let tree = crate::tidy::tree::Tree::new([("a.wasm".to_owned(), bytes)]).unwrap();
        assert_eq!(no_machine_paths(&tree).len(), 1);
    }
}
