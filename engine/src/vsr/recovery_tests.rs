//! Booting and asking who leads, driven by hand (protocol section 6).

use std::rc::Rc;

use crate::ids::{GROUP_PARTITION_0, Incarnation, Op, View};
use crate::prng::{Purpose, Rng};
use crate::vsr::io::{Effect, Status};
use crate::vsr::knobs::Knobs;
use crate::vsr::log::SlotState;
use crate::vsr::message::{Header, Message, MessageKind, StartView};
use crate::vsr::note::{Ignored, LeaveCause, Note};
use crate::vsr::testing::{Cluster, Echo, chain_after, roster};
use crate::vsr::{Context, Recovered, Replica};

const WAIT: u64 = 500;

fn three(writes: u64) -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.warm(writes);
    cluster
}

fn header_at(cluster: &Cluster, r: u8, op: u64) -> Rc<Header> {
    Rc::clone(cluster.at(r).log().header(Op(op)).expect("is known"))
}

fn start_view(commit_max: u64, suffix: &[Rc<Header>], answers: u32) -> Message {
    Message::StartView(Rc::new(StartView {
        commit_max: Op(commit_max),
        suffix: suffix.to_vec(),
        answers: Incarnation(answers),
        checkpoint: Op(0),
    }))
}

fn has_voted(cluster: &Cluster, r: u8) -> bool {
    let voted = |(by, note): &(u8, Note)| *by == r && matches!(note, Note::LeaveVoted { .. });
    cluster.notes.iter().any(voted)
}

#[test]
fn a_restarted_replica_asks_only_once_its_new_life_is_durable() {
    let mut cluster = three(1);
    cluster.crash(2);
    cluster.slow_disk(2);
    cluster.restart(2);
    cluster.run(300);
    let probes = MessageKind::RequestStartView;
    assert_eq!(cluster.count_sent(2, probes), 0);
    cluster.finish_superblock(2);
    assert_eq!(cluster.disk_superblock(2).incarnation, Incarnation(2));
    assert_eq!(cluster.count_sent(2, probes), 2);
    cluster.settle();
    assert_eq!(cluster.at(2).status(), Status::Normal);
}

#[test]
fn a_recovering_replica_asks_every_hundred_ticks_and_votes_after_five_unanswered() {
    let mut cluster = three(1);
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.settle();
    cluster.tick_at(2, 5 * 100 - 1);
    assert_eq!(cluster.count_sent(2, MessageKind::RequestStartView), 2 * 5);
    assert!(!has_voted(&cluster, 2));
    cluster.tick_at(2, 1);
    let view = View(0);
    let cause = LeaveCause::ProbesUnanswered { attempts: 5 };
    assert!(
        cluster
            .notes
            .contains(&(2, Note::LeaveVoted { view, cause }))
    );
    assert_eq!(cluster.at(2).status(), Status::Recovering);
}

#[test]
fn a_recovering_replica_is_not_pulled_into_a_view_before_its_probes_went_unanswered() {
    // A12: a node with a hole in its memory casts no ballot.
    let mut cluster = three(1);
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.settle();
    cluster.inject(1, 2, 4, Message::StartViewChange);
    assert_eq!(cluster.at(2).view(), View(0));
    assert_eq!(cluster.ignored(2), [Ignored::RecoveringNotPulled]);
    cluster.tick_at(2, 500);
    cluster.inject(1, 2, 4, Message::StartViewChange);
    assert_eq!(cluster.at(2).view(), View(4));
    assert_eq!(cluster.at(2).status(), Status::ViewChange);
}

#[test]
fn a_recovering_replica_follows_nobody_without_a_start_view() {
    let mut cluster = three(1);
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.settle();
    let prepare = Rc::clone(&chain_after(&header_at(&cluster, 0, 2), 0, 1)[0]);
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
    cluster.inject(0, 2, 0, Message::Commit { commit_max });
    let status = Status::Recovering;
    assert_eq!(cluster.ignored(2), [Ignored::WrongStatus { status }; 2]);
    assert_eq!(cluster.at(2).log().head(), Op(2));
    assert_eq!(cluster.at(2).commit_max(), Op(0));
}

#[test]
fn a_letter_to_a_former_life_is_ignored() {
    // A19: it may not know what that life acked.
    let mut cluster = three(1);
    let old = start_view(
        1,
        &[header_at(&cluster, 0, 1), header_at(&cluster, 0, 2)],
        1,
    );
    cluster.write(0, 0);
    cluster.settle();
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.settle();
    cluster.inject(0, 2, 0, old);
    assert_eq!(cluster.at(2).status(), Status::Recovering);
    assert_eq!(cluster.at(2).log().head(), Op(3));
    let other = Ignored::OtherIncarnation {
        answers: Incarnation(1),
        ours: Incarnation(2),
    };
    assert_eq!(cluster.ignored(2), [other]);
    let suffix = [header_at(&cluster, 0, 2), header_at(&cluster, 0, 3)];
    cluster.inject(0, 2, 0, start_view(2, &suffix, 2));
    assert_eq!(cluster.at(2).status(), Status::Normal);
}

