//! I13, repair progress, in two halves (protocol section 7; scenarios A49, A51, A52; the livelock of
//! apache/iggy#4433). First: a body that was asked for and came is not asked for again and again. It is
//! judged whenever bodies are asked for. Second: while a replica lacks the body of a committed op and a
//! peer that it reaches has it, some body comes within so many ticks. Must never know how a peer is
//! chosen.
//!
//! Exceptions to the first. A replica that dropped the entry, installed another log or began another
//! life may ask anew. Some repetition is no fault: answers of several peers cross.
//!
//! Exceptions to the second. Nothing is fetched outside the view's log, nor by who restarted and still
//! asks who leads. A peer helps only if it is normal, holds the entry in memory and on its disk (a
//! damaged slot is not served), and both are free of faults and both ways between them are free, all
//! the time: pauses, slow and lying disks, cuts, clogs, filters, holds and delays by hand start the
//! wait anew. Where dice lose packets, or packets are slow, the wait is longer, or not judged at all.
//! Bodies of a state transfer count as bodies.

use super::canon::Canon;
use super::view::{ClusterView, MemberView};
use super::violation::{Property, Replicas, Report};
use super::weather::{LOOK_EVERY, Pace};
use crate::ids::{Op, Process, ReplicaId, Tick};
use crate::vsr::io::Status;

/// How often a body that came may be asked for again.
const REPEATS_MAX: u32 = 3;

/// How often each peer has its turn before a helper must have helped; more often where packets are
/// lost: with one of six lost either way, a turn fails in one of four.
const TURNS: u64 = 4;
const TURNS_LOSSY: u64 = 16;

/// What one replica asks for and gets.
#[derive(Debug, Default)]
struct Asker {
    /// The first op of its last request.
    asked: Option<Op>,
    /// How often that op's body came since it was first asked for.
    came: u32,
    /// Bodies that came in all.
    bodies: u64,
    wait: Option<Wait>,
    told_repeat: bool,
    told_wait: bool,
}

/// A wait for any body at all.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Tick,
    bodies: u64,
    hole: Op,
    pace: Pace,
}

/// All replicas of a group.
#[derive(Debug)]
pub(super) struct RepairProgress {
    askers: Vec<Asker>,
}

impl RepairProgress {
    pub(super) fn new(replica_count: u8) -> Self {
        let askers = (0..replica_count).map(|_| Asker::default());
        Self {
            askers: askers.collect(),
        }
    }

    fn of(&mut self, replica: ReplicaId) -> Option<&mut Asker> {
        self.askers.get_mut(usize::from(replica.0))
    }

    /// A replica asks for bodies from an op on.
    pub(super) fn requested(&mut self, replica: ReplicaId, from: Op, report: &mut Report) {
        let Some(asker) = self.of(replica) else {
            return;
        };
        report.compared(Property::I13);
        if asker.asked != Some(from) {
            asker.asked = Some(from);
            asker.came = 0;
            return;
        }
        let came = asker.came;
        if came > REPEATS_MAX && !std::mem::replace(&mut asker.told_repeat, true) {
            report.violated(
                Property::I13,
                Some(from),
                Replicas::one(replica),
                format!(
                    "{replica} asks again for bodies from op {from} on, whose body came {came} times"
                ),
            );
        }
    }

    /// A body that was asked for, or one already held, came.
    pub(super) fn came(&mut self, replica: ReplicaId, op: Op, is_new: bool) {
        let Some(asker) = self.of(replica) else {
            return;
        };
        asker.bodies += u64::from(is_new);
        if asker.asked == Some(op) {
            asker.came += 1;
        }
    }

