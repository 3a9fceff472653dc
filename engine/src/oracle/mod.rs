//! The oracles: what must hold in every run, one property a file. They see every event in order and,
//! once a tick, a read-only view; the state they keep survives every crash. Each works in amortised
//! constant time. They must never know the simulator, the shard or the journal, change nothing, and
//! go on past a violation.
//!
//! Where a property speaks of one group it is kept once a group (`group`). What was executed is
//! kept once for all that compare it (`canon`). The closed list is [`Property::CHECKED`].

mod canon;
mod faults;
mod group;
mod i00_broken_rule;
mod i01_agreement;
mod i02_hash_chain;
mod i03_commits_rise;
mod i04_durability;
mod i05_exactly_once;
mod i07_views_rise;
mod i08_one_log_per_view;
mod i09_equal_state;
mod i10_no_gaps;
mod i11_honest_acks;
mod i12_convergence;
mod i13_repair_progress;
mod i14_no_lost_wakeup;
mod i15_bounded_queues;
mod i16_availability;
mod i17_honest_stall;
mod i18_sane_storage;
mod linearizability;
mod patrol;
mod stall;
#[cfg(test)]
mod testing;
mod view;
mod violation;
mod weather;

pub use i12_convergence::{Unconverged, converged};
pub use linearizability::{Operation, Searched, Sequential, search};
pub use stall::{DiskFacts, Slot, SlotFact, Stall, undecidable};
pub use view::{Bounds, ClusterView, FullestLink, Logs, MemberView, Roster, Timers};
pub use violation::{Book, PROPERTIES, Property, Replicas, Violation};
pub use weather::{Pace, Weather};

use serde::Serialize;

use crate::ids::{GROUP_PARTITION_0, GroupId, Op, Process, ReplicaId, Tick};
use crate::trace::{Event, EventKind};

use group::Group;
use violation::Report;

/// One line of the checks panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// `I4`.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Whether it held so far.
    pub state: CheckState,
    /// How often it was put to the test.
    pub compared: u64,
    /// What it demands; once violated, the first violation's sentence.
    pub text: String,
}

/// Whether a property held so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// It did.
    Holds,
    /// It did not.
    Violated,
}

/// All oracles of a run.
#[derive(Debug)]
pub struct Oracles {
    roster: Roster,
    groups: Vec<Group>,
    book: Book,
}

impl Oracles {
    /// Oracles that have seen nothing yet.
    #[must_use]
    pub fn new(roster: Roster) -> Self {
        Self {
            roster,
            groups: vec![Group::new(GROUP_PARTITION_0, &roster)],
            book: Book::default(),
        }
    }

