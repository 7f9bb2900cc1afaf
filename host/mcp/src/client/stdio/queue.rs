//! What is to be sent, until the server reads it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::client::limits::QUEUE_MAX;

/// Lines in the order in which they are sent.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Line>,
    bytes: usize,
    closed: bool,
}

/// One line, and the request that it is.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: Option<u64>,
    pub(super) bytes: Vec<u8>,
}

/// Why nothing can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Full,
    Closed,
}

impl Queue {
    pub(super) fn push(&self, line: Line) -> Result<(), Refused> {
        let mut state = self.state();
        if state.closed {
            return Err(Refused::Closed);
        }
        let bytes = state.bytes.saturating_add(line.bytes.len());
        if bytes > QUEUE_MAX {
            return Err(Refused::Full);
        }
        state.bytes = bytes;
        state.lines.push_back(line);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// The next line, as soon as there is one; none once it is closed.
    pub(super) fn next(&self) -> Option<Line> {
        let waits = |state: &mut State| !state.closed && state.lines.is_empty();
        let mut state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return None;
        }
        let line = state.lines.pop_front()?;
        state.bytes = state.bytes.saturating_sub(line.bytes.len());
        Some(line)
    }

    /// A line that the server did not take.
    pub(super) fn put_back(&self, line: Line) {
        self.state().lines.push_front(line);
    }

    /// Takes the request `id` back. False when the server may have read it.
    pub(super) fn withdraw(&self, id: u64) -> bool {
        let mut state = self.state();
        let at = state.lines.iter().position(|line| line.id == Some(id));
        let gone = at.and_then(|at| state.lines.remove(at));
        if let Some(line) = &gone {
            state.bytes = state.bytes.saturating_sub(line.bytes.len());
        }
        gone.is_some()
    }

    /// Nothing is sent any more. What waits is kept, so that its fate can be told.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, QUEUE_MAX, Queue, Refused};

    fn line(id: u64, bytes: usize) -> Line {
        Line { id: Some(id), bytes: vec![b'x'; bytes] }
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_and_can_be_taken_back() {
        let queue = Queue::default();
        queue.push(line(1, QUEUE_MAX - 10)).unwrap();
        assert_eq!(queue.push(line(2, 11)), Err(Refused::Full));
        assert!(queue.withdraw(1) && !queue.withdraw(1));
        queue.push(line(2, 11)).unwrap();
        assert_eq!(queue.next().and_then(|line| line.id), Some(2));
        assert!(!queue.withdraw(2), "it may have been read");
    }

    #[test]
    fn what_was_not_sent_is_known_after_the_end() {
        let queue = Queue::default();
        queue.push(line(1, 1)).unwrap();
        queue.push(line(2, 1)).unwrap();
        let first = queue.next().unwrap();
        queue.put_back(first);
        queue.close();
        assert!(queue.next().is_none());
        assert_eq!(queue.push(line(3, 1)), Err(Refused::Closed));
        assert!(queue.withdraw(1) && queue.withdraw(2));
    }
}
