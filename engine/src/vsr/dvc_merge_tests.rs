//! Table cases of the merge, each tied to the rule of protocol section 5 that it guards. Every vote
//! set that is small enough is held against a brute-force model in `dvc_merge_model.rs`.

use std::rc::Rc;

use super::{Canonical, Conflict, Decision, Merge, merge};
use crate::ids::{GROUP_PARTITION_0, Op, View};
use crate::vsr::message::{DoViewChange, DvcEntry, Header, Prepare, Vote};
use crate::vsr::note::MergeOutcome;
use crate::vsr::quorum::Quorums;
use crate::vsr::testing::{chain_after, entry_after};

fn root() -> Header {
    Header::root(GROUP_PARTITION_0)
}

fn headers(view: u32, length: u64) -> Vec<Rc<Header>> {
    let chain = chain_after(&root(), view, length);
    chain
        .iter()
        .map(|prepare| Rc::clone(&prepare.header))
        .collect()
}

fn header(prepare: &Rc<Prepare>) -> Rc<Header> {
    Rc::clone(&prepare.header)
}

/// The vote of a replica whose log is `entries`, of which it holds every body.
fn holds(log_view: u32, commit_max: u64, entries: &[Rc<Header>]) -> Rc<DoViewChange> {
    let head = entries.last().map_or(Op(0), |header| header.op);
    let first = commit_max.max(1);
    let listed = entries.iter().filter(|header| header.op.0 >= first);
    Rc::new(DoViewChange {
        log_view: View(log_view),
        commit_max: Op(commit_max),
        head,
        entries: listed
            .map(|header| DvcEntry {
                op: header.op,
                header: Some(Rc::clone(header)),
                vote: Vote::Present,
            })
            .collect(),
        uncertain: false,
        trusted: true,
        checkpoint: Op(0),
    })
}

/// The same vote but for one entry.
fn with_entry(dvc: &DoViewChange, op: u64, change: impl Fn(&mut DvcEntry)) -> Rc<DoViewChange> {
    let mut entries = dvc.entries.clone();
    let listed = entries.iter_mut().find(|entry| entry.op == Op(op));
    change(listed.expect("lists the op"));
    Rc::new(DoViewChange { entries, ..*dvc })
}

/// The same with another vote at one op.
fn says(dvc: Rc<DoViewChange>, op: u64, vote: Vote) -> Rc<DoViewChange> {
    with_entry(&dvc, op, |entry| entry.vote = vote)
}

/// The same without a header at one op.
fn hole(dvc: Rc<DoViewChange>, op: u64) -> Rc<DoViewChange> {
    with_entry(&dvc, op, |entry| {
        entry.header = None;
        entry.vote = Vote::Nack;
    })
}

fn uncertain(dvc: &DoViewChange) -> Rc<DoViewChange> {
    Rc::new(DoViewChange {
        entries: dvc.entries.clone(),
        uncertain: true,
        trusted: true,
        ..*dvc
    })
}

fn merged(votes: &[Rc<DoViewChange>], replica_count: u8) -> Result<Merge, Conflict> {
    let senders: Vec<&DoViewChange> = votes.iter().map(Rc::as_ref).collect();
    merge(
        &senders,
        replica_count,
        Quorums::of(replica_count),
        Canonical::HighestLogView,
    )
}

fn outcome(votes: &[Rc<DoViewChange>], replica_count: u8) -> MergeOutcome {
    merged(votes, replica_count)
        .expect("no rule is broken")
        .outcome
}

fn chosen(head: u64, commit_max: u64) -> MergeOutcome {
    MergeOutcome::Chosen {
        head: Op(head),
        commit_max: Op(commit_max),
    }
}

#[test]
fn no_log_is_chosen_without_a_view_change_quorum() {
    let log = headers(0, 2);
    for (replica_count, need) in [(3, 2), (4, 3), (5, 3), (6, 4)] {
        for have in 0..need {
            let votes = vec![holds(0, 0, &log); usize::from(have)];
            let waits = MergeOutcome::AwaitingVotes { have, need };
            assert_eq!(outcome(&votes, replica_count), waits);
        }
    }
}

#[test]
fn the_highest_log_view_wins_over_the_longest_log() {
    // A1: an isolated primary hoards three writes nobody else saw.
    let shared = chain_after(&root(), 0, 1);
    let hoard = chain_after(&shared[0].header, 0, 3);
    let good = entry_after(&shared[0].header, 1, "good");
    let long: Vec<_> = shared.iter().chain(&hoard).map(header).collect();
    let short = vec![header(&shared[0]), header(&good)];
    let votes = [holds(0, 1, &long), holds(1, 1, &short)];
    let merged = merged(&votes, 3).unwrap();
    assert_eq!(merged.outcome, chosen(2, 1));
    assert_eq!(merged.suffix, short);
}

