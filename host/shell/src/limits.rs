//! What one analysis may cost.

/// Bounds of one analysis. Going past any of them gives a script that is not
/// `complete`; what was found up to there is still reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of script that are read, texts that re-enter the parser included. Default: 16 MiB.
    pub bytes: usize,
    /// Levels of nesting, summed over substitutions, compound commands, quotes
    /// and texts inside texts. Default: 64.
    pub depth: usize,
    /// Pipelines in the result. Default: 100,000.
    pub pipelines: usize,
    /// Words in the result. Default: 1,000,000.
    pub words: usize,
    /// Bytes of text that expansion may make and that the result may hold. Default: 64 MiB.
    pub output: usize,
    /// Words that one brace expansion may make. Default: 256.
    pub braces: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 16 << 20,
            depth: 64,
            pipelines: 100_000,
            words: 1_000_000,
            output: 64 << 20,
            braces: 256,
        }
    }
}

/// What is left of the limits while an analysis runs.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Limits,
    /// Every unit that was asked for: the work that was done, for tests.
    pub(crate) steps: usize,
    /// A limit was passed.
    pub(crate) exhausted: bool,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { left: limits, steps: 0, exhausted: false }
    }

    pub(crate) fn depth(&self) -> usize {
        self.left.depth
    }

    pub(crate) fn braces(&self) -> usize {
        self.left.braces
    }

    pub(crate) fn read(&mut self, bytes: usize) -> bool {
        take(&mut self.left.bytes, bytes, &mut self.steps, &mut self.exhausted)
    }

    pub(crate) fn pipeline(&mut self) -> bool {
        take(&mut self.left.pipelines, 1, &mut self.steps, &mut self.exhausted)
    }

    pub(crate) fn words(&mut self, count: usize) -> bool {
        take(&mut self.left.words, count, &mut self.steps, &mut self.exhausted)
    }

    pub(crate) fn output(&mut self, bytes: usize) -> bool {
        take(&mut self.left.output, bytes, &mut self.steps, &mut self.exhausted)
    }
}

fn take(left: &mut usize, wanted: usize, steps: &mut usize, exhausted: &mut bool) -> bool {
    *steps = steps.saturating_add(wanted);
    match left.checked_sub(wanted) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => {
            *exhausted = true;
            false
        }
    }
}
