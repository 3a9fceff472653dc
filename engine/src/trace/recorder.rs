//! Numbers every event of a run and keeps the last of them for the page. Numbers are the same
//! whatever is kept, since links and causes name them. Must never know who reads it.

use std::collections::VecDeque;

use super::class::is_big;
use super::event::{Event, EventKind};
use super::text::{Context, Row, describe};
use crate::ids::Tick;

/// What is kept for reading; events are numbered all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Every event.
    Everything,
    /// All but packets: what was decided and done.
    NotesOnly,
    /// No event: for sweeps.
    Nothing,
    /// What was done to the world, and nothing else: for hunts.
    ActsOnly,
}

/// Events kept unless told otherwise.
pub const EVENTS_KEPT_DEFAULT: usize = 200_000;

/// The events of a run.
#[derive(Debug)]
pub struct Recorder {
    recording: Recording,
    kept_max: usize,
    events: VecDeque<Event>,
    next: u64,
    tick: Tick,
    step: u32,
}

impl Recorder {
    /// A recorder that keeps at most `kept_max` events.
    #[must_use]
    pub fn new(recording: Recording, kept_max: usize) -> Self {
        Self {
            recording,
            kept_max,
            events: VecDeque::new(),
            next: 0,
            tick: Tick(0),
            step: 0,
        }
    }

    /// Where the run stands: events from here on happen then.
    pub fn at(&mut self, tick: Tick, step: u32) {
        self.tick = tick;
        self.step = step;
    }

    /// The tick has no more steps than these: what came after the last belongs to the tick as a whole.
    pub fn end_steps(&mut self, tick: Tick, steps: u32) {
        let late = |event: &&mut Event| event.tick == tick && event.step > steps;
        for event in self.events.iter_mut().rev().take_while(late) {
            event.step = 0;
        }
        self.at(tick, 0);
    }

    /// Numbers what happened. Oracles look at the event before it is kept or let go.
    #[must_use]
    pub fn stamp(&mut self, kind: EventKind) -> Event {
        let event = Event {
            number: self.next,
            tick: self.tick,
            step: self.step,
            kind,
        };
        self.next += 1;
        event
    }

