//! One script, command by command.

use portcullis_sdk::{Command, Pipeline, Script};

use crate::category::Category;
use crate::download::Flow;
use crate::exempt::Places;
use crate::finding::Finding;
use crate::settings::Settings;
use crate::{chmod, device, fork_bomb, git, infra, overwrite, power, program, rm, sql, windows};

/// Looks for the first command of a script that is refused.
pub(crate) struct Judge<'a> {
    settings: &'a Settings,
    script: &'a Script,
    /// Only where something is exempt.
    places: Option<Places<'a>>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(settings: &'a Settings, cwd: &'a str, script: &'a Script) -> Self {
        let globs = settings.exempt.as_slice();
        let places = (!globs.is_empty()).then(|| Places::of(globs, cwd, script));
        Self { settings, script, places }
    }

    pub(crate) fn first(&self) -> Option<Finding<'a>> {
        let mut flow = Flow::default();
        let mut before = None;
        let found = self.script.pipelines().iter().find_map(|pipeline| {
            let found = self.pipeline(pipeline, before, &mut flow);
            before = Some(pipeline);
            found
        })?;
        Some(found.or_quote(self.script.source()))
    }

    fn pipeline(
        &self,
        pipeline: &'a Pipeline,
        before: Option<&'a Pipeline>,
        flow: &mut Flow<'a>,
    ) -> Option<Finding<'a>> {
        flow.begin_pipeline();
        let mut fed = false;
        for (at, command) in pipeline.commands.iter().enumerate() {
            let name = program::name(command);
            let name = name.as_deref();
            if let Some(finding) = self.command(name, command) {
                return Some(finding);
            }
            let whole =
                flow.check(name, command, self.script).or_else(|| sql::check(name?, pipeline, at, &mut fed));
            if let Some(category) = whole.filter(|category| self.settings.blocks(*category)) {
                return Some(if pipeline.commands.len() > 1 {
                    Finding::of_pipeline(category, pipeline)
                } else {
                    Finding::new(category, &command.source)
                });
            }
        }
        let bomb = fork_bomb::check(pipeline, before).filter(|category| self.settings.blocks(*category))?;
        Some(Finding::new(bomb, self.script.source()))
    }

    fn command(&self, name: Option<&str>, command: &'a Command) -> Option<Finding<'a>> {
        let refused = |category: &Category| {
            self.settings.blocks(*category)
                && !self.places.as_ref().is_some_and(|places| places.allow(*category, command))
        };
        let finding = |category| Finding::new(category, &command.source);
        if !command.writes.is_empty() {
            let redirected = device::redirection(command).or_else(|| overwrite::redirection(name, command));
            if let Some(category) = redirected.filter(refused) {
                return Some(finding(category));
            }
        }
        let Some(name) = name else { return program::unknown(command).filter(refused).map(finding) };
        if let Some(category) = by_name(name, command).filter(refused) {
            return Some(finding(category));
        }
        let mut patterns = self.settings.patterns.iter();
        let pattern = patterns.find(|pattern| pattern.matches(name, command))?;
        Some(Finding::by_pattern(pattern, &command.source))
    }
}

/// What a program of this name, in lower case, does with these arguments.
pub(crate) fn by_name(name: &str, command: &Command) -> Option<Category> {
    match name {
        "rm" | "grm" => rm::rm(command),
        "find" | "gfind" => rm::find(command),
        "rsync" => rm::rsync(command),
        "rimraf" => (!command.args().is_empty()).then_some(Category::Rm),
        "git" | "hub" => git::check(command.args()),
        "chmod" => chmod::check(command),
        "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" | "systemctl" | "loginctl"
        | "kill" => power::check(name, command),
        "shred" | "cp" => device::check(name, command).or_else(|| overwrite::check(name, command)),
        "dd" | "tee" | "mke2fs" | "mkfs" | "newfs" | "mkswap" | "wipefs" | "blkdiscard" | "sgdisk"
        | "parted" | "sfdisk" | "cryptsetup" | "zpool" | "zfs" | "lvremove" | "vgremove" | "pvremove"
        | "lvreduce" | "btrfs" | "mdadm" | "nvme" | "hdparm" | "diskutil" => device::check(name, command),
        "truncate" | "srm" | "install" | "mv" | "crontab" => overwrite::check(name, command),
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