    /// A part of a state transfer came.
    #[expect(
        dead_code,
        reason = "state transfer tells of its chunks once it is there"
    )]
    pub(super) fn transferred(&mut self, replica: ReplicaId) {
        if let Some(asker) = self.of(replica) {
            asker.bodies += 1;
        }
    }

    /// A replica dropped an entry.
    pub(super) fn dropped(&mut self, replica: ReplicaId, op: Op) {
        if let Some(asker) = self.of(replica)
            && asker.asked == Some(op)
        {
            asker.asked = None;
        }
    }

    /// A replica installed another log, or began another life.
    pub(super) fn renewed(&mut self, replica: ReplicaId) {
        if let Some(asker) = self.of(replica) {
            asker.asked = None;
            asker.wait = None;
            asker.told_repeat = false;
            asker.told_wait = false;
        }
    }

    /// Looks at those that lack bodies, now and then.
    pub(super) fn look(
        &mut self,
        members: &[MemberView],
        canon: &Canon,
        view: &ClusterView,
        report: &mut Report,
    ) {
        if !view.tick.0.is_multiple_of(LOOK_EVERY) {
            return;
        }
        for member in members {
            if let Some(asker) = self.of(member.replica) {
                asker.look(member, members, canon, view, report);
            }
        }
    }
}

impl Asker {
    fn look(
        &mut self,
        member: &MemberView,
        members: &[MemberView],
        canon: &Canon,
        view: &ClusterView,
        report: &mut Report,
    ) {
        let hole = member.held.next();
        let helper = lacks(member).then(|| helper(member, hole, members, canon, view));
        let Some(helper) = helper.flatten() else {
            self.wait = None;
            return;
        };
        let pace = view.weather.pace();
        let wait = match self.wait {
            Some(wait) if wait.bodies == self.bodies && wait.hole == hole && wait.pace == pace => {
                wait
            }
            _ => {
                self.told_wait = false;
                self.wait = Some(Wait {
                    since: view.tick,
                    bodies: self.bodies,
                    hole,
                    pace,
                });
                return;
            }
        };
        report.compared(Property::I13);
        let (waited, patience) = (view.tick.0 - wait.since.0, patience(&pace, members.len()));
        if waited > patience && !std::mem::replace(&mut self.told_wait, true) {
            let replica = member.replica;
            report.violated(
                Property::I13,
                Some(hole),
                Replicas::one(replica),
                format!(
                    "{replica} has lacked the body of op {hole} for {waited} ticks and got no other, \
                     though {helper} has it and they reach each other"
                ),
            );
        }
    }
}

/// Whether a replica lacks bodies and may ask for them.
fn lacks(member: &MemberView) -> bool {
    let asks = match member.status {
        Status::Normal | Status::ViewChange => member.log_view == member.view,
        Status::Recovering | Status::RecoveringHead => false,
    };
    member.up && member.holes && asks
}

/// A peer that could give the body of a committed op right away.
fn helper(
    member: &MemberView,
    hole: Op,
    members: &[MemberView],
    canon: &Canon,
    view: &ClusterView,
) -> Option<ReplicaId> {
    let committed = canon.checksum(hole)?;
    let (weather, logs) = (view.weather, view.logs);
    if !weather.pace().is_prompt() || !weather.is_hale(member.replica) {
        return None;
    }
    let asker = Process::Replica(member.replica);
    let helps = |peer: &&MemberView| {
        let (replica, group) = (peer.replica, peer.group);
        let other = Process::Replica(replica);
        replica != member.replica
            && peer.up
            && peer.status == Status::Normal
            && weather.is_hale(replica)
            && weather.is_free(asker, other)
            && weather.is_free(other, asker)
            && logs.checksum_at(replica, group, hole) == Some(committed)
            && logs.durable_checksum(replica, group, hole) == Some(committed)
    };
    members.iter().find(helps).map(|peer| peer.replica)
}

/// How long it may take until a helper has had its turns.
fn patience(pace: &Pace, members: usize) -> u64 {
    let turns = if pace.lossy { TURNS_LOSSY } else { TURNS };
    let turn = 2 * u64::from(pace.repair_retry_ticks) + 10 * u64::from(pace.delay_mean_ticks);
    turns * turn * members as u64
}

#[cfg(test)]
#[path = "i13_tests.rs"]
mod tests;
