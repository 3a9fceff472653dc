//! Handing over a state, and passing one's turn, driven by hand (protocol sections 4 and 7).

use std::rc::Rc;

use crate::ids::{Op, View};
use crate::vsr::io::Status;
use crate::vsr::knobs::Knobs;
use crate::vsr::message::{Message, MessageKind};
use crate::vsr::note::{EnterCause, Note, RequestDropped, StateNote, TransferCause, TransferEnd};
use crate::vsr::testing::{Cluster, SMALL, laggard};

const PARTS: MessageKind = MessageKind::StateChunk;

/// Lets parts of states get nowhere.
fn block_parts(cluster: &mut Cluster) {
    for from in 0..cluster.count() {
        for to in 0..cluster.count() {
            cluster.block(from, to, PARTS);
        }
    }
}

fn is_fetching(cluster: &Cluster, r: u8) -> bool {
    cluster.at(r).transfer_progress().is_some()
}

fn caught_up(cluster: &Cluster, r: u8) -> bool {
    let leader = cluster
        .leader()
        .map(|leader| cluster.at(leader).log().head());
    cluster.at(r).status() == Status::Normal && Some(cluster.at(r).commit_min()) == leader
}

/// A laggard that has chosen its target and gets no part of it.
fn starved(knobs: Knobs) -> Cluster {
    let mut cluster = laggard(knobs);
    block_parts(&mut cluster);
    assert!(cluster.run_until(400, |cluster| is_fetching(cluster, 2)));
    cluster
}

