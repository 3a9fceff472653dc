//! Normal operation, driven by hand (protocol section 3).

use std::rc::Rc;

use crate::ids::{Checksum, Op, ReplicaId, RequestNumber, View};
use crate::vsr::io::Status;
use crate::vsr::knobs::Knobs;
use crate::vsr::message::{Message, MessageKind, Prepare};
use crate::vsr::note::{Ignored, Note, RequestDropped};
use crate::vsr::testing::{Cluster, SMALL, entry_after, request};

/// Three replicas with a session of client 0 at op 1.
fn three() -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.warm(0);
    cluster
}

fn prepare_at(cluster: &Cluster, r: u8, op: u64) -> Rc<Prepare> {
    let held = cluster.at(r).log().prepare(Op(op));
    Rc::clone(held.expect("holds the op"))
}

fn checksum_at(cluster: &Cluster, r: u8, op: u64) -> Checksum {
    prepare_at(cluster, r, op).header.checksum
}

fn ack(cluster: &Cluster, op: u64) -> Message {
    Message::PrepareOk {
        op: Op(op),
        checksum: checksum_at(cluster, 0, op),
    }
}

fn offer(prepare: &Rc<Prepare>, commit_max: u64) -> Message {
    Message::Prepare {
        prepare: Rc::clone(prepare),
        commit_max: Op(commit_max),
    }
}

#[test]
fn an_op_commits_only_once_the_primary_has_synced_it_too() {
    let mut cluster = three();
    cluster.slow_disk(0);
    cluster.isolate(2);
    let asked = cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.acks_sent(1), [1, 2]);
    assert_eq!(cluster.at(0).commit_max(), Op(1));
    assert_eq!(cluster.replies(&asked), 0);
    cluster.finish_op(0, 2);
    assert_eq!(cluster.at(0).commit_max(), Op(2));
    assert_eq!(cluster.replies(&asked), 1);
}

#[test]
fn the_primary_alone_does_not_commit() {
    let mut cluster = three();
    cluster.isolate(0);
    let asked = cluster.write(0, 0);
    cluster.run(400);
    assert_eq!(cluster.at(0).commit_max(), Op(1));
    assert_eq!(cluster.replies(&asked), 0);
}

#[test]
fn a_backup_acks_only_what_its_disk_holds() {
    let mut cluster = three();
    cluster.slow_disk(1);
    cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.acks_sent(1), [1]);
    cluster.finish_op(1, 2);
    assert_eq!(cluster.acks_sent(1), [1, 2]);
}

#[test]
fn a_backup_acks_in_the_order_of_ops_however_its_disk_finishes() {
    // A56: each ack is true, and together they lie.
    let mut cluster = three();
    cluster.slow_disk(1);
    for _ in 0..3 {
        cluster.write(0, 0);
    }
    cluster.settle();
    cluster.finish_op(1, 4);
    cluster.finish_op(1, 3);
    assert_eq!(cluster.acks_sent(1), [1], "op 2 is not on the disk");
    cluster.finish_op(1, 2);
    assert_eq!(cluster.acks_sent(1), [1, 2, 3, 4]);
}

#[test]
fn the_primary_counts_its_own_copies_in_the_order_of_ops() {
    let mut cluster = three();
    cluster.slow_disk(0);
    cluster.isolate(2);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.settle();
    let own = |cluster: &Cluster| -> Vec<bool> {
        let acks = cluster.at(0).acks();
        acks.map(|(_, holders)| holders.contains(ReplicaId(0)))
            .collect()
    };
    cluster.finish_op(0, 3);
    assert_eq!(own(&cluster), [false, false]);
    assert_eq!(cluster.at(0).commit_max(), Op(1));
    cluster.finish_op(0, 2);
    assert_eq!(cluster.at(0).commit_max(), Op(3));
}

#[test]
fn an_op_with_a_quorum_waits_for_the_op_below_it() {
    let mut cluster = three();
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.settle();
    let (second, third) = (ack(&cluster, 2), ack(&cluster, 3));
    cluster.inject(1, 0, 0, third.clone());
    cluster.inject(2, 0, 0, third);
    assert_eq!(cluster.at(0).commit_max(), Op(1), "op 2 has no quorum");
    cluster.inject(2, 0, 0, second);
    assert_eq!(cluster.at(0).commit_max(), Op(3));
    assert_eq!(cluster.applied(0), [Op(2), Op(3)]);
}