    /// Looks at one event. All events of the run come here, in order.
    pub fn observe(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Sent {
                frame, copy: false, ..
            } => {
                if let Process::Replica(replica) = frame.from {
                    let (group, mut report) = self.at(event.tick, frame.group);
                    group.sent(replica, frame, &mut report);
                }
            }
            EventKind::Noted {
                replica,
                group,
                note,
            } => {
                let (group, mut report) = self.at(event.tick, *group);
                group.noted(*replica, note, &mut report);
            }
            EventKind::Replied {
                client,
                group,
                reply,
                view,
                ..
            } => {
                let (group, mut report) = self.at(event.tick, *group);
                group.replied(*client, reply, *view, &mut report);
            }
            EventKind::Requested { client, group, .. } => {
                let (group, _) = self.at(event.tick, *group);
                group.availability.requested(*client, event.tick);
            }
            EventKind::Crashed { replica, .. } | EventKind::Restarted { replica, .. } => {
                for group in &mut self.groups {
                    group.booting(*replica);
                }
            }
            EventKind::Sent { .. }
            | EventKind::Ended { .. }
            | EventKind::Acted(_)
            | EventKind::Skipped(_)
            | EventKind::SessionLost { .. }
            | EventKind::Violated(_) => {}
        }
    }

    /// Looks at the cluster when a tick is over.
    pub fn end_of_tick(&mut self, view: &ClusterView) {
        for members in view.members.chunk_by(|one, other| one.group == other.group) {
            let (group, mut report) = self.at(view.tick, members[0].group);
            group.end_of_tick(members, view, &mut report);
        }
        if let Some(fullest) = &view.fullest_link {
            let bounds = self.roster.bounds;
            let (_, mut report) = self.at(view.tick, GROUP_PARTITION_0);
            i15_bounded_queues::links(fullest, &bounds, &mut report);
        }
    }

    /// Looks at everything that clients rely on, once, when the cluster has converged.
    pub fn at_rest(&mut self, view: &ClusterView) {
        let replica_count = self.roster.replica_count;
        for members in view.members.chunk_by(|one, other| one.group == other.group) {
            let (group, mut report) = self.at(view.tick, members[0].group);
            group.at_rest(members, view, replica_count, &mut report);
        }
    }

    /// A core had its time and did not converge, and no proof excuses it.
    pub fn stuck(&mut self, tick: Tick, group: GroupId, core: Replicas, why: &Unconverged) {
        let (_, report) = self.at(tick, group);
        report.book.report(Violation {
            property: Property::I12,
            tick,
            group,
            op: None,
            replicas: core,
            text: format!("the core {core} did not converge: {}", why.text),
        });
    }

    /// A core converged.
    pub fn converged(&mut self, tick: Tick, group: GroupId) {
        let (_, mut report) = self.at(tick, group);
        report.compared(Property::I12);
    }

    /// A replica's disk can no longer be expected to give back an op: it rotted, was torn, went
    /// elsewhere, was punched out. Such damage may stall a cluster and must never lose what was
    /// committed, so it excuses the replica alone.
    pub fn fault(&mut self, replica: ReplicaId, group: GroupId, op: Op) {
        self.at(Tick(0), group).0.faults.hit(replica, op);
    }

    /// A replica's disk reported an entry durable and kept nothing: it counts as no copy.
    pub fn disk_lied(&mut self, replica: ReplicaId, group: GroupId, op: Op) {
        let (group, _) = self.at(Tick(0), group);
        group.faults.hit(replica, op);
        group.durability.lost(replica, op);
    }

    /// A replica's disk reported a superblock durable and did not keep it: its views fall back, and
    /// it knows nothing of what it promised.
    pub fn superblock_lost(&mut self, replica: ReplicaId, group: GroupId) {
        self.at(Tick(0), group).0.views_rise.forget(replica);
    }

    /// A replica's disk was wiped: what it held counts as no copies.
    pub fn disk_wiped(&mut self, replica: ReplicaId) {
        for group in &mut self.groups {
            group.durability.wiped(replica);
        }
    }

    /// Takes in what somebody else found: the auditor of what clients were told.
    pub fn report(&mut self, violation: Violation) {
        self.book.report(violation);
    }

    /// Counts tests of a property that somebody else made: the auditor, who holds answers against the
    /// log.
    pub fn compared(&mut self, property: Property, times: u64) {
        self.book.count(property, times);
    }

    /// The violations, in the order they were found; of each property the first few.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        self.book.kept()
    }

    /// How often each property was tested and found broken.
    #[must_use]
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Ops that two replicas or more executed, and executed alike.
    #[must_use]
    pub fn ops_compared(&self) -> u64 {
        self.groups.iter().map(|group| group.canon.shared()).sum()
    }

    /// Whether disks of a group lied, or were wiped, so that what a client was told may be lost without
    /// anybody's fault.
    #[must_use]
    pub fn may_have_lost(&self, group: GroupId) -> bool {
        let known = self.groups.iter().find(|known| known.id == group);
        known.is_some_and(|known| known.durability.has_excused())
    }

    /// The last op that anybody executed in a group.
    #[must_use]
    pub fn executed_max(&self, group: GroupId) -> Op {
        let known = self.groups.iter().find(|known| known.id == group);
        known.map_or(Op(0), |known| known.canon.range().1)
    }

    /// The lines of the checks panel.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        Property::CHECKED
            .into_iter()
            .map(|property| {
                let first = self
                    .violations()
                    .iter()
                    .find(|violation| violation.property == property);
                Check {
                    id: property.id(),
                    name: property.name(),
                    state: match first {
                        Some(_) => CheckState::Violated,
                        None => CheckState::Holds,
                    },
                    compared: self.book.compared(property),
                    text: first.map_or_else(
                        || property.meaning().to_string(),
                        |violation| violation.text.clone(),
                    ),
                }
            })
            .collect()
    }

    /// A group's oracles, made when the group is first heard of, and where they write.
    fn at(&mut self, tick: Tick, id: GroupId) -> (&mut Group, Report<'_>) {
        let place = match self.groups.binary_search_by_key(&id, |group| group.id) {
            Ok(place) => place,
            Err(place) => {
                self.groups.insert(place, Group::new(id, &self.roster));
                place
            }
        };
        let report = Report {
            tick,
            group: id,
            book: &mut self.book,
        };
        (&mut self.groups[place], report)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
