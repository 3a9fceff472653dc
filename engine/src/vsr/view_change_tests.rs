//! Leaving a view and starting the next, driven by hand (protocol sections 2, 4 and 5).

use std::rc::Rc;

use crate::ids::{Incarnation, Op, RequestNumber, View};
use crate::vsr::io::Status;
use crate::vsr::log::SlotState;
use crate::vsr::message::{Header, Message, MessageKind, StartView};
use crate::vsr::note::{Ignored, LeaveCause, MergeOutcome, Note, RequestDropped};
use crate::vsr::testing::{Cluster, entry_after, request};

const WAIT: u64 = 500;

/// Three replicas with ops 1 to 1 + `writes` committed everywhere.
fn three(writes: u64) -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.warm(writes);
    cluster
}

fn start_view(commit_max: u64, suffix: &[Rc<Header>]) -> Message {
    Message::StartView(Rc::new(StartView {
        commit_max: Op(commit_max),
        suffix: suffix.to_vec(),
        answers: Incarnation(0),
        checkpoint: Op(0),
    }))
}

fn header_at(cluster: &Cluster, r: u8, op: u64) -> Rc<Header> {
    Rc::clone(cluster.at(r).log().header(Op(op)).expect("is known"))
}

fn is_led_by(r: u8) -> impl Fn(&Cluster) -> bool {
    move |cluster| cluster.leader() == Some(r)
}

// What must be durable first.

#[test]
fn no_do_view_change_leaves_before_the_superblock_of_its_view_is_durable() {
    // A10: a vote outlives its author's memory.
    let mut cluster = three(1);
    cluster.crash(0);
    cluster.slow_disk(1);
    cluster.run(WAIT + 1);
    assert_eq!(cluster.at(1).view(), View(1));
    cluster.run(200);
    assert_eq!(cluster.count_sent(1, MessageKind::DoViewChange), 0);
    assert_eq!(cluster.disk_superblock(1).view, View(0));
    cluster.finish_superblock(1);
    assert_eq!(cluster.disk_superblock(1).view, View(1));
    assert_eq!(cluster.count_sent(1, MessageKind::DoViewChange), 2);
}

#[test]
fn no_start_view_leaves_before_its_log_and_log_view_are_durable_in_one_write() {
    // A20: promised before it was durable.
    let mut cluster = three(1);
    cluster.crash(0);
    cluster.slow_disk(1);
    cluster.run(WAIT + 1);
    cluster.finish_superblock(1);
    cluster.settle();
    assert_eq!(cluster.at(1).log_view(), View(1), "has merged");
    cluster.run(200);
    assert_eq!(cluster.count_sent(1, MessageKind::StartView), 0);
    assert!(
        cluster.ignored(1).contains(&Ignored::NotDurableYet),
        "to probes"
    );
    cluster.finish_superblock(1);
    let disk = cluster.disk_superblock(1);
    assert_eq!((disk.view, disk.log_view), (View(1), View(1)));
    assert_eq!(disk.head(), Op(2));
    assert_eq!(cluster.count_sent(1, MessageKind::StartView), 2);
}

#[test]
fn no_ack_leaves_for_an_adopted_log_before_it_is_durable() {
    let mut cluster = three(1);
    let prepare = entry_after(&header_at(&cluster, 2, 2), 0, "kept");
    let commit_max = Op(2);
    let suffix = [header_at(&cluster, 2, 2), Rc::clone(&prepare.header)];
    cluster.inject(
        0,
        2,
        0,
        Message::Prepare {
            prepare,
            commit_max,
        },
    );
    cluster.settle();
    cluster.slow_disk(2);
    let before = cluster.acks_sent(2).len();
    cluster.inject(1, 2, 1, start_view(2, &suffix));
    cluster.run(100);
    assert_eq!(cluster.acks_sent(2).len(), before);
    cluster.finish_superblock(2);
    assert_eq!(cluster.acks_sent(2).last(), Some(&3));
    assert_eq!(
        cluster.sent.last().map(|sent| sent.1),
        Some(1),
        "to the new primary"
    );
}

