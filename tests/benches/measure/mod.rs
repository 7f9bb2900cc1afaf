//! Measures things side by side: one sample of each in turn, so that a slow
//! moment of the machine falls on all of them.

use std::time::{Duration, Instant};

/// Calls before each sample that are not counted.
const UNCOUNTED: u32 = 5;

/// One thing to be measured.
pub(crate) struct Case<'a> {
    /// What it is.
    pub(crate) name: &'static str,
    /// Calls in one sample, so that a sample is far longer than the clock's step.
    pub(crate) batch: u32,
    /// One call.
    pub(crate) call: Box<dyn FnMut() + 'a>,
    /// What happens before a sample and is not counted.
    pub(crate) before: Box<dyn FnMut() + 'a>,
}

impl<'a> Case<'a> {
    /// A case of `batch` calls a sample, with nothing before it.
    pub(crate) fn new(name: &'static str, batch: u32, call: impl FnMut() + 'a) -> Self {
        Self { name, batch, call: Box::new(call), before: Box::new(|| {}) }
    }
}

/// The time of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// Takes `rounds` samples of each case, in turn, after a warm-up.
pub(crate) fn side_by_side(rounds: usize, cases: &mut [Case<'_>]) -> Vec<Figures> {
    let mut samples = vec![Vec::with_capacity(rounds); cases.len()];
    for round in 0..rounds + rounds / 10 {
        for (case, samples) in cases.iter_mut().zip(&mut samples) {
            // Not counted, so that no case pays for what the one before it left behind:
            // cold caches, and memory that was given back to the system.
            for _ in 0..UNCOUNTED {
                (case.call)();
                (case.before)();
            }
            let start = Instant::now();
            for _ in 0..case.batch {
                (case.call)();
            }
            let sample = start.elapsed() / case.batch;
            if round >= rounds / 10 {
                samples.push(sample);
            }
        }
    }
    samples
        .into_iter()
        .map(|mut samples| {
            samples.sort();
            let at = |part: usize| samples[(samples.len() - 1) * part / 100];
            Figures { p50: at(50), p99: at(99) }
        })
        .collect()
}

/// Prints every figure, and how many times longer each takes than the first.
pub(crate) fn print(title: &str, cases: &[Case<'_>], figures: &[Figures]) {
    println!("{title}");
    let first = figures[0].p50.as_secs_f64();
    for (case, figure) in cases.iter().zip(figures) {
        println!(
            "  {:<58} p50 {:>9.2} µs   p99 {:>9.2} µs   x{:.2}",
            case.name,
            micros(figure.p50),
            micros(figure.p99),
            figure.p50.as_secs_f64() / first
        );
    }
}

/// How many times longer `this` takes than `other`.
pub(crate) fn ratio(this: Figures, other: Figures) -> f64 {
    this.p50.as_secs_f64() / other.p50.as_secs_f64()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
