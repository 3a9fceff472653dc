//! Checkpoints, driven by hand (protocol section 7). The small ring has six slots, a pipeline of two,
//! and so a checkpoint every other op.

use std::rc::Rc;

use crate::ids::{Checksum, Op, View};
use crate::vsr::io::Status;
use crate::vsr::knobs::Knobs;
use crate::vsr::message::{Message, MessageKind, Rejection};
use crate::vsr::note::{Note, StateNote, TransferCause};
use crate::vsr::testing::{Cluster, SMALL, request};

fn small(count: u8) -> Cluster {
    let mut cluster = Cluster::with_knobs(count, SMALL);
    cluster.warm(0);
    cluster
}

/// Writes so many ops, one after the other, wherever they get.
fn write(cluster: &mut Cluster, ops: u64) {
    for _ in 0..ops {
        cluster.write(0, 0);
        cluster.settle();
    }
}

fn snapshots_taken(cluster: &Cluster, r: u8) -> Vec<(u64, Checksum)> {
    let notes = cluster.states(r).into_iter();
    notes
        .filter_map(|note| match note {
            StateNote::SnapshotTaken { op, checksum, .. } => Some((op.0, checksum)),
            _ => None,
        })
        .collect()
}

fn executed(cluster: &Cluster, r: u8) -> Vec<u64> {
    let notes = cluster.notes.iter().filter(|(by, _)| *by == r);
    notes
        .filter_map(|(_, note)| match note {
            Note::Executed { prepare, .. } => Some(prepare.header.op.0),
            _ => None,
        })
        .collect()
}

#[test]
fn every_replica_takes_the_same_snapshot_at_the_same_ops() {
    let mut cluster = small(3);
    write(&mut cluster, 6);
    cluster.run(100);
    let first = snapshots_taken(&cluster, 0);
    let ops: Vec<u64> = first.iter().map(|(op, _)| *op).collect();
    assert_eq!(ops, [2, 4, 6]);
    assert_eq!(snapshots_taken(&cluster, 1), first);
    assert_eq!(snapshots_taken(&cluster, 2), first);
    assert_eq!(cluster.at(1).checkpoint(), Op(6));
}

#[test]
fn slots_are_free_once_the_superblock_names_the_checkpoint_and_not_before() {
    let mut cluster = small(3);
    cluster.slow_disk(1);
    write(&mut cluster, 2);
    cluster.run(100);
    cluster.finish_prepares(1);
    assert_eq!(cluster.at(1).commit_min(), Op(3));
    cluster.finish_snapshot(1);
    assert_eq!(cluster.disk_superblock(1).checkpoint.op(), Op(0));
    assert_eq!(cluster.at(1).checkpoint(), Op(0));
    assert_eq!(cluster.at(1).journal_limit(), Op(6));
    assert_eq!(cluster.at(1).log().floor(), Op(0));
    cluster.finish_superblock(1);
    assert_eq!(cluster.disk_superblock(1).checkpoint.op(), Op(2));
    assert_eq!(cluster.at(1).journal_limit(), Op(8));
    assert_eq!(cluster.at(1).log().floor(), Op(2));
    assert_eq!(cluster.at(1).log().len(), 1, "op 3 alone");
}

#[test]
fn the_superblock_names_a_checkpoint_only_when_its_snapshot_is_durable() {
    let mut cluster = small(3);
    cluster.slow_disk(1);
    write(&mut cluster, 1);
    cluster.run(100);
    assert_eq!(cluster.waiting(1), ["prepare 2", "snapshot 2"]);
    cluster.finish_snapshot(1);
    assert_eq!(cluster.waiting(1), ["prepare 2", "superblock"]);
}

#[test]
fn a_backup_journals_nothing_that_has_no_slot_before_its_checkpoint() {
    let mut cluster = small(3);
    cluster.slow_disk(1);
    write(&mut cluster, 9);
    assert_eq!(cluster.at(0).commit_min(), Op(10));
    assert_eq!(cluster.at(1).log().head(), Op(6));
    cluster.fast_disk(1);
    cluster.run(200);
    assert_eq!(cluster.at(1).commit_min(), Op(10));
    assert!(cluster.taken_over(1).is_empty(), "rings were long enough");
}

