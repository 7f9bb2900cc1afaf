//! Tells the model the date and the time, which it is otherwise confidently
//! wrong about.

mod civil;

use portcullis_sdk::{Call, Claims, Error, Info, Output, Plugin, Tool, ToolDefinition, clock, export_plugin};

struct Time;

impl Plugin for Time {
    fn describe() -> Info {
        Info::new("time", "Tells the model the date and the time.").version(env!("CARGO_PKG_VERSION"))
    }
}

impl Tool for Time {
    fn list_tools() -> Vec<ToolDefinition> {
        vec![
            ToolDefinition::new(
                "current_time",
                "The current date and time: an ISO 8601 stamp, and the same in words with the local time zone.",
                r#"{"type":"object","properties":{},"additionalProperties":false}"#,
            )
            .auto_approve(),
        ]
    }

    fn claims_of(_call: &Call<'_>) -> Claims {
        Claims::read_only()
    }

    fn call_tool(_call: &Call<'_>) -> Result<Output, Error> {
        let now = clock::now();
        let local = civil::Local::of(&now);
        Ok(Output::text(format!("{}\n{}", local.iso8601(), local.in_words(&now.zone))))
    }
}

export_plugin!(Time: tool);

#[cfg(test)]
mod tests {
    use portcullis_sdk::clock::Moment;
    use portcullis_sdk::testing::{CallBuilder, set_now};
    use portcullis_sdk::{Output, Tool};

    use super::Time;

    #[test]
    fn the_time_is_told_as_a_stamp_and_in_words() {
        set_now(Moment::new(1_796_001_360, 3600, "Europe/Berlin"));
        let output = Time::call_tool(&CallBuilder::new("current_time").build()).unwrap();
        let told = "2026-11-30T02:16:00+01:00\nMonday, 30 November 2026, 02:16:00 (Europe/Berlin, UTC+01:00)";
        assert_eq!(output, Output::text(told));
    }
}
