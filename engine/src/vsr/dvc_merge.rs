//! Choosing the log of a new view (protocol section 5, steps 1 to 3): a pure function of the
//! DoViewChanges collected. Must never know whose replica it runs on.

use std::rc::Rc;

use crate::ids::{Checksum, Op, View};
use crate::vsr::message::{DoViewChange, DvcEntry, Header, Vote};
use crate::vsr::note::MergeOutcome;
use crate::vsr::quorum::Quorums;

/// What was decided of one op above the commit point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The op.
    pub op: Op,
    /// Kept, or the log ends before it.
    pub kept: bool,
    /// Senders that hold its body.
    pub copies: u8,
    /// Senders that never journaled it.
    pub nacks: u8,
}

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// In one word, with operands.
    pub outcome: MergeOutcome,
    /// What was decided on the way, in ascending order of op.
    pub decisions: Vec<Decision>,
    /// Where chosen: headers `reported ..= head`, linked, from the largest commit point that a
    /// sender reports.
    pub suffix: Vec<Rc<Header>>,
}

/// A broken rule: canonical logs that disagree, or headers that do not link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The op at which.
    pub op: Op,
}

/// Which of the logs brought count for what the others may only vote on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// Those with the highest log_view.
    HighestLogView,
    /// The longest, and those with its log_view: a mutation.
    Longest,
}

/// Merges the logs of `senders` (distinct) of a cluster of `replica_count`.
///
/// # Errors
/// A conflict means that a rule of the protocol was broken earlier.
pub fn merge(
    senders: &[&DoViewChange],
    replica_count: u8,
    quorums: Quorums,
    canonical: Canonical,
) -> Result<Merge, Conflict> {
    let have = u8::try_from(senders.len()).unwrap_or(u8::MAX);
    if have < quorums.view_change {
        return Ok(waiting(MergeOutcome::AwaitingVotes {
            have,
            need: quorums.view_change,
        }));
    }
    let all_answered = have == replica_count;
    let trusted = senders.iter().filter(|dvc| dvc.trusted).count();
    let trusted = u8::try_from(trusted).unwrap_or(u8::MAX);
    // Every committed op has a trusted witness only where a view-change quorum of them speaks.
    let is_at_risk = trusted < quorums.view_change;
    if is_at_risk && !all_answered {
        return Ok(waiting(MergeOutcome::AwaitingTrust {
            trusted,
            need: quorums.view_change,
        }));
    }
    let ballot = Ballot::of(senders, canonical);
    let mut decisions = Vec::new();
    let mut head = ballot.commit_max;
    for op in (ballot.commit_max.0 + 1..=ballot.head_max.0).map(Op) {
        let tally = ballot.tally(op)?;
        let has_copy = tally.copies > 0 && tally.header.is_some();
        // Where all have answered and too few are trusted, what nobody has is lost.
        if tally.nacks >= quorums.nack || (is_at_risk && !has_copy) {
            decisions.push(tally.decided(op, false));
            break;
        }
        if !has_copy {
            let mut undecided = waiting(undecided(op, tally.nacks, quorums.nack, all_answered));
            undecided.decisions = decisions;
            return Ok(undecided);
        }
        decisions.push(tally.decided(op, true));
        head = op;
    }
    if !is_at_risk && ballot.senders.iter().any(|dvc| dvc.uncertain) {
        // Damage may hide entries above some sender's head: the end of the log needs proof as well.
        let end = head.next();
        let nacks = ballot.tally(end)?.nacks;
        if nacks < quorums.nack {
            return Ok(waiting(undecided(end, nacks, quorums.nack, all_answered)));
        }
    }
    let suffix = ballot.linked_suffix(head)?;
    let commit_max = told_committed(ballot.commit_max, &suffix);
    let outcome = if is_at_risk {
        MergeOutcome::ChosenAtRisk { head, commit_max }
    } else {
        MergeOutcome::Chosen { head, commit_max }
    };
    Ok(Merge {
        outcome,
        decisions,
        suffix,
    })
}

/// An entry tells how far its primary had committed, and what it names are its own ancestors. A crash
/// may have taken that from every superblock: then the new primary would count as unacked more ops
/// than a pipeline holds (sweep seed 1320).
fn told_committed(reported: Op, chosen: &[Rc<Header>]) -> Op {
    let told = chosen.iter().map(|header| header.commit);
    told.fold(reported, Op::max)
}

fn waiting(outcome: MergeOutcome) -> Merge {
    Merge {
        outcome,
        decisions: Vec::new(),
        suffix: Vec::new(),
    }
}

fn undecided(op: Op, nacks: u8, need: u8, all_answered: bool) -> MergeOutcome {
    if all_answered {
        MergeOutcome::Undecidable { op }
    } else {
        MergeOutcome::AwaitingCopy { op, nacks, need }
    }
}

struct Tally {
    header: Option<Rc<Header>>,
    copies: u8,
    nacks: u8,
}

impl Tally {
    fn decided(&self, op: Op, kept: bool) -> Decision {
        Decision {
            op,
            kept,
            copies: self.copies,
            nacks: self.nacks,
        }
    }
}

/// The collected votes with what follows from all of them.
struct Ballot<'a> {
    senders: &'a [&'a DoViewChange],
    log_view: View,
    commit_max: Op,
    head_max: Op,
}

