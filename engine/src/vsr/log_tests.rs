//! What a log keeps, drops and proves (protocol sections 1, 5 and 7).

use std::rc::Rc;

use super::{Log, SlotState, Unfilled};
use crate::ids::{GROUP_PARTITION_0, Op};
use crate::vsr::message::{Header, Prepare};
use crate::vsr::testing::{chain_after, entry_after};

const HELD: SlotState = SlotState::Held { synced: false };
const SYNCED: SlotState = SlotState::Held { synced: true };

fn root() -> Header {
    Header::root(GROUP_PARTITION_0)
}

/// `length` linked entries of one view after the root.
fn chain(view: u32, length: u64) -> Vec<Rc<Prepare>> {
    chain_after(&root(), view, length)
}

/// A chain whose first ops are `shared`'s and the rest its own.
fn fork(shared: &[Rc<Prepare>], view: u32, length: u64) -> Vec<Rc<Prepare>> {
    let parent = shared
        .last()
        .map_or_else(root, |last| last.header.as_ref().clone());
    let mut chain = shared.to_vec();
    chain.extend(chain_after(&parent, view, length - shared.len() as u64));
    chain
}

fn headers(prepares: &[Rc<Prepare>]) -> Vec<Rc<Header>> {
    prepares
        .iter()
        .map(|prepare| Rc::clone(&prepare.header))
        .collect()
}

fn log_of(prepares: &[Rc<Prepare>]) -> Log {
    let mut log = Log::new(GROUP_PARTITION_0);
    for prepare in prepares {
        assert!(log.append(Rc::clone(prepare)));
    }
    log
}

fn states(log: &Log) -> Vec<SlotState> {
    (1..=log.head().0).map(|op| log.state(Op(op))).collect()
}

#[test]
fn an_appended_entry_is_held_and_synced_only_when_its_own_identity_is() {
    let entries = chain(0, 2);
    let mut log = log_of(&entries[..1]);
    assert_eq!(states(&log), [HELD]);
    let other = entry_after(&root(), 1, "other");
    assert!(!log.mark_synced(Op(1), other.header.checksum));
    assert!(!log.mark_synced(Op(2), entries[1].header.checksum));
    assert_eq!(states(&log), [HELD]);
    assert!(log.mark_synced(Op(1), entries[0].header.checksum));
    assert_eq!(states(&log), [SYNCED]);
}

#[test]
fn installing_keeps_every_entry_that_the_suffix_names() {
    let entries = chain(0, 4);
    let mut log = log_of(&entries);
    log.mark_synced(Op(3), entries[2].header.checksum);
    let dropped = log.install(&headers(&entries[1..]), Op(4));
    assert_eq!(dropped, []);
    assert_eq!(states(&log), [HELD, HELD, SYNCED, HELD]);
    assert_eq!(log.held_through(), Op(4));
}

#[test]
fn installing_makes_a_known_hole_of_what_the_suffix_contradicts() {
    let ours = chain(0, 3);
    let theirs = fork(&ours[..1], 1, 3);
    let mut log = log_of(&ours);
    let dropped = log.install(&headers(&theirs), Op(3));
    let gone: Vec<_> = dropped
        .iter()
        .map(|entry| Rc::clone(&entry.header))
        .collect();
    assert_eq!(gone, headers(&ours[1..]));
    assert_eq!(states(&log), [HELD, SlotState::Known, SlotState::Known]);
    assert_eq!(log.identity(Op(3)), Some(theirs[2].header.checksum));
    assert_eq!(log.held_through(), Op(1));
}

#[test]
fn installing_drops_leftovers_above_the_head() {
    let entries = chain(0, 5);
    let mut log = log_of(&entries);
    let dropped = log.install(&headers(&entries[1..3]), Op(3));
    let gone: Vec<u64> = dropped.iter().map(|entry| entry.header.op.0).collect();
    assert_eq!(gone, [5, 4]);
    assert_eq!(log.head(), Op(3));
    assert_eq!(log.held_through(), Op(3));
    assert_eq!(log.state(Op(4)), SlotState::Missing);
}

#[test]
fn installing_leaves_holes_for_what_it_does_not_name() {
    let entries = chain(0, 6);
    let mut log = log_of(&entries[..2]);
    log.install(&headers(&entries[4..]), Op(6));
    let expected = [
        HELD,
        HELD,
        SlotState::Missing,
        SlotState::Missing,
        SlotState::Known,
        SlotState::Known,
    ];
    assert_eq!(states(&log), expected);
    assert_eq!(log.held_through(), Op(2));
    assert_eq!(log.proven_from(), Op(5));
}

