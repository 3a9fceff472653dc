//! I0, broken rule: no internal rule of vsr, journal, machine or shard was found broken. A replica
//! that finds one halts as crashed and the run goes on (design section 4). No exceptions. Must never
//! know the rules.

use super::violation::{Property, Replicas, Report};
use crate::ids::{Op, ReplicaId};

/// Writes down a rule that a replica found broken in itself. Every event that is not one counts as
/// nothing: what was put to the test are the replica's own assertions.
pub(super) fn broken(replica: ReplicaId, rule: &str, op: Op, report: &mut Report) {
    let op = (op != Op(0)).then_some(op);
    let place = op.map_or(String::new(), |op| format!(" at op {op}"));
    report.violated(
        Property::I0,
        op,
        Replicas::one(replica),
        format!("{replica} broke a rule of its own{place}: {rule}"),
    );
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::*;
    use crate::vsr::note::Note;

    #[test]
    fn a_broken_rule_is_a_violation_of_its_replica() {
        let mut world = World::new(3);
        world.note(
            1,
            Note::RuleBroken {
                rule: "the pipeline ends at the head",
                op: Op(7),
            },
        );
        let found = &world.kept()[0];
        assert_eq!(found.property, Property::I0);
        assert_eq!(found.replicas, Replicas::one(ReplicaId(1)));
        assert_eq!(
            found.text,
            "1 broke a rule of its own at op 7: the pipeline ends at the head"
        );
    }

    #[test]
    fn a_run_without_one_holds() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        assert_eq!(world.found(Property::I0), 0);
    }
}
