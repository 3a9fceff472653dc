//! Claims about what a page sees of disks: damage is shown where it is, and nowhere else.

use super::*;
use crate::frame::frame;
use crate::ids::GROUP_PARTITION_0;
use crate::scenario::decode;
use crate::trace::{Recorder, Recording};

/// A cluster that journaled ops 1 to 6 everywhere, with acts done to it from tick 400 on.
fn after(acts: &str, ticks: u32) -> Session {
    let run = decode(&format!("v=1&load=0&do=1.warm.5&act={acts}")).unwrap();
    let mut session = Session::new(run, Recorder::new(Recording::Nothing, 0)).unwrap();
    session.advance_ticks(ticks);
    session
}

/// The ops of each replica that its frame shows as damaged.
fn damaged(session: &Session) -> Vec<Vec<u64>> {
    let replicas = frame(session).replicas.into_iter();
    let ops = replicas.map(|replica| {
        let log = replica.log.into_iter();
        log.filter(|entry| entry.damaged)
            .map(|entry| entry.op.0)
            .collect()
    });
    ops.collect()
}

const NOWHERE: [Vec<u64>; 3] = [const { Vec::new() }; 3];

fn slot(session: &Session, replica: u8, slot: u32) -> (BlockState, BlockState) {
    let view = disk(session, ReplicaId(replica), GROUP_PARTITION_0);
    let found = view.rings.iter().find(|found| found.slot == slot);
    found.map_or((BlockState::Empty, BlockState::Empty), |found| {
        (found.prepare.state, found.header.state)
    })
}

#[test]
fn a_disk_that_nobody_touched_shows_no_damage_while_it_is_written_or_after() {
    let mut session = after("400.write.c0", 0);
    for _ in 0..500 {
        session.advance_ticks(1);
        assert_eq!(damaged(&session), NOWHERE, "{}", session.cursor().tick);
    }
    let view = disk(&session, ReplicaId(0), GROUP_PARTITION_0);
    assert_eq!(view.rings.len(), 7);
    assert!(
        view.superblocks
            .iter()
            .all(|copy| copy.state == BlockState::Whole)
    );
}

#[test]
fn rot_is_shown_on_its_replica_until_it_is_repaired() {
    let rot = "400.corrupt.1.op3.prepare";
    let session = after(rot, 410);
    assert_eq!(damaged(&session), [vec![], vec![3], vec![]]);
    assert_eq!(
        slot(&session, 1, 3),
        (BlockState::Damaged, BlockState::Whole)
    );
    let session = after(&format!("{rot}_420.crash.1"), 430);
    let log = &frame(&session).replicas[1].log;
    let entry = log.iter().find(|entry| entry.op == Op(3)).unwrap();
    assert!(entry.damaged && entry.view == Some(View(0)));
    let session = after(&format!("{rot}_420.crash.1_440.restart.1"), 2_500);
    assert_eq!(damaged(&session), NOWHERE);
}

#[test]
fn an_op_without_a_readable_header_keeps_its_place_and_loses_its_view() {
    let session = after("400.corrupt.1.op3.both_420.crash.1", 430);
    let log = &frame(&session).replicas[1].log;
    let entry = log.iter().find(|entry| entry.op == Op(3)).unwrap();
    assert!(entry.damaged && entry.view.is_none());
    assert_eq!(log.len(), 6);
}

#[test]
fn a_vanished_and_a_misplaced_block_are_damage_to_the_ops_that_lack_them() {
    let session = after("400.punch.1.op3", 410);
    assert_eq!(damaged(&session), [vec![], vec![3], vec![]]);
    let session = after("400.misdirect.1.op5.op6", 410);
    assert_eq!(damaged(&session), [vec![], vec![5, 6], vec![]]);
    assert_eq!(
        slot(&session, 1, 6),
        (BlockState::Astray, BlockState::Whole)
    );
}

#[test]
fn a_lying_disk_has_troubles_and_no_damage_before_the_crash() {
    let session = after("400.lie.1_401.write.c0_410.slow.2.20_410.tear.2", 450);
    let replicas = frame(&session).replicas;
    assert!(replicas[1].disk.lies && replicas[1].disk.unsynced > 0);
    assert_eq!(
        (replicas[2].disk.tears, replicas[2].disk.slow_factor),
        (true, 20)
    );
    assert_eq!(damaged(&session), NOWHERE);
}
