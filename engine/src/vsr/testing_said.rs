//! What a cluster driven by hand did so far, as tests ask for it. Must never change anything.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Cluster;
use crate::ids::{Checksum, Op, View};
use crate::vsr::io::Status;
use crate::vsr::message::{Message, MessageKind, Rejection, StartView};
use crate::vsr::note::{Ignored, Note, RequestDropped, StateNote};

impl Cluster {
    pub(crate) fn count_sent(&self, from: u8, kind: MessageKind) -> usize {
        let is_it =
            |(r, _, _, message): &&(u8, u8, View, Message)| *r == from && message.kind() == kind;
        self.sent.iter().filter(is_it).count()
    }

    pub(crate) fn ignored(&self, r: u8) -> Vec<Ignored> {
        let said = self.notes.iter().filter(|(by, _)| *by == r);
        said.filter_map(|(_, note)| match note {
            Note::MessageIgnored { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn dropped(&self) -> Vec<RequestDropped> {
        let said = self.notes.iter();
        said.filter_map(|(_, note)| match note {
            Note::RequestDropped { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn rejections(&self) -> Vec<Rejection> {
        let said = self.notes.iter();
        said.filter_map(|(_, note)| match note {
            Note::RequestRejected { rejection, .. } => Some(*rejection),
            _ => None,
        })
        .collect()
    }

    /// Ops acked by a backup since the cluster began, in the order of sending.
    pub(crate) fn acks_sent(&self, from: u8) -> Vec<u64> {
        let sent = self.sent.iter().filter(|(r, ..)| *r == from);
        sent.filter_map(|(_, _, _, message)| match message {
            Message::PrepareOk { op, .. } => Some(op.0),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn start_views(&self, from: u8) -> Vec<(u8, View, Rc<StartView>)> {
        let sent = self.sent.iter().filter(|(r, ..)| *r == from);
        sent.filter_map(|(_, to, view, message)| match message {
            Message::StartView(start) => Some((*to, *view, Rc::clone(start))),
            _ => None,
        })
        .collect()
    }

    /// The primary that is normal in the highest view, if any.
    pub(crate) fn leader(&self) -> Option<u8> {
        (0..self.count())
            .filter(|&r| self.is_up(r))
            .filter(|&r| self.at(r).status() == Status::Normal && self.at(r).is_primary())
            .max_by_key(|&r| self.at(r).view())
    }

    /// Fails unless everything executed anywhere is one log with one state, in order and without
    /// gaps but for states that were handed over.
    pub(crate) fn assert_one_log(&self) {
        let mut executed: BTreeMap<Op, (Checksum, Checksum)> = BTreeMap::new();
        for (r, note) in &self.notes {
            let Note::Executed {
                prepare, digest, ..
            } = note
            else {
                continue;
            };
            let (op, ours) = (prepare.header.op, (prepare.header.checksum, *digest));
            let theirs = *executed.entry(op).or_insert(ours);
            assert_eq!(ours, theirs, "op {op} at {r}");
        }
        for r in (0..self.count()).filter(|&r| self.is_up(r)) {
            assert!(self.applied(r).is_sorted(), "{:?}", self.applied(r));
        }
    }

    /// Ticks since the cluster began.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Forgets what was said and done so far.
    pub(crate) fn forget(&mut self) {
        self.notes.clear();
        self.sent.clear();
    }

    /// What was noted of states at a replica, in order.
    pub(crate) fn states(&self, r: u8) -> Vec<StateNote> {
        let said = self.notes.iter().filter(|(by, _)| *by == r);
        said.filter_map(|(_, note)| match note {
            Note::State(note) => Some(*note),
            _ => None,
        })
        .collect()
    }

    /// The checkpoints whose state a replica took over from others.
    pub(crate) fn taken_over(&self, r: u8) -> Vec<u64> {
        let notes = self.states(r).into_iter();
        notes
            .filter_map(|note| match note {
                StateNote::TransferFinished { op, .. } => Some(op.0),
                _ => None,
            })
            .collect()
    }
}