#[test]
fn a_start_view_above_the_durable_view_is_taken_whoever_it_answers() {
    let mut cluster = three(1);
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.settle();
    let suffix = [header_at(&cluster, 0, 2)];
    cluster.inject(1, 2, 1, start_view(2, &suffix, 0));
    assert_eq!(cluster.at(2).status(), Status::Normal);
    assert_eq!(cluster.at(2).view(), View(1));
}

#[test]
fn the_answer_to_a_probe_names_the_life_that_asked() {
    let mut cluster = three(1);
    cluster.crash(2);
    cluster.restart(2);
    cluster.settle();
    let (to, view, start) = cluster.start_views(0).pop().unwrap();
    assert_eq!((to, view, start.answers), (2, View(0), Incarnation(2)));
    assert_eq!(start.head(), Op(2));
}

#[test]
fn a_restarted_primary_makes_its_receivers_vote_at_once_and_never_resumes_its_view() {
    let mut cluster = three(1);
    cluster.crash(0);
    cluster.restart(0);
    cluster.settle();
    for r in [1, 2] {
        let view = View(0);
        let cause = LeaveCause::PrimaryRestarted;
        assert!(
            cluster
                .notes
                .contains(&(r, Note::LeaveVoted { view, cause }))
        );
    }
    let goes_on = |cluster: &Cluster| cluster.leader() == Some(1);
    assert!(cluster.run_until(WAIT, goes_on), "without any timeout");
    assert!(cluster.run_until(WAIT, |cluster| cluster.at(0).status() == Status::Normal));
    assert_eq!(cluster.at(0).view(), View(1));
}

#[test]
fn a_cluster_whose_power_failed_resumes_from_its_disks() {
    // A11: at commit 5, though nobody is normal.
    let mut cluster = three(4);
    for r in 0..3 {
        cluster.crash(r);
    }
    for r in 0..3 {
        cluster.restart(r);
    }
    let goes_on = |cluster: &Cluster| cluster.leader().is_some();
    assert!(cluster.run_until(10 * WAIT, goes_on));
    cluster.run(500);
    for r in 0..3 {
        assert_eq!(cluster.at(r).commit_min(), Op(5), "at replica {r}");
    }
    cluster.assert_one_log();
}

#[test]
fn two_of_three_are_enough_to_resume_after_a_power_cut() {
    let mut cluster = three(2);
    for r in 0..3 {
        cluster.crash(r);
    }
    cluster.restart(1);
    cluster.restart(2);
    let goes_on = |cluster: &Cluster| cluster.leader().is_some();
    assert!(cluster.run_until(10 * WAIT, goes_on));
    cluster.run(500);
    assert_eq!(cluster.at(1).commit_min(), Op(3));
    cluster.assert_one_log();
}

#[test]
fn a_lone_replica_resumes_by_itself() {
    let mut cluster = Cluster::new(1);
    cluster.warm(2);
    cluster.crash(0);
    cluster.restart(0);
    cluster.run(10);
    assert_eq!(cluster.leader(), Some(0));
    assert_eq!(cluster.at(0).view(), View(1));
    assert_eq!(cluster.at(0).commit_min(), Op(3));
    cluster.open(0, 3);
}

#[test]
fn a_pair_resumes_when_both_are_back() {
    let mut cluster = Cluster::new(2);
    cluster.warm(2);
    cluster.crash(0);
    cluster.run(3 * WAIT);
    assert_eq!(cluster.at(1).view(), View(0), "one of two decides nothing");
    cluster.restart(0);
    let goes_on = |cluster: &Cluster| cluster.leader().is_some();
    assert!(cluster.run_until(10 * WAIT, goes_on));
    cluster.run(200);
    cluster.assert_one_log();
}

#[test]
fn boot_executes_nothing_beyond_the_durable_commit_point() {
    let mut cluster = three(3);
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.run(200);
    assert_eq!(cluster.at(2).log().head(), Op(4));
    assert_eq!(cluster.at(2).commit_min(), Op(0));
    assert_eq!(cluster.applied(2), []);
}

#[test]
fn boot_keeps_what_its_log_view_prepared_beyond_a_hole_and_brings_it() {
    let mut cluster = three(3);
    cluster.crash(2);
    cluster.tamper(2, 3, None);
    cluster.isolate(2);
    cluster.restart(2);
    let log = cluster.at(2).log();
    assert_eq!(log.head(), Op(4));
    assert_eq!(log.state(Op(3)), SlotState::Missing);
    assert_eq!(log.state(Op(4)), SlotState::Held { synced: true });
    cluster.run(600);
    cluster.inject(1, 2, 1, Message::StartViewChange);
    cluster.settle();
    let said = cluster.sent.iter().rev().map(|(_, _, _, message)| message);
    let dvc = said
        .filter_map(|message| match message {
            Message::DoViewChange(dvc) => Some(Rc::clone(dvc)),
            _ => None,
        })
        .next()
        .expect("it brings its log");
    let known: Vec<bool> = dvc
        .entries
        .iter()
        .map(|entry| entry.header.is_some())
        .collect();
    assert_eq!(known, [true, true, false, true]);
    assert_eq!(dvc.head, Op(4));
}