#[test]
fn proof_grows_downward_as_holes_fill() {
    let entries = chain(0, 6);
    let mut log = log_of(&entries[..2]);
    log.install(&headers(&entries[4..]), Op(6));
    assert_eq!(log.prove(Op(0)), []);
    assert_eq!(log.proven_from(), Op(5), "op 4 is unknown");
    log.fill(&entries[2]).unwrap();
    log.prove(Op(0));
    assert_eq!(log.proven_from(), Op(5), "op 3 does not reach the proof");
    log.fill(&entries[3]).unwrap();
    log.prove(Op(0));
    assert_eq!(log.proven_from(), Op(1), "ops 1 to 4 link at once");
    assert!(log.links_to(Op(0)));
}

#[test]
fn proof_needs_no_bodies_but_ends_at_what_is_executed() {
    let entries = chain(0, 4);
    let mut log = log_of(&entries);
    log.install(&headers(&entries[3..]), Op(4));
    log.prove(Op(2));
    assert_eq!(log.proven_from(), Op(3));
    assert!(log.links_to(Op(2)));
}

#[test]
fn an_entry_that_does_not_link_becomes_a_hole_again() {
    // A15: op 2 is the old primary's private prepare, and nobody names it until op 3 is filled.
    let theirs = chain(1, 4);
    let stale = fork(&theirs[..1], 0, 2);
    let mut log = log_of(&stale);
    log.install(&headers(&theirs[3..]), Op(4));
    log.fill(&theirs[3]).unwrap();
    assert_eq!(log.prove(Op(0)), []);
    assert_eq!(log.held_through(), Op(2));
    log.fill(&theirs[2]).unwrap();
    assert_eq!(
        log.held_through(),
        Op(4),
        "the stale entry still counts as held"
    );
    let dropped = log.prove(Op(0));
    assert_eq!(dropped.len(), 1);
    assert_eq!(dropped[0].header, stale[1].header);
    assert_eq!(log.state(Op(2)), SlotState::Missing);
    assert_eq!(log.proven_from(), Op(3));
    assert_eq!(
        log.held_through(),
        Op(1),
        "the cursor goes back to the hole"
    );
    assert_eq!(log.fill(&stale[1]), Err(Unfilled::OtherIdentity));
    log.fill(&theirs[1]).unwrap();
    log.prove(Op(0));
    assert_eq!(log.proven_from(), Op(1));
    assert_eq!(log.held_through(), Op(4));
}

#[test]
fn a_log_that_does_not_link_to_what_was_executed_is_noticed() {
    let ours = chain(0, 2);
    let theirs = chain(1, 4);
    let mut log = log_of(&ours);
    log.install(&headers(&theirs[2..]), Op(4));
    log.prove(Op(2));
    assert_eq!(log.proven_from(), Op(3));
    assert!(!log.links_to(Op(2)));
}

#[test]
fn a_body_is_taken_only_where_its_identity_may_stand() {
    let entries = chain(0, 3);
    let other = fork(&entries[..1], 1, 3);
    let mut log = log_of(&entries[..1]);
    log.install(&headers(&entries), Op(3));
    assert_eq!(log.fill(&entries[0]), Err(Unfilled::Duplicate));
    assert_eq!(log.fill(&other[1]), Err(Unfilled::OtherIdentity));
    assert_eq!(log.fill(&entries[1]), Ok(()));
    assert_eq!(log.fill(&entries[1]), Err(Unfilled::Duplicate));
    let above = entry_after(&entries[2].header, 0, "above");
    assert_eq!(log.fill(&above), Err(Unfilled::AboveHead));
}

#[test]
fn the_op_below_the_proof_must_be_the_parent_of_the_lowest_proven_one() {
    let entries = chain(0, 3);
    let other = fork(&entries[..1], 1, 3);
    let mut log = Log::new(GROUP_PARTITION_0);
    log.install(&headers(&entries[2..]), Op(3));
    assert_eq!(log.fill(&other[1]), Err(Unfilled::OtherIdentity));
    assert_eq!(log.fill(&entries[1]), Ok(()));
}

#[test]
fn the_cursor_follows_bodies_and_neither_proof_nor_commit() {
    // A49, #4433: a cursor tied to the proof asks for the same chunk for ever.
    let entries = chain(0, 9);
    let mut log = Log::new(GROUP_PARTITION_0);
    log.install(&headers(&entries[8..]), Op(9));
    for held in 1..=7 {
        log.fill(&entries[held - 1]).unwrap();
        log.prove(Op(0));
        assert_eq!(log.held_through(), Op(held as u64));
        assert_eq!(log.proven_from(), Op(9), "nothing is proven meanwhile");
    }
    log.fill(&entries[7]).unwrap();
    log.prove(Op(0));
    assert_eq!(log.proven_from(), Op(1));
}

