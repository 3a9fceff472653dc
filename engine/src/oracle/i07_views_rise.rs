//! I7, view monotonicity including promises: no Prepare, PrepareOk, DoViewChange, StartView or
//! heartbeat of a replica carries a view below one that it has promised by such a message, not even
//! after a restart; and neither its view in a life nor what its superblock holds ever falls (protocol
//! section 2; Michael et al., appendix B.1, where a vote outlives its author's memory). Must never
//! know what a view is for.
//!
//! Exceptions. StartViewChange, RequestStartView, repair and replies promise nothing, so their views
//! are not looked at. A disk that lied about a superblock takes its replica's promises with it.

use super::view::MemberView;
use super::violation::{Property, Replicas, Report};
use crate::ids::{Incarnation, ReplicaId, View};
use crate::vsr::message::MessageKind;

/// The highest promise of a replica, and what was last seen of its views.
#[derive(Clone, Copy, Debug)]
struct Promise {
    view: View,
    by: MessageKind,
    incarnation: Incarnation,
    seen: View,
    durable: View,
    durable_log: View,
}

impl Default for Promise {
    fn default() -> Self {
        Self {
            view: View(0),
            by: MessageKind::Prepare,
            incarnation: Incarnation(0),
            seen: View(0),
            durable: View(0),
            durable_log: View(0),
        }
    }
}

/// Promises by replica.
#[derive(Debug, Default)]
pub(super) struct ViewsRise {
    promises: Vec<Promise>,
}

/// Whether a message of this kind promises its view.
fn promises(kind: MessageKind) -> bool {
    match kind {
        MessageKind::Prepare
        | MessageKind::PrepareOk
        | MessageKind::Commit
        | MessageKind::DoViewChange
        | MessageKind::StartView => true,
        MessageKind::Request
        | MessageKind::Reply
        | MessageKind::Eviction
        | MessageKind::StartViewChange
        | MessageKind::RequestStartView
        | MessageKind::RequestPrepares
        | MessageKind::RepairPrepare
        | MessageKind::RepairDone
        | MessageKind::RequestStateTransfer
        | MessageKind::StateTransferTarget
        | MessageKind::RequestStateChunk
        | MessageKind::StateChunk => false,
    }
}

impl ViewsRise {
    fn promise(&mut self, replica: ReplicaId) -> &mut Promise {
        let place = usize::from(replica.0);
        if self.promises.len() <= place {
            self.promises.resize(place + 1, Promise::default());
        }
        &mut self.promises[place]
    }

    /// A replica's disk lied about a superblock: what it promised cannot be asked of it.
    pub(super) fn forget(&mut self, replica: ReplicaId) {
        *self.promise(replica) = Promise::default();
    }

    /// A replica sent a message.
    pub(super) fn sent(
        &mut self,
        replica: ReplicaId,
        kind: MessageKind,
        view: View,
        report: &mut Report,
    ) {
        if !promises(kind) {
            return;
        }
        report.compared(Property::I7);
        let promise = self.promise(replica);
        if view >= promise.view {
            if view > promise.view {
                promise.view = view;
                promise.by = kind;
            }
            return;
        }
        let text = format!(
            "{replica} sent a {} of view {view}, after it had promised view {} by a {}",
            kind.name(),
            promise.view,
            promise.by.name()
        );
        report.violated(Property::I7, None, Replicas::one(replica), text);
    }

    /// A replica changed.
    pub(super) fn moved(&mut self, member: &MemberView, report: &mut Report) {
        let replica = member.replica;
        let promise = self.promise(replica);
        let before = *promise;
        let same_life = member.up && before.incarnation == member.incarnation;
        if member.up {
            promise.incarnation = member.incarnation;
            promise.seen = member.view;
        }
        promise.durable = member.durable_view;
        promise.durable_log = member.durable_log_view;
        let falls = [
            (same_life, "view", before.seen, member.view),
            (true, "durable view", before.durable, member.durable_view),
            (
                true,
                "durable log_view",
                before.durable_log,
                member.durable_log_view,
            ),
        ];
        for (looked_at, what, from, to) in falls {
            if looked_at && to < from {
                report.violated(
                    Property::I7,
                    None,
                    Replicas::one(replica),
                    format!("the {what} of {replica} fell from {from} to {to}"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{GROUP, World};
    use super::*;
    use crate::ids::{Checksum, Op};
    use crate::vsr::message::Message;

    fn ack() -> Message {
        Message::PrepareOk {
            op: Op(1),
            checksum: Checksum(1),
        }
    }

    #[test]
    fn a_message_below_a_promise_is_a_violation_across_a_restart() {
        let mut world = World::new(3);
        world.send(2, 1, Message::Commit { commit_max: Op(0) });
        world.restart(2);
        world.send(2, 0, ack());
        assert_eq!(
            world.kept()[0].text,
            "2 sent a PrepareOk of view 0, after it had promised view 1 by a Commit"
        );
    }

    #[test]
    fn a_superblock_that_the_disk_lied_about_excuses_its_replica() {
        let mut world = World::new(3);
        world.send(2, 1, Message::Commit { commit_max: Op(0) });
        world.members[2].durable_view = View(1);
        world.tick();
        world.crash(2);
        world.oracles.superblock_lost(ReplicaId(2), GROUP);
        world.members[2].durable_view = View(0);
        world.boot(2);
        world.send(2, 0, ack());
        world.tick();
        assert_eq!(world.found(Property::I7), 0);
    }

    #[test]
    fn rising_views_and_votes_that_promise_nothing_hold() {
        let mut world = World::new(3);
        world.send(2, 1, ack());
        world.send(2, 0, Message::StartViewChange);
        world.send(2, 1, ack());
        world.send(0, 0, ack());
        assert_eq!(world.found(Property::I7), 0);
        assert_eq!(world.compared(Property::I7), 3);
    }

    #[test]
    fn a_durable_view_that_falls_is_a_violation_and_a_view_may_fall_with_a_life() {
        let mut world = World::new(3);
        world.members[1].view = View(5);
        world.members[1].durable_view = View(3);
        world.tick();
        world.restart(1);
        world.members[1].view = View(3);
        world.tick();
        assert_eq!(world.found(Property::I7), 0);
        world.members[1].durable_view = View(2);
        world.tick();
        assert_eq!(
            world.kept()[0].text,
            "the durable view of 1 fell from 3 to 2"
        );
    }
}
