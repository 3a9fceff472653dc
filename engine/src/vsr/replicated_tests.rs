//! Groups that acknowledge from memory (protocol section 9), driven by hand, and their merge held
//! against every small history: what a quorum acknowledged is never dropped without saying so.

use std::rc::Rc;

use crate::ids::{GROUP_PARTITION_0, Op, View};
use crate::vsr::dvc_merge::{Canonical, merge};
use crate::vsr::io::Status;
use crate::vsr::message::{DoViewChange, DvcEntry, Header, MessageKind, Vote};
use crate::vsr::note::{MergeOutcome, Note};
use crate::vsr::quorum::Quorums;
use crate::vsr::testing::{Cluster, chain_after};

const WAIT: u64 = 500;

/// Two ops before anything happens; the next write is op 3.
fn three() -> Cluster {
    let mut cluster = Cluster::replicated(3);
    cluster.warm(1);
    cluster
}

fn outcomes(cluster: &Cluster) -> Vec<MergeOutcome> {
    let notes = cluster.notes.iter();
    notes
        .filter_map(|(_, note)| match note {
            Note::Merged { outcome, .. } => Some(*outcome),
            _ => None,
        })
        .collect()
}

fn has_regained(cluster: &Cluster, r: u8) -> bool {
    let is_it = |(by, note): &(u8, Note)| *by == r && matches!(note, Note::TrustRegained { .. });
    cluster.notes.iter().any(is_it)
}

/// Op 3 is acknowledged by 0 and 1 and answered; 2 never heard of it, and 1 has it in memory alone.
fn answered_from_the_memory_of_one() -> Cluster {
    let mut cluster = three();
    cluster.block(0, 2, MessageKind::Prepare);
    cluster.slow_disk(1);
    let asked = cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.replies(&asked), 1);
    assert_eq!(cluster.at(0).commit_max(), Op(3));
    assert_eq!(cluster.at(2).log().head(), Op(2));
    cluster
}

#[test]
fn an_ack_leaves_before_the_write_lands_only_where_the_group_says_so() {
    for (mut cluster, acked) in [(Cluster::replicated(3), 1), (Cluster::new(3), 0)] {
        cluster.warm(1);
        cluster.slow_disk(1);
        let before = cluster.acks_sent(1).len();
        cluster.write(0, 0);
        cluster.settle();
        assert_eq!(cluster.acks_sent(1).len() - before, acked);
        assert!(!cluster.at(1).log().is_synced(Op(3)));
    }
}

#[test]
fn what_a_restarted_replica_lacks_counts_for_nothing() {
    let mut cluster = answered_from_the_memory_of_one();
    cluster.crash(1);
    cluster.crash(0);
    cluster.fast_disk(1);
    cluster.restart(1);
    cluster.run(6 * WAIT);
    let waits = MergeOutcome::AwaitingTrust {
        trusted: 1,
        need: 2,
    };
    assert!(outcomes(&cluster).contains(&waits));
    assert_eq!(cluster.leader(), None, "op 3 may be lost, so nobody leads");
    cluster.heal();
    cluster.restart(0);
    assert!(cluster.run_until(40 * WAIT, |cluster| cluster.leader().is_some()));
    cluster.run(200);
    let kept = |outcome: &MergeOutcome| matches!(outcome, MergeOutcome::ChosenAtRisk { head, .. } if *head == Op(3));
    assert!(outcomes(&cluster).iter().any(kept));
    cluster.assert_one_log();
}

#[test]
fn a_loss_is_reported_and_the_group_goes_on() {
    let mut cluster = three();
    cluster.block(0, 2, MessageKind::Prepare);
    cluster.slow_disk(0);
    cluster.slow_disk(1);
    let asked = cluster.write(0, 0);
    cluster.settle();
    assert_eq!(cluster.replies(&asked), 1);
    for r in [0, 1] {
        cluster.crash(r);
        cluster.fast_disk(r);
        cluster.restart(r);
    }
    cluster.heal();
    assert!(cluster.run_until(40 * WAIT, |cluster| cluster.leader().is_some()));
    let reported = |outcome: &MergeOutcome| matches!(outcome, MergeOutcome::ChosenAtRisk { head, .. } if *head == Op(2));
    assert!(outcomes(&cluster).iter().any(reported));
}

#[test]
fn a_loss_below_what_somebody_knew_committed_is_reported_too() {
    // 2 heard that op 3 is committed, and neither its header nor its body ever came.
    let mut cluster = three();
    for kind in [MessageKind::Prepare, MessageKind::StartView] {
        cluster.block(0, 2, kind);
    }
    cluster.slow_disk(0);
    cluster.slow_disk(1);
    cluster.write(0, 0);
    cluster.run(100);
    assert_eq!(cluster.at(2).commit_max(), Op(3));
    assert_eq!(cluster.at(2).log().head(), Op(2));
    for r in [0, 1] {
        cluster.crash(r);
        cluster.fast_disk(r);
        cluster.restart(r);
    }
    cluster.heal();
    assert!(cluster.run_until(40 * WAIT, |cluster| cluster.leader().is_some()));
    cluster.run(200);
    cluster.assert_one_log();
    assert!(cluster.at(2).commit_max() <= cluster.at(2).log().head());
}

