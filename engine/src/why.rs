//! Why nothing commits, in one line: the missing quorum member or the wait. Must never guess: every
//! word comes from a replica's own state.

use serde::Serialize;

use crate::ids::{GroupId, ReplicaId};
use crate::shard::Group;
use crate::sim::Simulator;
use crate::vsr::io::{Status, Timer};
use crate::vsr::quorum::Quorums;

/// The line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// For a machine to tell cases apart.
    pub code: &'static str,
    /// For people.
    pub text: String,
    /// The replica it is about.
    pub replica: Option<ReplicaId>,
}

/// Why nothing commits now in a group, where somebody waits for it.
#[must_use]
pub fn why_nothing_commits(simulator: &Simulator, group: GroupId) -> Option<Why> {
    let mut clients = simulator.clients().iter();
    let someone_waits = clients.any(|client| !client.is_ready(group));
    if !someone_waits {
        return None;
    }
    let count = simulator.values().cluster.replicas;
    let quorums = Quorums::of(count);
    let up: Vec<ReplicaId> = (0..count)
        .map(ReplicaId)
        .filter(|replica| simulator.places()[usize::from(replica.0)].up)
        .collect();
    let running = u8::try_from(up.len()).unwrap_or(u8::MAX);
    let leader = up
        .iter()
        .copied()
        .filter(|&replica| leads(simulator, (replica, group)));
    // Of several that think they lead, the one of the newest view does; and where a newer view was
    // entered by votes, whoever leads an older one leads nobody.
    let newest = up
        .iter()
        .filter_map(|&replica| view_of(simulator, (replica, group)))
        .max();
    let leader = leader
        .max_by_key(|&replica| view_of(simulator, (replica, group)))
        .filter(|&replica| view_of(simulator, (replica, group)) == newest);
    match leader {
        Some(leader) => why_leader_waits(simulator, (leader, group), quorums),
        None if running < quorums.view_change => Some(Why {
            code: "too-few",
            text: format!(
                "{running} of {count} replicas run, and a new view needs the votes of {}",
                quorums.view_change
            ),
            replica: None,
        }),
        None => why_nobody_leads(simulator, (&up, group), quorums),
    }
}

/// A replica in a group.
type Member = (ReplicaId, GroupId);

fn with_group<T>(
    simulator: &Simulator,
    (replica, group): Member,
    look: impl FnOnce(&Group) -> T,
) -> Option<T> {
    let group = simulator.group(replica, group);
    group.map(|group| look(&group.borrow()))
}

fn leads(simulator: &Simulator, (replica, group): Member) -> bool {
    let paused = simulator.places()[usize::from(replica.0)].paused;
    let leads = with_group(simulator, (replica, group), |group| {
        group.replica.is_primary() && group.replica.status() == Status::Normal
    });
    !paused && leads == Some(true)
}

fn view_of(simulator: &Simulator, member: Member) -> Option<u32> {
    with_group(simulator, member, |group| group.replica.view().0)
}

fn why_leader_waits(
    simulator: &Simulator,
    (leader, group): Member,
    quorums: Quorums,
) -> Option<Why> {
    let waiting = with_group(simulator, (leader, group), |group| {
        let first = group.replica.acks().next();
        first.map(|(op, holders)| (op, holders.iter().collect::<Vec<_>>()))
    })??;
    let (op, holders) = waiting;
    Some(Why {
        code: "acks",
        text: format!(
            "op {op} waits: {} of the {} replicas that must hold it, and {leader} leads",
            held_by(&holders),
            quorums.replication
        ),
        replica: Some(leader),
    })
}

fn held_by(holders: &[ReplicaId]) -> String {
    match holders {
        [] => "held by none".to_string(),
        [one] => format!("only {one} holds it"),
        many => {
            let names: Vec<String> = many.iter().map(ToString::to_string).collect();
            format!("{} hold it", names.join(", "))
        }
    }
}

fn why_nobody_leads(
    simulator: &Simulator,
    (up, group): (&[ReplicaId], GroupId),
    quorums: Quorums,
) -> Option<Why> {
    let newest = up
        .iter()
        .copied()
        .max_by_key(|&replica| view_of(simulator, (replica, group)))?;
    with_group(simulator, (newest, group), |group| {
        let core = &group.replica;
        let view = core.view();
        let left = |timer: Timer| {
            let mut timers = core.timers().iter();
            timers
                .find(|&(other, _, _)| other == timer)
                .map(|(_, left, _)| left)
        };
        let text = match core.status() {
            Status::ViewChange if core.is_primary() => format!(
                "{newest} is to lead view {view} and has the logs of {} of the {} it needs",
                core.log_votes().len(),
                quorums.view_change
            ),
            Status::ViewChange => format!(
                "view {view} has not started: {} is to lead it",
                core.primary()
            ),
            Status::Normal => match left(Timer::HeartbeatWait) {
                Some(ticks) => format!(
                    "{} leads view {view} and is gone; {newest} waits {ticks} more ticks before it votes to leave",
                    core.primary()
                ),
                None => format!(
                    "{newest} voted to leave view {view}: {} of {} votes",
                    core.leave_votes().len(),
                    quorums.view_change
                ),
            },
            Status::Recovering => format!("{newest} has restarted and asks who leads"),
            Status::RecoveringHead => format!(
                "{newest} has restarted, cannot read where its log ends, and asks who leads"
            ),
        };
        Why {
            code: "no-primary",
            text,
            replica: Some(newest),
        }
    })
}
