//! I17, honest stall, first half: an op that cannot be decided is never cut off (protocol section 5;
//! scenarios A21, A22). The votes for a view are overheard as they are sent; when the view starts and
//! its log ends before an op that somebody's log had, there must be a set of those votes that shows
//! that the op was never acknowledged by a quorum. All sets are tried. The second half, that nobody
//! stalls who could decide, is `stall.rs`. Must never know how the primary merged.
//!
//! Exceptions. An op of which a copy was among the votes is not undecidable: losing that is I3's and
//! I4's business. Votes of a primary that spoke to nobody are not overheard; such views are not judged.

use std::collections::VecDeque;
use std::rc::Rc;

use super::violation::{Property, Replicas, Report};
use crate::ids::{Checksum, Op, ReplicaId, View};
use crate::vsr::message::{DoViewChange, DvcEntry, Vote};
use crate::vsr::quorum::Quorums;

/// Differing votes of one replica that are remembered for its latest view.
const VERSIONS_KEPT: usize = 8;

/// What one replica brought to its latest view change, in all versions it sent.
#[derive(Debug, Default)]
struct Brought {
    view: View,
    votes: VecDeque<Rc<DoViewChange>>,
}

/// One voter's whole testimony: what any of its votes said, taken in favour of the primary.
struct Voter<'a> {
    replica: ReplicaId,
    votes: &'a VecDeque<Rc<DoViewChange>>,
}

impl Voter<'_> {
    fn log_view(&self) -> View {
        let views = self.votes.iter().map(|vote| vote.log_view);
        views.max().unwrap_or_default()
    }

    fn head(&self) -> Op {
        let heads = self.votes.iter().map(|vote| vote.head);
        heads.max().unwrap_or_default()
    }

    fn entries(&self, op: Op) -> impl Iterator<Item = Option<&DvcEntry>> {
        self.votes
            .iter()
            .map(move |vote| vote.entries.iter().find(|entry| entry.op == op))
    }

    fn identity(&self, op: Op) -> Option<Checksum> {
        self.entries(op)
            .flatten()
            .find_map(|entry| entry.header.as_ref().map(|header| header.checksum))
    }

    fn has_copy(&self, op: Op, identity: Option<Checksum>) -> bool {
        self.entries(op).flatten().any(|entry| {
            let same = entry.header.as_ref().map(|header| header.checksum) == identity;
            same && entry.vote == Vote::Present
        })
    }

    /// Whether it can have said that it never journaled the op, in any of its votes.
    fn denies(&self, op: Op, identity: Option<Checksum>, canonical: View) -> bool {
        self.votes.iter().any(|vote| {
            let entry = vote.entries.iter().find(|entry| entry.op == op);
            if op <= vote.commit_max {
                return false;
            }
            match entry.map(|entry| (entry.vote, entry.header.as_ref())) {
                // What it acknowledged from memory is gone: it denies nothing.
                _ if !vote.trusted => false,
                Some((Vote::Nack, _)) => true,
                Some((Vote::Present, Some(header))) => {
                    vote.log_view < canonical && Some(header.checksum) != identity
                }
                Some((Vote::Present, None) | (Vote::Abstain, _)) => false,
                None => vote.head < op && !vote.uncertain,
            }
        })
    }
}

/// The votes of a group's running view changes.
#[derive(Debug)]
pub(super) struct HonestStall {
    quorums: Quorums,
    brought: Vec<Brought>,
}

impl HonestStall {
    pub(super) fn new(replica_count: u8, quorums: Quorums) -> Self {
        Self {
            quorums,
            brought: (0..replica_count).map(|_| Brought::default()).collect(),
        }
    }