#[test]
fn one_ack_echoed_is_one_holder() {
    // A39, n = 5: three copies of one voice.
    let mut cluster = Cluster::new(5);
    cluster.warm(0);
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.settle();
    let acked = ack(&cluster, 2);
    for _ in 0..3 {
        cluster.inject(1, 0, 0, acked.clone());
    }
    assert_eq!(cluster.at(0).commit_max(), Op(1));
    cluster.inject(4, 0, 0, acked);
    assert_eq!(cluster.at(0).commit_max(), Op(2));
}

#[test]
fn an_ack_counts_only_for_the_identity_it_names() {
    // A38: an acknowledgement of a dead write.
    let mut cluster = three();
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.settle();
    let dead = Message::PrepareOk {
        op: Op(2),
        checksum: Checksum(666),
    };
    cluster.inject(1, 0, 0, dead);
    assert_eq!(cluster.at(0).commit_max(), Op(1));
    assert!(
        cluster
            .ignored(0)
            .contains(&Ignored::StaleAck { op: Op(2) })
    );
}

#[test]
fn a_backup_ignores_a_prepare_beyond_the_next_op() {
    let mut cluster = three();
    cluster.hold(0, 1);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.settle();
    cluster.take(0, 1, MessageKind::Prepare);
    cluster.deliver(0, 1, MessageKind::Prepare);
    assert_eq!(cluster.at(1).log().head(), Op(1));
    let gap = Ignored::Gap {
        op: Op(3),
        head: Op(1),
    };
    assert_eq!(cluster.ignored(1), [gap]);
}

#[test]
fn a_backup_ignores_a_prepare_with_another_parent() {
    let mut cluster = three();
    let stranger = entry_after(
        &entry_after(&prepare_at(&cluster, 1, 1).header, 0, "a").header,
        0,
        "b",
    );
    let mut header = stranger.header.as_ref().clone();
    header.op = Op(2);
    let stranger = Rc::new(Prepare {
        header: Rc::new(header.sealed()),
        body: Rc::clone(&stranger.body),
    });
    cluster.inject(0, 1, 0, offer(&stranger, 1));
    assert_eq!(cluster.at(1).log().head(), Op(1));
    assert_eq!(cluster.ignored(1), [Ignored::BrokenChain { op: Op(2) }]);
}

#[test]
fn a_backup_takes_prepares_from_the_primary_of_its_view_alone() {
    let mut cluster = three();
    let next = entry_after(&prepare_at(&cluster, 1, 1).header, 0, "next");
    cluster.inject(2, 1, 0, offer(&next, 2));
    assert_eq!(cluster.at(1).log().head(), Op(1));
    assert_eq!(cluster.at(1).commit_max(), Op(1));
    assert_eq!(cluster.ignored(1), [Ignored::NotFromPrimary]);
}

#[test]
fn nothing_of_a_newer_view_is_adopted_from_a_prepare_or_a_heartbeat() {
    let mut cluster = three();
    let next = entry_after(&prepare_at(&cluster, 1, 1).header, 3, "next");
    let commit_max = Op(2);
    for message in [offer(&next, 2), Message::Commit { commit_max }] {
        cluster.inject(0, 1, 3, message);
    }
    let backup = cluster.at(1);
    assert_eq!(backup.view(), View(0));
    assert_eq!(backup.status(), Status::Normal);
    assert_eq!(backup.log().head(), Op(1));
    assert_eq!(backup.commit_max(), Op(1));
    let probe = MessageKind::RequestStartView;
    assert_eq!(cluster.count_sent(1, probe), 1, "it asks, once an interval");
    cluster.tick_at(1, 100);
    cluster.inject(0, 1, 3, Message::Commit { commit_max });
    assert_eq!(cluster.count_sent(1, probe), 2);
}

#[test]
fn what_comes_from_an_older_view_is_ignored() {
    let mut cluster = three();
    cluster.inject(2, 1, 4, Message::StartViewChange);
    cluster.settle();
    let commit_max = Op(9);
    cluster.inject(0, 1, 3, Message::Commit { commit_max });
    assert_eq!(cluster.at(1).commit_max(), Op(1));
    let older = Ignored::OlderView {
        view: View(3),
        ours: cluster.at(1).view(),
    };
    assert!(cluster.ignored(1).contains(&older));
}

#[test]
fn a_duplicate_prepare_that_is_held_is_acked_again() {
    let mut cluster = three();
    cluster.write(0, 0);
    cluster.settle();
    let again = offer(&prepare_at(&cluster, 0, 2), 2);
    cluster.inject(0, 1, 0, again);
    assert_eq!(cluster.acks_sent(1), [1, 2, 2]);
    assert!(
        cluster
            .ignored(1)
            .contains(&Ignored::Duplicate { op: Op(2) })
    );
}

