//! A slow walk over all that is executed: one op of one replica a tick, round and round. It gives the
//! oracles that look into logs a constant price. Must never know what is looked for.

use super::view::MemberView;
use crate::ids::Op;

/// Where the walk stands.
#[derive(Debug, Default)]
pub(super) struct Patrol {
    member: usize,
    op: Op,
}

impl Patrol {
    /// The next replica and op to look at, among those executed by running replicas from `base` on.
    pub(super) fn next<'a>(
        &mut self,
        members: &'a [MemberView],
        base: Op,
    ) -> Option<(&'a MemberView, Op)> {
        let Some(member) = members.get(self.member) else {
            self.member = 0;
            return None;
        };
        let op = self.op.next().max(base).max(member.restored.next());
        if member.up && op <= member.commit_min {
            self.op = op;
            return Some((member, op));
        }
        self.op = Op(0);
        self.member = (self.member + 1) % members.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::*;

    #[test]
    fn it_comes_by_every_executed_op_of_every_running_replica() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.members[1].up = false;
        let mut patrol = Patrol::default();
        let mut seen: Vec<(u8, u64)> = (0..12)
            .filter_map(|_| patrol.next(&world.members, Op(1)))
            .map(|(member, op)| (member.replica.0, op.0))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [(0, 1), (0, 2), (0, 3), (2, 1), (2, 2), (2, 3)]);
    }
}
