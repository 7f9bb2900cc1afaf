//! What is written down of the bundled plugins, held against them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use portcullis_model::config::Config;
use portcullis_runtime::{Compiler, Runtime, RuntimeOptions};

use super::bundled::About;
use super::{BUNDLED, Maker, Origin, SmallStore};
use crate::host::NoTerminal;

/// `BLESS=1` writes anew what they say.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "the switch that writes what is expected")]
async fn what_is_known_of_the_bundled_plugins_is_what_they_say() {
    let maker = Maker {
        runtime: Runtime::new(RuntimeOptions::new(Compiler::InProcess)).unwrap(),
        config: Arc::new(Config::default()),
        env: Arc::new(BTreeMap::new()),
        store: Arc::new(SmallStore::new(None)),
        terminal: Arc::new(NoTerminal),
        one_call: false,
    };
    for bundled in &BUNDLED {
        let plugin = maker.make(bundled.component, bundled.name, Origin::Bundled, None).await.unwrap();
        let said = About {
            digest: plugin.guest.digest().to_string(),
            contract: plugin.guest.contract().clone(),
            info: plugin.info,
            tools: plugin.tools.into_iter().map(|tool| tool.definition).collect(),
        };
        if std::env::var_os("BLESS").is_some() {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plugin/about");
            let text = serde_json::to_string_pretty(&said).unwrap();
            std::fs::write(file.join(bundled.name).with_extension("json"), text + "\n").unwrap();
        } else {
            let hint = "run this test with `BLESS=1`, and build again";
            assert_eq!(bundled.about(), Some(said), "{}: {hint}", bundled.name);
        }
    }
}
