//! The merge against a brute-force model. The model knows the logs of all views, which the merge has
//! to infer, and decides one op at a time by asking each sender what it can swear to.

use std::rc::Rc;

use super::{Canonical, merge};
use crate::ids::{GROUP_PARTITION_0, Op, View};
use crate::vsr::message::{DoViewChange, DvcEntry, Header, Vote};
use crate::vsr::note::MergeOutcome;
use crate::vsr::quorum::Quorums;
use crate::vsr::testing::entry_after;

/// What a replica's slot came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// Header and body.
    Whole,
    /// The header is known, the body was never written.
    HeaderOnly,
    /// Readable and empty: lost before it was synced.
    Empty,
    /// The body is unreadable, the header is known.
    Rotten,
    /// Both are unreadable.
    Unreadable,
}

const SLOTS: [Slot; 5] = [
    Slot::Whole,
    Slot::HeaderOnly,
    Slot::Empty,
    Slot::Rotten,
    Slot::Unreadable,
];

/// A voter: the view of its log, what it knows committed, its slots from op 1 to its head.
#[derive(Clone, Debug)]
struct Voter {
    log_view: usize,
    commit_max: u64,
    slots: Vec<Slot>,
    uncertain: bool,
}

impl Voter {
    fn head(&self) -> u64 {
        self.slots.len() as u64
    }

    fn slot(&self, op: u64) -> Slot {
        self.slots[usize::try_from(op).unwrap() - 1]
    }
}

/// The logs of views 0, 1, … : each shares a prefix with the one before and goes its own way after.
#[derive(Debug)]
struct Universe {
    logs: Vec<Vec<Rc<Header>>>,
    shared: Vec<u64>,
}

impl Universe {
    fn new(shared: &[u64], length: u64) -> Self {
        let mut logs: Vec<Vec<Rc<Header>>> = Vec::new();
        for view in 0..=u32::try_from(shared.len()).unwrap() {
            let place = usize::try_from(view).unwrap();
            let mut log: Vec<Rc<Header>> = match place.checked_sub(1) {
                Some(before) => logs[before][..usize::try_from(shared[before]).unwrap()].to_vec(),
                None => Vec::new(),
            };
            while (log.len() as u64) < length {
                let root = Rc::new(Header::root(GROUP_PARTITION_0));
                let parent = log.last().unwrap_or(&root);
                log.push(Rc::clone(&entry_after(parent, view, "model").header));
            }
            logs.push(log);
        }
        Self {
            logs,
            shared: shared.to_vec(),
        }
    }

    fn header(&self, log_view: usize, op: u64) -> &Rc<Header> {
        &self.logs[log_view][usize::try_from(op).unwrap() - 1]
    }

    /// How far the log of a view is what earlier views prepared: its superblock names that much.
    fn inherited(&self, log_view: usize) -> u64 {
        log_view
            .checked_sub(1)
            .map_or(0, |place| self.shared[place])
    }

    /// How far this log and the next one agree: nothing beyond can be known committed by a log view
    /// that a later one cut short.
    fn lasts(&self, log_view: usize) -> u64 {
        let later = self.shared[log_view..].iter().copied().min();
        later.unwrap_or(u64::MAX)
    }

    /// Whether a voter like this can exist.
    fn allows(&self, voter: &Voter) -> bool {
        let is_committed_kept = voter.commit_max <= self.lasts(voter.log_view);
        let committed = (1..=voter.commit_max).all(|op| voter.slot(op) == Slot::Whole);
        let inherited = self.inherited(voter.log_view);
        let named = inherited <= voter.head()
            && (1..=inherited).all(|op| !matches!(voter.slot(op), Slot::Empty | Slot::Unreadable));
        let ends_known = voter.slots.last() != Some(&Slot::Empty);
        is_committed_kept && committed && named && ends_known
    }

    fn vote(&self, voter: &Voter) -> DoViewChange {
        let first = voter.commit_max.max(1);
        let entries = (first..=voter.head()).map(|op| {
            let header = Some(Rc::clone(self.header(voter.log_view, op)));
            let (header, vote) = match voter.slot(op) {
                Slot::Whole => (header, Vote::Present),
                Slot::HeaderOnly => (header, Vote::Nack),
                Slot::Empty => (None, Vote::Nack),
                Slot::Rotten => (header, Vote::Abstain),
                Slot::Unreadable => (None, Vote::Abstain),
            };
            DvcEntry {
                op: Op(op),
                header,
                vote,
            }
        });
        DoViewChange {
            log_view: View(u32::try_from(voter.log_view).unwrap()),
            commit_max: Op(voter.commit_max),
            head: Op(voter.head()),
            entries: entries.collect(),
            uncertain: voter.uncertain,
            trusted: true,
            checkpoint: Op(0),
        }
    }

