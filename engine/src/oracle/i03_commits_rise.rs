//! I3, commit monotonicity: within one life a replica never takes back what it executed, and no view
//! starts with a head below the last op committed in a lower view (scenarios section C). Must never
//! know entries, only their numbers.
//!
//! Exceptions. A restart may lower what a replica executed: the state machine is in memory. The
//! cluster's largest known commit may fall: the only replica that knew of the last commit can crash,
//! so that alone is no violation. An older view may start late with a short log: nobody acts in it
//! any more. An op whose copies were lost to lying or wiped disks is not demanded (see I4), nor is
//! one that was lost with the memory of a quorum, where the group acknowledges from memory.

use std::collections::VecDeque;

use super::i04_durability::Durability;
use super::view::MemberView;
use super::violation::{Property, Replicas, Report};
use crate::ids::{Incarnation, Op, ReplicaId, View};

/// Views with commits that are remembered. A view that starts later than so many younger ones is
/// not judged.
const VIEWS_KEPT: usize = 64;

/// What each replica executed, and how far each view committed.
#[derive(Debug, Default)]
pub(super) struct CommitsRise {
    executed: Vec<(Incarnation, Op)>,
    /// Views in which the commit point rose above all lower views', ascending in view and op.
    committed: VecDeque<(View, Op)>,
}

impl CommitsRise {
    /// A primary's commit point moved in its view.
    pub(super) fn committed(&mut self, view: View, commit_max: Op) {
        let place = self.committed.partition_point(|&(v, _)| v < view);
        let below = place
            .checked_sub(1)
            .map_or(Op(0), |before| self.committed[before].1);
        if commit_max <= below {
            return;
        }
        match self.committed.get_mut(place) {
            Some((v, op)) if *v == view => *op = commit_max.max(*op),
            Some(_) | None => self.committed.insert(place, (view, commit_max)),
        }
        let reached = self.committed[place].1;
        while self
            .committed
            .get(place + 1)
            .is_some_and(|&(_, op)| op <= reached)
        {
            self.committed.remove(place + 1);
        }
        if self.committed.len() > VIEWS_KEPT {
            self.committed.pop_front();
        }
    }

    /// A view started with a log that ends at `head`.
    pub(super) fn started(
        &self,
        view: View,
        head: Op,
        by: ReplicaId,
        durability: &Durability,
        report: &mut Report,
    ) {
        let place = self.committed.partition_point(|&(v, _)| v < view);
        let Some(&(lower, op)) = place
            .checked_sub(1)
            .and_then(|before| self.committed.get(before))
        else {
            return;
        };
        report.compared(Property::I3);
        if head < op && durability.is_armed(op) {
            report.violated(
                Property::I3,
                Some(op),
                Replicas::one(by),
                format!(
                    "{by} started view {view} with head {head}, but view {lower} committed op {op}"
                ),
            );
        }
    }

    /// The group lost all above `head`, as it may, and said so.
    pub(super) fn cut_above(&mut self, head: Op) {
        for (_, op) in &mut self.committed {
            *op = head.min(*op);
        }
    }

    /// A replica went down or begins to boot: a life ends, even where a lying disk makes the next one
    /// take the same number.
    pub(super) fn booting(&mut self, replica: ReplicaId) {
        if let Some(executed) = self.executed.get_mut(usize::from(replica.0)) {
            *executed = Default::default();
        }
    }

    /// A running replica changed.
    pub(super) fn moved(&mut self, member: &MemberView, report: &mut Report) {
        let place = usize::from(member.replica.0);
        if self.executed.len() <= place {
            self.executed.resize(place + 1, Default::default());
        }
        let (incarnation, before) = self.executed[place];
        self.executed[place] = (member.incarnation, member.commit_min);
        if incarnation != member.incarnation {
            return;
        }
        report.compared(Property::I3);
        if member.commit_min < before {
            report.violated(
                Property::I3,
                Some(before),
                Replicas::one(member.replica),
                format!(
                    "{} had executed op {before} and went back to op {} without a restart",
                    member.replica, member.commit_min
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, chain};
    use super::*;
    use crate::vsr::note::Note;

    fn commit(world: &mut World, replica: u8, op: u64) {
        world.note(replica, Note::CommitAdvanced { commit_max: Op(op) });
    }

    #[test]
    fn a_life_ends_with_a_crash_even_if_the_next_takes_its_number() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.tick();
        world.crash(1);
        world.tick();
        world.members[1].incarnation.0 -= 1;
        world.boot(1);
        world.tick();
        assert_eq!(world.found(Property::I3), 0);
    }

    #[test]
    fn a_commit_point_that_falls_within_a_life_is_a_violation() {
        let mut world = World::new(3);
        world.execute_everywhere(5);
        world.tick();
        world.members[1].commit_min = Op(4);
        world.members[1].commit_max = Op(4);
        world.tick();
        assert_eq!(world.found(Property::I3), 1);
        assert!(world.kept()[0].text.contains("went back to op 4"));
    }

    #[test]
    fn a_restart_may_lower_it() {
        let mut world = World::new(3);
        world.execute_everywhere(5);
        world.tick();
        world.restart(1);
        world.tick();
        world.execute(1, &chain(1)[0], 1);
        world.tick();
        assert_eq!(world.found(Property::I3), 0);
        assert!(world.compared(Property::I3) > 0);
    }

    #[test]
    fn a_view_that_starts_below_a_lower_views_commit_is_a_violation() {
        let mut world = World::new(3);
        commit(&mut world, 0, 3);
        world.start_view(1, &chain(2), 2);
        assert_eq!(world.found(Property::I3), 1);
        assert_eq!(
            world.kept()[0].text,
            "1 started view 1 with head 2, but view 0 committed op 3"
        );
    }

    #[test]
    fn a_view_that_holds_every_commit_may_start_and_so_may_an_older_one_late() {
        let mut world = World::new(3);
        commit(&mut world, 0, 3);
        world.start_view(2, &chain(4), 3);
        commit(&mut world, 2, 4);
        world.start_view(1, &chain(3), 3);
        assert_eq!(world.found(Property::I3), 0);
    }

    #[test]
    fn views_are_remembered_by_the_highest_commit_below_them() {
        let mut rise = CommitsRise::default();
        rise.committed(View(0), Op(3));
        rise.committed(View(4), Op(9));
        rise.committed(View(2), Op(5));
        rise.committed(View(3), Op(4));
        rise.committed(View(1), Op(9));
        assert_eq!(
            rise.committed,
            [(View(0), Op(3)), (View(1), Op(9))],
            "what an earlier view reached says more than the same from a later one"
        );
    }
}