#[test]
fn acks_beyond_a_pipeline_after_the_next_checkpoint_wait_for_it() {
    let mut cluster = small(3);
    cluster.slow_disk(1);
    write(&mut cluster, 5);
    cluster.finish_prepares(1);
    assert_eq!(cluster.acks_sent(1), [1, 2, 3, 4]);
    let withheld = |op| StateNote::AckWithheld {
        op: Op(op),
        until: Op(2),
    };
    let states = cluster.states(1);
    assert!(states.contains(&withheld(5)) && states.contains(&withheld(6)));
    cluster.finish_snapshot(1);
    assert_eq!(
        cluster.acks_sent(1),
        [1, 2, 3, 4],
        "the superblock is not durable"
    );
    cluster.finish_superblock(1);
    assert_eq!(cluster.acks_sent(1), [1, 2, 3, 4, 5, 6], "at once");
}

#[test]
fn a_resent_prepare_is_not_acked_before_the_checkpoint_either() {
    let mut cluster = small(3);
    cluster.slow_disk(1);
    write(&mut cluster, 4);
    cluster.finish_prepares(1);
    let again = Rc::clone(cluster.at(0).log().prepare(Op(5)).unwrap());
    let message = Message::Prepare {
        prepare: again,
        commit_max: Op(4),
    };
    cluster.inject(0, 1, 0, message);
    assert_eq!(cluster.acks_sent(1), [1, 2, 3, 4]);
}

#[test]
fn what_commits_beyond_that_proves_a_quorum_with_the_checkpoint() {
    // The primary with its own checkpoint and one backup without are no quorum of checkpoints.
    let mut cluster = small(3);
    cluster.isolate(2);
    cluster.slow_disk(1);
    for _ in 0..8 {
        cluster.write(0, 0);
        cluster.finish_prepares(1);
        cluster.run(10);
        cluster.finish_prepares(1);
        cluster.settle();
    }
    assert_eq!(cluster.at(0).checkpoint(), Op(4));
    assert_eq!(cluster.at(0).commit_max(), Op(4));
    cluster.fast_disk(1);
    cluster.run(100);
    assert_eq!(cluster.at(0).commit_max(), cluster.at(0).log().head());
}

#[test]
fn a_primary_withholds_its_own_acks_as_well() {
    let mut cluster = small(3);
    cluster.isolate(2);
    cluster.slow_disk(0);
    for _ in 0..5 {
        cluster.write(0, 0);
        cluster.settle();
        cluster.finish_prepares(0);
        cluster.settle();
    }
    assert_eq!(cluster.at(0).commit_max(), Op(4));
    assert_eq!(cluster.at(0).log().head(), Op(6));
    cluster.fast_disk(0);
    assert_eq!(cluster.at(0).commit_max(), Op(6));
}

#[test]
fn one_replica_alone_waits_for_its_own_checkpoint() {
    let mut cluster = small(1);
    cluster.slow_disk(0);
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.finish_prepares(0);
    }
    assert_eq!(cluster.at(0).commit_max(), Op(4));
    cluster.fast_disk(0);
    assert_eq!(cluster.at(0).commit_max(), Op(5));
}

#[test]
fn snapshots_are_written_into_two_places_in_turn_one_at_a_time() {
    let mut cluster = small(3);
    write(&mut cluster, 5);
    cluster.run(100);
    assert_eq!(cluster.snapshots(1), [(0, 4), (1, 6)]);
    cluster.slow_disk(1);
    write(&mut cluster, 4);
    cluster.run(100);
    cluster.finish_prepares(1);
    assert_eq!(cluster.at(1).commit_min(), Op(10));
    assert_eq!(cluster.waiting(1), ["snapshot 8"]);
    cluster.finish_snapshot(1);
    assert_eq!(
        cluster.snapshots(1),
        [(0, 8), (1, 6)],
        "checkpoint 6 is the durable one"
    );
    assert_eq!(
        cluster.waiting(1),
        ["superblock"],
        "and the only one until then"
    );
    cluster.finish_superblock(1);
    assert_eq!(cluster.waiting(1), ["snapshot 10"]);
    cluster.finish_snapshot(1);
    assert_eq!(cluster.snapshots(1), [(0, 8), (1, 10)]);
}

#[test]
fn a_crash_between_snapshot_and_superblock_boots_from_the_checkpoint_before() {
    let mut cluster = small(3);
    write(&mut cluster, 5);
    cluster.run(100);
    cluster.slow_disk(1);
    write(&mut cluster, 3);
    cluster.run(100);
    cluster.finish_prepares(1);
    cluster.finish_snapshot(1);
    cluster.crash(1);
    cluster.restart(1);
    assert_eq!(cluster.at(1).restored(), Op(6));
    cluster.fast_disk(1);
    cluster.run(200);
    assert_eq!(cluster.at(1).commit_min(), Op(9));
    cluster.assert_one_log();
}