impl<'a> Ballot<'a> {
    fn of(senders: &'a [&'a DoViewChange], canonical: Canonical) -> Self {
        let best = senders.iter().max_by_key(|dvc| match canonical {
            Canonical::HighestLogView => (dvc.log_view, Op(0)),
            Canonical::Longest => (View(0), dvc.head),
        });
        let log_view = best.map(|dvc| dvc.log_view).unwrap_or_default();
        let canonical = senders.iter().filter(|dvc| dvc.log_view == log_view);
        Self {
            senders,
            log_view,
            commit_max: senders
                .iter()
                .map(|dvc| dvc.commit_max)
                .max()
                .unwrap_or_default(),
            head_max: canonical.map(|dvc| dvc.head).max().unwrap_or_default(),
        }
    }

    fn canonical(&self) -> impl Iterator<Item = &'a DoViewChange> {
        let log_view = self.log_view;
        self.senders
            .iter()
            .copied()
            .filter(move |dvc| dvc.log_view == log_view)
    }

    /// The header that canonical logs have at an op; they must agree.
    fn canonical_header(&self, op: Op) -> Result<Option<Rc<Header>>, Conflict> {
        let mut found: Option<Rc<Header>> = None;
        for dvc in self.canonical() {
            let Some(header) = entry(dvc, op).and_then(|entry| entry.header.as_ref()) else {
                continue;
            };
            match &found {
                Some(other) if other.checksum != header.checksum => return Err(Conflict { op }),
                Some(_) => {}
                None => found = Some(Rc::clone(header)),
            }
        }
        Ok(found)
    }

    /// The identity wanted at an op: the canonical header's, or where all of them have a hole there,
    /// the parent named by the canonical header above it.
    fn wanted(&self, op: Op) -> Result<(Option<Rc<Header>>, Option<Checksum>), Conflict> {
        if let Some(header) = self.canonical_header(op)? {
            let identity = header.checksum;
            return Ok((Some(header), Some(identity)));
        }
        let parent = self.canonical_header(op.next())?.map(|above| above.parent);
        let corroborated = self.senders.iter().find_map(|dvc| {
            let header = entry(dvc, op)?.header.as_ref()?;
            (Some(header.checksum) == parent).then(|| Rc::clone(header))
        });
        Ok((corroborated, parent))
    }

    /// A head below the op is a nack, unless damage has made it unknown: then the log that counts
    /// speaks slot by slot, and an older one not at all.
    fn vote_above_head(&self, dvc: &DoViewChange, op: Op) -> Vote {
        if !dvc.uncertain {
            return Vote::Nack;
        }
        if dvc.log_view < self.log_view {
            return Vote::Abstain;
        }
        if let Some(listed) = entry(dvc, op) {
            return listed.vote;
        }
        // It lists every slot up to the last one it cannot read; what lies beyond it could read.
        let lists_above = dvc.entries.last().is_some_and(|last| last.op > dvc.head);
        if lists_above {
            Vote::Nack
        } else {
            Vote::Abstain
        }
    }

    fn tally(&self, op: Op) -> Result<Tally, Conflict> {
        let (header, wanted) = self.wanted(op)?;
        let mut tally = Tally {
            header,
            copies: 0,
            nacks: 0,
        };
        for dvc in self.senders {
            match self.vote(dvc, op, wanted) {
                Vote::Present => tally.copies += 1,
                Vote::Nack if dvc.trusted => tally.nacks += 1,
                Vote::Nack | Vote::Abstain => {}
            }
        }
        Ok(tally)
    }

    /// What one sender says of the wanted identity at an op. Ops at or below the largest commit point
    /// are never asked about, so none of them is ever nacked.
    fn vote(&self, dvc: &DoViewChange, op: Op, wanted: Option<Checksum>) -> Vote {
        if op > dvc.head {
            return self.vote_above_head(dvc, op);
        }
        let Some(listed) = entry(dvc, op) else {
            return Vote::Abstain;
        };
        let Some(header) = &listed.header else {
            return listed.vote;
        };
        match wanted {
            Some(wanted) if wanted == header.checksum => listed.vote,
            // Only an older log can hold another identity: then it never held the wanted one. Where no
            // canonical header names the wanted one either, it was prepared in the canonical view
            // itself, which an older log never saw.
            Some(_) | None if dvc.log_view < self.log_view => Vote::Nack,
            Some(_) | None => Vote::Abstain,
        }
    }

    /// Headers `commit_max ..= head`, each the parent of the next.
    fn linked_suffix(&self, head: Op) -> Result<Vec<Rc<Header>>, Conflict> {
        let mut suffix: Vec<Rc<Header>> = Vec::new();
        for op in (self.commit_max.0.max(1)..=head.0).map(Op) {
            let (header, _) = if op == self.commit_max {
                (self.any_header(op), None)
            } else {
                self.wanted(op)?
            };
            let Some(header) = header else {
                return Err(Conflict { op });
            };
            if suffix
                .last()
                .is_some_and(|below| below.checksum != header.parent)
            {
                return Err(Conflict { op });
            }
            suffix.push(header);
        }
        Ok(suffix)
    }

    /// The header at the commit point, by whoever knows it: committed, it is the same everywhere.
    fn any_header(&self, op: Op) -> Option<Rc<Header>> {
        self.canonical()
            .chain(self.senders.iter().copied())
            .filter(|dvc| dvc.log_view == self.log_view || dvc.commit_max >= op)
            .find_map(|dvc| entry(dvc, op)?.header.clone())
    }
}

/// The entry of an op, which ascend without gaps from the first.
fn entry(dvc: &DoViewChange, op: Op) -> Option<&DvcEntry> {
    let first = dvc.entries.first()?.op;
    let index = op.0.checked_sub(first.0)?;
    dvc.entries.get(usize::try_from(index).ok()?)
}

#[cfg(test)]
#[path = "dvc_merge_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dvc_merge_model.rs"]
mod model;
