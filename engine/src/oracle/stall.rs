//! I17, honest stall, second half: whether the replicas that can still reach each other could decide
//! on a log at all, from what their disks hold. A settle phase that stalls is excused only by such a
//! proof, and the proof is printed. Must never know the protocol's merge: it counts who may have
//! acknowledged an op, which is what a nack quorum stands for, and never counts nacks.
//!
//! An op may have been committed if a replication quorum may have acknowledged it. Whoever holds its
//! body may have; so may whoever cannot read the slot, and whoever cannot be asked. Whoever can read
//! the slot and never wrote that body has not (protocol sections 2 and 5). So an op that fewer than a
//! quorum may have acknowledged can be let go; one that more may have must be kept; and if nobody
//! here holds its body, nothing can be done but wait.

use serde::Serialize;

use super::violation::Replicas;
use crate::ids::{Checksum, Op, ReplicaId, View};
use crate::vsr::quorum::Quorums;

/// What a disk slot holds for one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// It cannot be read.
    Damaged,
    /// It can be read, and nothing was journaled there for this op.
    Empty,
    /// A header whose body was never written.
    HeaderOnly(Checksum),
    /// A whole entry.
    Body {
        /// Its identity.
        checksum: Checksum,
        /// Its parent's.
        parent: Checksum,
    },
}

/// What a replica's disk says of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotFact {
    /// The op.
    pub op: Op,
    /// Identity and parent of the header that the replica's log_view vouches for here: from the
    /// superblock's suffix, or above it of an entry prepared in that very view.
    pub vouched: Option<(Checksum, Checksum)>,
    /// The slot.
    pub slot: Slot,
}

/// What a replica of the core holds durably.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskFacts {
    /// Whose disk.
    pub replica: ReplicaId,
    /// What it lacks it never acknowledged; not so after a restart where acks leave before writes
    /// land (protocol section 9).
    pub trusted: bool,
    /// The last view whose log it installed.
    pub log_view: View,
    /// The largest op it knows committed.
    pub commit_max: Op,
    /// Its checkpoint.
    pub checkpoint: Op,
    /// The head of its log.
    pub head: Op,
    /// Its slots, ascending in op; an op without one is empty.
    pub slots: Vec<SlotFact>,
}

impl DiskFacts {
    fn fact(&self, op: Op) -> Option<&SlotFact> {
        let place = self.slots.binary_search_by_key(&op, |fact| fact.op).ok()?;
        self.slots.get(place)
    }

    fn slot(&self, op: Op) -> Slot {
        self.fact(op).map_or(Slot::Empty, |fact| fact.slot)
    }

    /// Whether this replica may have acknowledged an entry, as far as its disk tells.
    fn may_have_acked(&self, op: Op, identity: Option<Checksum>) -> bool {
        match self.slot(op) {
            _ if !self.trusted => true,
            Slot::Damaged => true,
            Slot::Empty => op <= self.checkpoint,
            Slot::HeaderOnly(_) => false,
            Slot::Body { checksum, .. } => identity.is_none_or(|identity| identity == checksum),
        }
    }

    fn holds(&self, op: Op, identity: Option<Checksum>) -> bool {
        match self.slot(op) {
            Slot::Body { checksum, .. } => Some(checksum) == identity,
            Slot::Damaged | Slot::Empty | Slot::HeaderOnly(_) => false,
        }
    }
}

/// Why a core can do nothing but wait. Each carries its proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "stall", rename_all = "kebab-case")]
pub enum Stall {
    /// Too few replicas can vote.
    TooFewVoters {
        /// How many can.
        have: u8,
        /// How many it takes.
        need: u8,
    },
    /// Too many lost what they acknowledged from memory, and not all can be asked what they have left.
    TooFewTrusted {
        /// How many lost nothing.
        have: u8,
        /// How many it takes.
        need: u8,
    },
    /// An op may have been committed, and nobody here can say what it is or has its body.
    Undecidable {
        /// The op.
        op: Op,
        /// Members of the core that may have acknowledged it.
        may_have: Replicas,
        /// Members of the core that never journaled it.
        never: Replicas,
        /// Replicas outside the core, which cannot be asked.
        outside: u8,
        /// How many acknowledgements make a commit.
        need: u8,
    },
    /// An op is in the log and nobody here has its body.
    BodyLost {
        /// The op.
        op: Op,
    },
}