#[test]
fn a_new_primary_takes_no_request_before_its_view_is_durable() {
    // A48: a login inside the fsync.
    let mut cluster = three(1);
    cluster.crash(0);
    cluster.slow_disk(1);
    cluster.run(WAIT + 1);
    cluster.finish_superblock(1);
    cluster.settle();
    cluster.ask(1, &request(7, Op(0), 0, ""));
    assert_eq!(cluster.at(1).log().head(), Op(2));
    assert!(matches!(
        cluster.dropped()[..],
        [RequestDropped::NotPrimary { .. }]
    ));
    cluster.fast_disk(1);
    cluster.open(1, 7);
    cluster.run(100);
    assert_eq!(cluster.at(2).sessions().len(), 2);
}

// Votes to leave.

#[test]
fn leaving_takes_votes_of_distinct_senders_its_own_not_required() {
    let mut cluster = Cluster::new(5);
    for from in [1, 1, 1, 2, 2] {
        cluster.inject(from, 0, 0, Message::StartViewChange);
        assert_eq!(cluster.at(0).view(), View(0));
    }
    cluster.inject(3, 0, 0, Message::StartViewChange);
    assert_eq!(cluster.at(0).view(), View(1));
    assert_eq!(cluster.at(0).status(), Status::ViewChange);
    assert_eq!(cluster.count_sent(0, MessageKind::StartViewChange), 0);
}

#[test]
fn a_vote_counts_for_five_hundred_ticks() {
    let mut cluster = Cluster::new(3);
    cluster.inject(1, 0, 0, Message::StartViewChange);
    cluster.tick_at(0, WAIT);
    cluster.inject(2, 0, 0, Message::StartViewChange);
    assert_eq!(cluster.at(0).view(), View(0), "the first has expired");
    cluster.tick_at(0, WAIT - 1);
    cluster.inject(1, 0, 0, Message::StartViewChange);
    assert_eq!(cluster.at(0).view(), View(1));
}

#[test]
fn nobody_raises_a_number_alone() {
    // A43: the hermit.
    let mut cluster = three(1);
    cluster.isolate(2);
    cluster.run(20 * WAIT);
    assert_eq!(cluster.at(2).view(), View(0));
    assert_eq!(cluster.at(2).status(), Status::Normal);
    cluster.heal();
    cluster.run(200);
    assert_eq!(cluster.leader(), Some(0));
    assert_eq!(cluster.at(2).view(), View(0));
}

#[test]
fn a_vote_is_repeated_every_fifty_ticks_and_withdrawn_when_the_primary_is_heard() {
    let mut cluster = three(0);
    cluster.mute(0, 2);
    cluster.run(WAIT + 200);
    let votes = cluster.count_sent(2, MessageKind::StartViewChange);
    assert!((8..=10).contains(&votes), "{votes} to two receivers");
    let commit_max = Op(1);
    cluster.inject(0, 2, 0, Message::Commit { commit_max });
    let withdrawn = (2, Note::VoteWithdrawn { view: View(0) });
    assert!(cluster.notes.contains(&withdrawn));
    cluster.run(WAIT - 10);
    assert_eq!(cluster.count_sent(2, MessageKind::StartViewChange), votes);
    assert!(cluster.at(2).leave_votes().is_empty());
}

#[test]
fn a_deaf_backup_does_not_topple_the_primary() {
    // A31, and A33 where only one cable is dead.
    for deaf_to in [&[0, 1][..], &[0]] {
        let mut cluster = three(1);
        for &from in deaf_to {
            cluster.mute(from, 2);
        }
        for _ in 0..10 {
            cluster.write(0, 0);
            cluster.run(WAIT);
        }
        assert_eq!(cluster.leader(), Some(0));
        assert_eq!(cluster.at(0).view(), View(0));
        assert_eq!(cluster.at(0).commit_max(), Op(12));
    }
}

#[test]
fn a_vote_or_a_log_of_a_higher_view_pulls_into_that_view_and_never_beyond() {
    let mut cluster = three(0);
    for kind in [MessageKind::StartViewChange, MessageKind::DoViewChange] {
        let before = cluster.at(1).view();
        let view = before.0 + 4;
        let message = if kind == MessageKind::DoViewChange {
            let said = cluster.sent.iter().rev().map(|(_, _, _, message)| message);
            let mut logs = said.filter(|message| message.kind() == kind);
            logs.next().cloned().expect("the first pull made some")
        } else {
            Message::StartViewChange
        };
        cluster.inject(2, 1, view, message);
        assert_eq!(cluster.at(1).view(), View(view), "by {kind:?}");
        assert_eq!(cluster.at(1).status(), Status::ViewChange);
        cluster.tick_at(1, 40);
        assert_eq!(cluster.at(1).view(), View(view));
        cluster.finish_superblock(1);
        assert_eq!(cluster.disk_superblock(1).view, View(view));
        cluster.lose_all();
    }
}