#[test]
fn whoever_has_the_log_of_a_started_view_is_trusted_again() {
    let mut cluster = answered_from_the_memory_of_one();
    cluster.crash(1);
    cluster.fast_disk(1);
    cluster.restart(1);
    assert!(!has_regained(&cluster, 1));
    assert!(cluster.run_until(WAIT, |cluster| has_regained(cluster, 1)));
    assert_eq!(cluster.at(1).log().head(), Op(3));
    cluster.crash(0);
    cluster.heal();
    assert!(cluster.run_until(6 * WAIT, |cluster| cluster.leader().is_some()));
    let at_risk = |outcome: &MergeOutcome| matches!(outcome, MergeOutcome::ChosenAtRisk { .. });
    assert!(!outcomes(&cluster).iter().any(at_risk));
    assert_eq!(cluster.at(2).log().head(), Op(3));
}

#[test]
fn a_log_with_a_hole_is_not_trusted_yet() {
    let mut cluster = answered_from_the_memory_of_one();
    cluster.crash(1);
    cluster.fast_disk(1);
    cluster.cut(1, 2);
    for kind in [MessageKind::RepairPrepare, MessageKind::Prepare] {
        cluster.block(0, 1, kind);
    }
    cluster.restart(1);
    cluster.run(WAIT);
    assert_eq!(cluster.at(1).status(), Status::Normal);
    assert_eq!(cluster.at(1).log().head(), Op(3));
    assert!(!has_regained(&cluster, 1));
}

#[test]
fn a_replica_alone_says_after_every_restart_that_something_may_be_lost() {
    let mut cluster = Cluster::replicated(1);
    cluster.warm(1);
    cluster.crash(0);
    cluster.restart(0);
    assert!(cluster.run_until(6 * WAIT, |cluster| cluster.leader() == Some(0)));
    let at_risk = |outcome: &MergeOutcome| matches!(outcome, MergeOutcome::ChosenAtRisk { .. });
    assert!(outcomes(&cluster).iter().all(at_risk));
    assert!(!outcomes(&cluster).is_empty());
}

/// What became of one replica's log in view 0.
#[derive(Clone, Copy, Debug)]
struct Past {
    acked: u64,
    /// Which of them its disk has, by bit; all of them where it never crashed.
    landed: u64,
    has_restarted: bool,
}

const OPS: u64 = 2;

fn pasts() -> Vec<Past> {
    let mut pasts = Vec::new();
    for acked in 0..=OPS {
        let all = (1 << acked) - 1;
        pasts.push(Past {
            acked,
            landed: all,
            has_restarted: false,
        });
        pasts.extend((0..=all).map(|landed| Past {
            acked,
            landed,
            has_restarted: true,
        }));
    }
    pasts
}

fn vote_of(past: Past, log: &[Rc<Header>]) -> DoViewChange {
    let head = (1..=OPS).rev().find(|op| past.landed >> (op - 1) & 1 == 1);
    let head = head.unwrap_or(0);
    let entries = (1..=head).map(|op| {
        let is_held = past.landed >> (op - 1) & 1 == 1;
        DvcEntry {
            op: Op(op),
            header: is_held.then(|| Rc::clone(&log[usize::try_from(op - 1).unwrap()])),
            vote: if is_held { Vote::Present } else { Vote::Nack },
        }
    });
    DoViewChange {
        log_view: View(0),
        commit_max: Op(0),
        head: Op(head),
        entries: entries.collect(),
        uncertain: false,
        trusted: !past.has_restarted,
        checkpoint: Op(0),
    }
}

/// The last op that a replication quorum acknowledged.
fn committed(pasts: &[Past], quorums: Quorums) -> u64 {
    let acked = |op: &u64| {
        let holders = pasts.iter().filter(|past| past.acked >= *op).count();
        holders >= usize::from(quorums.replication)
    };
    (1..=OPS).rev().find(acked).unwrap_or(0)
}

#[test]
fn no_small_history_loses_an_acknowledged_op_without_saying_so() {
    let chain = chain_after(&Header::root(GROUP_PARTITION_0), 0, OPS);
    let log: Vec<Rc<Header>> = chain.iter().map(|p| Rc::clone(&p.header)).collect();
    let every = pasts();
    let quorums = Quorums::of(3);
    let (mut kept, mut at_risk, mut lost) = (0_u32, 0_u32, 0_u32);
    for (a, b, c) in every.iter().flat_map(|a| {
        let every = &every;
        every
            .iter()
            .flat_map(move |b| every.iter().map(move |c| (a, b, c)))
    }) {
        let history = [*a, *b, *c];
        let needed = committed(&history, quorums);
        let votes: Vec<DoViewChange> = history.iter().map(|past| vote_of(*past, &log)).collect();
        for silent in 0..=3 {
            let heard = votes
                .iter()
                .enumerate()
                .filter(|(place, _)| *place != silent);
            let heard: Vec<&DoViewChange> = heard.map(|(_, vote)| vote).collect();
            let merged = merge(&heard, 3, quorums, Canonical::HighestLogView);
            match merged.expect("no rule is broken").outcome {
                MergeOutcome::Chosen { head, .. } => {
                    assert!(head.0 >= needed, "{history:?} but for {silent}");
                    kept += u32::from(needed > 0);
                }
                MergeOutcome::ChosenAtRisk { head, .. } => {
                    assert_eq!(heard.len(), 3, "{history:?}");
                    at_risk += 1;
                    lost += u32::from(head.0 < needed);
                }
                MergeOutcome::AwaitingVotes { .. }
                | MergeOutcome::AwaitingCopy { .. }
                | MergeOutcome::Undecidable { .. }
                | MergeOutcome::AwaitingTrust { .. } => {}
            }
        }
    }
    assert!(
        kept > 100 && at_risk > 100 && lost > 10,
        "{kept} {at_risk} {lost}"
    );
}