/// The proof in words.
impl std::fmt::Display for Stall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooFewVoters { have, need } => {
                write!(f, "{have} replicas can vote, and a view takes {need}")
            }
            Self::TooFewTrusted { have, need } => write!(
                f,
                "{have} replicas lost nothing of what they acknowledged from memory, a view takes {need} or all to answer"
            ),
            Self::Undecidable {
                op,
                may_have,
                never,
                outside,
                need,
            } => {
                write!(f, "op {op} may have been committed: ")?;
                if !may_have.is_empty() {
                    write!(f, "{may_have} may have acknowledged it, ")?;
                }
                if *outside > 0 {
                    write!(f, "{outside} outside cannot be asked, ")?;
                }
                if !never.is_empty() {
                    write!(f, "{never} never journaled it, ")?;
                }
                write!(f, "{need} make a commit, and nobody here has its body")
            }
            Self::BodyLost { op } => {
                write!(f, "op {op} is in the log and nobody here has its body")
            }
        }
    }
}

/// Proves that the core cannot decide on a log, or finds that it could. `core` are the disks of the
/// replicas that run, reach each other and may vote.
#[must_use]
pub fn undecidable(core: &[DiskFacts], replica_count: u8, quorums: Quorums) -> Option<Stall> {
    let have = u8::try_from(core.len()).unwrap_or(u8::MAX);
    if have < quorums.view_change {
        return Some(Stall::TooFewVoters {
            have,
            need: quorums.view_change,
        });
    }
    let trusted = core.iter().filter(|disk| disk.trusted).count();
    let trusted = u8::try_from(trusted).unwrap_or(u8::MAX);
    if trusted < quorums.view_change {
        // With the answers of all, the longest log is taken.
        return (have < replica_count).then_some(Stall::TooFewTrusted {
            have: trusted,
            need: quorums.view_change,
        });
    }
    let log = Log::of(core);
    let outside = replica_count.saturating_sub(have);
    let mut head = log.head;
    for op in (log.commit_max.0 + 1..=log.head.0).map(Op) {
        let identity = log.identity(op);
        let (may_have, never) = split(core, op, identity);
        if may_have.count() + outside < quorums.replication {
            head = op.previous();
            break;
        }
        if !core.iter().any(|disk| disk.holds(op, identity)) {
            return Some(Stall::Undecidable {
                op,
                may_have,
                never,
                outside,
                need: quorums.replication,
            });
        }
    }
    let floor = core.iter().map(|disk| disk.checkpoint).max();
    (floor.unwrap_or_default().0 + 1..=head.0)
        .map(Op)
        .find(|&op| {
            let identity = log.identity(op);
            !core.iter().any(|disk| disk.holds(op, identity))
        })
        .map(|op| Stall::BodyLost { op })
}

/// Who may have acknowledged an op, and who has not.
fn split(core: &[DiskFacts], op: Op, identity: Option<Checksum>) -> (Replicas, Replicas) {
    let may = |disk: &&DiskFacts| disk.may_have_acked(op, identity);
    let may_have: Replicas = core.iter().filter(may).map(|disk| disk.replica).collect();
    let all: Replicas = core.iter().map(|disk| disk.replica).collect();
    (may_have, all.without(may_have))
}

/// The log that the core's disks speak for: that of the highest log_view.
struct Log {
    commit_max: Op,
    head: Op,
    /// Identities from op 1 to the head, found from the head down along vouched headers and parents.
    identities: Vec<Option<Checksum>>,
}