#[test]
fn a_pulled_replica_sends_its_log_and_asks_who_leads_before_it_votes_to_leave() {
    let mut cluster = three(0);
    cluster.isolate(1);
    cluster.inject(2, 1, 3, Message::StartViewChange);
    cluster.settle();
    assert_eq!(cluster.count_sent(1, MessageKind::DoViewChange), 2);
    cluster.tick_at(1, 100);
    assert_eq!(cluster.count_sent(1, MessageKind::RequestStartView), 1);
    cluster.tick_at(1, WAIT - 101);
    assert_eq!(cluster.count_sent(1, MessageKind::StartViewChange), 0);
    cluster.tick_at(1, 1);
    assert_eq!(cluster.count_sent(1, MessageKind::StartViewChange), 2);
    let cause = LeaveCause::ViewChangeTooLong { ticks: 500 };
    let view = View(3);
    assert!(
        cluster
            .notes
            .contains(&(1, Note::LeaveVoted { view, cause }))
    );
    assert_eq!(cluster.at(1).view(), View(3), "a vote is no leave");
}

#[test]
fn votes_and_logs_of_a_lower_view_are_ignored() {
    let mut cluster = three(0);
    cluster.inject(2, 1, 3, Message::StartViewChange);
    cluster.inject(0, 1, 2, Message::StartViewChange);
    let older = Ignored::OlderView {
        view: View(2),
        ours: View(3),
    };
    assert_eq!(cluster.ignored(1), [older]);
    assert_eq!(cluster.at(1).leave_votes().len(), 1);
}

#[test]
fn every_replica_gets_its_turn_before_the_wait_doubles_and_sixteen_times_is_the_most() {
    let mut cluster = three(0);
    cluster.crash(0);
    cluster.block(1, 2, MessageKind::DoViewChange);
    cluster.block(2, 1, MessageKind::DoViewChange);
    let mut lengths = Vec::new();
    let mut entered = None;
    for tick in 0..80_000_u64 {
        let before = cluster.at(1).view();
        cluster.run(1);
        if cluster.at(1).view() != before
            && let Some(start) = entered.replace(tick)
        {
            lengths.push(tick - start);
        }
    }
    let steps = [500, 500, 500, 1_000, 1_000, 1_000, 2_000, 2_000, 2_000];
    assert_eq!(lengths[..9], steps);
    assert_eq!(lengths[12..], [8_000; 8][..lengths.len() - 12]);
}

#[test]
fn two_views_with_live_replicas_in_both_come_together() {
    // M53, n = 5: the StartView of view 1 reaches only 2; then 1 and 3 die.
    let mut cluster = Cluster::new(5);
    cluster.warm(1);
    cluster.isolate(0);
    for to in [3, 4] {
        cluster.block(1, to, MessageKind::StartView);
    }
    let adopted = |cluster: &Cluster| cluster.at(2).log_view() == View(1);
    assert!(cluster.run_until(3 * WAIT, adopted));
    cluster.crash(1);
    cluster.crash(3);
    cluster.heal();
    assert_eq!(cluster.at(0).view(), View(0));
    let goes_on = |cluster: &Cluster| cluster.leader().is_some_and(|r| r != 0);
    assert!(cluster.run_until(10 * WAIT, goes_on));
    let leader = cluster.leader().unwrap();
    cluster.open(leader, 5);
    cluster.run(100);
    cluster.assert_one_log();
}

// Choosing and starting.

#[test]
fn what_was_answered_survives_the_primary_and_a_retry_gets_the_same_reply() {
    // A45: paid twice.
    let mut cluster = three(1);
    cluster.block(0, 1, MessageKind::Prepare);
    let asked = cluster.write(0, 0);
    cluster.settle();
    let first = cluster.last_reply(0).unwrap().checksum;
    cluster.crash(0);
    assert!(cluster.run_until(3 * WAIT, is_led_by(1)));
    cluster.ask(1, &asked);
    let again = cluster.last_reply(0).unwrap();
    assert_eq!((again.request, again.checksum), (RequestNumber(2), first));
    cluster.run(100);
    assert_eq!(cluster.applied(1), [Op(2), Op(3)]);
    cluster.assert_one_log();
}