#[test]
fn the_cursor_does_not_pass_a_hole_that_fills_out_of_order() {
    let entries = chain(0, 4);
    let mut log = Log::new(GROUP_PARTITION_0);
    log.install(&headers(&entries), Op(4));
    for (op, through) in [(3, 0), (1, 1), (4, 1), (2, 4)] {
        log.fill(&entries[op - 1]).unwrap();
        assert_eq!(log.held_through(), Op(through), "after op {op}");
    }
}

#[test]
fn headers_end_at_the_first_hole_and_leave_the_root_out() {
    let entries = chain(0, 4);
    let mut log = log_of(&entries[..2]);
    log.rejoin(Rc::clone(&entries[3]));
    assert_eq!(log.headers_from(Op(0)), headers(&entries[..2]));
    assert_eq!(log.headers_from(Op(2)), headers(&entries[1..2]));
    assert_eq!(log.headers_from(Op(3)), []);
    assert_eq!(log.headers_from(Op(4)), headers(&entries[3..]));
}

#[test]
fn what_boot_found_rejoins_unproven_and_learned_headers_replace_nothing() {
    let entries = chain(0, 3);
    let other = fork(&entries[..1], 1, 3);
    let mut log = Log::new(GROUP_PARTITION_0);
    log.rejoin(Rc::clone(&entries[1]));
    log.learn(&other[1].header);
    log.learn(&other[2].header);
    assert_eq!(states(&log), [SlotState::Missing, SYNCED, SlotState::Known]);
    assert_eq!(log.identity(Op(2)), Some(entries[1].header.checksum));
    assert_eq!(log.held_through(), Op(0));
}

#[test]
fn an_empty_log_installed_on_an_empty_log_is_proven_from_the_start() {
    let mut log = Log::new(GROUP_PARTITION_0);
    assert_eq!(log.install(&[], Op(0)), []);
    assert_eq!(log.proven_from(), Op(1));
    assert_eq!(log.identity(Op(0)), Some(root().checksum));
}

#[cfg(not(target_arch = "wasm32"))]
mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const LENGTH: u64 = 8;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A body of one of two logs arrives.
        Fill { theirs: bool, op: u64 },
        /// A StartView of either log names some of it.
        Install { theirs: bool, from: u64, head: u64 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let fill = (any::<bool>(), 1..=LENGTH).prop_map(|(theirs, op)| Step::Fill { theirs, op });
        let install = (any::<bool>(), 1..=LENGTH, 1..=LENGTH).prop_map(|(theirs, a, b)| {
            let (from, head) = (a.min(b), a.max(b));
            Step::Install { theirs, from, head }
        });
        prop_oneof![6 => fill, 1 => install]
    }

    proptest! {
        #[test]
        fn whatever_arrives_the_cursor_names_the_lowest_hole_and_the_proof_links(
            shared in 0_usize..8,
            steps in vec(step(), 1..40),
        ) {
            let ours = chain(0, LENGTH);
            let theirs = fork(&ours[..shared], 1, LENGTH);
            let mut log = log_of(&ours[..3]);
            for step in steps {
                match step {
                    Step::Fill { theirs: is_theirs, op } => {
                        let source = if is_theirs { &theirs } else { &ours };
                        let _ = log.fill(&source[usize::try_from(op).unwrap() - 1]);
                    }
                    Step::Install { theirs: is_theirs, from, head } => {
                        let source = if is_theirs { &theirs } else { &ours };
                        let (from, head) = (usize::try_from(from).unwrap(), usize::try_from(head).unwrap());
                        log.install(&headers(&source[from - 1..head]), Op(head as u64));
                    }
                }
                log.prove(Op(0));
                let hole = (1..=log.head().0).map(Op).find(|&op| log.prepare(op).is_none());
                let held = hole.map_or(log.head(), Op::previous);
                prop_assert_eq!(log.held_through(), held);
                let proven: Vec<_> = (log.proven_from().0..=log.head().0)
                    .map(|op| log.header(Op(op)))
                    .collect();
                for pair in proven.windows(2) {
                    let (Some(below), Some(above)) = (pair[0], pair[1]) else {
                        return Err(TestCaseError::fail("a proven op has no header"));
                    };
                    prop_assert_eq!(below.checksum, above.parent);
                }
            }
        }
    }
}
