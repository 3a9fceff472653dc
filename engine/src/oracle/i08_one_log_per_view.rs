//! I8, one primary and one log per view: the normal primary of view v is v mod n, and v starts with
//! one head, by its primary alone, even after restarts (Viewstamped Replication Revisited, section
//! 4.2; scenarios section C). No exceptions. View 0 starts by formatting and is not announced. Must
//! never know how the log was chosen.

use std::collections::VecDeque;

use super::violation::{Property, Replicas, Report};
use std::rc::Rc;

use crate::ids::{Checksum, Op, ReplicaId, View};
use crate::vsr::message::Header;

/// Started views that are remembered.
const VIEWS_KEPT: usize = 64;

#[derive(Debug)]
struct Start {
    view: View,
    by: ReplicaId,
    head: Op,
    /// Identity of the head; unknown where the suffix came without headers.
    checksum: Option<Checksum>,
}

/// With which head each view started.
#[derive(Debug)]
pub(super) struct OneLogPerView {
    replica_count: u8,
    starts: VecDeque<Start>,
}

impl OneLogPerView {
    pub(super) fn new(replica_count: u8) -> Self {
        Self {
            replica_count,
            starts: VecDeque::new(),
        }
    }

    /// A replica leads a view from now on.
    pub(super) fn leads(&self, replica: ReplicaId, view: View, report: &mut Report) {
        report.compared(Property::I8);
        let primary = view.primary(self.replica_count);
        if replica != primary {
            let text = format!(
                "{replica} leads view {view}, whose primary is {primary}: {view} mod {}",
                self.replica_count
            );
            report.violated(Property::I8, None, Replicas::one(replica), text);
        }
    }

    /// A replica announced a view's log.
    pub(super) fn started(
        &mut self,
        replica: ReplicaId,
        view: View,
        head: Op,
        suffix: &[Rc<Header>],
        report: &mut Report,
    ) {
        self.leads(replica, view, report);
        let checksum = suffix.last().map(|header| header.checksum);
        let Some(before) = self.starts.iter().find(|start| start.view == view) else {
            self.starts.push_back(Start {
                view,
                by: replica,
                head,
                checksum,
            });
            if self.starts.len() > VIEWS_KEPT {
                self.starts.pop_front();
            }
            return;
        };
        let same_entry = match (before.checksum, checksum) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        if before.head != head || !same_entry {
            let text = format!(
                "{replica} started view {view} with head {head}, and {} had started it with {} head {}",
                before.by,
                if before.head == head { "another" } else { "a" },
                before.head
            );
            let both = Replicas::one(replica).with(before.by);
            report.violated(Property::I8, Some(head), both, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, chain, fork};
    use super::*;
    use crate::vsr::note::Note;

    #[test]
    fn the_ring_decides_who_leads() {
        let mut world = World::new(3);
        let lead = |view, primary| Note::BecameNormal {
            view: View(view),
            head: Op(0),
            primary,
        };
        world.note(1, lead(4, true));
        world.note(2, lead(4, false));
        assert_eq!(world.found(Property::I8), 0);
        world.note(2, lead(4, true));
        assert_eq!(
            world.kept()[0].text,
            "2 leads view 4, whose primary is 1: 4 mod 3"
        );
    }

    #[test]
    fn a_view_that_starts_twice_alike_holds() {
        let mut world = World::new(3);
        world.start_view(1, &chain(3), 1);
        world.start_view(1, &chain(3), 2);
        assert_eq!(world.found(Property::I8), 0);
        assert_eq!(world.compared(Property::I8), 2);
    }

    #[test]
    fn a_view_that_starts_with_two_heads_is_a_violation() {
        let mut world = World::new(3);
        let mut headers = chain(3);
        world.start_view(1, &headers, 1);
        headers[2] = fork(&headers[2]);
        world.start_view(1, &headers, 1);
        world.start_view(1, &chain(2), 1);
        assert_eq!(world.found(Property::I8), 2);
        assert!(world.kept()[0].text.contains("another head 3"));
    }
}
