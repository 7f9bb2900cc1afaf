//! Turning the machine off.

use portcullis_sdk::Command;

use crate::category::Category;
use crate::options::Options;

pub(crate) fn check(name: &str, command: &Command) -> Option<Category> {
    let options =
        || Options::of(command.args(), "tHMPns", &["type", "host", "machine", "property", "signal"]);
    let stops = match name {
        "shutdown" => {
            let plain = Options::of(command.args(), "", &[]);
            // `-c` and Windows' `/a` call a shutdown off, `-k` only warns.
            let harmless = plain.has_short('c') || plain.has_short('k');
            let windows = plain.operands.iter().any(|word| ["/a", "/?"].contains(word));
            !asks_for_help(&plain) && !harmless && !windows
        }
        "reboot" | "halt" | "poweroff" => !asks_for_help(&Options::of(command.args(), "", &[])),
        "init" | "telinit" => options().operands.first().is_some_and(|level| ["0", "6"].contains(level)),
        // Every process that there is.
        "kill" => command.args().len() > 1 && command.literals().last() == Some("-1"),
        "systemctl" | "loginctl" => options().operands.first().is_some_and(|verb| {
            ["reboot", "poweroff", "halt", "kexec", "soft-reboot", "emergency", "rescue"].contains(verb)
        }),
        _ => false,
    };
    stops.then_some(Category::Power)
}

fn asks_for_help(options: &Options<'_>) -> bool {
    options.has_long("help", 4) || options.has_long("version", 4)
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
    fn turning_the_machine_off_is_refused() {
        for text in [
            "reboot",
            "halt",
            "poweroff -f",
            "shutdown now",
            "shutdown -r +5",
            "init 0",
            "telinit 6",
            "systemctl reboot",
            "systemctl --no-wall poweroff",
            "shutdown /s /t 0",
            "kill -9 -1",
        ] {
            assert_eq!(judged(text), Some(Category::Power), "{text}");
        }
    }

    #[test]
    fn a_word_that_is_not_the_command_passes() {
        for text in [
            "grep reboot log",
            "vim docs/reboot.md",
            "curl -s http://localhost:8080/admin/shutdown-status",
            "shutdown -c",
            "shutdown --help",
            "reboot --version",
            "init 3",
            "git init 0",
            "systemctl status reboot",
            "npm run halt",
            "shutdown /a",
            "kill -9 123",
            "kill -1",
        ] {
            assert_eq!(judged(text), None, "{text}");
        }
    }
}
