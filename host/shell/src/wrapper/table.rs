//! The programs that run the program in their arguments, and how they are read.

/// How the arguments of a wrapper are read.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Words of which one row stands before the rest, as `exec` in `docker exec`.
    pub(super) verbs: &'static [&'static [&'static str]],
    /// One-letter options that take a value.
    pub(super) short: &'static str,
    /// Long options that take the next argument as their value.
    pub(super) long: &'static [&'static str],
    /// Arguments that stand before the program.
    pub(super) operands: usize,
    /// One-letter options with which it runs nothing, or a text instead of a program.
    pub(super) other: &'static str,
    /// `NAME=value` may stand before the program.
    pub(super) assigns: bool,
    /// The program stands behind `--`, when there is one.
    pub(super) dashes: bool,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    verbs: &[],
    short: "",
    long: &[],
    operands: 0,
    other: "",
    assigns: false,
    dashes: false,
};

/// The wrappers of that name. There are few enough to look at each; a process that judges
/// one call would wait longer for a table of them.
pub(super) fn named(name: &str) -> impl Iterator<Item = &'static Wrapper> {
    WRAPPERS.iter().filter(move |wrapper| wrapper.name == name)
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        short: "ugpCDRTUhrtac",
        long: &[
            "--user",
            "--group",
            "--prompt",
            "--close-from",
            "--chdir",
            "--chroot",
            "--command-timeout",
            "--other-user",
            "--host",
            "--role",
            "--type",
            "--auth-type",
            "--login-class",
        ],
        other: "elvVKk",
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "doas", short: "uCa", other: "L", assigns: true, ..PLAIN },
    Wrapper { name: "pkexec", long: &["--user"], ..PLAIN },
    Wrapper {
        name: "run0",
        short: "u",
        long: &["--user", "--unit", "--property", "--slice", "--chdir"],
        ..PLAIN
    },
    Wrapper { name: "env", short: "uC", long: &["--unset", "--chdir"], other: "S", assigns: true, ..PLAIN },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "setsid", ..PLAIN },
    Wrapper { name: "nice", short: "n", long: &["--adjustment"], ..PLAIN },
    Wrapper { name: "ionice", short: "cnpPu", long: &["--class", "--classdata"], ..PLAIN },
    Wrapper { name: "timeout", short: "ks", long: &["--kill-after", "--signal"], operands: 1, ..PLAIN },
    Wrapper { name: "gtimeout", short: "ks", long: &["--kill-after", "--signal"], operands: 1, ..PLAIN },
    Wrapper { name: "time", short: "fo", long: &["--format", "--output"], assigns: true, ..PLAIN },
    Wrapper { name: "stdbuf", short: "ioe", long: &["--input", "--output", "--error"], ..PLAIN },
    Wrapper { name: "exec", short: "a", ..PLAIN },
    Wrapper { name: "command", other: "vV", ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "noglob", ..PLAIN },
    Wrapper { name: "nocorrect", ..PLAIN },
    Wrapper { name: "chroot", operands: 1, ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
    Wrapper { name: "toybox", ..PLAIN },
    Wrapper {
        name: "xargs",
        short: "ILnPsdEa",
        long: &[
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--delimiter",
            "--arg-file",
            "--process-slot-var",
        ],
        ..PLAIN
    },
    Wrapper {
        name: "systemd-run",
        short: "putMHE",
        long: &[
            "--property",
            "--unit",
            "--uid",
            "--gid",
            "--slice",
            "--description",
            "--machine",
            "--host",
            "--setenv",
            "--working-directory",
            "--nice",
            "--on-active",
            "--on-calendar",
        ],
        ..PLAIN
    },
    Wrapper { name: "unshare", short: "SGRw", long: &["--setuid", "--setgid", "--root", "--wd"], ..PLAIN },
    Wrapper {
        name: "flock",
        short: "wE",
        long: &["--wait", "--timeout", "--conflict-exit-code"],
        operands: 1,
        other: "c",
        ..PLAIN
    },
    Wrapper { name: "strace", short: "aeEIoOpPsSuUbX", ..PLAIN },
    Wrapper { name: "ltrace", short: "aAeFlnopsuxwX", ..PLAIN },
    Wrapper { name: "taskset", operands: 1, ..PLAIN },
    Wrapper { name: "chrt", operands: 1, ..PLAIN },
    Wrapper { name: "setpriv", ..PLAIN },
    Wrapper { name: "unbuffer", ..PLAIN },
    Wrapper { name: "chronic", ..PLAIN },
    Wrapper { name: "fakeroot", short: "lsibu", ..PLAIN },
    Wrapper { name: "caffeinate", short: "tw", ..PLAIN },
    Wrapper { name: "torsocks", ..PLAIN },
    Wrapper { name: "proxychains", short: "f", ..PLAIN },
    Wrapper { name: "screen", short: "ScehtTp", ..PLAIN },
    Wrapper { name: "gosu", operands: 1, ..PLAIN },
    Wrapper { name: "su-exec", operands: 1, ..PLAIN },
    // Programs of a container, a machine or an environment of its own.
    Wrapper { verbs: IN_CONTAINER, short: DOCKER, long: DOCKER_LONG, name: "docker", operands: 1, ..PLAIN },
    Wrapper { verbs: IN_CONTAINER, short: DOCKER, long: DOCKER_LONG, name: "podman", operands: 1, ..PLAIN },
    Wrapper { verbs: IN_CONTAINER, short: DOCKER, long: DOCKER_LONG, name: "nerdctl", operands: 1, ..PLAIN },
    Wrapper {
        verbs: EXEC_OR_RUN,
        short: DOCKER,
        long: DOCKER_LONG,
        name: "docker-compose",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        verbs: EXEC_OR_RUN,
        short: DOCKER,
        long: DOCKER_LONG,
        name: "podman-compose",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        verbs: EXEC,
        short: KUBECTL,
        long: KUBECTL_LONG,
        name: "kubectl",
        operands: 1,
        dashes: true,
        ..PLAIN
    },
    Wrapper {
        verbs: RUN,
        short: KUBECTL,
        long: KUBECTL_LONG,
        name: "kubectl",
        operands: 1,
        dashes: true,
        ..PLAIN
    },
    Wrapper {
        verbs: EXEC,
        short: KUBECTL,
        long: KUBECTL_LONG,
        name: "oc",
        operands: 1,
        dashes: true,
        ..PLAIN
    },
    Wrapper { verbs: EXEC, name: "crictl", operands: 1, ..PLAIN },
    Wrapper { verbs: EXEC, name: "lxc", operands: 1, dashes: true, ..PLAIN },
    Wrapper { verbs: EXEC, name: "incus", operands: 1, dashes: true, ..PLAIN },
    Wrapper { verbs: EXEC, name: "multipass", operands: 1, dashes: true, ..PLAIN },
    Wrapper { verbs: &[&["enter"]], name: "distrobox", operands: 1, dashes: true, ..PLAIN },
    Wrapper { verbs: RUN, short: "cr", name: "toolbox", ..PLAIN },
    Wrapper {
        short: "tSG",
        long: &["--target", "--setuid", "--setgid", "--wd", "--root"],
        name: "nsenter",
        ..PLAIN
    },
    Wrapper {
        short: "DMu",
        long: &["--directory", "--machine", "--user", "--bind"],
        name: "systemd-nspawn",
        ..PLAIN
    },
    Wrapper { name: "firejail", ..PLAIN },
    Wrapper { short: "rbqw", name: "proot", ..PLAIN },
    Wrapper { verbs: &[&["shell"]], name: "adb", ..PLAIN },
    Wrapper { short: "edu", long: &["--exec", "--distribution", "--user", "--cd"], name: "wsl", ..PLAIN },
    // Programs of a package or of a tool's environment.
    Wrapper { short: "p", long: &["--package"], other: "c", name: "npx", ..PLAIN },
    Wrapper { short: "p", long: &["--package"], name: "bunx", ..PLAIN },
    Wrapper { short: "p", long: &["--package"], name: "pnpx", ..PLAIN },
    Wrapper { long: &["--from", "--with", "--python"], short: "p", name: "uvx", ..PLAIN },
    Wrapper { verbs: &[&["exec"], &["x"]], other: "c", long: &["--package"], name: "npm", ..PLAIN },
    Wrapper { verbs: &[&["exec"], &["dlx"]], other: "c", long: &["--package"], name: "pnpm", ..PLAIN },
    Wrapper { verbs: &[&["exec"], &["dlx"]], short: "p", long: &["--package"], name: "yarn", ..PLAIN },
    Wrapper { verbs: &[&["x"]], name: "bun", ..PLAIN },
    Wrapper {
        verbs: RUN,
        long: &["--with", "--python", "--project", "--directory", "--env-file"],
        short: "p",
        name: "uv",
        ..PLAIN
    },
    Wrapper { verbs: RUN, name: "poetry", ..PLAIN },
    Wrapper { verbs: RUN, name: "pipenv", ..PLAIN },
    Wrapper { verbs: RUN, name: "pdm", ..PLAIN },
    Wrapper { verbs: RUN, short: "np", long: &["--name", "--prefix"], name: "conda", ..PLAIN },
    Wrapper { verbs: RUN, short: "np", long: &["--name", "--prefix"], name: "mamba", ..PLAIN },
    Wrapper { verbs: EXEC, name: "bundle", ..PLAIN },
    Wrapper { verbs: EXEC, name: "rbenv", ..PLAIN },
    Wrapper { verbs: EXEC, name: "pyenv", ..PLAIN },
    Wrapper { verbs: EXEC, name: "asdf", ..PLAIN },
    Wrapper { verbs: &[&["exec"], &["x"]], name: "mise", dashes: true, ..PLAIN },
    Wrapper { verbs: EXEC, operands: 1, name: "direnv", ..PLAIN },
    Wrapper { verbs: EXEC, operands: 1, name: "aws-vault", dashes: true, ..PLAIN },
    Wrapper { verbs: RUN, name: "op", dashes: true, ..PLAIN },
    Wrapper { verbs: RUN, name: "doppler", dashes: true, ..PLAIN },
    Wrapper {
        verbs: &[&["bisect", "run"]],
        short: "Cc",
        long: &["--git-dir", "--work-tree"],
        name: "git",
        ..PLAIN
    },
    Wrapper { short: "ndrcsp", name: "entr", ..PLAIN },
    Wrapper { short: "wie", long: &["--watch", "--exts", "--ignore"], name: "watchexec", ..PLAIN },
    Wrapper { long: &["--title", "--app-id"], name: "xvfb-run", short: "nefs", ..PLAIN },
    Wrapper { name: "dbus-run-session", ..PLAIN },
    Wrapper { name: "ssh-agent", ..PLAIN },
    Wrapper { name: "aa-exec", short: "p", ..PLAIN },
    Wrapper { name: "prlimit", ..PLAIN },
    Wrapper { name: "numactl", short: "NmClip", ..PLAIN },
    Wrapper { name: "perf", verbs: &[&["stat"], &["record"]], short: "eopFrC", ..PLAIN },
    Wrapper { name: "valgrind", ..PLAIN },
    Wrapper {
        name: "bwrap",
        long: &["--bind", "--ro-bind", "--dev", "--proc", "--chdir", "--tmpfs"],
        ..PLAIN
    },
    Wrapper { name: "start-stop-daemon", other: "", dashes: true, ..PLAIN },
];

