//! Writes to a raw device.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::options::Options;
use crate::program;

pub(crate) fn check(command: &Command) -> Option<Category> {
    if command.writes.iter().filter_map(Word::literal).any(is_device) {
        return Some(Category::Dd);
    }
    let name = program::name(command)?;
    match name.as_str() {
        "dd" => dd(command),
        "shred" | "tee" => command.literals().any(is_device).then_some(Category::Dd),
        "cp" => command.literals().last().is_some_and(is_device).then_some(Category::Dd),
        "mke2fs" | "mkfs" => mkfs(command),
        "wipefs" => wipefs(command),
        "blkdiscard" => Some(Category::Mkfs),
        _ if name.starts_with("mkfs.") => mkfs(command),
        _ => None,
    }
}

fn dd(command: &Command) -> Option<Category> {
    command.args().iter().find_map(|word| {
        let target = word.text().trim_matches('"').strip_prefix("of=")?;
        match word {
            Word::Literal(_) => is_device(target).then_some(Category::Dd),
            // All of the target is computed: `of=$DISK`.
            Word::Computed(_) => {
                let start = target.trim_matches('"');
                let whole = start.starts_with('$') && !start.contains('/');
                (whole || is_device(start)).then_some(Category::Suspect)
            }
        }
    })
}

/// Anything but a request for help: an image file is refused as well.
fn mkfs(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "", &[]);
    (!options.operands.is_empty() || !options.computed.is_empty()).then_some(Category::Mkfs)
}

fn wipefs(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "", &[]);
    (options.has_short('a') || options.has_long("all", 1)).then_some(Category::Mkfs)
}

/// A device that holds data: below `/dev`, and none of the harmless ones.
fn is_device(path: &str) -> bool {
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let harmless = ["null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "ptmx"];
    match parts.as_slice() {
        ["dev", "fd" | "shm" | "pts" | "tcp" | "udp" | "mqueue", ..] => false,
        ["dev", name, ..] => path.starts_with('/') && !harmless.contains(name) && !name.starts_with("tty"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::check;
    use crate::category::Category;

    #[test]
    fn a_write_to_a_device_is_refused() {
        for text in [
            "dd if=a of=/dev/sda",
            "dd of=/dev/nvme0n1 if=image.iso status=progress",
            "dd if=a of=//dev/../dev/./sda",
            "shred -n 1 /dev/sda",
            "tee /dev/mmcblk0",
            "cp image.iso /dev/sdb",
            "dd if=a of=/dev/mapper/root",
        ] {
            assert_eq!(check(&command(text)), Some(Category::Dd), "{text}");
        }
    }

    #[test]
    fn a_redirection_to_a_device_is_refused() {
        let mut gunzip = command("gunzip -c img.gz");
        gunzip.writes.push(Word::Literal("/dev/sdb".to_owned()));
        assert_eq!(check(&gunzip), Some(Category::Dd));
        gunzip.writes = vec![Word::Literal("/dev/null".to_owned())];
        assert_eq!(check(&gunzip), None);
    }

    #[test]
    fn a_new_file_system_is_refused() {
        for text in
            ["mkfs /dev/sdb", "mkfs.ext4 /dev/sdb", "/sbin/mkfs.vfat -n BOOT /dev/sdc1", "wipefs -a /dev/sdb"]
        {
            assert_eq!(check(&command(text)), Some(Category::Mkfs), "{text}");
        }
    }

    #[test]
    fn what_only_reads_a_device_or_writes_a_file_passes() {
        for text in [
            "dd if=a of=b.img",
            "dd if=/dev/sda bs=512 count=1",
            "dd if=/dev/zero of=/dev/null",
            "ls -l /dev/sda",
            "mkfs --help",
            "mkfs",
            "wipefs /dev/sda",
            "cp /dev/sda image.img",
            "dd of=dev/sda if=a",
            "grep -n mkfs install.sh",
        ] {
            assert_eq!(check(&command(text)), None, "{text}");
        }
    }

    #[test]
    fn a_computed_target_is_suspect_when_nothing_of_it_is_known() {
        for (source, found) in [
            ("of=$DISK", Some(Category::Suspect)),
            ("of=\"$1\"", Some(Category::Suspect)),
            ("of=/dev/$DISK", Some(Category::Suspect)),
            ("of=\"$TMP/image\"", None),
            ("of=image-$N.img", None),
        ] {
            let mut dd = command("dd if=a");
            dd.words.push(Word::Computed(source.to_owned()));
            assert_eq!(check(&dd), found, "{source}");
        }
    }
}
