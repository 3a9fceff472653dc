//! I12, convergence: once a core of replicas is healed and left alone, all of it is normal in one view
//! with one log that is executed to its head (scenarios section C; TigerBeetle, *Simulation Testing
//! For Liveness*). Asked by whoever runs the settle phase, which also holds the time limit. Exception:
//! a core that lacks voters or a needed prepare stalls honestly, which I17 proves. Must never know
//! what was done to the cluster before.

use super::view::{ClusterView, MemberView, Roster};
use crate::ids::{GroupId, ReplicaId};
use crate::vsr::io::Status;

/// What still keeps a core from having converged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconverged {
    /// One sentence in plain words.
    pub text: String,
}

/// Whether the core of a group has converged, or the first thing that says it has not.
///
/// # Errors
/// The first replica, in order, that is not where it should be, and how.
pub fn converged(
    view: &ClusterView,
    group: GroupId,
    core: &[ReplicaId],
    roster: &Roster,
) -> Result<(), Unconverged> {
    let members: Vec<&MemberView> = core
        .iter()
        .filter_map(|&replica| view.member(replica, group))
        .collect();
    let fault = members
        .iter()
        .find_map(|member| alone(member))
        .or_else(|| together(&members))
        .or_else(|| unled(view, group, &members, roster));
    match fault {
        Some(text) => Err(Unconverged { text }),
        None => Ok(()),
    }
}

/// What is wrong with one replica by itself.
fn alone(member: &MemberView) -> Option<String> {
    let replica = member.replica;
    if !member.up {
        return Some(format!("{replica} is down"));
    }
    if member.paused {
        return Some(format!("{replica} is paused"));
    }
    match member.status {
        Status::Normal => {}
        Status::ViewChange => {
            return Some(format!("{replica} is in a change to view {}", member.view));
        }
        Status::Recovering | Status::RecoveringHead => {
            return Some(format!("{replica} still asks who leads"));
        }
    }
    if member.holes {
        return Some(format!(
            "{replica} lacks bodies up to its head {}",
            member.head
        ));
    }
    (member.commit_min != member.head).then(|| {
        format!(
            "{replica} has executed op {} of a log that ends at op {}",
            member.commit_min, member.head
        )
    })
}

/// In what two replicas differ.
fn together(members: &[&MemberView]) -> Option<String> {
    let first = members.first()?;
    for member in members {
        let (one, other) = (first.replica, member.replica);
        if member.view != first.view {
            return Some(format!(
                "{one} is in view {}, {other} in view {}",
                first.view, member.view
            ));
        }
        if member.head != first.head {
            return Some(format!(
                "the log of {one} ends at op {}, that of {other} at op {}",
                first.head, member.head
            ));
        }
        if member.digest != first.digest {
            return Some(format!(
                "{one} and {other} executed op {} and their states differ",
                first.head
            ));
        }
    }
    None
}

/// Whether nobody leads the view they agree on. The primary may lie outside the core, as long as it
/// runs and leads.
fn unled(
    view: &ClusterView,
    group: GroupId,
    members: &[&MemberView],
    roster: &Roster,
) -> Option<String> {
    let first = members.first()?;
    let primary = first.view.primary(roster.replica_count);
    let leads = view.member(primary, group).is_some_and(|member| {
        member.up && !member.paused && member.status == Status::Normal && member.view == first.view
    });
    (!leads).then(|| {
        format!(
            "view {} belongs to {primary}, which does not lead it",
            first.view
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{GROUP, World};
    use super::*;
    use crate::ids::{Op, View};

    fn judge(world: &World, core: &[u8]) -> Result<(), String> {
        let core: Vec<ReplicaId> = core.iter().copied().map(ReplicaId).collect();
        converged(&world.view(), GROUP, &core, &world.roster).map_err(|fault| fault.text)
    }

    #[test]
    fn a_core_that_agrees_has_converged_whatever_the_rest_does() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.members[2].up = false;
        assert_eq!(judge(&world, &[0, 1]), Ok(()));
    }

    #[test]
    fn whatever_still_differs_is_named() {
        type Change = fn(&mut World);
        let cases: [(Change, &str); 8] = [
            (|w| w.members[1].up = false, "1 is down"),
            (|w| w.members[1].paused = true, "1 is paused"),
            (
                |w| w.members[1].status = Status::ViewChange,
                "1 is in a change to view 0",
            ),
            (
                |w| w.members[0].holes = true,
                "0 lacks bodies up to its head 3",
            ),
            (
                |w| w.members[1].commit_min = Op(2),
                "1 has executed op 2 of a log that ends at op 3",
            ),
            (
                |w| w.members[1].view = View(1),
                "0 is in view 0, 1 in view 1",
            ),
            (
                |w| w.members[1].digest = crate::ids::Checksum(9),
                "0 and 1 executed op 3 and their states differ",
            ),
            (
                |w| {
                    w.members[0].view = View(2);
                    w.members[1].view = View(2);
                },
                "view 2 belongs to 2, which does not lead it",
            ),
        ];
        for (change, text) in cases {
            let mut world = World::new(3);
            world.execute_everywhere(3);
            change(&mut world);
            assert_eq!(judge(&world, &[0, 1]), Err(text.to_string()));
        }
    }
}
