//! Rings the terminal's bell when a turn ends.

use portcullis_sdk::{Error, Hook, Info, Plugin, export_plugin, terminal};

struct Bell;

impl Plugin for Bell {
    fn describe() -> Info {
        Info::new("bell", "Rings the terminal's bell when a turn ends.").version(env!("CARGO_PKG_VERSION"))
    }
}

impl Hook for Bell {
    fn after_turn(_session_id: &str) -> Result<(), Error> {
        terminal::bell();
        Ok(())
    }
}

export_plugin!(Bell: hook);

#[cfg(test)]
mod tests {
    use portcullis_sdk::{Hook, testing};

    use super::Bell;

    #[test]
    fn a_turn_that_ends_rings_once() {
        Bell::after_turn("s").unwrap();
        assert_eq!(testing::bells(), 1);
    }

    #[test]
    fn no_event_is_asked_for() {
        assert!(Bell::subscriptions().is_empty());
    }
}