fn pinned(cluster: &Cluster, r: u8) -> Vec<(u64, u8, u32)> {
    let notes = cluster.states(r).into_iter();
    notes
        .filter_map(|note| match note {
            StateNote::TransferPinned { op, from, kept, .. } => Some((op.0, from.0, kept)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_replica_whose_window_has_left_the_rings_is_handed_a_state() {
    let mut cluster = laggard(SMALL);
    assert!(cluster.run_until(400, |cluster| caught_up(cluster, 2)));
    assert_eq!(cluster.taken_over(2).len(), 1);
    let restored = cluster.at(2).restored();
    assert!(restored.0 > 6 && restored.0.is_multiple_of(2));
    assert_eq!(cluster.at(2).checkpoint(), cluster.at(0).checkpoint());
    assert_eq!(cluster.applied(2), cluster.applied(0));
    cluster.assert_one_log();
    let asked = cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.replies(&asked), 1);
    cluster.run(100);
    cluster.assert_one_log();
}

#[test]
fn its_own_entries_stay_until_the_state_is_durable() {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.write(0, 0);
    cluster.settle();
    cluster.slow_disk(2);
    for _ in 0..12 {
        cluster.write(0, 0);
        cluster.settle();
        cluster.finish_prepares(2);
    }
    let held = cluster.ring(2);
    assert_eq!(held.len(), 6);
    let has_all = |cluster: &Cluster| {
        let waiting = cluster.waiting(2);
        waiting.iter().any(|write| write == "snapshot 14")
    };
    cluster.crash(2);
    cluster.restart(2);
    cluster.finish_superblock(2);
    assert!(cluster.run_until(1_000, |cluster| !cluster.waiting(2).is_empty()));
    cluster.finish_superblock(2);
    while !has_all(&cluster) {
        cluster.run(20);
        if cluster.waiting(2).contains(&"snapshot 2".to_string()) {
            cluster.finish_snapshot(2);
            cluster.finish_superblock(2);
        }
        assert!(cluster.ticks() < 5_000, "{:?}", cluster.waiting(2));
    }
    assert_eq!(cluster.ring(2), held);
    cluster.finish_snapshot(2);
    assert_eq!(cluster.ring(2), held, "the superblock does not name it yet");
    cluster.crash(2);
    cluster.restart(2);
    assert!(cluster.at(2).restored() < Op(14));
    cluster.fast_disk(2);
    assert!(cluster.run_until(1_000, |cluster| caught_up(cluster, 2)));
    cluster.assert_one_log();
}

#[test]
fn a_replica_without_the_state_acks_nothing_and_is_loyal_all_the_same() {
    let mut cluster = starved(SMALL);
    let acks = cluster.acks_sent(2).len();
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.run(1_500);
    assert_eq!(cluster.acks_sent(2).len(), acks);
    assert_eq!(cluster.at(2).status(), Status::Normal);
    assert_eq!(cluster.at(0).view(), View(0), "nobody leaves");
    assert!(cluster.at(2).log().len() <= 12);
}

#[test]
fn without_the_state_it_votes_with_the_log_that_its_disk_names() {
    let mut cluster = starved(SMALL);
    let head = cluster.at(0).log().head();
    cluster.crash(0);
    assert!(cluster.run_until(3_000, |cluster| cluster.leader() == Some(1)));
    assert_eq!(cluster.at(1).log().head(), head);
    assert!(!cluster.at(2).has_state() || cluster.at(2).needs_state());
    cluster.heal();
    assert!(cluster.run_until(1_000, |cluster| caught_up(cluster, 2)));
    cluster.assert_one_log();
}

#[test]
fn a_crash_on_the_way_begins_anew_from_the_log_it_had() {
    let mut cluster = starved(SMALL);
    cluster.crash(2);
    cluster.restart(2);
    assert_eq!(cluster.at(2).commit_min(), Op(0));
    assert!(cluster.at(2).log().len() <= 12);
    assert!(cluster.at(2).needs_state());
    cluster.heal();
    assert!(cluster.run_until(1_000, |cluster| caught_up(cluster, 2)));
    cluster.assert_one_log();
}

#[test]
fn the_target_is_pinned_while_others_take_new_checkpoints() {
    // A52: the finish line stands.
    let mut cluster = starved(SMALL);
    let [(target, from, 0)] = pinned(&cluster, 2)[..] else {
        panic!("one target: {:?}", pinned(&cluster, 2));
    };
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.run(100);
    }
    assert!(cluster.at(from).checkpoint() >= Op(target + 4));
    assert!(
        cluster.snapshot_of(from, target).is_none(),
        "not on disk any more"
    );
    cluster.heal();
    assert!(cluster.run_until(400, |cluster| caught_up(cluster, 2)));
    assert_eq!(pinned(&cluster, 2).len(), 1);
    assert_eq!(cluster.taken_over(2), [target]);
    cluster.assert_one_log();
}

#[test]
fn another_source_with_the_same_state_goes_on_where_the_first_left() {
    let mut cluster = laggard(SMALL);
    cluster.block(0, 2, PARTS);
    assert!(cluster.run_until(400, |cluster| is_fetching(cluster, 2)));
    assert!(cluster.run_until(400, |cluster| caught_up(cluster, 2)));
    assert_eq!(pinned(&cluster, 2).len(), 1);
    assert!(cluster.count_sent(1, PARTS) > 0);
}

#[test]
fn if_the_target_leaves_the_newest_is_next_and_equal_parts_are_kept() {
    let mut cluster = laggard(SMALL);
    cluster.hold(0, 2);
    cluster.hold(1, 2);
    let some = |cluster: &Cluster| {
        let progress = cluster.at(2).transfer_progress();
        progress.is_some_and(|(_, have, _)| have >= 6)
    };
    for _ in 0..400 {
        if some(&cluster) {
            break;
        }
        cluster.deliver_all(0, 2);
        cluster.deliver_all(1, 2);
        cluster.run(1);
    }
    assert!(some(&cluster));
    cluster.lose_all();
    cluster.heal();
    block_parts(&mut cluster);
    for _ in 0..6 {
        cluster.write(0, 0);
        cluster.settle();
    }
    // What they had pinned for 2 goes with their lives.
    for r in [0, 1] {
        cluster.crash(r);
        cluster.restart(r);
        assert!(cluster.run_until(3_000, |cluster| cluster.leader().is_some()));
    }
    cluster.heal();
    assert!(cluster.run_until(3_000, |cluster| caught_up(cluster, 2)));
    let targets = pinned(&cluster, 2);
    let [(first, _, 0), (second, _, kept)] = targets[..] else {
        panic!("two targets: {targets:?}");
    };
    assert!(second > first && kept >= 4, "{targets:?}");
    assert!(cluster.states(2).contains(&StateNote::TransferAbandoned {
        op: Op(first),
        because: TransferEnd::TargetGone,
    }));
    cluster.assert_one_log();
}

#[test]
fn parts_that_are_lost_are_asked_for_again() {
    let mut cluster = starved(SMALL);
    cluster.run(1_000);
    let asked = cluster.count_sent(2, MessageKind::RequestStateChunk);
    assert!((5..=25).contains(&asked), "{asked} times in 1000 ticks");
    cluster.heal();
    assert!(cluster.run_until(600, |cluster| caught_up(cluster, 2)));
}

#[test]
fn a_replica_that_gets_there_without_gives_the_state_up() {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.isolate(2);
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.heal();
    block_parts(&mut cluster);
    cluster.block(2, 0, MessageKind::RequestPrepares);
    cluster.block(2, 1, MessageKind::RequestPrepares);
    assert!(cluster.run_until(200, |cluster| cluster.at(2).lacks_bodies()));
    let evicted = Message::RepairDone {
        from: Op(2),
        through: Op(3),
        evicted: Some(Op(4)),
    };
    cluster.inject(0, 2, 0, evicted);
    let started = StateNote::TransferStarted {
        wanted: Op(2),
        cause: TransferCause::Evicted {
            by: crate::ids::ReplicaId(0),
            op: Op(2),
        },
    };
    assert!(cluster.states(2).contains(&started));
    assert!(cluster.run_until(400, |cluster| is_fetching(cluster, 2)));
    for op in 2..=5 {
        let prepare = cluster
            .ring(0)
            .into_iter()
            .find(|held| held.header.op == Op(op));
        let prepare = prepare.expect("is in the ring");
        cluster.inject(0, 2, 0, Message::RepairPrepare { prepare });
    }
    cluster.settle();
    assert_eq!(cluster.at(2).commit_min(), Op(5));
    assert!(!is_fetching(&cluster, 2));
    assert!(cluster.states(2).contains(&StateNote::TransferAbandoned {
        op: Op(4),
        because: TransferEnd::Unneeded,
    }));
}

#[test]
fn while_a_peer_is_handed_a_state_half_as_many_prepares_may_wait() {
    let knobs = Knobs {
        pipeline_max: 4,
        journal_slots: 12,
        ..SMALL
    };
    let mut cluster = Cluster::with_knobs(3, knobs);
    cluster.warm(0);
    let ask = Message::RequestStateTransfer {
        wanted: Op(1),
        pinned: None,
    };
    cluster.inject(2, 0, 0, ask);
    cluster.isolate(0);
    for _ in 0..4 {
        cluster.write(0, 0);
    }
    let halved = RequestDropped::PipelineHalved {
        waiting: 2,
        peer: crate::ids::ReplicaId(2),
    };
    assert_eq!(cluster.dropped(), [halved; 2]);
    assert_eq!(
        cluster.at(0).peer_in_transfer(),
        Some(crate::ids::ReplicaId(2))
    );
    cluster.tick(400);
    assert_eq!(cluster.at(0).peer_in_transfer(), None, "not heard for long");
    cluster.write(0, 0);
    assert_eq!(cluster.at(0).log().head(), Op(4));
}

#[test]
fn a_laggard_catches_up_under_load() {
    // A52: a saturated primary and a narrow window.
    let mut cluster = laggard(SMALL);
    let mut writes = 0;
    for _ in 0..600 {
        cluster.write(0, 0);
        writes += 1;
        cluster.run(2);
        if cluster.at(2).checkpoint() == cluster.at(0).checkpoint() {
            break;
        }
    }
    assert!(
        writes < 600,
        "{} of {}",
        cluster.at(2).commit_min(),
        cluster.at(0).commit_min()
    );
    cluster.run(500);
    assert!(caught_up(&cluster, 2));
    cluster.assert_one_log();
}

#[test]
fn a_replica_that_was_handed_a_state_answers_what_was_asked_before() {
    // M24: the session table comes along.
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.isolate(1);
    for _ in 0..18 {
        cluster.write(0, 0);
        cluster.settle();
    }
    let last = cluster.write(0, 0);
    cluster.settle();
    cluster.heal();
    assert!(cluster.run_until(400, |cluster| caught_up(cluster, 1)));
    assert_eq!(cluster.taken_over(1).len(), 1);
    cluster.crash(0);
    assert!(cluster.run_until(3_000, |cluster| cluster.leader() == Some(1)));
    cluster.ask(1, &last);
    cluster.run(100);
    assert_eq!(cluster.replies(&last), 2);
    let twice = cluster.applied(1).len();
    assert_eq!(twice, 19, "executed once");
    cluster.assert_one_log();
}

#[test]
fn the_memory_of_a_laggard_is_bounded_however_far_the_others_went() {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.isolate(2);
    for _ in 0..500 {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.heal();
    block_parts(&mut cluster);
    cluster.run(300);
    assert!(cluster.at(2).log().head() > Op(490));
    assert!(cluster.at(2).log().len() <= 12);
    cluster.heal();
    assert!(cluster.run_until(3_000, |cluster| caught_up(cluster, 2)));
    assert!(cluster.at(2).log().len() <= 6);
}

#[test]
fn a_laggard_out_of_whose_ring_the_views_log_lies_wants_a_state_though_its_primary_has_none() {
    // A primary that has just chosen a log may be behind itself.
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    let chain = crate::vsr::testing::chain_after(cluster.at(2).log().header(Op(1)).unwrap(), 1, 8);
    let suffix: Vec<_> = chain[6..]
        .iter()
        .map(|held| Rc::clone(&held.header))
        .collect();
    cluster.isolate(2);
    let start = crate::vsr::message::StartView {
        commit_max: Op(7),
        suffix,
        answers: crate::ids::Incarnation(0),
        checkpoint: Op(0),
    };
    cluster.inject(1, 2, 1, Message::StartView(Rc::new(start)));
    assert!(cluster.at(2).needs_state());
}

// Passing one's turn.

fn forfeited(cluster: &Cluster, r: u8) -> usize {
    let is_it = |(by, note): &&(u8, Note)| *by == r && matches!(note, Note::Forfeited { .. });
    cluster.notes.iter().filter(is_it).count()
}

/// Replica 1 was cut off for as long as the ring lasts, and is back when 0 dies.
fn behind_to_lead() -> Cluster {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.isolate(1);
    for _ in 0..18 {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.heal();
    cluster.crash(0);
    cluster
}

#[test]
fn a_next_primary_a_checkpoint_behind_passes_its_turn() {
    // A6: 2 leads at once, and 1 catches up.
    let mut cluster = behind_to_lead();
    assert!(cluster.run_until(3_000, |cluster| cluster.leader() == Some(2)));
    assert_eq!(forfeited(&cluster, 1), 1);
    assert_eq!(cluster.at(2).view(), View(2));
    assert!(cluster.notes.iter().any(|(r, note)| *r == 1
        && matches!(
            note,
            Note::ViewEntered {
                cause: EnterCause::Forfeit,
                ..
            }
        )));
    assert!(cluster.run_until(1_000, |cluster| caught_up(cluster, 1)));
    assert_eq!(cluster.taken_over(1).len(), 1);
    assert_eq!(cluster.at(1).log().head(), Op(19));
    cluster.assert_one_log();
}

#[test]
fn who_holds_all_that_the_checkpoint_contains_leads_though_it_executed_less() {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.block(0, 1, MessageKind::Commit);
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.settle();
    }
    assert!(
        cluster.at(2).checkpoint() > cluster.at(1).checkpoint()
            || cluster.at(0).checkpoint() == Op(4)
    );
    cluster.crash(0);
    assert!(cluster.run_until(3_000, |cluster| cluster.leader() == Some(1)));
    assert_eq!(forfeited(&cluster, 1), 0);
    assert_eq!(cluster.at(1).view(), View(1));
}

#[test]
fn after_a_round_in_which_nobody_led_the_one_behind_leads_and_is_handed_the_state() {
    let mut cluster = behind_to_lead();
    cluster.block(1, 2, MessageKind::DoViewChange);
    assert!(cluster.run_until(20_000, |cluster| cluster.leader() == Some(1)));
    assert!(
        (1..=3).contains(&forfeited(&cluster, 1)),
        "{}",
        forfeited(&cluster, 1)
    );
    assert_eq!(cluster.taken_over(1).len(), 1);
    cluster.assert_one_log();
}