#[test]
fn the_next_primary_fetches_what_it_lacks_before_it_is_normal() {
    // A3: it knows least.
    let mut cluster = three(1);
    cluster.block(0, 1, MessageKind::Prepare);
    cluster.write(0, 0);
    cluster.settle();
    cluster.crash(0);
    cluster.block(2, 1, MessageKind::RepairPrepare);
    let announced = |cluster: &Cluster| cluster.count_sent(1, MessageKind::StartView) > 0;
    assert!(cluster.run_until(3 * WAIT, announced));
    cluster.run(100);
    assert_eq!(cluster.at(1).status(), Status::ViewChange);
    assert_eq!(cluster.at(1).log().state(Op(3)), SlotState::Known);
    assert_eq!(cluster.count_sent(1, MessageKind::Commit), 0);
    assert_eq!(
        cluster.at(2).log_view(),
        View(1),
        "it is announced meanwhile"
    );
    cluster.heal();
    assert!(cluster.run_until(WAIT, is_led_by(1)));
    assert_eq!(
        cluster.at(1).log().state(Op(3)),
        SlotState::Held { synced: true }
    );
}

#[test]
fn a_log_of_a_higher_log_view_wins_over_a_longer_one() {
    // A1: the longest log is lying.
    let mut cluster = three(0);
    cluster.isolate(0);
    for _ in 0..3 {
        cluster.write(0, 0);
    }
    assert!(cluster.run_until(3 * WAIT, is_led_by(1)));
    cluster.open(1, 4);
    cluster.run(100);
    cluster.crash(1);
    cluster.heal();
    assert!(cluster.run_until(6 * WAIT, is_led_by(2)));
    cluster.run(300);
    assert_eq!(cluster.at(0).commit_min(), Op(2));
    assert_eq!(cluster.at(0).sessions().len(), 2, "the good one survived");
    assert_eq!(cluster.applied(0), []);
    cluster.assert_one_log();
}

#[test]
fn an_orphan_falls_and_its_op_is_used_again() {
    let mut cluster = three(1);
    cluster.isolate(0);
    let orphan = cluster.write(0, 0);
    assert!(cluster.run_until(3 * WAIT, is_led_by(1)));
    cluster.open(1, 4);
    cluster.heal();
    cluster.run(500);
    let gone = |(r, note): &(u8, Note)| {
        *r == 0
            && matches!(note, Note::EntryDropped { op, view, .. } if *op == Op(3) && *view == View(0))
    };
    assert!(cluster.notes.iter().any(gone));
    assert_eq!(cluster.at(0).view(), View(1));
    assert_eq!(cluster.replies(&orphan), 0);
    cluster.assert_one_log();
}

#[test]
fn a_minority_never_starts_a_view() {
    // A9.
    let mut cluster = Cluster::new(5);
    cluster.warm(1);
    for a in [0, 1, 2] {
        for b in [3, 4] {
            cluster.cut(a, b);
        }
    }
    cluster.run(10 * WAIT);
    for r in [3, 4] {
        assert_eq!(cluster.at(r).view(), View(0));
        assert_eq!(cluster.at(r).log_view(), View(0));
    }
    assert_eq!(cluster.leader(), Some(0));
}

#[test]
fn a_merge_tells_what_it_waits_for() {
    let mut cluster = three(0);
    cluster.crash(0);
    cluster.block(2, 1, MessageKind::DoViewChange);
    cluster.run(WAIT + 10);
    let awaits = Note::Merged {
        view: View(1),
        outcome: MergeOutcome::AwaitingVotes { have: 1, need: 2 },
    };
    assert!(cluster.notes.contains(&(1, awaits)));
}

#[test]
fn a_log_that_comes_after_the_choice_changes_nothing() {
    let mut cluster = three(1);
    cluster.isolate(0);
    assert!(cluster.run_until(3 * WAIT, is_led_by(1)));
    let said = cluster.sent.iter().map(|(_, _, _, message)| message);
    let mut logs = said.filter(|message| message.kind() == MessageKind::DoViewChange);
    let late = logs.next().cloned().unwrap();
    cluster.inject(0, 1, 1, late);
    assert_eq!(cluster.at(1).status(), Status::Normal);
    assert!(cluster.ignored(1).contains(&Ignored::AlreadyChosen));
}
