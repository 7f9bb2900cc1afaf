//! Infrastructure and stored data behind a command line of its own.

use portcullis_sdk::Command;

use crate::category::Category;
use crate::options::Options;

pub(crate) fn check(name: &str, command: &Command) -> Option<Category> {
    let words = Words(command);
    let destroys = match name {
        "terraform" | "tofu" | "terragrunt" => terraform(&words),
        "pulumi" => words.begins(&["destroy"]) || words.begins(&["stack", "rm"]),
        "cdk" | "cdktf" | "sst" | "serverless" | "sls" => {
            words.begins(&["destroy"]) || words.begins(&["remove"])
        }
        "vagrant" => words.begins(&["destroy"]),
        "docker" | "podman" | "nerdctl" => docker(&words),
        "docker-compose" | "podman-compose" => compose(&words),
        "kubectl" | "oc" | "k" => kubectl(&words),
        "aws" => aws(&words),
        "gcloud" | "az" | "doctl" | "ibmcloud" | "oci" | "hcloud" | "linode-cli" => {
            (words.has_operand("delete") || words.has_operand("purge")) && !words.has_operand("help")
                || (name == "gcloud"
                    && words.begins(&["storage", "rm"])
                    && words.has(&["-r", "-R", "--recursive"]))
        }
        "gsutil" => words.has_operand("rm") && words.has(&["-r", "-R", "-a"]) || words.has_operand("rb"),
        "s3cmd" => words.has_operand("rb") || words.has_operand("del") && words.has(&["-r", "--recursive"]),
        "mc" => words.has_operand("rb") || words.has_operand("rm") && words.has(&["-r", "--recursive"]),
        "rclone" => {
            ["purge", "delete", "sync"].iter().any(|verb| words.begins(&[verb]))
                && !words.has(&["--dry-run", "-n"])
        }
        "restic" | "borg" => {
            words.begins(&["delete"]) || words.begins(&["forget"]) && words.has(&["--prune"])
        }
        "gh" => gh(&words),
        "glab" => words.begins(&["repo", "delete"]),
        "heroku" => words
            .operands()
            .next()
            .is_some_and(|verb| matches!(verb, "apps:destroy" | "destroy" | "pg:reset" | "addons:destroy")),
        "fly" | "flyctl" => words.has_operand("destroy"),
        _ => false,
    };
    destroys.then_some(Category::Infra)
}

/// The words of a command whose options are not known one by one.
struct Words<'a>(&'a Command);

impl<'a> Words<'a> {
    fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.0.literals().filter(|word| !word.starts_with('-'))
    }

    /// Whether the operands begin so; one value of an option may stand before.
    fn begins(&self, wanted: &[&str]) -> bool {
        let from = |skip: usize| self.operands().skip(skip).take(wanted.len()).eq(wanted.iter().copied());
        let leads = self.0.literals().next().is_some_and(|word| word.starts_with('-'));
        from(0) || (leads && from(1))
    }

    fn has_operand(&self, wanted: &str) -> bool {
        self.operands().any(|word| word == wanted)
    }

    fn has(&self, wanted: &[&str]) -> bool {
        self.0.literals().any(|word| wanted.contains(&word))
    }
}

fn terraform(words: &Words<'_>) -> bool {
    let plans = || words.has(&["-destroy", "--destroy"]) && words.begins(&["apply"]);
    let forgets = words.begins(&["state", "rm"]) || words.begins(&["workspace", "delete"]);
    words.begins(&["destroy"]) || words.begins(&["run-all", "destroy"]) || plans() || forgets
}

/// Volumes hold data; a container or an image is made again.
fn docker(words: &Words<'_>) -> bool {
    let prunes = ["system", "volume"].iter().any(|what| words.begins(&[what, "prune"]));
    let removes = words.begins(&["volume", "rm"]) || words.begins(&["volume", "remove"]);
    let composes = words.begins(&["compose"]) && compose(words);
    let leaves = words.begins(&["swarm", "leave"]) && words.has(&["-f", "--force"]);
    let stacks = words.begins(&["stack", "rm"]);
    prunes || removes || composes || leaves || stacks
}

fn compose(words: &Words<'_>) -> bool {
    let volumes = words.has(&["-v", "--volumes"]);
    volumes && (words.has_operand("down") || words.has_operand("rm"))
}

/// What takes other things or data with it; a pod comes back.
fn kubectl(words: &Words<'_>) -> bool {
    if !words.has_operand("delete") && !words.begins(&["drain"]) {
        return false;
    }
    if words.0.literals().any(|word| word.starts_with("--dry-run")) {
        return false;
    }
    let mut behind = words.operands().skip_while(|word| *word != "delete").skip(1);
    let kinds = behind.next().unwrap_or_default();
    let precious = kinds.split([',', '/']).any(|kind| {
        matches!(
            kind,
            "ns" | "namespace"
                | "namespaces"
                | "pv"
                | "pvc"
                | "persistentvolume"
                | "persistentvolumes"
                | "persistentvolumeclaim"
                | "persistentvolumeclaims"
                | "crd"
                | "crds"
                | "customresourcedefinition"
                | "customresourcedefinitions"
                | "node"
                | "nodes"
                | "statefulset"
                | "statefulsets"
                | "sts"
                | "all"
        )
    });
    precious || words.has(&["--all", "-A", "--all-namespaces"])
}