impl Log {
    fn of(core: &[DiskFacts]) -> Self {
        let log_view = core.iter().map(|disk| disk.log_view).max();
        let canonical: Vec<&DiskFacts> = core
            .iter()
            .filter(|disk| Some(disk.log_view) == log_view)
            .collect();
        let commit_max = core.iter().map(|disk| disk.commit_max).max();
        let commit_max = commit_max.unwrap_or_default();
        let heads = canonical.iter().map(|disk| disk.head);
        let head = heads.max().unwrap_or_default().max(commit_max);
        let length = usize::try_from(head.0).expect("a log that a disk holds fits memory");
        let mut identities = vec![None; length];
        let mut parent = None;
        for op in (1..=head.0).rev().map(Op) {
            let vouched = canonical
                .iter()
                .find_map(|disk| disk.fact(op).and_then(|fact| fact.vouched));
            let identity = vouched.map(|(checksum, _)| checksum).or(parent);
            identities[Self::place(op)] = identity;
            parent = vouched
                .map(|(_, parent)| parent)
                .or_else(|| parent_of(core, op, identity));
        }
        Self {
            commit_max,
            head,
            identities,
        }
    }

    fn place(op: Op) -> usize {
        usize::try_from(op.0 - 1).expect("a log that a disk holds fits memory")
    }

    fn identity(&self, op: Op) -> Option<Checksum> {
        self.identities.get(Self::place(op)).copied().flatten()
    }
}