const EXEC: &[&[&str]] = &[&["exec"]];
const RUN: &[&[&str]] = &[&["run"]];
const EXEC_OR_RUN: &[&[&str]] = &[&["exec"], &["run"]];
const IN_CONTAINER: &[&[&str]] = &[
    &["exec"],
    &["run"],
    &["create"],
    &["container", "exec"],
    &["container", "run"],
    &["compose", "exec"],
    &["compose", "run"],
];
const DOCKER: &str = "cHlefhuvwpam";
const DOCKER_LONG: &[&str] = &[
    "--add-host",
    "--cap-add",
    "--cap-drop",
    "--config",
    "--context",
    "--cpus",
    "--detach-keys",
    "--device",
    "--dns",
    "--entrypoint",
    "--env",
    "--env-file",
    "--expose",
    "--file",
    "--gpus",
    "--group-add",
    "--host",
    "--hostname",
    "--index",
    "--ipc",
    "--label",
    "--link",
    "--log-driver",
    "--memory",
    "--mount",
    "--name",
    "--network",
    "--network-alias",
    "--pid",
    "--pids-limit",
    "--platform",
    "--privileged-user",
    "--profile",
    "--project-directory",
    "--project-name",
    "--publish",
    "--pull",
    "--restart",
    "--runtime",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--user",
    "--userns",
    "--volume",
    "--volumes-from",
    "--workdir",
];
const KUBECTL: &str = "cfns";
const KUBECTL_LONG: &[&str] = &[
    "--container",
    "--context",
    "--filename",
    "--image",
    "--kubeconfig",
    "--namespace",
    "--server",
    "--user",
];
