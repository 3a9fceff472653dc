//! I15, bounded queues: links, inboxes, channels between shards, pipelines and session tables stay
//! within their configured maxima (design section 4; scenarios M46). Exception: packets that a person holds lie outside their
//! link's capacity. Must never know what is queued.

use super::view::{Bounds, FullestLink, MemberView};
use super::violation::{Property, Replicas, Report};
use crate::ids::{Process, ReplicaId};

/// Which queues were last seen over their bound: reported once, not every tick.
#[derive(Debug)]
pub(super) struct BoundedQueues {
    bounds: Bounds,
    over: Replicas,
}

impl BoundedQueues {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            over: Replicas::NONE,
        }
    }

    /// A replica changed.
    pub(super) fn moved(&mut self, member: &MemberView, report: &mut Report) {
        report.compared(Property::I15);
        let one = Replicas::one(member.replica);
        let queues = [
            ("frames in an inbox", member.inbox_high, self.bounds.inbox),
            (
                "frames in a channel between shards",
                member.between_high,
                self.bounds.channel,
            ),
            (
                "prepares in its pipeline",
                member.pipeline,
                self.bounds.pipeline,
            ),
            ("sessions", member.sessions, self.bounds.sessions),
        ];
        let Some((what, have, most)) = queues.into_iter().find(|&(_, have, most)| have > most)
        else {
            self.over = self.over.without(one);
            return;
        };
        if member.up && !self.over.contains(member.replica) {
            self.over = self.over.with(member.replica);
            let text = format!(
                "{} has {have} {what}, and {most} are allowed",
                member.replica
            );
            report.violated(Property::I15, None, one, text);
        }
    }
}

/// A packet moved: the fullest link is within its capacity.
pub(super) fn links(fullest: &FullestLink, bounds: &Bounds, report: &mut Report) {
    report.compared(Property::I15);
    if fullest.in_flight > bounds.link {
        let ends = [fullest.from, fullest.to];
        let replicas = ends.into_iter().filter_map(replica_of).collect();
        let text = format!(
            "{} packets are on the link from {} to {}, and {} are allowed",
            fullest.in_flight, fullest.from, fullest.to, bounds.link
        );
        report.violated(Property::I15, None, replicas, text);
    }
}

fn replica_of(process: Process) -> Option<ReplicaId> {
    match process {
        Process::Replica(replica) => Some(replica),
        Process::Client(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::*;
    use crate::ids::ClientId;

    #[test]
    fn full_is_fine_and_one_more_is_a_violation() {
        type Change = fn(&mut MemberView, &Bounds, u32);
        let cases: [Change; 4] = [
            |m, b, more| m.between_high = b.channel + more,
            |m, b, more| m.inbox_high = b.inbox + more,
            |m, b, more| m.pipeline = b.pipeline + more,
            |m, b, more| m.sessions = b.sessions + more,
        ];
        for change in cases {
            let mut world = World::new(3);
            let bounds = world.roster.bounds;
            change(&mut world.members[1], &bounds, 0);
            world.tick();
            assert_eq!(world.found(Property::I15), 0);
            change(&mut world.members[1], &bounds, 1);
            world.tick();
            world.tick();
            assert_eq!(world.found(Property::I15), 1);
        }
    }

    #[test]
    fn a_link_over_its_capacity_is_a_violation() {
        let mut world = World::new(3);
        let mut link = FullestLink {
            from: Process::Client(ClientId(0)),
            to: Process::Replica(ReplicaId(2)),
            in_flight: world.roster.bounds.link,
        };
        world.fullest_link = Some(link);
        world.tick();
        assert_eq!(world.found(Property::I15), 0);
        link.in_flight += 1;
        world.fullest_link = Some(link);
        world.tick();
        assert_eq!(world.kept()[0].replicas, Replicas::one(ReplicaId(2)));
        assert!(world.kept()[0].text.contains("from c0 to 2"));
    }
}