#[test]
fn a_canonical_log_is_ranked_by_its_log_view_not_by_its_last_entrys_view() {
    // A2: the canonical log of view 3 ends in an entry of view 0; an entry of view 2 is no match.
    let shared = chain_after(&root(), 0, 1);
    let lone = entry_after(&shared[0].header, 2, "lone");
    let votes = [
        holds(3, 1, &[header(&shared[0])]),
        holds(2, 1, &[header(&shared[0]), header(&lone)]),
        holds(0, 1, &[header(&shared[0])]),
    ];
    assert_eq!(outcome(&votes, 5), chosen(1, 1));
}

#[test]
fn an_op_falls_only_to_a_nack_quorum() {
    // M03, n = 5: two that never had it do not outvote one copy; three do.
    let log = headers(0, 2);
    let holder = holds(0, 1, &log);
    let without = holds(0, 1, &log[..1]);
    let two = [holder.clone(), without.clone(), without.clone()];
    assert_eq!(outcome(&two, 5), chosen(2, 1));
    let three = [holder, without.clone(), without.clone(), without];
    assert_eq!(outcome(&three, 5), chosen(1, 1));
}

#[test]
fn six_replicas_need_four_nacks_since_three_may_be_the_whole_quorum() {
    // A30: replication 3, nack 4.
    let log = headers(0, 2);
    let without = holds(0, 1, &log[..1]);
    let damaged = says(holds(0, 1, &log), 2, Vote::Abstain);
    let votes = [without.clone(), without.clone(), without, damaged.clone()];
    let waits = MergeOutcome::AwaitingCopy {
        op: Op(2),
        nacks: 3,
        need: 4,
    };
    assert_eq!(outcome(&votes, 6), waits);
    let mut all = votes.to_vec();
    all.extend([damaged.clone(), damaged]);
    assert_eq!(outcome(&all, 6), MergeOutcome::Undecidable { op: Op(2) });
}

#[test]
fn a_header_whose_body_was_never_journaled_is_a_nack() {
    // A8: both survivors know the header, neither ever wrote the body.
    let log = headers(0, 2);
    let vote = says(holds(0, 1, &log), 2, Vote::Nack);
    assert_eq!(outcome(&[vote.clone(), vote], 3), chosen(1, 1));
}

#[test]
fn damage_and_silence_are_no_nacks() {
    // A21, A24: an unreadable slot abstains, so does an op that is not listed.
    let log = headers(0, 2);
    let without = holds(0, 1, &log[..1]);
    let waits = MergeOutcome::AwaitingCopy {
        op: Op(2),
        nacks: 1,
        need: 2,
    };
    let damaged = says(holds(0, 1, &log), 2, Vote::Abstain);
    assert_eq!(outcome(&[without.clone(), damaged], 3), waits);
    let silent = Rc::new(DoViewChange {
        entries: without.entries.clone(),
        ..*holds(0, 1, &log)
    });
    assert_eq!(outcome(&[without, silent], 3), waits);
}

#[test]
fn when_all_have_answered_and_nothing_decides_the_merge_says_so() {
    // A22: two of three rotten.
    let log = headers(1, 2);
    let damaged = says(holds(1, 1, &log), 2, Vote::Abstain);
    let older = holds(0, 1, &headers(1, 1));
    let votes = [damaged.clone(), damaged, older];
    assert_eq!(outcome(&votes, 3), MergeOutcome::Undecidable { op: Op(2) });
}

#[test]
fn the_parent_named_above_a_hole_lets_an_older_log_bring_the_body() {
    let log = headers(0, 3);
    let canonical = hole(holds(2, 1, &log), 2);
    let older = holds(1, 1, &log[..2]);
    let votes = [canonical, older];
    let merged = merged(&votes, 3).unwrap();
    assert_eq!(merged.outcome, chosen(3, 1));
    assert_eq!(merged.suffix, log);
}

#[test]
fn an_entry_that_the_parent_above_a_hole_contradicts_is_a_nack() {
    let log = headers(1, 3);
    let stale = headers(0, 2);
    let canonical = hole(holds(1, 0, &log), 2);
    let older = holds(0, 0, &[Rc::clone(&log[0]), Rc::clone(&stale[1])]);
    assert_eq!(outcome(&[canonical, older], 3), chosen(1, 0));
}

#[test]
fn what_an_older_log_holds_at_an_unnamed_hole_is_a_nack() {
    // Above its suffix a canonical log holds only what its own view prepared, and no older log can
    // hold that. Ops 2 and 3 were lost with the crash that kept op 4.
    let log = headers(1, 4);
    let stale = headers(0, 2);
    let canonical = hole(hole(holds(1, 0, &log), 2), 3);
    let older = holds(0, 0, &[Rc::clone(&log[0]), Rc::clone(&stale[1])]);
    assert_eq!(outcome(&[canonical, older], 3), chosen(1, 0));
}

#[test]
fn a_copy_in_an_older_log_counts_where_the_canonical_header_is_the_same() {
    // The primary-elect merged the header and died before it fetched the body.
    let log = headers(0, 2);
    let elect = says(holds(1, 1, &log), 2, Vote::Nack);
    let holder = holds(0, 1, &log);
    let votes = [elect, holder];
    let merged = merged(&votes, 3).unwrap();
    assert_eq!(merged.outcome, chosen(2, 1));
    let kept = Decision {
        op: Op(2),
        kept: true,
        copies: 1,
        nacks: 1,
    };
    assert_eq!(merged.decisions, [kept]);
}