#[test]
fn boot_loads_the_checkpoint_and_executes_only_what_stands_above() {
    let mut cluster = small(3);
    write(&mut cluster, 6);
    cluster.run(100);
    cluster.crash(1);
    let before = executed(&cluster, 1).len();
    cluster.restart(1);
    cluster.run(200);
    assert_eq!(cluster.at(1).restored(), Op(6));
    assert_eq!(executed(&cluster, 1)[before..], [7]);
    assert_eq!(cluster.applied(1).len(), 6, "the machine has what it had");
    cluster.assert_one_log();
}

#[test]
fn a_cluster_whose_power_failed_goes_on_from_its_checkpoints() {
    let mut cluster = small(3);
    write(&mut cluster, 8);
    for r in 0..3 {
        cluster.crash(r);
    }
    for r in 0..3 {
        cluster.restart(r);
    }
    assert!(cluster.run_until(5_000, |cluster| cluster.leader().is_some()));
    let leader = cluster.leader().unwrap();
    let asked = cluster.write(leader, 0);
    cluster.run(200);
    assert_eq!(cluster.replies(&asked), 1);
    for r in 0..3 {
        assert_eq!(cluster.at(r).commit_min(), Op(10));
        assert!(cluster.taken_over(r).is_empty());
    }
    cluster.assert_one_log();
}

#[test]
fn without_its_snapshot_a_replica_has_its_log_and_fetches_the_state() {
    let mut cluster = small(3);
    write(&mut cluster, 6);
    cluster.run(100);
    cluster.crash(1);
    cluster.lose_snapshots(1);
    cluster.restart(1);
    assert_eq!(cluster.at(1).commit_min(), Op(0));
    assert_eq!(cluster.at(1).log().floor(), Op(6));
    assert_eq!(cluster.at(1).log().head(), Op(7));
    let states = cluster.states(1);
    let checkpoint = Op(6);
    assert!(states.contains(&StateNote::StateUnreadable { checkpoint }));
    assert!(states.contains(&StateNote::TransferStarted {
        wanted: checkpoint,
        cause: TransferCause::Unreadable,
    }));
    cluster.run(200);
    assert_eq!(cluster.taken_over(1), [6]);
    assert_eq!(cluster.at(1).commit_min(), Op(7));
    cluster.assert_one_log();
    cluster.crash(1);
    cluster.restart(1);
    assert_eq!(cluster.at(1).restored(), Op(6), "it is on its own disk now");
}

#[test]
fn without_its_state_a_replica_votes_with_its_log_and_acks_nothing_that_it_had() {
    let mut cluster = small(3);
    write(&mut cluster, 6);
    cluster.run(100);
    for r in [0, 1] {
        cluster.block(r, 2, MessageKind::StateTransferTarget);
    }
    cluster.crash(2);
    cluster.lose_snapshots(2);
    cluster.restart(2);
    cluster.run(50);
    let acks = cluster.acks_sent(2).len();
    let contained = cluster.ring(0).remove(0);
    assert!(contained.header.op <= Op(6));
    let message = Message::Prepare {
        prepare: contained,
        commit_max: Op(0),
    };
    cluster.inject(0, 2, 0, message);
    assert_eq!(cluster.acks_sent(2).len(), acks);
    cluster.crash(0);
    assert!(cluster.run_until(3_000, |cluster| cluster.leader() == Some(1)));
    assert_eq!(cluster.at(1).log().head(), Op(7));
}

#[test]
fn one_replica_that_lost_its_state_stalls_honestly() {
    let mut cluster = small(1);
    write(&mut cluster, 3);
    cluster.crash(0);
    cluster.lose_snapshots(0);
    cluster.restart(0);
    cluster.run(5_000);
    assert_ne!(cluster.at(0).status(), Status::Normal);
    assert_eq!(cluster.at(0).commit_min(), Op(0));
}

#[test]
fn what_the_checkpoint_contains_is_acked_for_a_view_that_knows_less_committed() {
    // M54: else nobody acks it, and the view starves.
    let mut cluster = Cluster::with_knobs(3, SMALL);
    for r in [1, 2] {
        cluster.block(0, r, MessageKind::Commit);
    }
    for client in 0..2 {
        cluster.ask(0, &request(client, Op(0), 0, ""));
    }
    cluster.settle();
    assert_eq!(cluster.at(0).checkpoint(), Op(2));
    assert_eq!(cluster.at(1).commit_max(), Op(0));
    cluster.crash(0);
    assert!(cluster.run_until(3_000, |cluster| cluster.at(1).view() == View(1)));
    cluster.block(2, 1, MessageKind::PrepareOk);
    assert!(cluster.run_until(3_000, |cluster| cluster.leader() == Some(1)));
    cluster.crash(2);
    cluster.heal();
    cluster.restart(0);
    cluster.run(100);
    assert_eq!(cluster.at(1).commit_max(), Op(2));
}

