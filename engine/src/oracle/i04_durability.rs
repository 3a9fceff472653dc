//! I4, durability: once a client has the reply for an op that was committed in view v, the log of
//! every started view above v holds that op (Viewstamped Replication Revisited, section 4.2;
//! scenarios section C). Checked for the ops above a new log's commit point when a view starts, for
//! the views already started when a reply arrives, and for all ops when the cluster is at rest. Must
//! never know why a log was chosen.
//!
//! Exceptions. A view below v may start late: nobody acts in it. Below the new log's commit point a
//! wrong entry is I1's business. An op is not demanded once disks that lied about it, or were wiped
//! after it, leave fewer than a replication quorum of honest holders, nor once a group that acknowledges
//! from memory says that it may have lost it with the memory of a quorum; unreadable copies never excuse
//! a loss, since damage may stall and must never lose.

use std::collections::VecDeque;
use std::rc::Rc;

use super::view::{ClusterView, MemberView};
use super::violation::{Property, Replicas, Report};
use crate::ids::{Checksum, ClientId, Op, ReplicaId, View};
use crate::vsr::io::Status;
use crate::vsr::message::{Header, Reply};

/// Started views that are remembered for replies that arrive after them.
const STARTED_KEPT: usize = 32;
/// See the same bound on the canon: a wild op number reserves no memory.
const GAP_MAX: u64 = 1 << 17;
/// Marks an op that no client has a reply for.
const NOT_REPLIED: View = View(u32::MAX);

/// What is known of one op.
#[derive(Clone, Copy, Debug)]
struct Copies {
    checksum: Checksum,
    /// The view it was replied from.
    view: View,
    /// Whose disk holds it, as they say.
    holders: Replicas,
    /// Those among them whose disk lied about it or was wiped since.
    dishonest: Replicas,
}

impl Default for Copies {
    fn default() -> Self {
        Self {
            checksum: Checksum(0),
            view: NOT_REPLIED,
            holders: Replicas::NONE,
            dishonest: Replicas::NONE,
        }
    }
}

impl Copies {
    fn are_enough(&self, replication: u8) -> bool {
        self.dishonest.is_empty() || self.holders.without(self.dishonest).count() >= replication
    }
}

#[derive(Debug)]
struct Started {
    view: View,
    by: ReplicaId,
    head: Op,
    suffix: Rc<[Rc<Header>]>,
}

impl Started {
    /// What is wrong with its log at an op, in words, where something is.
    fn fault(&self, op: Op, checksum: Checksum) -> Option<String> {
        if op > self.head {
            return Some(format!("the log it started with ends at op {}", self.head));
        }
        let first = self.suffix.first()?.op;
        let place = usize::try_from(op.0.checked_sub(first.0)?).ok()?;
        let header = self.suffix.get(place)?;
        (header.checksum != checksum).then(|| {
            format!(
                "its log has another entry there, prepared in view {}",
                header.view
            )
        })
    }
}

/// The ops that clients rely on.
#[derive(Debug)]
pub(super) struct Durability {
    replication: u8,
    base: Op,
    copies: VecDeque<Copies>,
    /// The largest op that a client has a reply for.
    replied_max: Op,
    started: VecDeque<Started>,
    /// An op that a client had a reply for was excused from surviving.
    has_excused: bool,
    /// The last view that started with a log that may lack what was acknowledged, and that log's
    /// head: a reply from before may still be under way.
    cut: Option<(View, Op)>,
}

impl Durability {
    pub(super) fn new(replication: u8) -> Self {
        Self {
            replication,
            base: Op(1),
            copies: VecDeque::new(),
            replied_max: Op(0),
            started: VecDeque::new(),
            has_excused: false,
            cut: None,
        }
    }

    /// Whether what a client was told may be lost, for once, without anybody's fault.
    pub(super) fn has_excused(&self) -> bool {
        self.has_excused
    }

    fn get(&self, op: Op) -> Option<&Copies> {
        let place = op.0.checked_sub(self.base.0)?;
        self.copies.get(usize::try_from(place).ok()?)
    }

    fn entry(&mut self, op: Op) -> Option<&mut Copies> {
        let place = op.0.checked_sub(self.base.0)?;
        if place > self.copies.len() as u64 + GAP_MAX {
            return None;
        }
        let place = usize::try_from(place).ok()?;
        if place >= self.copies.len() {
            self.copies.resize(place + 1, Copies::default());
        }
        self.copies.get_mut(place)
    }

    /// A replica says that its disk holds an entry.
    pub(super) fn held(&mut self, replica: ReplicaId, op: Op, checksum: Checksum) {
        let Some(copies) = self.entry(op) else {
            return;
        };
        if copies.checksum != checksum {
            if copies.view != NOT_REPLIED {
                return;
            }
            *copies = Copies {
                checksum,
                ..Copies::default()
            };
        }
        copies.holders = copies.holders.with(replica);
    }

    /// A replica's disk lied about an op, or was wiped while it held it.
    pub(super) fn lost(&mut self, replica: ReplicaId, op: Op) {
        if let Some(copies) = self.entry(op) {
            copies.dishonest = copies.dishonest.with(replica);
            let is_replied = copies.view != NOT_REPLIED;
            self.has_excused |= is_replied && !self.is_armed(op);
        }
    }

    /// A replica's disk was wiped: whatever it held is gone.
    pub(super) fn wiped(&mut self, replica: ReplicaId) {
        let replication = self.replication;
        for copies in &mut self.copies {
            if copies.holders.contains(replica) {
                copies.dishonest = copies.dishonest.with(replica);
                self.has_excused |= copies.view != NOT_REPLIED && !copies.are_enough(replication);
            }
        }
    }