    /// Keeps an event, as far as it is asked to.
    pub fn keep(&mut self, event: Event) {
        let wanted = match self.recording {
            Recording::Everything => true,
            Recording::NotesOnly => {
                !matches!(event.kind, EventKind::Sent { .. } | EventKind::Ended { .. })
            }
            Recording::Nothing => false,
            Recording::ActsOnly => matches!(event.kind, EventKind::Acted(_)),
        };
        if !wanted || self.kept_max == 0 {
            return;
        }
        if self.events.len() == self.kept_max {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Numbers what happened and keeps it; answers its number.
    pub fn push(&mut self, kind: EventKind) -> u64 {
        let event = self.stamp(kind);
        let number = event.number;
        self.keep(event);
        number
    }

    /// The number that the next event will have: how many there were.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The number of the first event still kept; that of the next one where none is.
    #[must_use]
    pub fn first_kept(&self) -> u64 {
        self.events.front().map_or(self.next, |event| event.number)
    }

    /// The events kept, in order.
    #[must_use]
    pub fn events(&self) -> &VecDeque<Event> {
        &self.events
    }

    /// Up to `max` rows, from the first kept event whose number is at least `from`.
    #[must_use]
    pub fn rows(&self, from: u64, max: usize, replica_count: u8) -> Vec<Row> {
        let first = self.first_from(from);
        let last = self.events.len().min(first.saturating_add(max));
        (first..last)
            .map(|place| self.row(place, replica_count))
            .collect()
    }

    /// The rows that a timeline paints: what is big, and replies. From the first kept event whose
    /// number is at least `from`, up to `max`.
    #[must_use]
    pub fn marks(&self, from: u64, max: usize, replica_count: u8) -> Vec<Row> {
        let is_mark = |kind: &EventKind| is_big(kind) || matches!(kind, EventKind::Replied { .. });
        (self.first_from(from)..self.events.len())
            .filter(|&place| is_mark(&self.events[place].kind))
            .take(max)
            .map(|place| self.row(place, replica_count))
            .collect()
    }

    fn first_from(&self, from: u64) -> usize {
        self.events.partition_point(|event| event.number < from)
    }

    fn row(&self, place: usize, replica_count: u8) -> Row {
        let context = Context {
            replica_count,
            events: &self.events,
            place,
        };
        describe(&self.events[place], &context)
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(Recording::Everything, EVENTS_KEPT_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ClientId, Process, ReplicaId};
    use crate::trace::Fate;
    use crate::vsr::message::MessageKind;

    fn packet() -> EventKind {
        EventKind::Ended {
            group: crate::ids::GROUP_PARTITION_0,
            from: Process::Replica(ReplicaId(0)),
            to: Process::Replica(ReplicaId(1)),
            packet: 1,
            kind: MessageKind::Commit,
            fate: Fate::Delivered,
        }
    }

    fn other() -> EventKind {
        EventKind::SessionLost {
            group: crate::ids::GROUP_PARTITION_0,
            client: ClientId(0),
        }
    }

    #[test]
    fn numbers_do_not_depend_on_what_is_kept() {
        for (recording, kept) in [
            (Recording::Everything, 4),
            (Recording::NotesOnly, 2),
            (Recording::Nothing, 0),
        ] {
            let mut recorder = Recorder::new(recording, 10);
            let numbers: Vec<u64> = [packet(), other(), packet(), other()]
                .into_iter()
                .map(|kind| recorder.push(kind))
                .collect();
            assert_eq!(numbers, [0, 1, 2, 3]);
            assert_eq!(recorder.next_number(), 4);
            assert_eq!(recorder.events().len(), kept);
        }
    }

    #[test]
    fn a_full_ring_lets_the_oldest_go_and_says_where_it_begins() {
        let mut recorder = Recorder::new(Recording::Everything, 3);
        assert_eq!(recorder.first_kept(), 0);
        for tick in 0..5 {
            recorder.at(Tick(tick), 2);
            recorder.push(other());
        }
        assert_eq!(recorder.first_kept(), 2);
        let rows = recorder.rows(0, 10, 3);
        let read: Vec<(u64, u64, u32)> = rows
            .iter()
            .map(|row| (row.number, row.tick.0, row.step))
            .collect();
        assert_eq!(read, [(2, 2, 2), (3, 3, 2), (4, 4, 2)]);
    }

    #[test]
    fn marks_are_what_is_big() {
        let mut recorder = Recorder::new(Recording::Everything, 10);
        let crash = EventKind::Crashed {
            replica: ReplicaId(0),
            writes_lost: 0,
            writes_torn: 0,
        };
        for kind in [packet(), crash.clone(), other(), packet(), crash] {
            recorder.push(kind);
        }
        let numbers = |from, max| -> Vec<u64> {
            let rows = recorder.marks(from, max, 3);
            rows.iter().map(|row| row.number).collect()
        };
        assert_eq!(numbers(0, 10), [1, 4]);
        assert_eq!(numbers(2, 10), [4]);
        assert_eq!(numbers(0, 1), [1]);
    }

    #[test]
    fn rows_are_cut_by_number_and_by_length() {
        let mut recorder = Recorder::new(Recording::NotesOnly, 10);
        for _ in 0..4 {
            recorder.push(packet());
            recorder.push(other());
        }
        let numbers = |from, max| -> Vec<u64> {
            let rows = recorder.rows(from, max, 3);
            rows.iter().map(|row| row.number).collect()
        };
        assert_eq!(numbers(2, 2), [3, 5]);
        assert_eq!(numbers(7, 5), [7]);
        assert!(numbers(8, 5).is_empty());
    }
}