#[test]
fn a_resent_prepare_that_the_checkpoint_contains_is_acked_again() {
    let mut cluster = small(3);
    write(&mut cluster, 1);
    let second = Rc::clone(cluster.at(0).log().header(Op(2)).unwrap());
    let second = cluster
        .ring(0)
        .into_iter()
        .find(|held| held.header == second);
    write(&mut cluster, 4);
    cluster.run(100);
    assert_eq!(cluster.at(1).log().floor(), Op(6));
    let before = cluster.acks_sent(1).len();
    let message = Message::Prepare {
        prepare: second.unwrap(),
        commit_max: Op(0),
    };
    cluster.inject(0, 1, 0, message);
    assert_eq!(cluster.acks_sent(1)[before..], [2]);
}

#[test]
fn memory_holds_no_more_than_the_ring_however_long_the_run() {
    let knobs = Knobs {
        journal_slots: 32,
        pipeline_max: 8,
        ..Knobs::default()
    };
    let mut cluster = Cluster::with_knobs(3, knobs);
    cluster.warm(0);
    for _ in 0..10_000 {
        cluster.write(0, 0);
        cluster.settle();
        for r in 0..3 {
            assert!(cluster.at(r).log().len() <= 32);
            assert!(cluster.at(r).log().remembered() <= 32);
        }
        cluster.forget();
    }
    assert_eq!(cluster.at(0).commit_min(), Op(10_001));
    assert_eq!(cluster.ring(2).len(), 32);
    assert_eq!(cluster.snapshots(2).len(), 2);
}

#[test]
fn ops_that_are_still_in_the_ring_are_served_from_below_the_checkpoint() {
    let mut cluster = small(3);
    cluster.isolate(2);
    write(&mut cluster, 4);
    assert_eq!(cluster.at(0).log().floor(), Op(4));
    cluster.heal();
    cluster.run(200);
    assert_eq!(cluster.at(2).commit_min(), Op(5));
    assert!(cluster.taken_over(2).is_empty());
    assert!(cluster.count_sent(0, MessageKind::RepairPrepare) >= 3);
}

#[test]
fn what_has_left_the_ring_is_said_to_be_had_with_the_checkpoint() {
    let mut cluster = small(3);
    write(&mut cluster, 8);
    cluster.run(100);
    cluster.hold(0, 1);
    let ask = |from, to| Message::RequestPrepares {
        from: Op(from),
        to: Op(to),
    };
    cluster.inject(1, 0, 0, ask(3, 4));
    cluster.inject(1, 0, 0, ask(4, 5));
    let told = |cluster: &mut Cluster| match cluster.take(0, 1, MessageKind::RepairDone).message {
        Message::RepairDone { evicted, .. } => evicted,
        other => panic!("{other:?}"),
    };
    assert_eq!(told(&mut cluster), Some(Op(8)), "op 9 has the slot of op 3");
    assert_eq!(told(&mut cluster), None, "op 4 is there");
}

#[test]
fn rot_above_the_checkpoint_is_repaired_though_all_of_it_was_executed() {
    // M55: the cursor goes over (checkpoint, head].
    let mut cluster = small(3);
    write(&mut cluster, 6);
    cluster.run(100);
    cluster.crash(2);
    cluster.tamper(2, 7, None);
    cluster.restart(2);
    cluster.run(200);
    assert_eq!(cluster.at(2).commit_min(), Op(7));
    let held: Vec<u64> = cluster
        .ring(2)
        .iter()
        .map(|held| held.header.op.0)
        .collect();
    assert_eq!(held, [2, 3, 4, 5, 6, 7]);
}

#[test]
fn sessions_and_their_replies_are_part_of_the_checkpoint() {
    let mut cluster = small(3);
    let asked = cluster.write(0, 0);
    cluster.settle();
    write(&mut cluster, 4);
    cluster.run(100);
    for r in 0..3 {
        cluster.crash(r);
    }
    for r in 0..3 {
        cluster.restart(r);
    }
    assert!(cluster.run_until(5_000, |cluster| cluster.leader().is_some()));
    let leader = cluster.leader().unwrap();
    cluster.ask(leader, &asked);
    assert_eq!(
        cluster.replies(&asked),
        2,
        "the answer it had, not another execution"
    );
    assert!(!cluster.rejections().contains(&Rejection::NoSession));
    cluster.assert_one_log();
}
