//! Fetching bodies, driven by hand (protocol section 7).

use std::rc::Rc;

use crate::ids::{Incarnation, Op, ReplicaId, View};
use crate::vsr::io::Status;
use crate::vsr::knobs::Knobs;
use crate::vsr::log::SlotState;
use crate::vsr::message::{Message, MessageKind, Prepare, StartView};
use crate::vsr::note::{Ignored, Note};
use crate::vsr::testing::{Cluster, entry_after};

fn small(repair_chunk_max: u32) -> Knobs {
    Knobs {
        repair_chunk_max,
        ..Knobs::default()
    }
}

/// Replica 2 missed `missed` committed ops and just adopted a log that names only the last ones.
fn lagging(knobs: Knobs, missed: u64) -> Cluster {
    let mut cluster = Cluster::with_knobs(3, knobs);
    cluster.warm(0);
    cluster.isolate(2);
    for _ in 0..missed {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.run(50);
    cluster
}

fn requests(cluster: &Cluster) -> Vec<(u8, u64, u64)> {
    let asked = cluster.notes.iter().filter_map(|(_, note)| match note {
        Note::RepairRequested { to, from, through } => Some((to.0, from.0, through.0)),
        _ => None,
    });
    asked.collect()
}

fn prepare_at(cluster: &Cluster, r: u8, op: u64) -> Rc<Prepare> {
    Rc::clone(cluster.at(r).log().prepare(Op(op)).expect("holds the op"))
}

#[test]
fn repair_goes_on_after_each_chunk_though_nothing_is_proven_meanwhile() {
    // A49, chunk 4 and a window of 10: a cursor tied to commit or proof asks for 2 to 5 for ever.
    let mut cluster = lagging(small(4), 10);
    cluster.heal();
    cluster.run(200);
    assert_eq!(requests(&cluster), [(0, 2, 5), (0, 6, 9), (0, 10, 11)]);
    assert_eq!(cluster.at(2).commit_min(), Op(11));
    cluster.assert_one_log();
}

#[test]
fn a_chunk_served_in_part_is_continued_where_serving_stopped() {
    let mut cluster = lagging(small(4), 10);
    cluster.heal();
    cluster.block(0, 2, MessageKind::RepairPrepare);
    cluster.block(0, 2, MessageKind::RepairDone);
    assert!(cluster.run_until(200, |cluster| !requests(cluster).is_empty()));
    for op in [2, 3] {
        let prepare = prepare_at(&cluster, 0, op);
        cluster.inject(0, 2, 0, Message::RepairPrepare { prepare });
    }
    let (from, through) = (Op(2), Op(5));
    cluster.inject(0, 2, 0, Message::repair_done(from, through, Op(0), true));
    cluster.run(25);
    assert_eq!(requests(&cluster), [(0, 2, 5), (0, 4, 7)]);
}

#[test]
fn another_peer_is_asked_when_one_gives_nothing() {
    let mut cluster = lagging(small(128), 3);
    cluster.heal();
    cluster.block(0, 2, MessageKind::RepairPrepare);
    cluster.block(0, 2, MessageKind::RepairDone);
    cluster.run(1_500);
    let asked: Vec<u8> = requests(&cluster).iter().map(|asked| asked.0).collect();
    assert_eq!(asked[..2], [0, 1]);
    assert_eq!(cluster.at(2).commit_min(), Op(4));
}

#[test]
fn a_request_without_an_answer_is_repeated_after_a_hundred_ticks_with_jitter() {
    let mut cluster = lagging(small(128), 3);
    cluster.heal();
    for from in [0, 1] {
        cluster.block(from, 2, MessageKind::RepairPrepare);
        cluster.block(from, 2, MessageKind::RepairDone);
    }
    let mut at = Vec::new();
    for tick in 0..1_000_u64 {
        let before = requests(&cluster).len();
        cluster.run(1);
        if requests(&cluster).len() > before {
            at.push(tick);
        }
    }
    let waits: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.len() >= 4, "{waits:?}");
    assert!(
        waits.iter().all(|wait| (100..=201).contains(wait)),
        "{waits:?}"
    );
}

#[test]
fn only_what_is_synced_is_served() {
    let mut cluster = Cluster::new(3);
    cluster.warm(1);
    cluster.slow_disk(0);
    cluster.write(0, 0);
    let (from, to) = (Op(2), Op(3));
    cluster.inject(2, 0, 0, Message::RequestPrepares { from, to });
    let served: Vec<u64> = cluster
        .sent
        .iter()
        .filter_map(|(_, _, _, message)| match message {
            Message::RepairPrepare { prepare } => Some(prepare.header.op.0),
            _ => None,
        })
        .collect();
    assert_eq!(served, [2]);
    let to = ReplicaId(2);
    let through = Op(3);
    let held = 1;
    let note = Note::RepairServed {
        to,
        from,
        through,
        held,
    };
    assert!(cluster.notes.contains(&(0, note)));
}

#[test]
fn an_answer_without_bodies_still_says_where_it_ends() {
    let mut cluster = Cluster::new(3);
    cluster.warm(1);
    let (from, to) = (Op(7), Op(9));
    cluster.inject(2, 0, 0, Message::RequestPrepares { from, to });
    assert_eq!(cluster.ignored(0).last(), Some(&Ignored::NothingToServe));
    assert_eq!(cluster.count_sent(0, MessageKind::RepairDone), 1);
}