    /// A replica sent its log to a view change.
    pub(super) fn voted(&mut self, replica: ReplicaId, view: View, vote: &Rc<DoViewChange>) {
        let Some(brought) = self.brought.get_mut(usize::from(replica.0)) else {
            return;
        };
        if brought.view != view {
            brought.view = view;
            brought.votes.clear();
        }
        // Sent to all and again and again: mostly the very same vote.
        let known = brought
            .votes
            .iter()
            .any(|known| Rc::ptr_eq(known, vote) || known == vote);
        if !known {
            brought.votes.push_back(Rc::clone(vote));
            if brought.votes.len() > VERSIONS_KEPT {
                brought.votes.pop_front();
            }
        }
    }

    /// A view started with a log that ends at `head`.
    pub(super) fn started(&self, by: ReplicaId, view: View, head: Op, report: &mut Report) {
        let voters: Vec<Voter> = (0_u8..)
            .zip(&self.brought)
            .filter(|(_, brought)| brought.view == view && !brought.votes.is_empty())
            .map(|(replica, brought)| Voter {
                replica: ReplicaId(replica),
                votes: &brought.votes,
            })
            .collect();
        let enough = voters.len() >= usize::from(self.quorums.view_change);
        if !enough || !voters.iter().any(|voter| voter.replica == by) {
            return;
        }
        report.compared(Property::I17);
        let op = head.next();
        let all = Canonical::of(&voters);
        if op > all.head {
            return;
        }
        let identity = all.identity(&voters, op);
        let copies = voters.iter().any(|voter| voter.has_copy(op, identity));
        if copies || self.some_set_denies(&voters, by, op) {
            return;
        }
        let deniers: Replicas = voters
            .iter()
            .filter(|voter| voter.denies(op, identity, all.log_view))
            .map(|voter| voter.replica)
            .collect();
        let text = format!(
            "{by} started view {view} without op {op}, though only {} of {} that it takes can say it was never acknowledged{}",
            deniers.count(),
            self.quorums.nack,
            if deniers.is_empty() {
                String::new()
            } else {
                format!(": {deniers}")
            },
        );
        report.violated(Property::I17, Some(op), Replicas::one(by), text);
    }

    /// Whether any set of the votes, large enough and with the primary's own, lets the log end before
    /// an op. Nine voters make 512 sets, and only a view that cut an undecidable op comes here.
    fn some_set_denies(&self, voters: &[Voter], by: ReplicaId, op: Op) -> bool {
        (0_u32..1 << voters.len()).any(|set| {
            let chosen: Vec<&Voter> = (0..voters.len())
                .filter(|&place| set & (1 << place) != 0)
                .map(|place| &voters[place])
                .collect();
            if chosen.len() < usize::from(self.quorums.view_change)
                || !chosen.iter().any(|voter| voter.replica == by)
            {
                return false;
            }
            let canonical = Canonical::of(chosen.iter().copied());
            if canonical.head < op {
                return true;
            }
            let identity = canonical.identity(chosen.iter().copied(), op);
            let denials = chosen
                .iter()
                .filter(|voter| voter.denies(op, identity, canonical.log_view))
                .count();
            denials >= usize::from(self.quorums.nack)
        })
    }
}

/// The logs that count among a set of voters: those of the highest log_view.
struct Canonical {
    log_view: View,
    head: Op,
}

impl Canonical {
    fn of<'a>(voters: impl IntoIterator<Item = &'a Voter<'a>> + Clone) -> Self {
        let views = voters.clone().into_iter().map(Voter::log_view);
        let log_view = views.max().unwrap_or_default();
        let heads = voters
            .into_iter()
            .filter(|voter| voter.log_view() == log_view)
            .map(Voter::head);
        Self {
            log_view,
            head: heads.max().unwrap_or_default(),
        }
    }

    fn identity<'a>(
        &self,
        voters: impl IntoIterator<Item = &'a Voter<'a>>,
        op: Op,
    ) -> Option<Checksum> {
        voters
            .into_iter()
            .filter(|voter| voter.log_view() == self.log_view)
            .find_map(|voter| voter.identity(op))
    }
}

#[cfg(test)]
#[path = "i17_tests.rs"]
mod tests;
