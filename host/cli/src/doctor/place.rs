//! What is trusted, and the directories that have to be written to.

use portcullis::ConfigError;

use super::Finding;
use crate::args::Common;
use crate::environment::Environment;
use crate::printer;
use crate::trust::{self, Stands};

/// What is trusted of the project, and what of that is not as it was.
pub(super) fn trust(common: &Common, environment: &Environment) -> Vec<Finding> {
    const AGAIN: &str = "`portcullis trust add` shows it, and trusts it as it is now";
    let (parts, replaced) = match trust::overview_here(common, environment) {
        Ok(Some(seen)) => seen,
        Ok(None) => return Vec::new(),
        Err(error) if error.is::<ConfigError>() => return Vec::new(),
        Err(error) => {
            let remedy =
                "mend that; until then no project is trusted, and `portcullis trust status` looks again";
            return vec![Finding::fail("trust", format!("{error:#}"), remedy)];
        }
    };
    let mut findings = Vec::new();
    if replaced {
        let text = "another directory was trusted, which stood here before; nothing of this one is";
        findings.push(Finding::fail("trust", text, AGAIN));
    }
    findings.extend(parts.iter().map(|part| {
        let (subject, text) = (format!("trust in {}", printer::plain(&part.path)), part.stands.meaning());
        match part.stands {
            Stands::Trusted => Finding::ok(subject, text),
            Stands::Waits => {
                Finding::warn(subject, text, "`portcullis trust add` shows what it would do, and asks")
            }
            Stands::Changed | Stands::Kept => Finding::fail(subject, text, AGAIN),
            Stands::Gone => Finding::warn(subject, text, "`portcullis trust add` or `remove` forgets it"),
            Stands::Broken => Finding::warn(subject, text, "`portcullis trust status` says why"),
        }
    }));
    findings
}

/// The directories that have to be written to.
pub(super) fn places(environment: &Environment) -> Vec<Finding> {
    let places = [
        ("state", environment.state.as_ref(), "plugins keep nothing from one call to the next"),
        ("cache", environment.cache.as_ref(), "every call compiles its plugins anew, which takes far longer"),
    ];
    let mut findings = Vec::new();
    for (what, place, otherwise) in places {
        let Some(place) = place else {
            findings.push(Finding::warn(
                what,
                format!("there is no place for it: {otherwise}"),
                "set HOME to an absolute path",
            ));
            continue;
        };
        let tried = std::fs::create_dir_all(place).and_then(|()| {
            let probe = place.join(format!(".doctor-{}", std::process::id()));
            std::fs::write(&probe, b"")?;
            std::fs::remove_file(probe)
        });
        findings.push(match tried {
            Ok(()) => Finding::ok(what, format!("`{}` can be written", place.display())),
            Err(error) => Finding::warn(
                what,
                format!("`{}` cannot be written ({error}): {otherwise}", place.display()),
                "mend its permissions",
            ),
        });
    }
    findings
}