fn aws(words: &Words<'_>) -> bool {
    if words.has(&["--dryrun", "--dry-run", "help"]) {
        return false;
    }
    let Some((service, verb)) = pair(words) else { return false };
    match (service, verb) {
        ("s3", "rm") => words.has(&["--recursive"]),
        ("s3", "rb") => true,
        ("s3", "sync") => words.has(&["--delete"]),
        (
            _,
            "terminate-instances" | "terminate-environment" | "terminate-job-flows" | "schedule-key-deletion",
        ) => true,
        (_, verb) => verb.strip_prefix("delete-").is_some_and(|what| {
            [
                "db-",
                "table",
                "stack",
                "bucket",
                "cluster",
                "file-system",
                "volume",
                "snapshot",
                "hosted-zone",
                "vpc",
                "user-pool",
                "repository",
                "log-group",
                "backup",
                "domain",
                "function",
                "secret",
                "nodegroup",
                "replication-group",
                "cache-cluster",
                "stream",
                "queue",
                "key",
            ]
            .iter()
            .any(|start| what.starts_with(start))
        }),
    }
}

/// Service and verb, wherever the global options stand.
fn pair<'a>(words: &Words<'a>) -> Option<(&'a str, &'a str)> {
    let options =
        Options::of(words.0.args(), "", &["profile", "region", "output", "endpoint-url", "query", "color"]);
    Some((options.operands.first().copied()?, options.operands.get(1).copied()?))
}

fn gh(words: &Words<'_>) -> bool {
    if words.begins(&["api"]) {
        let deletes = words.0.args().iter().any(|word| {
            let text = word.text();
            text.eq_ignore_ascii_case("DELETE")
                || text.eq_ignore_ascii_case("-XDELETE")
                || text.eq_ignore_ascii_case("--method=DELETE")
        });
        // A repository itself, and not a label or a comment in it.
        let path = words.operands().find(|word| word.trim_start_matches('/').starts_with("repos/"));
        return deletes && path.is_some_and(|path| path.trim_matches('/').split('/').count() == 3);
    }
    words.begins(&["repo", "delete"]) || words.begins(&["release", "delete"])
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::command;

    use super::check;
    use crate::category::Category;

    fn judged(text: &str) -> Option<Category> {
        let command = command(text);
        check(command.program().unwrap(), &command)
    }

    #[test]
    fn what_destroys_infrastructure_is_refused() {
        for text in [
            "terraform destroy -auto-approve",
            "terraform -chdir=prod destroy",
            "terraform apply -destroy",
            "pulumi destroy --yes",
            "docker system prune -af --volumes",
            "docker volume prune -f",
            "docker volume rm data",
            "docker compose down -v",
            "docker compose -f x.yml down --volumes",
            "docker-compose down -v",
            "kubectl delete ns prod",
            "kubectl -n prod delete pvc data",
            "kubectl delete pods --all",
            "kubectl delete namespace/prod",
            "aws s3 rm s3://b/x --recursive",
            "aws s3 rb s3://b --force",
            "aws --region eu-west-1 ec2 terminate-instances --instance-ids i",
            "aws rds delete-db-instance --db-instance-identifier x",
            "gcloud projects delete x",
            "gcloud compute instances delete x --quiet",
            "az group delete -n x",
            "gsutil -m rm -r gs://b",
            "gh repo delete team/app --yes",
            "gh api -X DELETE repos/team/app",
            "heroku apps:destroy x",
            "fly apps destroy x",
            "vagrant destroy -f",
        ] {
            assert_eq!(judged(text), Some(Category::Infra), "{text}");
        }
    }

    #[test]
    fn what_only_looks_or_is_made_again_passes() {
        for text in [
            "terraform plan -destroy",
            "terraform apply",
            "docker rm -f api-test",
            "docker run --rm -v ./data:/data alpine cat /data/x",
            "docker compose down",
            "docker image prune -af",
            "docker build --rm -f Dockerfile.dev .",
            "kubectl get pods -l app=rm-rf-demo",
            "kubectl delete pod web-1",
            "kubectl delete ns x --dry-run=client",
            "kubectl delete -f x.yaml",
            "aws s3 ls",
            "aws s3 rm s3://b/x",
            "aws s3 rm s3://b --recursive --dryrun",
            "aws ec2 delete-tags --resources i",
            "gcloud projects list",
            "gh repo view",
            "gh api -X DELETE repos/team/app/labels/bug",
            "heroku ps",
            "rclone copy a b",
        ] {
            assert_eq!(judged(text), None, "{text}");
        }
    }
}
