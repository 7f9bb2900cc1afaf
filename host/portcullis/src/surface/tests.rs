#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use proptest::prelude::*;
use proptest::sample::subsequence;

use portcullis_model::extension::ToolTraits;

use super::*;

fn tool(name: &str, description: &str, serves: &[Domain]) -> ToolEntry {
    ToolEntry {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({ "type": "object", "properties": {} }),
        traits: ToolTraits { serves: serves.iter().cloned().collect(), ..ToolTraits::default() },
    }
}

fn always(mut tool: ToolEntry) -> ToolEntry {
    tool.traits.always_loaded = true;
    tool
}

fn card(mut tool: ToolEntry) -> ToolEntry {
    tool.traits.presents_card = true;
    tool
}

fn tools() -> Vec<ToolEntry> {
    let mut forecast = tool("weather_forecast", "Tells the weather. By place and day.", &[Domain::LiveData]);
    forecast.schema = json!({ "properties": { "city": { "description": "a town" } } });
    vec![
        always(tool("read", "Reads a file.", &[Domain::Filesystem])),
        card(tool("chart_card", "Shows a chart.", &[])),
        forecast,
        tool("fetchPage", "Fetches e.g. a page of the web! Slowly.", &[Domain::Web]),
        tool("git_log", "Shows history", &[Domain::Vcs]),
        tool("undeclared", "Did not say.", &[]),
    ]
}

fn reading(needs: &[Domain]) -> Reading {
    Reading { needs: needs.iter().cloned().collect(), ..Reading::default() }
}

fn names<'t>(tools: impl IntoIterator<Item = &'t ToolEntry>) -> Vec<&'t str> {
    tools.into_iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn what_a_turn_needs_is_shown_and_everything_can_be_called() {
    let web = Surface::new(tools(), Some(&reading(&[Domain::Web])));
    assert_eq!(names(web.shown()), ["fetchPage", "read", "undeclared"]);
    assert_eq!(names(web.deferred()), ["chart_card", "git_log", "weather_forecast"]);
    for tool in tools() {
        assert!(web.get(&tool.name).is_some());
    }
    assert!(web.get("nope").is_none());
    let mut card = reading(&[]);
    card.cards.insert("chart_card".to_owned());
    assert_eq!(names(Surface::new(tools(), Some(&card)).shown()), ["chart_card", "read", "undeclared"]);
}

#[test]
fn without_a_reading_everything_is_shown_and_there_is_no_catalogue() {
    let all = Surface::new(tools(), None);
    assert_eq!((all.shown().count(), all.deferred().count(), all.catalogue()), (6, 0, String::new()));
    assert_eq!(all.definitions(false).len(), 6);
}

#[test]
fn the_catalogue_is_sorted_and_has_the_first_sentence() {
    let catalogue = Surface::new(tools(), Some(&reading(&[]))).catalogue();
    let lines: Vec<_> = catalogue.lines().skip(4).collect();
    assert!(catalogue.starts_with("## More tools\n"), "{catalogue}");
    assert_eq!(
        lines,
        [
            "- chart_card: Shows a chart.",
            "- fetchPage: Fetches e.g. a page of the web!",
            "- git_log: Shows history",
            "- weather_forecast: Tells the weather."
        ]
    );
    let more = tools().into_iter().chain([tool("zip", "Zips.", &[Domain::Filesystem])]);
    assert_ne!(Surface::new(more, Some(&reading(&[]))).catalogue(), catalogue);
}

#[test]
fn one_search_shows_what_it_finds_from_then_on() {
    let mut surface = Surface::new(tools(), Some(&reading(&[])));
    assert_eq!(names(&surface.find("weather", |_| true)), ["weather_forecast"]);
    assert_eq!(names(surface.shown()), ["read", "undeclared", "weather_forecast"]);
    for (query, first) in [
        ("fetch page", "fetchPage"),
        ("town", "weather_forecast"),
        ("git_log", "git_log"),
        ("show me the history", "git_log"),
        ("forecasts of the weather", "weather_forecast"),
    ] {
        let found = surface.find(query, |_| true);
        assert_eq!(names(&found).first(), Some(&first), "{query}");
    }
    assert!(surface.find("xylophone", |_| true).is_empty() && surface.find(" ", |_| true).is_empty());
    let permitted = |name: &str| name != "git_log";
    assert!(!names(&surface.find("git log", permitted)).contains(&"git_log"), "a denied tool is not named");
}

#[test]
fn a_provider_that_defers_is_given_all_and_any_other_what_is_shown() {
    let mut surface = Surface::new(tools(), Some(&reading(&[])));
    let deferred = |surface: &Surface| -> Vec<String> {
        let all = surface.definitions(true);
        assert_eq!(all.len(), 6);
        let deferred = all.iter().filter(|own| own.get("defer_loading") == Some(&Value::Bool(true)));
        deferred.map(|own| own.get("name").unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(deferred(&surface), ["chart_card", "fetchPage", "git_log", "weather_forecast"]);
    assert_eq!(surface.definitions(false).len(), 2);
    surface.find("git_log", |_| true);
    assert_eq!(deferred(&surface), ["chart_card", "fetchPage", "weather_forecast"]);
    let shown = surface.definitions(false);
    assert!(shown.iter().any(|own| own.get("name").is_some_and(|name| name == "git_log")));
    assert!(shown.iter().all(|own| own.get("input_schema").is_some() && own.get("defer_loading").is_none()));
}

#[test]
fn a_tool_that_nobody_foresaw_is_a_misread_and_a_card_is_none() {
    let mut surface = Surface::new(tools(), Some(&reading(&[Domain::Web])));
    for name in ["fetchPage", "read", "chart_card", "nope"] {
        surface.used(name);
        assert_eq!(surface.misreads(), 0, "{name}");
    }
    surface.find("git_log", |_| true);
    surface.used("git_log");
    surface.used("git_log");
    assert_eq!(surface.misreads(), 1);
}

proptest! {
    #[test]
    fn no_reading_changes_what_can_be_called_or_the_catalogue(
        needs in subsequence(Domain::KNOWN.to_vec(), 0..=Domain::KNOWN.len()),
    ) {
        let surface = Surface::new(tools(), Some(&reading(&needs)));
        let plain = Surface::new(tools(), Some(&reading(&[])));
        prop_assert_eq!(surface.catalogue(), plain.catalogue());
        prop_assert_eq!(surface.shown().count() + surface.deferred().count(), tools().len());
        prop_assert!(names(surface.shown()).contains(&"undeclared"));
    }
}
