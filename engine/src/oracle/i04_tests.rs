//! Tests of I4 on synthetic events.

use super::super::testing::{GROUP, World, chain, fork};
use super::*;

#[test]
fn a_view_that_starts_without_a_replied_op_is_a_violation() {
    let mut world = World::new(3);
    world.reply(&chain(3)[2], 0);
    world.start_view(1, &chain(2), 1);
    assert_eq!(world.found(Property::I4), 1);
    assert_eq!(
        world.kept()[0].text,
        "a client has the reply for op 3 from view 0, but 1 started view 1 without it: the log it started with ends at op 2"
    );
}

#[test]
fn a_view_that_starts_with_another_entry_there_is_a_violation() {
    let mut world = World::new(3);
    let mut headers = chain(3);
    world.reply(&headers[2], 0);
    headers[2] = fork(&headers[2]);
    world.start_view(1, &headers, 2);
    assert_eq!(world.found(Property::I4), 1);
    assert!(world.kept()[0].text.contains("another entry"));
}

#[test]
fn a_view_that_holds_every_replied_op_is_none() {
    let mut world = World::new(3);
    for header in &chain(3) {
        world.reply(header, 0);
    }
    world.start_view(1, &chain(4), 1);
    assert_eq!(world.found(Property::I4), 0);
    assert_eq!(world.compared(Property::I4), 3);
}

#[test]
fn an_older_view_may_start_late_and_an_unreplied_op_may_vanish() {
    let mut world = World::new(3);
    world.reply(&chain(3)[2], 2);
    world.start_view(1, &chain(2), 1);
    assert_eq!(world.found(Property::I4), 0);
}

#[test]
fn a_reply_that_arrives_after_a_view_started_without_its_op_is_a_violation() {
    let mut world = World::new(3);
    world.start_view(1, &chain(2), 1);
    world.reply(&chain(3)[2], 0);
    assert_eq!(world.found(Property::I4), 1);
    world.reply(&chain(2)[1], 0);
    assert_eq!(world.found(Property::I4), 1);
}

#[test]
fn lies_disarm_only_where_honest_holders_fall_below_the_quorum() {
    let mut durability = Durability::new(2);
    let header = &chain(1)[0];
    for replica in 0..3 {
        durability.held(ReplicaId(replica), Op(1), header.checksum);
    }
    durability.lost(ReplicaId(0), Op(1));
    assert!(durability.is_armed(Op(1)));
    durability.wiped(ReplicaId(1));
    assert!(!durability.is_armed(Op(1)));
    assert!(durability.is_armed(Op(2)));
}

#[test]
fn at_rest_the_leader_holds_everything_replied() {
    let mut world = World::new(3);
    world.execute_everywhere(3);
    for header in &chain(3) {
        world.reply(header, 0);
    }
    world.at_rest();
    assert_eq!(world.found(Property::I4), 0);
    world.logs.remove(0, 2);
    world.at_rest();
    assert_eq!(world.found(Property::I4), 1);
    assert!(world.kept()[0].text.contains("has nothing there"));
}

#[test]
fn folded_ops_are_no_longer_demanded() {
    let mut durability = Durability::new(2);
    for header in &chain(5) {
        durability.held(ReplicaId(0), header.op, header.checksum);
    }
    durability.fold_below(Op(4));
    assert!(durability.get(Op(3)).is_none());
    assert!(durability.get(Op(4)).is_some());
}

#[test]
fn what_clients_were_told_may_be_lost_once_too_few_honest_disks_are_left() {
    let mut world = World::new(3);
    for header in &chain(2) {
        for replica in [0, 1] {
            world.note(
                replica,
                crate::vsr::note::Note::Journaled {
                    op: header.op,
                    checksum: header.checksum,
                },
            );
        }
    }
    // Nobody was told of op 2.
    world.reply(&chain(1)[0], 0);
    world.oracles.disk_lied(ReplicaId(1), GROUP, Op(2));
    assert!(!world.oracles.may_have_lost(GROUP));
    world.oracles.disk_wiped(ReplicaId(1));
    assert!(world.oracles.may_have_lost(GROUP));
}

/// Two of three restart; the log that the third's view starts with ends at op 1, and says why.
fn start_at_risk(world: &mut World, restarted: &[u8]) {
    for header in &chain(3) {
        world.execute(0, header, header.op.0);
        world.reply(header, 0);
    }
    for &replica in restarted {
        world.restart(replica);
    }
    let outcome = crate::vsr::note::MergeOutcome::ChosenAtRisk {
        head: Op(1),
        commit_max: Op(1),
    };
    let view = View(2);
    world.note(2, crate::vsr::note::Note::Merged { view, outcome });
    world.start_view(2, &chain(1), 1);
}

#[test]
fn a_group_that_acknowledges_from_memory_may_lose_what_two_of_three_forgot() {
    let mut world = World::new(3);
    start_at_risk(&mut world, &[0, 1]);
    assert!(world.oracles.may_have_lost(GROUP));
    // A reply from before is still under way, and another history begins.
    world.reply(&chain(3)[2], 0);
    let other = fork(&chain(2)[1]);
    world.execute(2, &chain(1)[0], 1);
    world.execute(2, &other, 7);
    world.tick();
    assert_eq!(world.kept(), []);
}

#[test]
fn what_was_answered_after_such_a_start_is_demanded_again() {
    let mut world = World::new(3);
    start_at_risk(&mut world, &[0, 1]);
    let other = fork(&chain(2)[1]);
    world.reply(&other, 2);
    world.start_view(3, &chain(1), 1);
    assert_eq!(world.found(Property::I4), 1);
}

#[test]
fn nobody_may_call_a_log_at_risk_while_too_few_restarted() {
    let mut world = World::new(3);
    start_at_risk(&mut world, &[0]);
    assert!(world.found(Property::I4) > 0);
    assert!(world.kept()[0].text.contains("only 1 ever restarted"));
}
