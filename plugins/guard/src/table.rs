//! What each program does with its arguments.

use portcullis_sdk::Command;

use crate::category::Category;
use crate::{chmod, device, git, infra, overwrite, power, rm, windows};

/// What a program of this name, in lower case, does with these arguments.
pub(crate) fn by_name(name: &str, command: &Command) -> Option<Category> {
    match name {
        "rm" | "grm" => rm::rm(command),
        "find" | "gfind" => rm::find(command),
        "rsync" => rm::rsync(command),
        "rimraf" => (!command.args().is_empty()).then_some(Category::Rm),
        "git" | "hub" => git::of(command),
        "chmod" => chmod::check(command),
        "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" | "systemctl" | "loginctl"
        | "kill" => power::check(name, command),
        "shred" | "cp" => device::check(name, command).or_else(|| overwrite::check(name, command)),
        "dd" | "tee" | "mke2fs" | "mkfs" | "newfs" | "mkswap" | "wipefs" | "blkdiscard" | "sgdisk"
        | "parted" | "sfdisk" | "cryptsetup" | "zpool" | "zfs" | "lvremove" | "vgremove" | "pvremove"
        | "lvreduce" | "btrfs" | "mdadm" | "nvme" | "hdparm" | "diskutil" => device::check(name, command),
        "install" | "mkdir" => chmod::option(command).or_else(|| overwrite::check(name, command)),
        "truncate" | "srm" | "mv" | "crontab" => overwrite::check(name, command),
        "remove-item"
        | "ri"
        | "rd"
        | "rmdir"
        | "del"
        | "erase"
        | "clear-recyclebin"
        | "clear-content"
        | "clc"
        | "format"
        | "format-volume"
        | "initialize-disk"
        | "clear-disk"
        | "remove-partition"
        | "diskpart"
        | "stop-computer"
        | "restart-computer"
        | "remove-azresourcegroup" => windows::check(name, command),
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" | "cdktf" | "sst" | "serverless" | "sls"
        | "vagrant" | "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "kubectl"
        | "oc" | "k" | "aws" | "gcloud" | "az" | "doctl" | "ibmcloud" | "oci" | "hcloud" | "linode-cli"
        | "gsutil" | "s3cmd" | "mc" | "rclone" | "restic" | "borg" | "gh" | "glab" | "heroku" | "fly"
        | "flyctl" => infra::check(name, command),
        _ if name.starts_with("mkfs.") || name.starts_with("newfs_") => device::mkfs(command),
        _ => None,
    }
}

/// Whether a program of this name is worth a second look where its name is not
/// certain to be one.
pub(crate) fn knows(name: &str) -> bool {
    matches!(
        name,
        "rm" | "grm"
            | "find"
            | "git"
            | "chmod"
            | "shutdown"
            | "reboot"
            | "halt"
            | "poweroff"
            | "systemctl"
            | "dd"
            | "shred"
            | "tee"
            | "mkfs"
            | "wipefs"
            | "rsync"
            | "rimraf"
            | "lvremove"
            | "vgremove"
            | "pvremove"
            | "zpool"
            | "zfs"
            | "truncate"
            | "terraform"
            | "tofu"
            | "pulumi"
            | "docker"
            | "podman"
            | "kubectl"
            | "aws"
            | "gcloud"
            | "gsutil"
            | "gh"
            | "remove-item"
            | "ri"
            | "rd"
            | "del"
            | "format-volume"
            | "stop-computer"
    ) || name.starts_with("mkfs.")
}
