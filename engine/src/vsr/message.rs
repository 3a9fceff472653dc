//! What replicas and clients say to each other, and what stands in a log. Pure data: must never know
//! who handles it or how it travels.

use std::rc::Rc;

use serde::Serialize;

use crate::digest::{checksum_bytes, mix};
use crate::ids::{Checksum, ClientId, GroupId, Incarnation, Op, Process, RequestNumber, View};
pub use crate::vsr::kind::MessageKind;
use crate::vsr::snapshot::StateTarget;

/// What a log entry asks of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Operation {
    /// The root before op 1; never sent.
    Root = 0,
    /// Opens a session; its op is the session epoch (protocol section 8).
    Register = 1,
    /// An operation of the group's state machine; the body says which.
    Machine = 2,
}

/// The header of a prepare. It never changes once sealed: the sender's own view travels in the
/// frame, so nothing is ever re-stamped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Header {
    /// The group whose log it stands in.
    pub group: GroupId,
    /// Its position there.
    pub op: Op,
    /// Identity of the op before it: the hash chain.
    pub parent: Checksum,
    /// The view in which it was prepared.
    pub view: View,
    /// The primary's `commit_max` when it prepared this op.
    pub commit: Op,
    /// Virtual time at the primary, in microseconds; strictly rising along the log.
    pub timestamp_micros: u64,
    /// Who asked.
    pub client: ClientId,
    /// The session epoch the client asked under; zero for a register.
    pub session: Op,
    /// The client's number for the request; zero for a register.
    pub request: RequestNumber,
    /// What is asked.
    pub operation: Operation,
    /// Checksum of the body.
    pub body_checksum: Checksum,
    /// Its identity: the checksum of all of the above.
    pub checksum: Checksum,
}

impl Header {
    /// Fills in the identity.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.checksum = self.identity();
        self
    }

    /// The identity computed anew; differs from `checksum` only if the header is damaged.
    #[must_use]
    pub fn identity(&self) -> Checksum {
        let words = [
            self.group.0,
            self.op.0,
            self.parent.0,
            u64::from(self.view.0),
            self.commit.0,
            self.timestamp_micros,
            u64::from(self.client.0),
            self.session.0,
            self.request.0,
            self.operation as u64,
            self.body_checksum.0,
        ];
        Checksum(
            words
                .iter()
                .fold(0x5653_5248, |hash, &word| mix(hash, word)),
        )
    }

    /// The root of a group's log: op 0, the same on every replica.
    #[must_use]
    pub fn root(group: GroupId) -> Self {
        Self {
            group,
            op: Op(0),
            parent: Checksum(0),
            view: View(0),
            commit: Op(0),
            timestamp_micros: 0,
            client: ClientId(0),
            session: Op(0),
            request: RequestNumber(0),
            operation: Operation::Root,
            body_checksum: checksum_bytes(&[]),
            checksum: Checksum(0),
        }
        .sealed()
    }
}

/// A log entry: header and body. Shared, never copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Prepare {
    /// The header.
    pub header: Rc<Header>,
    /// The body, opaque here; the state machine reads it.
    pub body: Rc<[u8]>,
}

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asks.
    pub client: ClientId,
    /// Under which session; zero to register.
    pub session: Op,
    /// The client's number for it; zero to register.
    pub request: RequestNumber,
    /// Register or machine.
    pub operation: Operation,
    /// Checksum of the body.
    pub body_checksum: Checksum,
    /// The body.
    pub body: Rc<[u8]>,
}

/// The answer to a committed request, equal on every replica.
#[derive(Debug, PartialEq, Eq)]
pub struct Reply {
    /// Who asked.
    pub client: ClientId,
    /// The session epoch; for a register the new one.
    pub session: Op,
    /// The client's number.
    pub request: RequestNumber,
    /// Where it stands in the log.
    pub op: Op,
    /// Identity of that entry.
    pub checksum: Checksum,
    /// The state machine's answer, opaque here.
    pub result: Rc<[u8]>,
}

