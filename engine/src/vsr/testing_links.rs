//! The links of a cluster driven by hand: what is cut, lost, kept back or delivered.

use super::Cluster;
use crate::ids::{GROUP_PARTITION_0, Incarnation, Process, ReplicaId, View};
use crate::vsr::io::Input;
use crate::vsr::message::{Frame, Message, MessageKind};

impl Cluster {
    /// Cuts both ways between two replicas; what is under way there is lost.
    pub(crate) fn cut(&mut self, a: u8, b: u8) {
        self.mute(a, b);
        self.mute(b, a);
    }

    /// Cuts one direction.
    pub(crate) fn mute(&mut self, from: u8, to: u8) {
        self.cut.insert((from, to));
        self.links.remove(&(from, to));
    }

    /// Cuts a replica off from all others.
    pub(crate) fn isolate(&mut self, r: u8) {
        for other in (0..self.count()).filter(|&other| other != r) {
            self.cut(r, other);
        }
    }

    /// Loses every message of a kind on a link from now on.
    pub(crate) fn block(&mut self, from: u8, to: u8, kind: MessageKind) {
        self.blocked.insert((from, to, kind));
    }

    /// Keeps what is sent on a link until it is delivered by hand or released.
    pub(crate) fn hold(&mut self, from: u8, to: u8) {
        self.held.insert((from, to));
    }

    /// Takes back every cut, block and hold.
    pub(crate) fn heal(&mut self) {
        self.cut.clear();
        self.blocked.clear();
        self.held.clear();
    }

    /// Delivers what waits on a link, in order; how many.
    pub(crate) fn deliver_all(&mut self, from: u8, to: u8) -> usize {
        let waiting = self.links.remove(&(from, to)).unwrap_or_default();
        let count = waiting.len();
        for frame in waiting {
            self.input(to, Input::Frame(frame));
        }
        count
    }

    /// Takes the first waiting message of a kind off a link.
    pub(crate) fn take(&mut self, from: u8, to: u8, kind: MessageKind) -> Frame {
        let queue = self.links.entry((from, to)).or_default();
        let place = queue.iter().position(|frame| frame.message.kind() == kind);
        let place = place.unwrap_or_else(|| panic!("no {kind:?} waits from {from} to {to}"));
        queue.remove(place).unwrap()
    }

    /// Delivers the first waiting message of a kind.
    pub(crate) fn deliver(&mut self, from: u8, to: u8, kind: MessageKind) {
        let frame = self.take(from, to, kind);
        self.input(to, Input::Frame(frame));
    }

    /// Loses everything under way.
    pub(crate) fn lose_all(&mut self) {
        self.links.clear();
    }

    /// Delivers a message that nobody sent.
    pub(crate) fn inject(&mut self, from: u8, to: u8, view: u32, message: Message) {
        let frame = Frame {
            group: GROUP_PARTITION_0,
            from: Process::Replica(ReplicaId(from)),
            to: Process::Replica(ReplicaId(to)),
            view: View(view),
            incarnation: Incarnation(1),
            message,
        };
        self.input(to, Input::Frame(frame));
    }
}
