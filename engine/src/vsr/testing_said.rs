//! What a cluster driven by hand did so far, as tests ask for it. Must never change anything.

use std::rc::Rc;

use super::Cluster;
use crate::ids::{Op, View};
use crate::vsr::io::Status;
use crate::vsr::message::{Message, MessageKind, Rejection, StartView};
use crate::vsr::note::{Ignored, Note, RequestDropped};

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

    /// Fails unless everything committed anywhere is one log, executed in order and without gaps.
    pub(crate) fn assert_one_log(&self) {
        let up: Vec<u8> = (0..self.count()).filter(|&r| self.is_up(r)).collect();
        let longest = up.iter().max_by_key(|&&r| self.at(r).commit_min());
        let longest = *longest.expect("somebody runs");
        for &r in &up {
            for op in (1..=self.at(r).commit_min().0).map(Op) {
                let ours = self.at(r).log().identity(op);
                let theirs = self.at(longest).log().identity(op);
                assert_eq!(ours, theirs, "op {op} at {r} and {longest}");
            }
            assert!(self.applied(r).is_sorted(), "{:?}", self.applied(r));
        }
    }
}
