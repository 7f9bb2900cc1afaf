//! Programs that run the program in their arguments.

use crate::{expand::Field, text::Text};

/// How the arguments of a wrapper are read.
struct Wrapper {
    name: &'static str,
    /// One-letter options that take a value.
    short: &'static str,
    /// Long options that take the next argument as their value.
    long: &'static [&'static str],
    /// Arguments that stand before the program.
    operands: usize,
    /// One-letter options with which it runs nothing, or a text instead of a program.
    other: &'static str,
    /// `NAME=value` may stand before the program.
    assigns: bool,
}

const PLAIN: Wrapper = Wrapper { name: "", short: "", long: &[], operands: 0, other: "", assigns: false };

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
    Wrapper { name: "time", short: "fo", long: &["--format", "--output"], ..PLAIN },
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
    Wrapper { name: "gosu", operands: 1, ..PLAIN },
    Wrapper { name: "su-exec", operands: 1, ..PLAIN },
];

/// What is left of a command when its wrappers are off.
#[derive(Debug, Default)]
pub(crate) struct Peeled {
    /// Where the program is.
    pub(crate) start: usize,
    pub(crate) via: Vec<String>,
    pub(crate) assignments: Vec<(String, Text)>,
    /// The innermost wrapper puts the words of its standard input behind the program.
    pub(crate) appends: bool,
}

pub(crate) fn peel(fields: &[Field]) -> Peeled {
    let mut peeled = Peeled::default();
    while let Some(name) = fields.get(peeled.start).and_then(Field::known) {
        let name = basename(name);
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else { break };
        let mut assignments = Vec::new();
        let rest = fields.get(peeled.start + 1..).unwrap_or_default();
        let Some((length, replaces)) = arguments(wrapper, rest, &mut assignments) else { break };
        if length >= rest.len() {
            break;
        }
        peeled.start += 1 + length;
        peeled.via.push(wrapper.name.to_owned());
        peeled.assignments.append(&mut assignments);
        peeled.appends = wrapper.name == "xargs" && !replaces;
    }
    peeled
}

/// How many arguments are the wrapper's own; whether it has its own way to use
/// its standard input. `None` when it runs no program.
fn arguments(
    wrapper: &Wrapper,
    rest: &[Field],
    assignments: &mut Vec<(String, Text)>,
) -> Option<(usize, bool)> {
    let mut at = 0;
    let mut replaces = false;
    while let Some(text) = rest.get(at).and_then(Field::known) {
        if text == "--" {
            at += 1;
            break;
        }
        if text.starts_with("--") {
            if wrapper.name == "env" && text.starts_with("--split-string") {
                return None;
            }
            replaces |= text.starts_with("--replace") || text.starts_with("--arg-file");
            at += if wrapper.long.contains(&text) { 2 } else { 1 };
            continue;
        }
        let Some(letters) = text.strip_prefix('-') else { break };
        at += 1;
        for (index, letter) in letters.char_indices() {
            if wrapper.other.contains(letter) {
                return None;
            }
            replaces |= wrapper.name == "xargs" && matches!(letter, 'I' | 'i' | 'a');
            if wrapper.short.contains(letter) {
                // The value is the rest of the argument, or the next one.
                if index + letter.len_utf8() == letters.len() {
                    at += 1;
                }
                break;
            }
        }
    }
    if wrapper.assigns {
        while let Some((name, value)) = rest.get(at).and_then(|field| field.text.assignment()) {
            assignments.push((name, value));
            at += 1;
        }
    }
    Some((at + wrapper.operands, replaces))
}

/// The last component of a path.
pub(crate) fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
