//! What a host that runs for long leaves behind. Alone in its process, because it
//! counts what the process holds.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;
mod usage;

use std::fs;

use portcullis_tests::plugin::Plugin;

use crate::place::{Place, ls};
use crate::usage::Usage;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn three_hundred_reloads_leave_nothing_behind() {
    let place = Place::new();
    let file = place.user().join("strict.wasm");
    let versions = ["one", "two", "broken"].map(|word| match word {
        "broken" => b"random bytes".to_vec(),
        word => Plugin::new("strict").refuses("no", word).build().unwrap(),
    });
    fs::write(&file, &versions[0]).unwrap();
    let host = place.watch("").await;
    let mut before = None;
    for round in 0..300 {
        fs::write(&file, &versions[round % 3]).unwrap();
        if round % 50 == 49 {
            fs::remove_dir_all(place.user()).unwrap();
            fs::create_dir(place.user()).unwrap();
        }
        host.refresh();
        let gone = round % 50 == 49;
        assert_eq!(ls(&host).await == "allow", gone, "round {round}");
        if gone {
            fs::write(&file, &versions[0]).unwrap();
            host.refresh();
        }
        // Everything that is made once has been made by now.
        if round == 60 {
            before = Some(Usage::now());
        }
    }
    let (before, after) = (before.unwrap(), Usage::now());
    // Fewer is no residue: what the start of the process opened may close meanwhile.
    assert!(after.descriptors <= before.descriptors, "{before:?} {after:?}");
    assert!(after.threads <= before.threads, "{before:?} {after:?}");
    assert!(after.resident <= before.resident + (16 << 20), "{before:?} {after:?}");
    drop(host);
}
