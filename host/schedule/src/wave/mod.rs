//! The waves of a batch: what of it may run side by side, and what waits for what.
//!
//! A call goes into the first wave behind every earlier call that it conflicts with. So
//! calls that conflict never overlap and never change their order, and no call waits
//! without such a reason. Waves run one after the other.

mod index;
#[cfg(test)]
mod tests;

use crate::Claim;

use index::Index;

/// Where a call of a batch runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The number of its wave, from 0.
    pub wave: usize,
    /// The place in the batch of an earlier call, of the wave before, that it conflicts
    /// with. None in the first wave.
    pub behind: Option<usize>,
}

/// The waves of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Each call, in the order of the batch.
    pub calls: Vec<Placed>,
}

impl Plan {
    /// The calls of each wave, by their places in the batch, in that order.
    #[must_use]
    pub fn waves(&self) -> Vec<Vec<usize>> {
        let count = self.calls.iter().map(|call| call.wave + 1).max().unwrap_or_default();
        let mut waves = vec![Vec::new(); count];
        for (at, call) in self.calls.iter().enumerate() {
            if let Some(wave) = waves.get_mut(call.wave) {
                wave.push(at);
            }
        }
        waves
    }
}

/// How many names of patterns are compared in one plan, wildcards among them, and how many
/// of these wildcards. What a call claims beyond that is as if it claimed everything.
const NAMES_MAX: usize = 100_000;
const GLOBS_MAX: usize = 512;

/// Puts a batch into waves. Takes about as long as its claims have names, however many
/// calls there are; patterns and names that are not ASCII are compared one by one.
#[must_use]
pub fn plan<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Plan {
    let mut index = Index::default();
    let (mut names, mut globs, everything) = (0_usize, 0_usize, Claim::exclusive());
    let calls = claims.into_iter().enumerate().map(|(at, claim)| {
        let segments = || claim.paths().flat_map(|(_, pattern)| pattern.segments());
        names = names.saturating_add(segments().count());
        globs = globs.saturating_add(segments().filter(|segment| segment.key().is_none()).count());
        let is_too_much = !claim.reserves_nothing() && (names > NAMES_MAX || globs > GLOBS_MAX);
        let claim = if is_too_much { &everything } else { claim };
        let before = index.last_conflict(claim);
        let placed = match before {
            Some((wave, call)) => Placed { wave: wave + 1, behind: Some(call) },
            None => Placed { wave: 0, behind: None },
        };
        index.add(claim, (placed.wave, at));
        placed
    });
    Plan { calls: calls.collect() }
}
