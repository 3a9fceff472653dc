//! I9, digest equality: replicas that executed the same op have the same digest of state machine,
//! sessions and replies (scenarios section C; TigerBeetle's storage checker does the same for bytes).
//! Compared at every execution with the first one. Exception: where the entries themselves differ,
//! the digests must, and that is I1's business. Must never know what a digest covers.

use super::canon::Record;
use super::violation::{Property, Replicas, Report};
use crate::ids::{Checksum, Op, ReplicaId};

/// Compares the state after an execution with the first one at that op; says whether they agree.
pub(super) fn executed(
    record: &Record,
    op: Op,
    digest: Checksum,
    replica: ReplicaId,
    report: &mut Report,
) -> bool {
    report.compared(Property::I9);
    if record.digest == digest {
        return true;
    }
    let others = record.executed_by.without(Replicas::one(replica));
    let whose = if others.is_empty() {
        "its own earlier life".to_string()
    } else {
        others.to_string()
    };
    report.violated(
        Property::I9,
        Some(op),
        others.with(replica),
        format!(
            "after op {op} the state of {replica} is {digest}, that of {whose} was {}",
            record.digest
        ),
    );
    false
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, chain, fork};
    use super::*;

    #[test]
    fn equal_digests_hold() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        assert_eq!(world.found(Property::I9), 0);
        assert_eq!(world.compared(Property::I9), 6);
    }

    #[test]
    fn another_state_after_the_same_entry_is_a_violation() {
        let mut world = World::new(3);
        world.execute(0, &chain(1)[0], 7);
        world.execute(2, &chain(1)[0], 8);
        assert_eq!(world.found(Property::I9), 1);
        assert_eq!(world.found(Property::I1), 0);
        assert_eq!(
            world.kept()[0].replicas,
            [0, 2].map(ReplicaId).into_iter().collect()
        );
    }

    #[test]
    fn another_state_after_another_entry_is_agreements_business() {
        let mut world = World::new(3);
        world.execute(0, &chain(1)[0], 7);
        world.execute(1, &fork(&chain(1)[0]), 8);
        assert_eq!(world.found(Property::I9), 0);
        assert_eq!(world.found(Property::I1), 1);
    }
}
