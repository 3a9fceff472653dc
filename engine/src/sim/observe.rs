//! The simulator as oracles and conditions see it: plain facts, copied out. Must never change
//! anything.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ids::{Checksum, ClientId, GROUP_PARTITION_0, GroupId, Op, ReplicaId, RequestNumber};
use crate::oracle::{Bounds, ClusterView, FullestLink, Logs, MemberView, Roster, Timers};
use crate::scenario::{ClientFacts, Cluster, Observed, ReplicaFacts, Run};
use crate::shard::Group;
use crate::sim::simulator::{INBOX_FRAMES_MAX, Simulator};
use crate::vsr::io::Status;
use crate::vsr::quorum::Quorums;

/// What oracles know of a run's cluster from its start.
pub(super) fn oracle_roster(run: &Run) -> Roster {
    let count = run.cluster.replicas;
    Roster {
        replica_count: count,
        quorums: Quorums::of(count),
        bounds: Bounds {
            link: run.faults.network.link_capacity,
            inbox: u32::try_from(INBOX_FRAMES_MAX).unwrap_or(u32::MAX),
            pipeline: run.knobs.pipeline_max,
            sessions: run.knobs.sessions_max,
        },
    }
}

impl Simulator {
    /// Copies out what changed in this tick.
    pub(super) fn refresh_members(&mut self) {
        let members = self.replica_ids().map(|replica| self.member(replica));
        self.members = members.collect();
    }

    fn member(&self, replica: ReplicaId) -> MemberView {
        let place = &self.places[usize::from(replica.0)];
        match self.group(replica) {
            Some(group) => self.running_member(replica, &group),
            None => MemberView {
                incarnation: place.incarnation,
                durable_view: place.durable_views.0,
                durable_log_view: place.durable_views.1,
                ..MemberView::down(replica, GROUP_PARTITION_0)
            },
        }
    }

    fn running_member(&self, replica: ReplicaId, group: &Rc<RefCell<Group>>) -> MemberView {
        let place = &self.places[usize::from(replica.0)];
        let group = group.borrow();
        let core = &group.replica;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        MemberView {
            replica,
            group: GROUP_PARTITION_0,
            up: place.up,
            paused: place.paused,
            incarnation: core.incarnation(),
            status: core.status(),
            view: core.view(),
            log_view: core.log_view(),
            durable_view: core.durable().view,
            durable_log_view: core.durable().log_view,
            head: core.log().head(),
            commit_min: core.commit_min(),
            commit_max: core.commit_max(),
            checkpoint: core.checkpoint(),
            restored: core.restored(),
            digest: core.digest(&group.machine),
            timers: core
                .timers()
                .iter()
                .map(|(timer, _, _)| timer)
                .collect::<Timers>(),
            abdicated: core.has_abdicated(),
            holes: core.log().held_through() < core.log().head(),
            fetchable: core.lacks_bodies(),
            needs_state: core.needs_state(),
            writes_pending: count(group.writes_pending()),
            pipeline: count(core.acks().count()),
            sessions: count(core.sessions().len()),
            inbox: count(place.mailbox.len()),
            inbox_high: count(place.mailbox.take_high()),
        }
    }

    pub(super) fn cluster_view(&self) -> ClusterView<'_> {
        ClusterView {
            tick: self.tick,
            members: &self.members,
            fullest_link: self
                .network
                .fullest()
                .map(|(from, to, in_flight)| FullestLink {
                    from,
                    to,
                    in_flight,
                }),
            logs: self,
        }
    }
}

impl Logs for Simulator {
    fn checksum_at(&self, replica: ReplicaId, _: GroupId, op: Op) -> Option<Checksum> {
        let group = self.group(replica)?;
        let group = group.borrow();
        let prepare = group.replica.log().prepare(op)?;
        Some(prepare.header.checksum)
    }

    fn durable_checksum(&self, replica: ReplicaId, _: GroupId, op: Op) -> Option<Checksum> {
        self.durable_identity(replica, op)
    }
}

impl Observed for Simulator {
    fn cluster(&self) -> Cluster {
        self.run.cluster
    }

    fn replica(&self, replica: ReplicaId) -> ReplicaFacts {
        let place = &self.places[usize::from(replica.0)];
        let mut facts = ReplicaFacts {
            up: false,
            status: Status::Recovering,
            view: crate::ids::View(0),
            log_view: crate::ids::View(0),
            head: Op(0),
            head_checksum: Checksum(0),
            commit_min: Op(0),
            commit_max: Op(0),
            primary: false,
            voted: place.voted,
            acks: 0,
        };
        let Some(group) = self.group(replica) else {
            return facts;
        };
        let group = group.borrow();
        let core = &group.replica;
        facts.up = place.up;
        facts.status = core.status();
        facts.view = core.view();
        facts.log_view = core.log_view();
        facts.head = core.log().head();
        facts.head_checksum = core.log().identity(facts.head).unwrap_or_default();
        facts.commit_min = core.commit_min();
        facts.commit_max = core.commit_max();
        facts.primary = core.is_primary() && core.status() == Status::Normal;
        let of_others = core.acks().map(|(_, holders)| {
            let own = u8::from(holders.contains(replica));
            holders.len() - own
        });
        facts.acks = of_others.max().unwrap_or(0);
        facts
    }

    fn client(&self, client: ClientId) -> ClientFacts {
        let Some(client) = self.clients.get(usize::from(client.0)) else {
            return ClientFacts {
                replied: RequestNumber(0),
            };
        };
        let unanswered = u64::from(!client.is_ready() && client.session().0 > 0);
        ClientFacts {
            replied: RequestNumber(client.request().0.saturating_sub(unanswered)),
        }
    }

    fn executed(&self, replica: ReplicaId, client: ClientId) -> RequestNumber {
        let Some(group) = self.group(replica) else {
            return RequestNumber(0);
        };
        let group = group.borrow();
        group
            .replica
            .sessions()
            .iter()
            .find(|&(known, _, _)| known == client)
            .map_or(RequestNumber(0), |(_, _, watermark)| watermark)
    }

    fn replies(&self) -> u64 {
        self.world.record.borrow().totals.replies
    }

    fn views_started(&self) -> u64 {
        self.world.record.borrow().totals.view_changes
    }

    fn violated(&self, property: Option<u8>) -> bool {
        let record = self.world.record.borrow();
        record
            .oracles
            .violations()
            .iter()
            .any(|violation| property.is_none_or(|number| violation.property as u8 == number))
    }
}