#[test]
fn a_duplicate_prepare_whose_write_is_under_way_is_not_acked() {
    let mut cluster = three();
    cluster.slow_disk(1);
    cluster.write(0, 0);
    cluster.settle();
    let again = offer(&prepare_at(&cluster, 0, 2), 1);
    cluster.inject(0, 1, 0, again);
    assert_eq!(cluster.acks_sent(1), [1]);
}

#[test]
fn a_duplicate_is_not_acked_before_the_op_below_it_is_synced() {
    let mut cluster = three();
    cluster.slow_disk(1);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.settle();
    cluster.finish_op(1, 3);
    let again = offer(&prepare_at(&cluster, 0, 3), 1);
    cluster.inject(0, 1, 0, again);
    assert_eq!(cluster.acks_sent(1), [1]);
}

#[test]
fn unacked_prepares_are_sent_again_at_doubling_intervals_with_jitter() {
    let knobs = Knobs {
        abdicate_ticks: 1_000_000,
        ..Knobs::default()
    };
    let mut cluster = Cluster::with_knobs(3, knobs);
    cluster.warm(0);
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.settle();
    let mut intervals = Vec::new();
    let mut waited = 0_u32;
    while intervals.len() < 8 {
        let before = cluster.count_sent(0, MessageKind::Prepare);
        cluster.tick_at(0, 1);
        waited += 1;
        let sent = cluster.count_sent(0, MessageKind::Prepare) - before;
        if sent > 0 {
            assert_eq!(sent, 2, "to each that has not acked");
            intervals.push(waited);
            waited = 0;
        }
    }
    for (interval, base) in intervals.iter().zip([25, 50, 100, 200, 400, 400, 400, 400]) {
        assert!((base..=2 * base).contains(interval), "{intervals:?}");
    }
}

#[test]
fn prepares_are_sent_again_only_to_those_who_have_not_acked() {
    let mut cluster = Cluster::new(5);
    cluster.warm(0);
    for absent in 2..5 {
        cluster.isolate(absent);
    }
    cluster.write(0, 0);
    cluster.settle();
    let before = cluster.sent.len();
    cluster.run(60);
    let again = cluster.sent[before..].iter();
    let mut receivers: Vec<u8> = again
        .filter(|(from, _, _, message)| *from == 0 && message.kind() == MessageKind::Prepare)
        .map(|(_, to, _, _)| *to)
        .collect();
    receivers.sort_unstable();
    receivers.dedup();
    assert_eq!(receivers, [2, 3, 4]);
}

#[test]
fn heartbeats_go_out_every_fifty_ticks_and_carry_the_commit_point() {
    let mut cluster = three();
    cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.at(1).commit_min(), Op(1));
    let before = cluster.count_sent(0, MessageKind::Commit);
    cluster.run(100);
    assert_eq!(cluster.count_sent(0, MessageKind::Commit) - before, 4);
    assert_eq!(cluster.at(1).commit_min(), Op(2));
    cluster.assert_one_log();
}

#[test]
fn a_primary_whose_ops_find_no_quorum_stops_its_heartbeats() {
    // A32: the deaf primary.
    let mut cluster = three();
    cluster.mute(1, 0);
    cluster.mute(2, 0);
    cluster.write(0, 0);
    cluster.run(999);
    assert!(!cluster.at(0).has_abdicated());
    cluster.run(1);
    assert!(cluster.at(0).has_abdicated());
    let before = cluster.count_sent(0, MessageKind::Commit);
    let is_replaced =
        |cluster: &Cluster| cluster.at(1).view() == View(1) && cluster.leader() == Some(1);
    assert!(cluster.run_until(600, is_replaced));
    assert_eq!(cluster.count_sent(0, MessageKind::Commit), before);
}

#[test]
fn an_idle_primary_never_abdicates() {
    let mut cluster = three();
    cluster.run(3_000);
    assert!(!cluster.at(0).has_abdicated());
    assert_eq!(cluster.at(1).view(), View(0));
}

#[test]
fn after_an_abdication_ended_by_a_commit_the_rest_is_sent_again() {
    let mut cluster = three();
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.tick_at(0, 2_000);
    cluster.settle();
    assert!(cluster.at(0).has_abdicated());
    let late = ack(&cluster, 2);
    cluster.inject(1, 0, 0, late);
    assert!(!cluster.at(0).has_abdicated());
    let before = cluster.count_sent(0, MessageKind::Prepare);
    cluster.tick_at(0, 60);
    assert!(cluster.count_sent(0, MessageKind::Prepare) > before, "op 3");
}

