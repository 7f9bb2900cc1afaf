//! Writes to a raw device.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::options::Options;

/// A redirection into a device.
pub(crate) fn redirection(command: &Command) -> Option<Category> {
    let mut files = command.writes.iter().filter_map(Word::literal);
    files.find_map(|file| match file {
        "/proc/sysrq-trigger" => Some(Category::Power),
        _ => is_device(file).then_some(Category::Dd),
    })
}

pub(crate) fn check(name: &str, command: &Command) -> Option<Category> {
    let has = |words: &[&str]| command.literals().any(|word| words.contains(&word));
    let on_device = || command.literals().any(is_device);
    match name {
        "dd" => dd(command),
        "shred" | "tee" => on_device().then_some(Category::Dd),
        "cp" => command.literals().last().is_some_and(is_device).then_some(Category::Dd),
        "mke2fs" | "mkfs" | "newfs" | "mkswap" => mkfs(command),
        "wipefs" => wipefs(command),
        "blkdiscard" => Some(Category::Mkfs),
        "sgdisk" => has(&["-Z", "-z", "-o", "--zap-all", "--zap", "--clear"]).then_some(Category::Device),
        "parted" => has(&["mklabel", "mktable", "rm", "mkpart", "resizepart"]).then_some(Category::Device),
        "sfdisk" => (on_device() && !has(&["-l", "--list", "-d", "--dump", "-V", "--verify", "-s"]))
            .then_some(Category::Device),
        "cryptsetup" => has(&["luksFormat", "luksErase", "erase", "reencrypt"]).then_some(Category::Device),
        "zpool" | "zfs" => has(&["destroy", "labelclear", "rollback"]).then_some(Category::Device),
        "lvremove" | "vgremove" | "pvremove" | "lvreduce" => {
            (!has(&["-t", "--test", "--help"])).then_some(Category::Device)
        }
        "btrfs" => has(&["delete"]).then_some(Category::Device),
        "mdadm" => has(&["--zero-superblock"]).then_some(Category::Device),
        "nvme" => has(&["format", "sanitize"]).then_some(Category::Device),
        "hdparm" => command
            .literals()
            .any(|word| word.starts_with("--security-erase") || word.starts_with("--trim-sector"))
            .then_some(Category::Device),
        "diskutil" => command
            .literals()
            .next()
            .is_some_and(|verb| {
                let verb = verb.to_ascii_lowercase();
                ["erase", "zerodisk", "randomdisk", "secureerase", "partitiondisk", "reformat"]
                    .iter()
                    .any(|start| verb.starts_with(start))
            })
            .then_some(Category::Device),
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
pub(crate) fn mkfs(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "", &[]);
    (!options.operands.is_empty() || !options.computed.is_empty()).then_some(Category::Mkfs)
}

fn wipefs(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "o", &["offset"]);
    let wipes = options.has_short('a') || options.has_long("all", 1) || options.has_short('o');
    (wipes && !options.has_short('n') && !options.has_long("no-act", 2)).then_some(Category::Mkfs)
}

/// A device that holds data: below `/dev`, and none of the harmless ones.
pub(crate) fn is_device(path: &str) -> bool {
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

    use super::{mkfs, redirection};
    use crate::category::Category;

    fn check(command: &portcullis_sdk::Command) -> Option<Category> {
        super::check(command.program().unwrap(), command)
    }

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
        assert_eq!(redirection(&gunzip), Some(Category::Dd));
        gunzip.writes = vec![Word::Literal("/dev/null".to_owned())];
        assert_eq!(redirection(&gunzip), None);
        gunzip.writes = vec![Word::Literal("/proc/sysrq-trigger".to_owned())];
        assert_eq!(redirection(&gunzip), Some(Category::Power));
    }

    #[test]
    fn a_new_file_system_is_refused() {
        for text in ["mkfs /dev/sdb", "wipefs -a /dev/sdb", "mkswap /dev/sdb1"] {
            assert_eq!(check(&command(text)), Some(Category::Mkfs), "{text}");
        }
        assert_eq!(mkfs(&command("/sbin/mkfs.vfat -n BOOT /dev/sdc1")), Some(Category::Mkfs));
    }

    #[test]
    fn a_destroyed_partition_or_volume_is_refused() {
        for text in [
            "sgdisk --zap-all /dev/sda",
            "parted -s /dev/sda mklabel gpt",
            "sfdisk /dev/sda",
            "cryptsetup luksFormat /dev/sda2",
            "zpool destroy tank",
            "lvremove -f vg/data",
            "nvme format /dev/nvme0n1",
            "diskutil eraseDisk APFS x disk2",
        ] {
            assert_eq!(check(&command(text)), Some(Category::Device), "{text}");
        }
        for text in [
            "sgdisk -p /dev/sda",
            "parted -l",
            "sfdisk -d /dev/sda",
            "zfs list",
            "diskutil list",
            "nvme list",
        ] {
            assert_eq!(check(&command(text)), None, "{text}");
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
