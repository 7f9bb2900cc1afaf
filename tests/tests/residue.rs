//! What a thousand faults leave behind. Alone in its process, because descriptors,
//! threads and memory are the whole process's.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod bench;
mod usage;

use portcullis_tests::guest::Guard;

use crate::bench::Bench;

#[tokio::test]
async fn a_thousand_faults_leave_nothing_behind() {
    let trap = Guard::new("probe").fault("unreachable").build().unwrap();
    let memory = Guard::new("probe").fault("(drop (memory.grow (i32.const 16384)))").build().unwrap();
    for guard in [trap, memory] {
        let bench = Bench::with(&guard).await;
        for _ in 0..50 {
            assert!(!bench.call("fault").await.ran);
        }
        let before = usage::Usage::now();
        for _ in 0..1000 {
            assert!(!bench.call("fault").await.ran);
        }
        let after = usage::Usage::now();
        // Fewer is no residue: what the start of the process opened may close meanwhile.
        assert!(after.descriptors <= before.descriptors, "{before:?}, then {after:?}");
        assert!(after.threads <= before.threads, "{before:?}, then {after:?}");
        assert!(
            after.resident <= before.resident + (4 << 20),
            "resident memory grew from {} to {}",
            before.resident,
            after.resident
        );
        assert!(bench.call("allow").await.ran);
    }
}