    /// What a voter can swear about op `op` of the canonical log.
    fn oath(&self, voter: &Voter, canonical: usize, op: u64) -> Oath {
        if op > voter.head() {
            return if voter.uncertain {
                Oath::Nothing
            } else {
                Oath::NeverHeld
            };
        }
        let same = self.header(voter.log_view, op) == self.header(canonical, op);
        match voter.slot(op) {
            Slot::Whole if same => Oath::Holds,
            Slot::Rotten if same => Oath::Nothing,
            Slot::Unreadable => Oath::Nothing,
            Slot::Whole | Slot::Rotten | Slot::HeaderOnly | Slot::Empty => Oath::NeverHeld,
        }
    }

    /// The whole of protocol section 5, steps 1 and 2, word by word.
    fn decide(&self, voters: &[Voter], replica_count: u8) -> MergeOutcome {
        let quorums = Quorums::of(replica_count);
        let have = u8::try_from(voters.len()).unwrap();
        if have < quorums.view_change {
            let need = quorums.view_change;
            return MergeOutcome::AwaitingVotes { have, need };
        }
        let canonical = voters.iter().map(|voter| voter.log_view).max().unwrap();
        let commit_max = voters.iter().map(|voter| voter.commit_max).max().unwrap();
        let heads = voters.iter().filter(|voter| voter.log_view == canonical);
        let highest = heads.map(Voter::head).max().unwrap();
        let count = |op, oath| {
            let swear = voters.iter().map(|voter| self.oath(voter, canonical, op));
            u8::try_from(swear.filter(|sworn| *sworn == oath).count()).unwrap()
        };
        let wait = |op| {
            if have == replica_count {
                MergeOutcome::Undecidable { op: Op(op) }
            } else {
                MergeOutcome::AwaitingCopy {
                    op: Op(op),
                    nacks: count(op, Oath::NeverHeld),
                    need: quorums.nack,
                }
            }
        };
        let mut head = commit_max;
        while head < highest && count(head + 1, Oath::NeverHeld) < quorums.nack {
            if count(head + 1, Oath::Holds) == 0 {
                return wait(head + 1);
            }
            head += 1;
        }
        let is_unsure = voters.iter().any(|voter| voter.uncertain);
        if is_unsure && count(head + 1, Oath::NeverHeld) < quorums.nack {
            return wait(head + 1);
        }
        MergeOutcome::Chosen {
            head: Op(head),
            commit_max: Op(commit_max),
        }
    }

    /// The merge and the model agree, and what is chosen is a piece of the canonical log.
    fn check(&self, voters: &[Voter], replica_count: u8) -> Result<MergeOutcome, String> {
        let votes: Vec<DoViewChange> = voters.iter().map(|voter| self.vote(voter)).collect();
        let senders: Vec<&DoViewChange> = votes.iter().collect();
        let merged = merge(
            &senders,
            replica_count,
            Quorums::of(replica_count),
            Canonical::HighestLogView,
        )
        .map_err(|conflict| format!("{conflict:?} for {voters:?}"))?;
        let expected = self.decide(voters, replica_count);
        if merged.outcome != expected {
            return Err(format!(
                "{:?}, not {expected:?}, for {voters:?}",
                merged.outcome
            ));
        }
        if let MergeOutcome::Chosen { head, commit_max } = merged.outcome {
            let canonical = voters.iter().map(|voter| voter.log_view).max().unwrap();
            let wanted: Vec<Rc<Header>> = (commit_max.0.max(1)..=head.0)
                .map(|op| Rc::clone(self.header(canonical, op)))
                .collect();
            if merged.suffix != wanted {
                return Err(format!("another suffix for {voters:?}"));
            }
        }
        Ok(merged.outcome)
    }

