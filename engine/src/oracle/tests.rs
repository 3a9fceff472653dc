//! Tests of the oracles together: groups apart, checks, folding, and a stuck core.

use super::testing::{GROUP, World, chain, fork};
use super::*;
use crate::ids::Checksum;
use crate::vsr::note::Note;

#[test]
fn groups_are_judged_apart() {
    let mut world = World::new(3);
    world.execute(0, &chain(1)[0], 1);
    let other = GroupId(GROUP.0 + 1);
    let mut header = chain(1)[0].clone();
    header.group = other;
    header.parent = crate::vsr::message::Header::root(other).checksum;
    world.event(EventKind::Noted {
        replica: ReplicaId(1),
        group: other,
        note: Note::Executed {
            prepare: std::rc::Rc::new(crate::vsr::message::Prepare {
                header: header.sealed().into(),
                body: std::rc::Rc::from([]),
            }),
            effect: true,
            digest: Checksum(9),
        },
    });
    world.tick();
    assert!(world.kept().is_empty(), "{:?}", world.kept());
    assert_eq!(world.oracles.executed_max(other), Op(1));
}

#[test]
fn checks_name_every_property_and_the_first_violation() {
    let mut world = World::new(3);
    world.execute(0, &chain(1)[0], 1);
    world.execute(1, &fork(&chain(1)[0]), 1);
    let checks = world.oracles.checks();
    assert_eq!(checks.len(), Property::CHECKED.len());
    let broken: Vec<&str> = checks
        .iter()
        .filter(|check| check.state == CheckState::Violated)
        .map(|check| check.id)
        .collect();
    assert_eq!(broken, ["I1"]);
    assert!(checks[1].text.contains("executed"));
    assert_eq!(checks[0].text, Property::I0.meaning());
}

#[test]
fn what_every_disk_has_in_a_checkpoint_is_folded() {
    let mut world = World::new(3);
    world.execute_everywhere(9);
    world.tick();
    for member in &mut world.members {
        member.checkpoint = Op(5);
    }
    world.tick();
    assert_eq!(world.oracles.groups[0].canon.range(), (Op(5), Op(9)));
    world.restart(2);
    world.members[2].restored = Op(5);
    for header in &chain(9)[5..] {
        world.execute(2, header, header.op.0);
    }
    world.tick();
    assert!(world.kept().is_empty(), "{:?}", world.kept());
}

#[test]
fn a_stuck_core_is_a_violation_with_its_reason() {
    let mut world = World::new(3);
    let why = Unconverged {
        text: "1 is down".to_string(),
    };
    let core = [0, 1].map(ReplicaId).into_iter().collect();
    world.oracles.stuck(Tick(9), GROUP, core, &why);
    assert_eq!(
        world.kept()[0].text,
        "the core 0 and 1 did not converge: 1 is down"
    );
}