#[test]
fn an_abdicated_primary_and_one_backup_are_quorum_enough_to_go_on() {
    // n = 3 with one dead: after a cut the backup votes to leave, and vc is two.
    let mut cluster = three();
    cluster.crash(2);
    cluster.cut(0, 1);
    let asked = cluster.write(0, 0);
    cluster.run(2_000);
    assert!(cluster.at(0).has_abdicated());
    cluster.heal();
    let goes_on = |cluster: &Cluster| {
        cluster
            .leader()
            .is_some_and(|r| cluster.at(r).commit_max() >= Op(2) && !cluster.at(r).has_abdicated())
    };
    assert!(cluster.run_until(5_000, goes_on), "stuck for ever");
    assert_eq!(asked.request, RequestNumber(1));
}

#[test]
fn a_duplicate_gets_its_cached_reply_through_a_full_pipeline() {
    let mut cluster = three();
    let first = cluster.write(0, 0);
    cluster.settle();
    cluster.isolate(0);
    for _ in 0..8 {
        cluster.write(0, 0);
    }
    let ninth = cluster.write(0, 0);
    let full = RequestDropped::PipelineFull { waiting: 8 };
    assert_eq!(cluster.dropped(), [full]);
    assert_eq!(cluster.replies(&ninth), 0);
    cluster.ask(0, &first);
    assert_eq!(cluster.replies(&first), 2);
}

#[test]
fn a_request_under_way_is_not_prepared_twice() {
    let mut cluster = three();
    cluster.isolate(0);
    let asked = cluster.write(0, 0);
    cluster.ask(0, &asked);
    assert_eq!(cluster.at(0).log().head(), Op(2));
    assert_eq!(cluster.dropped(), [RequestDropped::InFlight { op: Op(2) }]);
}

#[test]
fn a_write_prepared_for_a_session_evicted_meanwhile_has_no_effect() {
    let knobs = Knobs {
        sessions_max: 1,
        ..Knobs::default()
    };
    let mut cluster = Cluster::with_knobs(3, knobs);
    let session = cluster.open(0, 0);
    cluster.isolate(0);
    cluster.ask(0, &request(1, Op(0), 0, ""));
    let late = request(0, session, 1, "late");
    cluster.ask(0, &late);
    cluster.heal();
    cluster.run(200);
    assert_eq!(cluster.at(0).commit_min(), Op(3));
    assert_eq!(cluster.replies(&late), 0);
    for r in 0..3 {
        assert_eq!(cluster.applied(r), [], "at replica {r}");
    }
}

#[test]
fn timestamps_rise_strictly_though_the_clock_stands_still() {
    let mut cluster = three();
    for _ in 0..3 {
        cluster.write(0, 0);
    }
    let stamps: Vec<u64> = (1..=4)
        .map(|op| prepare_at(&cluster, 0, op).header.timestamp_micros)
        .collect();
    assert!(
        stamps.windows(2).all(|pair| pair[0] < pair[1]),
        "{stamps:?}"
    );
}

#[test]
fn a_full_journal_takes_no_request_before_a_checkpoint() {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.slow_disk(0);
    for _ in 0..5 {
        cluster.write(0, 0);
        cluster.settle();
    }
    assert_eq!(cluster.at(0).commit_min(), Op(6));
    let asked = cluster.write(0, 0);
    assert_eq!(
        cluster.dropped(),
        [RequestDropped::JournalFull { slots: 6 }]
    );
    assert_eq!(cluster.replies(&asked), 0);
    cluster.fast_disk(0);
    cluster.ask(0, &asked);
    cluster.settle();
    assert_eq!(cluster.replies(&asked), 1);
}

#[test]
fn clients_are_answered_by_the_primary_alone_and_after_the_commit() {
    let mut cluster = three();
    cluster.slow_disk(1);
    cluster.slow_disk(2);
    let asked = cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.replies(&asked), 0);
    cluster.fast_disk(1);
    cluster.fast_disk(2);
    cluster.run(100);
    assert_eq!(cluster.replies(&asked), 1);
    assert!(cluster.told.iter().all(|(by, _, _)| *by == 0));
}

#[test]
fn every_ack_counted_is_told_with_what_it_takes() {
    let mut cluster = three();
    cluster.write(0, 0);
    cluster.settle();
    let counted: Vec<(u8, u8)> = cluster
        .notes
        .iter()
        .filter_map(|(_, note)| match note {
            Note::AckCounted { op, have, need, .. } if *op == Op(2) => Some((*have, *need)),
            _ => None,
        })
        .collect();
    assert_eq!(counted, [(1, 2), (2, 2)]);
}