/// The parent that any copy of an entry names.
fn parent_of(core: &[DiskFacts], op: Op, identity: Option<Checksum>) -> Option<Checksum> {
    core.iter().find_map(|disk| match disk.slot(op) {
        Slot::Body { checksum, parent } if Some(checksum) == identity => Some(parent),
        Slot::Body { .. } | Slot::Damaged | Slot::Empty | Slot::HeaderOnly(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with one letter an op: `b` body and vouched, `o` body of another view not vouched, `h`
    /// header only and vouched, `x` damaged, `v` damaged and vouched, `.` empty.
    fn disk(replica: u8, log_view: u32, commit_max: u64, slots: &str) -> DiskFacts {
        let slots: Vec<SlotFact> = (1_u64..)
            .zip(slots.chars())
            .map(|(op, letter)| {
                let (own, parent) = (Checksum(op), Checksum(op - 1));
                let other = Checksum(op + 1_000);
                let slot = match letter {
                    'b' => Slot::Body {
                        checksum: own,
                        parent,
                    },
                    'o' => Slot::Body {
                        checksum: other,
                        parent,
                    },
                    'h' => Slot::HeaderOnly(own),
                    'x' | 'v' => Slot::Damaged,
                    _ => Slot::Empty,
                };
                let vouched = "bhv".contains(letter).then_some((own, parent));
                SlotFact {
                    op: Op(op),
                    vouched,
                    slot,
                }
            })
            .collect();
        DiskFacts {
            trusted: true,
            replica: ReplicaId(replica),
            log_view: View(log_view),
            commit_max: Op(commit_max),
            checkpoint: Op(0),
            head: Op(slots.len() as u64),
            slots,
        }
    }

    fn judge(core: &[DiskFacts], replica_count: u8) -> Option<Stall> {
        undecidable(core, replica_count, Quorums::of(replica_count))
    }

    fn op_of(stall: Option<Stall>) -> Option<u64> {
        match stall? {
            Stall::Undecidable { op, .. } | Stall::BodyLost { op } => Some(op.0),
            Stall::TooFewVoters { .. } | Stall::TooFewTrusted { .. } => None,
        }
    }

    #[test]
    fn too_few_that_forgot_nothing_decide_only_where_all_can_be_asked() {
        let mut core = vec![disk(0, 0, 1, "b"), disk(1, 0, 1, "b")];
        core[0].trusted = false;
        let stall = Stall::TooFewTrusted { have: 1, need: 2 };
        assert_eq!(judge(&core, 3), Some(stall));
        core.push(disk(2, 0, 1, "b"));
        assert_eq!(judge(&core, 3), None, "two of three forgot nothing");
        core[1].trusted = false;
        assert_eq!(judge(&core, 3), None, "all can be asked");
    }

    #[test]
    fn healthy_disks_decide() {
        let core = [
            disk(0, 0, 2, "bbb"),
            disk(1, 0, 1, "bb"),
            disk(2, 0, 1, "b"),
        ];
        assert_eq!(judge(&core, 3), None);
        assert_eq!(judge(&core[..2], 3), None);
    }

    #[test]
    fn too_few_voters_are_an_excuse() {
        let stall = judge(&[disk(0, 0, 0, "b")], 3).expect("one of three cannot vote a view in");
        assert_eq!(stall.to_string(), "1 replicas can vote, and a view takes 2");
    }

    #[test]
    fn rot_is_not_absence() {
        // A21: ops 2 and 3 acked by 0 and 1, 1's op 2 rots, 0 is gone.
        let core = [disk(1, 0, 1, "bvb"), disk(2, 0, 1, "b")];
        let stall = judge(&core, 3).expect("op 2 cannot be decided");
        assert_eq!(
            stall.to_string(),
            "op 2 may have been committed: 1 may have acknowledged it, 1 outside cannot be asked, 2 never journaled it, 2 make a commit, and nobody here has its body"
        );
        let healed = [disk(0, 0, 1, "bbb"), core[0].clone(), core[1].clone()];
        assert_eq!(judge(&healed, 3), None);
    }

    #[test]
    fn two_of_three_rotten_is_undecidable() {
        let core = [
            disk(0, 0, 1, "b"),
            disk(1, 1, 1, "bvb"),
            disk(2, 1, 1, "bvb"),
        ];
        assert_eq!(op_of(judge(&core, 3)), Some(2));
    }

    #[test]
    fn a_body_that_was_provably_never_journaled_is_let_go() {
        // A8: header known on 1, body nowhere, 0 gone.
        let core = [disk(1, 0, 1, "bh"), disk(2, 0, 1, "b")];
        assert_eq!(judge(&core, 3), None);
    }

    #[test]
    fn a_committed_op_without_a_body_is_lost() {
        let core = [disk(0, 0, 3, "bhb"), disk(1, 0, 3, "b")];
        assert_eq!(judge(&core, 3), Some(Stall::BodyLost { op: Op(2) }));
        let mut restored = core.clone();
        restored[1].checkpoint = Op(2);
        assert_eq!(judge(&restored, 3), None);
    }

    #[test]
    fn the_highest_log_view_speaks_and_an_older_body_is_no_copy() {
        let core = [
            disk(0, 0, 1, "bo"),
            disk(1, 2, 1, "bv"),
            disk(2, 2, 1, "bh"),
        ];
        // Only 1 may have acknowledged op 2 of view 2: it can be let go.
        assert_eq!(judge(&core, 3), None);
        let core = [
            disk(1, 2, 1, "bv"),
            disk(2, 2, 1, "bv"),
            disk(0, 0, 1, "bo"),
        ];
        assert_eq!(op_of(judge(&core, 3)), Some(2));
    }

    #[test]
    fn an_identity_is_found_by_the_parent_of_the_entry_above() {
        let core = [
            disk(0, 0, 0, ".bb"),
            disk(1, 0, 0, "xbb"),
            disk(2, 0, 0, "..."),
        ];
        assert_eq!(judge(&core, 3), None, "op 1 was acked by 1 at most");
        let core = [disk(0, 0, 0, "xbb"), disk(1, 0, 0, "xbb")];
        assert_eq!(op_of(judge(&core, 3)), Some(1));
    }

    #[test]
    fn counting_acks_gives_what_counting_nacks_gives_in_every_size() {
        for n in 1..=9_u8 {
            let quorums = Quorums::of(n);
            for never in 0..=n {
                let may_have = n - never;
                assert_eq!(
                    may_have < quorums.replication,
                    never >= quorums.nack,
                    "{never} of {n} never had it"
                );
            }
        }
    }
}
