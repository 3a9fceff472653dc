//! The simulator as oracles and conditions see it: plain facts, copied out. Must never change
//! anything.

use crate::ids::{Checksum, ClientId, GROUP_METADATA, GroupId, Op, ReplicaId, RequestNumber};
use crate::oracle::{Bounds, ClusterView, FullestLink, Logs, MemberView, Roster, Timers};
use crate::scenario::{ClientFacts, Cluster, GroupName, Observed, ReplicaFacts, Run};
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
            channel: run.shards.channel_frames_max,
            pipeline: run.knobs.pipeline_max,
            sessions: run.knobs.sessions_max,
        },
    }
}

impl Simulator {
    /// Copies out what changed in this tick.
    pub(super) fn refresh_members(&mut self) {
        let count = usize::from(self.run.cluster.replicas);
        let mut members = std::mem::take(&mut self.members);
        let is_same = members.len() == self.groups.len() * count
            && members
                .chunks(count)
                .zip(&self.groups)
                .all(|(members, &group)| members[0].group == group);
        if !is_same {
            let groups = self.groups.iter();
            members = groups
                .flat_map(|&group| self.replica_ids().map(move |r| MemberView::down(r, group)))
                .collect();
        }
        for member in &mut members {
            self.refresh(member, !is_same);
        }
        self.members = members;
    }

    /// A replica's frames are not a group's: its inboxes and channels count with the metadata group.
    fn refresh(&self, member: &mut MemberView, is_new: bool) {
        let place = &self.places[usize::from(member.replica.0)];
        let Some(handle) = place.host.get(member.group) else {
            let known = place.known.get(&member.group).copied().unwrap_or_default();
            *member = MemberView {
                incarnation: known.incarnation,
                durable_view: known.view,
                durable_log_view: known.log_view,
                checkpoint: known.checkpoint,
                ..MemberView::down(member.replica, member.group)
            };
            return;
        };
        let mut group = handle.group().borrow_mut();
        if group.take_changed() || is_new || !member.up {
            *member = running_member(member.replica, &group);
        }
        member.up = place.up;
        member.paused = place.paused;
        if member.group == GROUP_METADATA {
            member.inbox = count(place.mesh.inbox_len());
            member.between = count(place.mesh.channel_len());
            let (inbox, channel) = place.mesh.take_highs();
            member.inbox_high = count(inbox);
            member.between_high = count(channel);
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
            weather: self,
        }
    }
}

fn running_member(replica: ReplicaId, group: &Group) -> MemberView {
    let core = &group.replica;
    MemberView {
        up: true,
        incarnation: core.incarnation(),
        status: core.status(),
        view: core.view(),
        log_view: core.log_view(),
        durable_view: core.durable().view,
        durable_log_view: core.durable().log_view,
        head: core.log().head(),
        held: core.log().held_through(),
        view_change_wait: core.view_change_wait(),
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
        trusted: core.is_trusted(),
        holes: core.log().held_through() < core.log().head(),
        fetchable: core.lacks_bodies(),
        needs_state: core.needs_state(),
        writes_pending: count(group.writes_pending()),
        pipeline: count(core.acks().count()),
        sessions: count(core.sessions().len()),
        ..MemberView::down(replica, core.roster().group)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Logs for Simulator {
    fn checksum_at(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum> {
        let group = Simulator::group(self, replica, group)?;
        let group = group.borrow();
        let core = &group.replica;
        core.log().held(op).filter(|_| op > core.checkpoint())
    }

    fn durable_checksum(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum> {
        self.durable_identity(replica, group, op)
    }

    fn stored_checksum(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum> {
        self.stored_identity(replica, group, op)
    }
}

impl Observed for Simulator {
    fn cluster(&self) -> Cluster {
        self.run.cluster
    }

    fn groups(&self) -> &[GroupId] {
        self.group_ids()
    }

    fn group(&self, name: GroupName) -> Option<GroupId> {
        self.group_named(name)
    }

    fn replica(&self, group: GroupId, replica: ReplicaId) -> ReplicaFacts {
        let place = &self.places[usize::from(replica.0)];
        let known = place.known.get(&group).copied().unwrap_or_default();
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
            voted: known.voted,
            acks: 0,
        };
        let Some(group) = Simulator::group(self, replica, group) else {
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

    fn client(&self, group: GroupId, client: ClientId) -> ClientFacts {
        let client = self.clients.get(usize::from(client.0));
        let Some(lane) = client.and_then(|client| client.lane(group)) else {
            return ClientFacts {
                replied: RequestNumber(0),
            };
        };
        let unanswered = u64::from(!lane.is_ready() && lane.session().0 > 0);
        ClientFacts {
            replied: RequestNumber(lane.request().0.saturating_sub(unanswered)),
        }
    }

    fn executed(&self, group: GroupId, replica: ReplicaId, client: ClientId) -> RequestNumber {
        let Some(group) = Simulator::group(self, replica, group) else {
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

    fn replies(&self, group: GroupId) -> u64 {
        self.world.record.borrow().tally(group).replies
    }

    fn views_started(&self, group: GroupId) -> u64 {
        self.world.record.borrow().tally(group).views_started
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::decode;
    use crate::sim::StopAt;
    use crate::trace::{Recorder, Recording};

    #[test]
    fn what_is_not_copied_anew_has_not_changed() {
        let link = "v=1&seed=3&partitions=2&clients=2&faults=heavy&load=0.2&crash=0.01&restart=0.02\
                    &crash-primary=yes&heartbeat=20&heartbeat-wait=80&abdicate=100";
        let mut simulator =
            Simulator::new(decode(link).unwrap(), Recorder::new(Recording::Nothing, 0));
        let mut compared = 0;
        for _ in 0..3_000 {
            simulator.advance(StopAt::Tick).unwrap();
            for member in &simulator.members {
                let Some(group) = simulator.group(member.replica, member.group) else {
                    assert!(!member.up);
                    continue;
                };
                let anew = MemberView {
                    paused: member.paused,
                    inbox: member.inbox,
                    inbox_high: member.inbox_high,
                    between: member.between,
                    between_high: member.between_high,
                    ..running_member(member.replica, &group.borrow())
                };
                assert_eq!(*member, anew);
                compared += 1;
            }
        }
        assert!(compared > 15_000, "{compared}");
    }
}