/// Why a client's request is turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rejection {
    /// No session for this client, or it was evicted.
    NoSession,
    /// A newer session of the same client exists.
    SessionTooOld,
    /// Older than the replies that are kept.
    RequestTooOld,
    /// The number was used before, for another body.
    NumberReused,
}

/// What a voter says of one op in a [`DoViewChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// The body is held.
    Present,
    /// The slot is readable and this body was never journaled.
    Nack,
    /// Neither can be said.
    Abstain,
}

/// One op of a [`DoViewChange`], in ascending order of op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DvcEntry {
    /// The position.
    pub op: Op,
    /// The header, where one is known.
    pub header: Option<Rc<Header>>,
    /// What is said of it.
    pub vote: Vote,
}

/// The log that a replica brings to a view change (protocol section 5).
#[derive(Debug, PartialEq, Eq)]
pub struct DoViewChange {
    /// The last view whose log this replica installed.
    pub log_view: View,
    /// The largest op known committed.
    pub commit_max: Op,
    /// The head of its log.
    pub head: Op,
    /// `commit_max + 1 ..= head`, and the entry at `commit_max` itself where a header is known.
    pub entries: Vec<DvcEntry>,
    /// Damage may hide entries above `head`.
    pub uncertain: bool,
    /// What it lacks it never acknowledged; otherwise its nacks count for nothing (protocol section 9).
    pub trusted: bool,
    /// The newest checkpoint whose state this replica has.
    pub checkpoint: Op,
}

/// The log of a view that has started.
#[derive(Debug, PartialEq, Eq)]
pub struct StartView {
    /// The largest op known committed.
    pub commit_max: Op,
    /// Headers `commit_max ..= head`, linked; the first may be missing only where it is the root.
    pub suffix: Vec<Rc<Header>>,
    /// The incarnation of the asker it answers; zero where nobody asked.
    pub answers: Incarnation,
    /// The newest checkpoint whose state the sender has.
    pub checkpoint: Op,
}

impl StartView {
    /// The head it announces.
    #[must_use]
    pub fn head(&self) -> Op {
        self.suffix
            .last()
            .map_or(self.commit_max, |header| header.op)
    }

    fn fold(&self, hash: u64) -> u64 {
        let head = [
            self.commit_max.0,
            u64::from(self.answers.0),
            self.checkpoint.0,
        ];
        let suffix = self.suffix.iter().map(|header| header.checksum.0);
        head.into_iter().chain(suffix).fold(hash, mix)
    }
}