#[test]
fn the_commit_point_may_come_from_a_log_that_is_not_canonical() {
    // It is never nacked away, though the canonical sender knows less of what is committed.
    let log = headers(0, 3);
    let canonical = holds(1, 0, &log);
    let older = holds(0, 2, &log);
    let votes = [canonical, older];
    let merged = merged(&votes, 3).unwrap();
    assert_eq!(merged.outcome, chosen(3, 2));
    assert_eq!(merged.suffix, log[1..]);
}

#[test]
fn an_op_at_or_below_the_commit_point_is_never_asked_about() {
    let log = headers(0, 3);
    let forgetful = says(says(holds(0, 0, &log), 1, Vote::Nack), 2, Vote::Nack);
    let knowing = says(holds(0, 2, &log), 2, Vote::Nack);
    let votes = [forgetful.clone(), knowing, forgetful];
    assert_eq!(outcome(&votes, 3), chosen(3, 2));
}

#[test]
fn a_chosen_entry_tells_what_no_superblock_remembers_as_committed() {
    // Sweep seed 1320: all restarted, and the new primary's pipeline was longer than allowed.
    let mut log = headers(0, 2);
    let parent = log[1].checksum;
    let told = Header {
        op: Op(3),
        parent,
        commit: Op(2),
        ..log[1].as_ref().clone()
    };
    log.push(Rc::new(told.sealed()));
    let votes = [holds(0, 0, &log), holds(0, 0, &log)];
    assert_eq!(outcome(&votes, 3), chosen(3, 2));
    let cut = [
        says(votes[0].clone(), 3, Vote::Nack),
        holds(0, 0, &log[..2]),
    ];
    assert_eq!(
        outcome(&cut, 3),
        chosen(2, 0),
        "an op that falls tells nothing"
    );
}

#[test]
fn an_uncertain_sender_needs_the_end_of_the_log_to_be_proven() {
    let log = headers(0, 1);
    let certain = holds(0, 1, &log);
    let unsure = uncertain(&certain);
    let waits = MergeOutcome::AwaitingCopy {
        op: Op(2),
        nacks: 1,
        need: 2,
    };
    assert_eq!(outcome(&[certain.clone(), unsure.clone()], 3), waits);
    let two_sure = [certain.clone(), unsure.clone(), certain.clone()];
    assert_eq!(outcome(&two_sure, 3), chosen(1, 1));
    let all = [certain, unsure.clone(), unsure];
    assert_eq!(outcome(&all, 3), MergeOutcome::Undecidable { op: Op(2) });
}

#[test]
fn nacks_of_the_op_after_the_head_prove_the_end_for_an_uncertain_sender_too() {
    // Two of three never journaled op 2, though one of them knows its header.
    let log = headers(0, 2);
    let knows_header = says(holds(0, 1, &log), 2, Vote::Nack);
    let without = holds(0, 1, &log[..1]);
    let unsure = uncertain(&without);
    assert_eq!(outcome(&[knows_header, without, unsure], 3), chosen(1, 1));
}

#[test]
fn an_uncertain_sender_does_not_nack_what_lies_above_its_head() {
    let log = headers(0, 2);
    let damaged = says(holds(0, 1, &log), 2, Vote::Abstain);
    let unsure = uncertain(&holds(0, 1, &log[..1]));
    let without = holds(0, 1, &log[..1]);
    let votes = [damaged, unsure, without];
    assert_eq!(outcome(&votes, 3), MergeOutcome::Undecidable { op: Op(2) });
}

#[test]
fn two_canonical_logs_that_disagree_are_a_broken_rule() {
    let shared = chain_after(&root(), 0, 1);
    let one = entry_after(&shared[0].header, 1, "one");
    let other = entry_after(&shared[0].header, 1, "other");
    let a = holds(1, 1, &[header(&shared[0]), header(&one)]);
    let b = holds(1, 1, &[header(&shared[0]), header(&other)]);
    assert_eq!(merged(&[a, b], 3), Err(Conflict { op: Op(2) }));
}

#[test]
fn chosen_headers_that_do_not_link_are_a_broken_rule() {
    let mut log = headers(0, 2);
    log[1] = Rc::new(
        Header {
            parent: root().checksum,
            ..log[1].as_ref().clone()
        }
        .sealed(),
    );
    let vote = holds(0, 0, &log);
    assert_eq!(
        merged(&[Rc::clone(&vote), vote], 3),
        Err(Conflict { op: Op(2) })
    );
}

#[test]
fn the_log_ends_at_the_first_op_that_falls_even_if_later_ones_have_copies() {
    // A14: only the second of two prepares of a view reached anybody.
    let log = headers(0, 3);
    let gapped = hole(holds(0, 1, &log), 2);
    let without = holds(0, 1, &log[..1]);
    assert_eq!(outcome(&[gapped, without], 3), chosen(1, 1));
}
