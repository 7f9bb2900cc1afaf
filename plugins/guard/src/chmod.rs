//! Modes that let everyone do everything.

use portcullis_sdk::{Command, Word};

use crate::category::Category;

pub(crate) fn check(command: &Command) -> Option<Category> {
    let mut literals = command.args().iter().filter_map(Word::literal);
    // A mode may begin with `-`, as in `-x`; such a mode takes rights away.
    let mode = literals.find(|word| !word.starts_with('-'))?;
    opens_to_all(mode).then_some(Category::Chmod)
}

/// `install -m 777` and `mkdir -m 777`.
pub(crate) fn option(command: &Command) -> Option<Category> {
    let mut words = command.literals();
    while let Some(word) = words.next() {
        let mode = match word.strip_prefix("-m").or_else(|| word.strip_prefix("--mode")) {
            Some("") => words.next().unwrap_or_default(),
            Some(mode) => mode.strip_prefix('=').unwrap_or(mode),
            None => continue,
        };
        if opens_to_all(mode) {
            return Some(Category::Chmod);
        }
    }
    None
}

/// `777` in any spelling, and its symbolic twins: everyone may read, write and
/// run. The sticky bit of `1777` keeps a shared directory safe, so it passes.
fn opens_to_all(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        return u32::from_str_radix(mode, 8).is_ok_and(|bits| bits & 0o777 == 0o777 && bits & 0o1000 == 0);
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=']) else { return false };
        let (who, rights) = clause.split_at(at);
        let everyone = who.contains('a') || who.contains('o');
        everyone && rights.contains('r') && rights.contains('w') && rights.contains(['x', 'X'])
    })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::command;

    use super::{check, option};
    use crate::category::Category;

    #[test]
    fn a_mode_that_opens_to_all_is_refused() {
        for text in [
            "chmod 777 f",
            "chmod -R 777 d",
            "chmod 0777 /var/www",
            "chmod 00777 f",
            "chmod --recursive 777 /srv",
            "chmod 777 -R d",
            "chmod 4777 f",
            "chmod a+rwx f",
            "chmod -R a+rwX storage",
            "chmod ugo=rwx f",
            "chmod u+x,o+rwx f",
        ] {
            assert_eq!(check(&command(text)), Some(Category::Chmod), "{text}");
        }
    }

    #[test]
    fn a_mode_that_a_new_file_gets_counts_too() {
        for text in
            ["install -m 777 a b", "mkdir -m777 d", "mkdir --mode=a+rwx d", "install -D --mode 0777 a b"]
        {
            assert_eq!(option(&command(text)), Some(Category::Chmod), "{text}");
        }
        for text in ["install -m 755 a b", "mkdir -p 777", "mkdir -m 1777 tmp"] {
            assert_eq!(option(&command(text)), None, "{text}");
        }
    }

    #[test]
    fn an_ordinary_mode_passes() {
        for text in [
            "chmod 755 f",
            "chmod +x scripts/run.sh",
            "chmod 1777 /tmp/shared",
            "chmod u+rwx f",
            "chmod a+r f",
            "chmod -x f",
            "chmod o-rwx f",
            "chmod 644 777",
            "chmod --reference=a b",
            "chmod",
        ] {
            assert_eq!(check(&command(text)), None, "{text}");
        }
    }
}