/// Everything that travels. Names are the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A client asks.
    Request(Rc<Request>),
    /// The primary offers an op; `commit_max` is what it knows committed now.
    Prepare {
        /// The entry.
        prepare: Rc<Prepare>,
        /// The sender's `commit_max`.
        commit_max: Op,
    },
    /// A backup holds an op, and every op before it that matters, durably.
    PrepareOk {
        /// The op.
        op: Op,
        /// Its identity.
        checksum: Checksum,
    },
    /// The answer to a client.
    Reply(Rc<Reply>),
    /// A refusal to a client.
    Eviction {
        /// The session it was asked under.
        session: Op,
        /// The request it was.
        request: RequestNumber,
        /// Why.
        rejection: Rejection,
    },
    /// The primary's heartbeat.
    Commit {
        /// The sender's `commit_max`.
        commit_max: Op,
    },
    /// A vote to leave the frame's view.
    StartViewChange,
    /// The log brought to the frame's view.
    DoViewChange(Rc<DoViewChange>),
    /// The log of the frame's view.
    StartView(Rc<StartView>),
    /// Asks who leads and with which log. `recovering`: the asker restarted and has not voted yet.
    RequestStartView {
        /// Whether the asker is recovering.
        recovering: bool,
    },
    /// Asks for the bodies of `from ..= to`.
    RequestPrepares {
        /// First op wanted.
        from: Op,
        /// Last op wanted.
        to: Op,
    },
    /// A stored prepare, as asked.
    RepairPrepare {
        /// The entry.
        prepare: Rc<Prepare>,
    },
    /// The end of an answer to `RequestPrepares`.
    RepairDone {
        /// First op asked for.
        from: Op,
        /// Last op served or skipped; the asker goes on after it.
        through: Op,
        /// The sender's checkpoint, where the first op asked for can be had only with it: it has left
        /// the ring.
        evicted: Option<Op>,
    },
    /// Asks for the state of a checkpoint.
    RequestStateTransfer {
        /// The lowest checkpoint that would do.
        wanted: Op,
        /// The snapshot of which parts have come already.
        pinned: Option<Checksum>,
    },
    /// Offers the state of a checkpoint, which the sender keeps for the asker.
    StateTransferTarget(Rc<StateTarget>),
    /// Asks for parts of a state.
    RequestStateChunk {
        /// The snapshot.
        snapshot: Checksum,
        /// Length of a part.
        chunk_bytes: u32,
        /// The first part wanted.
        first: u32,
        /// How many.
        count: u32,
    },
    /// A part of a state.
    StateChunk {
        /// The snapshot.
        snapshot: Checksum,
        /// Which part.
        index: u32,
        /// The part.
        bytes: Rc<[u8]>,
    },
}

impl Message {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::Request(_) => MessageKind::Request,
            Self::Prepare { .. } => MessageKind::Prepare,
            Self::PrepareOk { .. } => MessageKind::PrepareOk,
            Self::Reply(_) => MessageKind::Reply,
            Self::Eviction { .. } => MessageKind::Eviction,
            Self::Commit { .. } => MessageKind::Commit,
            Self::StartViewChange => MessageKind::StartViewChange,
            Self::DoViewChange(_) => MessageKind::DoViewChange,
            Self::StartView(_) => MessageKind::StartView,
            Self::RequestStartView { .. } => MessageKind::RequestStartView,
            Self::RequestPrepares { .. } => MessageKind::RequestPrepares,
            Self::RepairPrepare { .. } => MessageKind::RepairPrepare,
            Self::RepairDone { .. } => MessageKind::RepairDone,
            Self::RequestStateTransfer { .. } => MessageKind::RequestStateTransfer,
            Self::StateTransferTarget(_) => MessageKind::StateTransferTarget,
            Self::RequestStateChunk { .. } => MessageKind::RequestStateChunk,
            Self::StateChunk { .. } => MessageKind::StateChunk,
        }
    }

    /// The op it is about, where it is about one.
    #[must_use]
    pub fn op(&self) -> Option<Op> {
        match self {
            Self::Prepare { prepare, .. } | Self::RepairPrepare { prepare } => {
                Some(prepare.header.op)
            }
            Self::PrepareOk { op, .. } => Some(*op),
            Self::Reply(reply) => Some(reply.op),
            Self::Commit { commit_max } => Some(*commit_max),
            Self::DoViewChange(dvc) => Some(dvc.head),
            Self::StartView(start) => Some(start.head()),
            Self::RequestPrepares { from, .. } => Some(*from),
            Self::RepairDone { through, .. } => Some(*through),
            Self::RequestStateTransfer { wanted, .. } => Some(*wanted),
            Self::StateTransferTarget(target) => Some(target.op()),
            Self::Request(_)
            | Self::Eviction { .. }
            | Self::StartViewChange
            | Self::RequestStartView { .. }
            | Self::RequestStateChunk { .. }
            | Self::StateChunk { .. } => None,
        }
    }

    /// The end of an answer to a request for bodies: where the first one asked for was not to be had
    /// and a checkpoint contains it, the asker is told to fetch that.
    #[must_use]
    pub fn repair_done(from: Op, through: Op, checkpoint: Op, has_first: bool) -> Self {
        Self::RepairDone {
            from,
            through,
            evicted: (!has_first && from <= checkpoint).then_some(checkpoint),
        }
    }

    fn fold(&self, hash: u64) -> u64 {
        let hash = mix(hash, self.kind() as u64);
        match self {
            Self::Request(request) => [
                u64::from(request.client.0),
                request.session.0,
                request.request.0,
                request.operation as u64,
                request.body_checksum.0,
            ]
            .iter()
            .fold(hash, |hash, &word| mix(hash, word)),
            Self::Prepare {
                prepare,
                commit_max,
            } => mix(mix(hash, prepare.header.checksum.0), commit_max.0),
            Self::PrepareOk { op, checksum } => mix(mix(hash, op.0), checksum.0),
            Self::Reply(reply) => mix(
                mix(mix(hash, reply.checksum.0), reply.session.0),
                checksum_bytes(&reply.result).0,
            ),
            Self::Eviction {
                session,
                request,
                rejection,
            } => mix(mix(mix(hash, session.0), request.0), *rejection as u64),
            Self::Commit { commit_max } => mix(hash, commit_max.0),
            Self::StartViewChange => hash,
            Self::DoViewChange(dvc) => dvc.fold(hash),
            Self::StartView(start) => start.fold(hash),
            Self::RequestStartView { recovering } => mix(hash, u64::from(*recovering)),
            Self::RequestPrepares { from, to } => mix(mix(hash, from.0), to.0),
            Self::RepairPrepare { prepare } => mix(hash, prepare.header.checksum.0),
            Self::RepairDone {
                from,
                through,
                evicted,
            } => mix(
                mix(mix(hash, from.0), through.0),
                evicted.map_or(0, |op| op.0),
            ),
            Self::RequestStateTransfer { wanted, pinned } => {
                mix(mix(hash, wanted.0), pinned.unwrap_or_default().0)
            }
            Self::StateTransferTarget(target) => mix(hash, target.fold().0),
            Self::RequestStateChunk {
                snapshot,
                chunk_bytes,
                first,
                count,
            } => [
                snapshot.0,
                u64::from(*chunk_bytes),
                u64::from(*first),
                u64::from(*count),
            ]
            .iter()
            .fold(hash, |hash, &word| mix(hash, word)),
            Self::StateChunk {
                snapshot,
                index,
                bytes,
            } => mix(
                mix(mix(hash, snapshot.0), u64::from(*index)),
                checksum_bytes(bytes).0,
            ),
        }
    }
}