#[test]
fn a_server_gives_one_chunk_at_most() {
    let mut cluster = Cluster::with_knobs(3, small(4));
    cluster.warm(9);
    let (from, to) = (Op(1), Op(u64::MAX));
    cluster.inject(2, 0, 0, Message::RequestPrepares { from, to });
    assert_eq!(cluster.count_sent(0, MessageKind::RepairPrepare), 4);
}

#[test]
fn a_body_of_another_identity_is_refused_where_the_identity_is_known() {
    // A51 and M27: whoever serves may be wrong; the asker checks.
    let mut cluster = lagging(small(128), 2);
    cluster.heal();
    cluster.block(0, 2, MessageKind::RepairPrepare);
    cluster.block(1, 2, MessageKind::RepairPrepare);
    cluster.run(120);
    assert_eq!(cluster.at(2).log().state(Op(3)), SlotState::Known);
    let wrong = entry_after(&prepare_at(&cluster, 0, 2).header, 0, "wrong");
    cluster.inject(1, 2, 0, Message::RepairPrepare { prepare: wrong });
    assert_eq!(cluster.at(2).log().state(Op(3)), SlotState::Known);
    assert!(
        cluster
            .ignored(2)
            .contains(&Ignored::OtherIdentity { op: Op(3) })
    );
    let right = prepare_at(&cluster, 0, 3);
    cluster.inject(1, 2, 0, Message::RepairPrepare { prepare: right });
    assert_eq!(
        cluster.at(2).log().state(Op(3)),
        SlotState::Held { synced: false }
    );
}

#[test]
fn a_resent_prepare_fills_a_hole_whose_identity_is_known() {
    // A51: the one message that would mend the log is no old news.
    let mut cluster = lagging(small(128), 2);
    cluster.heal();
    cluster.block(0, 2, MessageKind::RepairPrepare);
    cluster.block(1, 2, MessageKind::RepairPrepare);
    cluster.run(120);
    let prepare = prepare_at(&cluster, 0, 3);
    let commit_max = Op(3);
    cluster.inject(
        0,
        2,
        0,
        Message::Prepare {
            prepare,
            commit_max,
        },
    );
    let checksum = prepare_at(&cluster, 0, 3).header.checksum;
    let repair = false;
    let filled = Note::Filled {
        op: Op(3),
        checksum,
        repair,
    };
    assert!(cluster.notes.contains(&(2, filled)));
    cluster.settle();
    assert_eq!(
        cluster.at(2).log().state(Op(3)),
        SlotState::Held { synced: true }
    );
}

#[test]
fn what_repair_brings_is_journaled_before_it_is_acked() {
    let mut cluster = Cluster::new(3);
    cluster.warm(0);
    cluster.isolate(2);
    cluster.mute(1, 0);
    cluster.write(0, 0);
    cluster.settle();
    cluster.heal();
    cluster.block(0, 2, MessageKind::Prepare);
    cluster.mute(1, 0);
    let headers = [
        Rc::clone(&prepare_at(&cluster, 0, 1).header),
        Rc::clone(&prepare_at(&cluster, 0, 2).header),
    ];
    let start = StartView {
        commit_max: Op(1),
        suffix: headers.to_vec(),
        answers: Incarnation(0),
        checkpoint: Op(0),
    };
    cluster.inject(0, 2, 0, Message::StartView(Rc::new(start)));
    cluster.finish_superblock(2);
    cluster.slow_disk(2);
    cluster.settle();
    assert_eq!(
        cluster.at(2).log().state(Op(2)),
        SlotState::Held { synced: false }
    );
    assert!(!cluster.acks_sent(2).contains(&2));
    cluster.finish_op(2, 2);
    assert_eq!(cluster.acks_sent(2).last(), Some(&2));
}

#[test]
fn nothing_is_fetched_for_a_log_that_is_not_the_views() {
    let mut cluster = lagging(small(128), 2);
    cluster.inject(1, 2, 4, Message::StartViewChange);
    cluster.settle();
    let prepare = prepare_at(&cluster, 0, 2);
    cluster.inject(0, 2, 0, Message::RepairPrepare { prepare });
    let status = Status::ViewChange;
    assert_eq!(cluster.at(2).view(), View(4));
    assert_eq!(
        cluster.ignored(2).last(),
        Some(&Ignored::WrongStatus { status })
    );
    assert_eq!(requests(&cluster), []);
}

#[test]
fn stray_ends_of_answers_are_ignored() {
    let mut cluster = lagging(small(128), 3);
    let (from, through) = (Op(2), Op(3));
    cluster.inject(0, 2, 0, Message::repair_done(from, through, Op(0), true));
    assert_eq!(cluster.ignored(2), [Ignored::Duplicate { op: through }]);
    cluster.heal();
    cluster.block(0, 2, MessageKind::RepairPrepare);
    cluster.block(0, 2, MessageKind::RepairDone);
    cluster.run(110);
    assert_eq!(requests(&cluster).len(), 1);
    cluster.inject(1, 2, 0, Message::repair_done(from, through, Op(0), true));
    assert!(
        cluster
            .ignored(2)
            .contains(&Ignored::StaleAck { op: through })
    );
}
