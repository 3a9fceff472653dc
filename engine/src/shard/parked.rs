//! Frames for groups that are not hosted yet, as a peer may have created a group before us. Bounded:
//! what does not fit is dropped, as a network might have dropped it. Must never know what is in a
//! frame.

use std::collections::BTreeMap;

use crate::ids::GroupId;
use crate::vsr::message::Frame;

/// Frames that may wait for one group.
pub const PARKED_FRAMES_MAX: usize = 128;

/// The frames that wait, by group, in the order they came.
#[derive(Debug, Default)]
pub struct Parked {
    frames: BTreeMap<GroupId, Vec<Frame>>,
}

impl Parked {
    /// Lets a frame wait; whether there was room.
    pub fn park(&mut self, frame: Frame) -> bool {
        let waiting = self.frames.entry(frame.group).or_default();
        if waiting.len() >= PARKED_FRAMES_MAX {
            return false;
        }
        waiting.push(frame);
        true
    }

    /// Frames for groups that pass, in order; they wait no more.
    pub fn take(&mut self, mut passes: impl FnMut(GroupId) -> bool) -> Vec<Frame> {
        let groups: Vec<GroupId> = self
            .frames
            .keys()
            .copied()
            .filter(|&id| passes(id))
            .collect();
        groups
            .iter()
            .filter_map(|group| self.frames.remove(group))
            .flatten()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Incarnation, Process, ReplicaId, View};
    use crate::vsr::message::Message;

    fn frame(group: u64, view: u32) -> Frame {
        Frame {
            group: GroupId(group),
            from: Process::Replica(ReplicaId(1)),
            to: Process::Replica(ReplicaId(0)),
            view: View(view),
            incarnation: Incarnation(1),
            message: Message::StartViewChange,
        }
    }

    #[test]
    fn frames_wait_in_order_for_their_group_alone() {
        let mut parked = Parked::default();
        for (group, view) in [(513, 0), (514, 1), (513, 2)] {
            assert!(parked.park(frame(group, view)));
        }
        let taken = parked.take(|group| group == GroupId(513));
        let views: Vec<u32> = taken.iter().map(|frame| frame.view.0).collect();
        assert_eq!(views, [0, 2]);
        assert!(parked.take(|group| group == GroupId(513)).is_empty());
        assert_eq!(parked.take(|_| true).len(), 1);
    }

    #[test]
    fn no_more_wait_than_fit() {
        let mut parked = Parked::default();
        for view in 0..128 {
            assert!(parked.park(frame(513, view)));
        }
        assert!(!parked.park(frame(513, 128)));
        assert!(parked.park(frame(514, 0)), "each group has its own room");
    }
}