    /// A view starts with a log that ends at `head` and may lack what was acknowledged from the memory
    /// of a quorum, which it says; the group's durability allows that. Whether no later view has
    /// started: an older one is nobody's.
    pub(super) fn cut_above(&mut self, view: View, head: Op) -> bool {
        if self.started.iter().any(|started| started.view > view) {
            return false;
        }
        let kept = usize::try_from((head.0 + 1).saturating_sub(self.base.0)).unwrap_or(usize::MAX);
        let mut lost = self.copies.iter().skip(kept);
        self.has_excused |= lost.any(|copies| copies.view != NOT_REPLIED);
        self.copies.truncate(kept);
        self.replied_max = self.replied_max.min(head);
        self.cut = Some((view, head));
        true
    }

    /// Whether an op must survive. Only dishonest disks excuse: an op that too few replicas ever held
    /// is a broken rule of the protocol, and just what this property is for.
    pub(super) fn is_armed(&self, op: Op) -> bool {
        self.get(op)
            .is_none_or(|copies| copies.are_enough(self.replication))
    }

    /// A client accepted a reply.
    pub(super) fn replied(
        &mut self,
        client: ClientId,
        reply: &Reply,
        view: View,
        report: &mut Report,
    ) {
        let (op, checksum) = (reply.op, reply.checksum);
        if self.cut.is_some_and(|(cut, head)| view < cut && op > head) {
            self.has_excused = true;
            return;
        }
        let Some(copies) = self.entry(op) else {
            return;
        };
        if copies.checksum != checksum {
            if copies.view != NOT_REPLIED {
                let text = format!(
                    "client {client} has a reply for an entry {checksum} at op {op}, where {} was replied before",
                    copies.checksum
                );
                report.violated(Property::I4, Some(op), Replicas::NONE, text);
                return;
            }
            *copies = Copies {
                checksum,
                ..Copies::default()
            };
        }
        if copies.view == NOT_REPLIED || view < copies.view {
            copies.view = view;
        }
        self.replied_max = self.replied_max.max(op);
        if !self.is_armed(op) {
            self.has_excused = true;
            return;
        }
        for started in self.started.iter().filter(|started| started.view > view) {
            report.compared(Property::I4);
            if let Some(fault) = started.fault(op, checksum) {
                lose(op, view, started, &fault, report);
            }
        }
    }

    /// A view started.
    pub(super) fn started(
        &mut self,
        view: View,
        by: ReplicaId,
        head: Op,
        commit_max: Op,
        suffix: &Rc<[Rc<Header>]>,
        report: &mut Report,
    ) {
        let started = Started {
            view,
            by,
            head,
            suffix: Rc::clone(suffix),
        };
        let floor = commit_max.max(self.base).max(Op(1));
        for op in (floor.0..=self.replied_max.0).map(Op) {
            let Some(copies) = self.get(op).copied() else {
                continue;
            };
            if copies.view == NOT_REPLIED || copies.view >= view || !self.is_armed(op) {
                continue;
            }
            report.compared(Property::I4);
            if let Some(fault) = started.fault(op, copies.checksum) {
                // The first op lost takes all after it along; one sentence says enough.
                lose(op, copies.view, &started, &fault, report);
                break;
            }
        }
        self.started.push_back(started);
        if self.started.len() > STARTED_KEPT {
            self.started.pop_front();
        }
    }

    /// The cluster is at rest: the log of its highest view holds every op that a client relies on.
    pub(super) fn at_rest(
        &self,
        members: &[MemberView],
        view: &ClusterView,
        replica_count: u8,
        report: &mut Report,
    ) {
        let leader = members
            .iter()
            .filter(|member| member.up && member.status == Status::Normal)
            .filter(|member| member.view.primary(replica_count) == member.replica)
            .max_by_key(|member| member.view);
        let Some(leader) = leader else {
            return;
        };
        let floor = self.base.max(leader.checkpoint.next());
        for op in (floor.0..=self.replied_max.0).map(Op) {
            let Some(copies) = self.get(op) else {
                continue;
            };
            if copies.view == NOT_REPLIED || copies.view > leader.view || !self.is_armed(op) {
                continue;
            }
            report.compared(Property::I4);
            let held = view.logs.checksum_at(leader.replica, leader.group, op);
            if held != Some(copies.checksum) {
                let what = held.map_or("nothing".to_string(), |other| format!("{other}"));
                report.violated(
                    Property::I4,
                    Some(op),
                    Replicas::one(leader.replica),
                    format!(
                        "a client has the reply for op {op} from view {}, but {}, which leads view {}, has {what} there",
                        copies.view, leader.replica, leader.view
                    ),
                );
                return;
            }
        }
    }

    /// Forgets the ops below `op`: every disk has them in a checkpoint.
    pub(super) fn fold_below(&mut self, op: Op) {
        while self.base < op && self.copies.pop_front().is_some() {
            self.base = self.base.next();
        }
    }
}

fn lose(op: Op, replied_in: View, started: &Started, fault: &str, report: &mut Report) {
    report.violated(
        Property::I4,
        Some(op),
        Replicas::one(started.by),
        format!(
            "a client has the reply for op {op} from view {replied_in}, but {} started view {} without it: {fault}",
            started.by, started.view
        ),
    );
}

#[cfg(test)]
#[path = "i04_tests.rs"]
mod tests;