    /// Whether a replication quorum may hold an op of the canonical log: then it may be committed,
    /// and no outcome may end before it. Who did not vote may hold anything.
    fn may_be_committed(&self, voters: &[Voter], replica_count: u8, op: u64) -> bool {
        let canonical = voters.iter().map(|voter| voter.log_view).max().unwrap();
        let deny = voters
            .iter()
            .filter(|voter| !voter.uncertain && self.oath(voter, canonical, op) == Oath::NeverHeld);
        let others = replica_count - u8::try_from(deny.count()).unwrap();
        others >= Quorums::of(replica_count).replication
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oath {
    Holds,
    NeverHeld,
    Nothing,
}

/// Every voter that `universe` allows, with logs up to `length` ops.
fn every_voter(universe: &Universe, length: u32) -> Vec<Voter> {
    let mut logs: Vec<Vec<Slot>> = vec![Vec::new()];
    let mut longest = logs.clone();
    for _ in 0..length {
        longest = longest
            .iter()
            .flat_map(|log| SLOTS.map(|slot| [log.as_slice(), &[slot]].concat()))
            .collect();
        logs.extend(longest.iter().cloned());
    }
    let mut voters = Vec::new();
    for log_view in 0..universe.logs.len() {
        for slots in &logs {
            for commit_max in 0..=slots.len() as u64 {
                let voter = Voter {
                    log_view,
                    commit_max,
                    slots: slots.clone(),
                    uncertain: false,
                };
                if universe.allows(&voter) {
                    voters.push(voter);
                }
            }
        }
    }
    voters
}

/// Calls `check` with every set of `size` voters; the order of senders says nothing.
fn every_set(voters: &[Voter], size: usize, check: &mut impl FnMut(&[Voter])) {
    fn grow(
        voters: &[Voter],
        from: usize,
        size: usize,
        set: &mut Vec<Voter>,
        check: &mut impl FnMut(&[Voter]),
    ) {
        if set.len() == size {
            return check(set);
        }
        for place in from..voters.len() {
            set.push(voters[place].clone());
            grow(voters, place, size, set, check);
            set.pop();
        }
    }
    grow(voters, 0, size, &mut Vec::new(), check);
}

#[test]
fn every_small_vote_set_of_three_replicas_is_decided_as_the_model_decides_it() {
    let mut seen = [0_u32; 4];
    for shared in 0..=2 {
        let universe = Universe::new(&[shared], 3);
        let voters = every_voter(&universe, if shared == 2 { 3 } else { 2 });
        for size in 1..=3 {
            every_set(&voters, size, &mut |set| {
                let outcome = universe.check(set, 3).unwrap_or_else(|why| panic!("{why}"));
                seen[place(outcome)] += 1;
            });
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn every_small_vote_set_of_four_and_five_replicas_is_decided_as_the_model_decides_it() {
    for (shared, length) in [(0, 1), (1, 1), (1, 2)] {
        let universe = Universe::new(&[shared], 3);
        let voters = every_voter(&universe, length);
        for replica_count in 4..=5 {
            for size in 1..=usize::from(replica_count) {
                every_set(&voters, size, &mut |set| {
                    let checked = universe.check(set, replica_count);
                    checked.unwrap_or_else(|why| panic!("{why}"));
                });
            }
        }
    }
}

#[test]
fn no_small_vote_set_drops_an_op_that_a_replication_quorum_may_hold() {
    for shared in 0..=2 {
        let universe = Universe::new(&[shared], 3);
        let voters = every_voter(&universe, 2);
        every_set(&voters, 2, &mut |set| {
            if let Ok(MergeOutcome::Chosen { head, .. }) = universe.check(set, 3) {
                let canonical = set.iter().map(|voter| voter.log_view).max();
                let heads = set.iter().filter(|voter| Some(voter.log_view) == canonical);
                let highest = heads.map(Voter::head).max().unwrap();
                if head.0 < highest {
                    assert!(!universe.may_be_committed(set, 3, head.0 + 1), "{set:?}");
                }
            }
        });
    }
}

fn place(outcome: MergeOutcome) -> usize {
    match outcome {
        MergeOutcome::AwaitingVotes { .. } => 0,
        MergeOutcome::AwaitingCopy { .. } => 1,
        MergeOutcome::Undecidable { .. } => 2,
        MergeOutcome::Chosen { .. } => 3,
        MergeOutcome::AwaitingTrust { .. } | MergeOutcome::ChosenAtRisk { .. } => {
            unreachable!("every voter of this model is trusted")
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{SLOTS, Universe, Voter};

    const LENGTH: u64 = 5;

    fn voter(universe: &Universe, drawn: &(usize, u64, Vec<usize>, bool)) -> Voter {
        let (log_view, commit_max, slots, uncertain) = drawn;
        let log_view = log_view % universe.logs.len();
        let slots = slots.iter().map(|&slot| SLOTS[slot % SLOTS.len()]);
        let mut voter = Voter {
            log_view,
            commit_max: 0,
            slots: slots.collect(),
            uncertain: *uncertain,
        };
        mend(universe, &mut voter, *commit_max);
        voter
    }

    /// Makes a drawn voter one that can exist.
    fn mend(universe: &Universe, voter: &mut Voter, commit_max: u64) {
        let lasts = universe.lasts(voter.log_view);
        voter.commit_max = commit_max.min(lasts).min(voter.head());
        let inherited = universe.inherited(voter.log_view);
        while voter.head() < inherited {
            voter.slots.push(super::Slot::HeaderOnly);
        }
        for (op, slot) in (1..).zip(voter.slots.iter_mut()) {
            if op <= voter.commit_max {
                *slot = super::Slot::Whole;
            } else if op <= inherited
                && matches!(slot, super::Slot::Empty | super::Slot::Unreadable)
            {
                *slot = super::Slot::HeaderOnly;
            }
        }
        if voter.slots.last() == Some(&super::Slot::Empty) {
            *voter.slots.last_mut().unwrap() = super::Slot::Rotten;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn drawn_vote_sets_are_decided_as_the_model_decides_them(
            replica_count in 3_u8..=5,
            shared in vec(0..LENGTH, 0..3),
            drawn in vec((0_usize..3, 0..LENGTH, vec(0_usize..5, 0..5), prop::bool::weighted(0.1)), 1..=5),
        ) {
            let universe = Universe::new(&shared, LENGTH);
            let count = drawn.len().min(usize::from(replica_count));
            let voters: Vec<Voter> =
                drawn[..count].iter().map(|drawn| voter(&universe, drawn)).collect();
            prop_assert!(voters.iter().all(|voter| universe.allows(voter)));
            let checked = universe.check(&voters, replica_count);
            prop_assert!(checked.is_ok(), "{:?}", checked);
        }
    }
}
