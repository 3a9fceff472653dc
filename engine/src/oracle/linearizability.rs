//! I6 by search: whether the answers that clients accepted fit some order of all operations that
//! respects real time and a sequential model. It trusts no op number and no replica, only what clients
//! sent and were told. The way is Wing and Gong's, as Lowe and Porcupine do it: take next whichever
//! operation began before every other that is left has ended, and whose answer the model gives; go
//! back where none does; never look twice at the same operations done in the same state. Stateright's
//! tester was not taken: it remembers nothing it has seen, knows one unanswered call a thread, and
//! brings a web server along.
//!
//! An operation without an answer, its session lost or the run over, may have taken effect at any time
//! after it began, or never. The search gives up after so many steps and says so. Must never know who
//! recorded a history, nor what an operation does: that is the model's.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::digest::mix;
use crate::ids::ClientId;

/// One operation of one client. Moments are numbers of one clock: events of a run, for instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Whose.
    pub client: ClientId,
    /// When it was sent for the first time.
    pub invoked: u64,
    /// What was asked.
    pub body: Rc<[u8]>,
    /// When the answer was accepted, and the answer.
    pub answered: Option<(u64, Rc<[u8]>)>,
}

/// The object, as it would be if one operation came after the other.
pub trait Sequential {
    /// How to take an operation back.
    type Undo;
    /// Does an operation, where its answer, if it has one, is the right one now.
    fn apply(&mut self, operation: &Operation) -> Option<Self::Undo>;
    /// Takes back the last operation done.
    fn take_back(&mut self, undo: Self::Undo);
    /// Equal for equal states.
    fn digest(&self) -> u64;
}

/// What came of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searched {
    /// An order was found.
    Fits,
    /// There is none. The order that came furthest did so many operations, and could do none that
    /// would let this one, by its place in the history, have its answer in time.
    FitsNot {
        /// Operations in that order.
        longest: usize,
        /// The place of the first operation that was to end next.
        blocked: usize,
    },
    /// No order was found in this many steps.
    GaveUp {
        /// The steps.
        steps: u64,
    },
}

/// Looks for an order of a history, in at most so many steps: operations tried.
#[must_use]
pub fn search<S: Sequential>(history: &[Operation], object: &mut S, steps_max: u64) -> Searched {
    let mut left = Left::new(history);
    let mut seen = BTreeSet::new();
    let mut done: u128 = 0;
    let mut stack: Vec<Choice<S::Undo>> = Vec::new();
    let mut furthest: Option<(usize, usize)> = None;
    let mut steps = 0;
    let mut candidates = left.candidates(history);
    loop {
        let Some(ending) = left.next_to_end() else {
            return Searched::Fits;
        };
        if furthest.is_none_or(|(longest, _)| stack.len() > longest) {
            furthest = Some((stack.len(), ending));
        }
        let mut went_on = false;
        while let Some(place) = candidates.pop() {
            if steps == steps_max {
                return Searched::GaveUp { steps };
            }
            steps += 1;
            let Some(undo) = object.apply(&history[place]) else {
                continue;
            };
            let after = done ^ name(place);
            if !seen.insert((after, object.digest())) {
                object.take_back(undo);
                continue;
            }
            done = after;
            left.take(place);
            stack.push(Choice {
                place,
                undo,
                others: std::mem::take(&mut candidates),
            });
            candidates = left.candidates(history);
            went_on = true;
            break;
        }
        if went_on {
            continue;
        }
        let Some(last) = stack.pop() else {
            let (longest, blocked) = furthest.unwrap_or_default();
            return Searched::FitsNot { longest, blocked };
        };
        object.take_back(last.undo);
        left.put_back(last.place);
        done ^= name(last.place);
        candidates = last.others;
    }
}

/// An operation done, and what else could have been.
struct Choice<U> {
    place: usize,
    undo: U,
    others: Vec<usize>,
}

/// A set of operations is the sum of its members' names, wide enough that no two sets meet.
fn name(place: usize) -> u128 {
    let place = place as u64;
    let half = |salt: u64| u128::from(mix(salt, place));
    half(0x6c69_6e65) << 64 | half(0x6172_697a)
}

/// The beginnings and ends that are left, in order, as a list that gives members back in the reverse
/// of the order they were taken in.
struct Left {
    /// Beginnings and ends by time; the last is the head of the ring.
    moments: Vec<Moment>,
    /// Where each operation begins and ends.
    begin: Vec<usize>,
    end: Vec<Option<usize>>,
}

#[derive(Clone, Copy)]
struct Moment {
    place: usize,
    ends: bool,
    before: usize,
    after: usize,
}

impl Left {
    fn new(history: &[Operation]) -> Self {
        let mut times: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * history.len());
        for (place, operation) in history.iter().enumerate() {
            times.push((operation.invoked, false, place));
            let end = operation.answered.as_ref().map(|(at, _)| *at);
            times.extend(end.map(|at| (at, true, place)));
        }
        times.sort_unstable();
        let head = times.len();
        let mut left = Self {
            moments: Vec::with_capacity(head + 1),
            begin: vec![0; history.len()],
            end: vec![None; history.len()],
        };
        for (at, &(_, ends, place)) in times.iter().enumerate() {
            if ends {
                left.end[place] = Some(at);
            } else {
                left.begin[place] = at;
            }
            left.moments.push(Moment {
                place,
                ends,
                before: if at == 0 { head } else { at - 1 },
                after: at + 1,
            });
        }
        left.moments.push(Moment {
            place: usize::MAX,
            ends: false,
            before: head.saturating_sub(1),
            after: 0,
        });
        left
    }

    fn head(&self) -> usize {
        self.moments.len() - 1
    }

    /// The operation whose end comes next; nothing where all that ended are done.
    fn next_to_end(&self) -> Option<usize> {
        let ends = self.walk().find(|moment| moment.ends);
        ends.map(|moment| moment.place)
    }

    fn walk(&self) -> impl Iterator<Item = &Moment> {
        let head = self.head();
        let mut at = self.moments[head].after;
        std::iter::from_fn(move || {
            let moment = (at != head).then(|| &self.moments[at])?;
            at = moment.after;
            Some(moment)
        })
    }

    /// What may come next, the most likely last: those with an answer by the order of their ends, since
    /// an answer is soon after its effect; before them those of which nobody knows.
    fn candidates(&self, history: &[Operation]) -> Vec<usize> {
        let begun = self.walk().take_while(|moment| !moment.ends);
        let mut places: Vec<usize> = begun.map(|moment| moment.place).collect();
        places.sort_by_key(|&place| {
            let end = history[place].answered.as_ref().map(|(at, _)| *at);
            std::cmp::Reverse(end.unwrap_or(u64::MAX))
        });
        places
    }

    fn take(&mut self, place: usize) {
        let ends = self.end[place];
        for at in std::iter::once(self.begin[place]).chain(ends) {
            let Moment { before, after, .. } = self.moments[at];
            self.moments[before].after = after;
            self.moments[after].before = before;
        }
    }

    fn put_back(&mut self, place: usize) {
        let ends = self.end[place];
        for at in ends.into_iter().chain([self.begin[place]]) {
            let Moment { before, after, .. } = self.moments[at];
            self.moments[before].after = at;
            self.moments[after].before = at;
        }
    }
}

#[cfg(test)]
#[path = "linearizability_tests.rs"]
mod tests;