#[test]
fn boot_leaves_out_what_another_view_prepared_above_its_log() {
    let mut cluster = three(1);
    let stray = Rc::clone(&chain_after(&header_at(&cluster, 2, 2), 7, 1)[0]);
    cluster.crash(2);
    cluster.tamper(2, 3, Some(stray));
    cluster.isolate(2);
    cluster.restart(2);
    assert_eq!(cluster.at(2).log().head(), Op(2));
}

#[test]
fn boot_takes_no_body_that_its_durable_suffix_contradicts() {
    // The superblock was written, the slot still holds the entry of the older log.
    let mut cluster = three(1);
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.settle();
    assert!(cluster.run_until(3 * WAIT, |cluster| cluster.leader() == Some(1)));
    cluster.open(1, 4);
    let suffix = [header_at(&cluster, 1, 2), header_at(&cluster, 1, 3)];
    cluster.inject(1, 0, 1, start_view(2, &suffix, 0));
    cluster.settle();
    cluster.crash(0);
    cluster.restart(0);
    let log = cluster.at(0).log();
    assert_eq!(log.state(Op(3)), SlotState::Known);
    assert_eq!(log.identity(Op(3)), Some(suffix[1].checksum));
}

#[test]
fn a_recovering_replica_acks_nothing() {
    let mut cluster = three(1);
    let before = cluster.acks_sent(2).len();
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.run(400);
    assert_eq!(cluster.acks_sent(2).len(), before);
}

#[test]
fn what_a_crash_took_from_a_disk_is_fetched_again() {
    let mut cluster = three(3);
    cluster.crash(2);
    for op in 2..=4 {
        cluster.tamper(2, op, None);
    }
    cluster.restart(2);
    cluster.run(300);
    assert_eq!(cluster.at(2).commit_min(), Op(4));
    cluster.assert_one_log();
}

#[test]
fn an_acked_op_survives_its_primary_and_the_restart_of_its_only_other_holder() {
    let mut cluster = three(1);
    cluster.isolate(2);
    let asked = cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.replies(&asked), 1);
    cluster.crash(0);
    cluster.crash(1);
    cluster.heal();
    cluster.restart(1);
    let goes_on = |cluster: &Cluster| cluster.leader().is_some();
    assert!(cluster.run_until(10 * WAIT, goes_on));
    cluster.run(300);
    for r in [1, 2] {
        assert_eq!(cluster.at(r).commit_min(), Op(3));
    }
    cluster.assert_one_log();
}

#[test]
fn a_view_survives_the_restart_of_those_who_voted_for_it() {
    // A10: 2 remembers view 1 and acks nothing in view 0.
    let mut cluster = three(1);
    cluster.isolate(0);
    cluster.block(2, 1, MessageKind::DoViewChange);
    let voted = |cluster: &Cluster| cluster.disk_superblock(2).view == View(1);
    assert!(cluster.run_until(2 * WAIT, voted));
    cluster.crash(2);
    cluster.heal();
    cluster.cut(1, 2);
    cluster.restart(2);
    let before = cluster.acks_sent(2).len();
    cluster.write(0, 0);
    cluster.run(40);
    assert_eq!(cluster.at(2).view(), View(1));
    assert_eq!(cluster.acks_sent(2).len(), before);
}

#[test]
fn a_foreign_disk_halts_at_boot() {
    // A53: two rosters.
    let superblock = Replica::format(roster(0, 5));
    let prepares = Vec::new();
    let recovered = Recovered {
        superblock,
        prepares,
        damaged: Vec::new(),
        snapshot: None,
    };
    let mut effects = Vec::new();
    let mut ctx = Context {
        now_micros: 0,
        machine: &mut Echo::default(),
        effects: &mut effects,
    };
    let jitter = Rng::keyed(1, Purpose::Jitter, [0, 0]);
    let replica = Replica::boot(roster(0, 3), Knobs::default(), recovered, jitter, &mut ctx);
    assert!(replica.is_halted());
    assert_eq!(replica.roster().group, GROUP_PARTITION_0);
    assert!(matches!(
        effects[..],
        [Effect::Note(Note::RuleBroken { .. })]
    ));
}

#[test]
fn a_replica_that_was_behind_asks_and_catches_up() {
    let mut cluster = three(1);
    cluster.isolate(2);
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.heal();
    cluster.run(300);
    assert_eq!(cluster.at(2).commit_min(), Op(6));
    assert_eq!(cluster.at(2).view(), View(0));
    cluster.assert_one_log();
}

#[test]
fn a_lost_answer_is_asked_for_again() {
    // M41: a newer view is noticed, and the first StartView is lost.
    let mut cluster = three(1);
    cluster.isolate(0);
    assert!(cluster.run_until(3 * WAIT, |cluster| cluster.leader() == Some(1)));
    cluster.heal();
    cluster.block(1, 0, MessageKind::StartView);
    cluster.run(300);
    assert_eq!(cluster.at(0).view(), View(0));
    cluster.heal();
    cluster.run(200);
    assert_eq!(cluster.at(0).view(), View(1));
    assert_eq!(cluster.at(0).status(), Status::Normal);
}