impl DoViewChange {
    fn fold(&self, hash: u64) -> u64 {
        let head = [
            u64::from(self.log_view.0),
            self.commit_max.0,
            self.head.0,
            u64::from(self.uncertain) | u64::from(!self.trusted) << 1,
            self.checkpoint.0,
        ];
        let hash = head.iter().fold(hash, |hash, &word| mix(hash, word));
        self.entries.iter().fold(hash, |hash, entry| {
            let identity = entry.header.as_ref().map_or(0, |header| header.checksum.0);
            mix(mix(mix(hash, entry.op.0), identity), entry.vote as u64)
        })
    }
}

/// A message under way: who says it to whom, in which group, and in which view and life of the
/// sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The group it belongs to. A frame of a dead group cannot be taken for a new one's.
    pub group: GroupId,
    /// The sender.
    pub from: Process,
    /// The receiver.
    pub to: Process,
    /// The sender's view; zero from clients.
    pub view: View,
    /// The sender's life; zero from clients.
    pub incarnation: Incarnation,
    /// What is said.
    pub message: Message,
}

impl Frame {
    /// The checksum that a delivery folds into the run hash.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        let envelope = [
            self.group.0,
            u64::from(self.from.index()),
            u64::from(self.to.index()),
            u64::from(self.view.0),
            u64::from(self.incarnation.0),
        ];
        let hash = envelope.iter().fold(0, |hash, &word| mix(hash, word));
        Checksum(self.message.fold(hash))
    }
}
