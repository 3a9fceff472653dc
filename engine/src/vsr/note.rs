//! Everything a replica tells about what it decided, refused and did, with the operands of the
//! decision. Pure data: must never know the words for it.

use std::rc::Rc;

use crate::ids::{Checksum, ClientId, Incarnation, Op, ReplicaId, RequestNumber, View};
use crate::vsr::host_note::HostNote;
use crate::vsr::io::Timer;
use crate::vsr::message::{Header, MessageKind, Prepare, Rejection, Vote};
use crate::vsr::mutation::Mutation;
pub use crate::vsr::reason::{
    EnterCause, Ignored, LeaveCause, MergeOutcome, RequestDropped, TransferCause, TransferEnd,
};
pub use crate::vsr::state_note::StateNote;

/// Everything a replica tells about itself. Each carries the operands of the decision, so that no
/// reader has to guess. Replica and group are added by the shell.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A message was ignored.
    MessageIgnored {
        /// Its type.
        kind: MessageKind,
        /// The sender, where it is a replica.
        from: Option<ReplicaId>,
        /// Why.
        reason: Ignored,
    },
    /// A client's request was not prepared.
    RequestDropped {
        /// Who asked.
        client: ClientId,
        /// Its number.
        request: RequestNumber,
        /// Why.
        reason: RequestDropped,
    },
    /// A client's request was refused for good.
    RequestRejected {
        /// Who asked.
        client: ClientId,
        /// Its number.
        request: RequestNumber,
        /// Why.
        rejection: Rejection,
    },
    /// A duplicate got its cached reply.
    ReplyRepeated {
        /// Who asked.
        client: ClientId,
        /// Its number.
        request: RequestNumber,
        /// Where it was executed.
        op: Op,
    },
    /// The primary gave a request its place in the log.
    Prepared {
        /// The place.
        op: Op,
        /// Identity.
        checksum: Checksum,
        /// Who asked.
        client: ClientId,
    },
    /// A backup appended a prepare.
    Appended {
        /// The op.
        op: Op,
        /// Identity.
        checksum: Checksum,
    },
    /// A known header got its body.
    Filled {
        /// The op.
        op: Op,
        /// Identity.
        checksum: Checksum,
        /// By repair, or by a resent prepare.
        repair: bool,
    },
    /// A prepare is durable in both rings.
    Journaled {
        /// The op.
        op: Op,
        /// Identity.
        checksum: Checksum,
    },
    /// An ack left.
    Acked {
        /// The op.
        op: Op,
        /// Identity.
        checksum: Checksum,
        /// Journaled acks only promise what the disk holds; the checkpoint may contain the op.
        to: ReplicaId,
    },
    /// The primary counted an ack.
    AckCounted {
        /// The op.
        op: Op,
        /// The sender.
        from: ReplicaId,
        /// Holders so far.
        have: u8,
        /// Holders it takes.
        need: u8,
    },
    /// The primary's commit point moved: a quorum holds every op up to here.
    CommitAdvanced {
        /// The new commit point.
        commit_max: Op,
    },
    /// An op was executed here.
    Executed {
        /// The entry.
        prepare: Rc<Prepare>,
        /// Whether it had an effect: its session was alive and the request new.
        effect: bool,
        /// Digest of machine, sessions and replies afterwards.
        digest: Checksum,
    },
    /// A vote to leave a view was cast.
    LeaveVoted {
        /// The view to leave.
        view: View,
        /// Why.
        cause: LeaveCause,
    },
    /// Own vote was withdrawn: the primary was heard.
    VoteWithdrawn {
        /// The view that stays.
        view: View,
    },
    /// Votes to leave, counted.
    LeaveCounted {
        /// The view to leave.
        view: View,
        /// The sender.
        from: ReplicaId,
        /// Votes so far.
        have: u8,
        /// Votes it takes.
        need: u8,
    },
    /// A view change began here.
    ViewEntered {
        /// The view left.
        from: View,
        /// The view entered.
        view: View,
        /// By votes, or pulled.
        cause: EnterCause,
    },
    /// The primary-elect looked at the logs it was brought.
    Merged {
        /// The view.
        view: View,
        /// What came of it.
        outcome: MergeOutcome,
    },
    /// What the merge did with one op above the commit point.
    OpDecided {
        /// The op.
        op: Op,
        /// Kept, or the log ends before it.
        kept: bool,
        /// Copies seen.
        copies: u8,
        /// Nacks seen.
        nacks: u8,
        /// What this replica itself said.
        own: Vote,
    },
    /// A view's log is chosen and durable at its primary, which announces it.
    ViewStarted {
        /// The view.
        view: View,
        /// Head of its log.
        head: Op,
        /// Largest op known committed.
        commit_max: Op,
        /// Headers `commit_max ..= head`.
        suffix: Rc<[Rc<Header>]>,
    },
    /// This replica takes part in the view from now on.
    BecameNormal {
        /// The view.
        view: View,
        /// Head of its log.
        head: Op,
        /// Whether it leads.
        primary: bool,
    },
    /// A backup adopted a StartView.
    LogAdopted {
        /// The view.
        view: View,
        /// The head it had.
        head_before: Op,
        /// The head it has.
        head: Op,
    },
    /// An entry was dropped: the adopted log contradicts it or ends before it.
    EntryDropped {
        /// The op.
        op: Op,
        /// The identity dropped.
        checksum: Checksum,
        /// The view it had been prepared in.
        view: View,
    },
    /// Proof reached further down: these entries link to the head.
    Proven {
        /// The lowest op that links to the head.
        from: Op,
    },
    /// Asked who leads.
    Probed {
        /// Our view.
        view: View,
        /// Unanswered attempts before this one.
        attempts: u32,
    },
    /// Answered who leads.
    ProbeAnswered {
        /// The asker.
        to: ReplicaId,
        /// The head sent.
        head: Op,
    },
    /// Bodies were asked for.
    RepairRequested {
        /// The peer.
        to: ReplicaId,
        /// First op.
        from: Op,
        /// Last op.
        through: Op,
    },
    /// Bodies are served.
    RepairServed {
        /// The asker.
        to: ReplicaId,
        /// First op.
        from: Op,
        /// Last op.
        through: Op,
        /// How many of them are held.
        held: u32,
    },
    /// The primary stopped its heartbeats, since nothing commits.
    Abdicated {
        /// Its view.
        view: View,
        /// The op that waits.
        op: Op,
    },
    /// The superblock is durable.
    SuperblockDurable {
        /// Its view.
        view: View,
        /// Its log_view.
        log_view: View,
        /// Its commit_max.
        commit_max: Op,
        /// Its head.
        head: Op,
    },
    /// Booted from disk.
    Booted {
        /// This life.
        incarnation: Incarnation,
        /// The durable view.
        view: View,
        /// The durable log_view.
        log_view: View,
        /// The head found.
        head: Op,
        /// Entries found that nothing vouches for yet.
        unproven: u32,
    },
    /// A client's session was opened.
    SessionOpened {
        /// Whose.
        client: ClientId,
        /// Its epoch.
        session: Op,
    },
    /// A session was dropped, since the table was full.
    SessionEvicted {
        /// Whose.
        client: ClientId,
        /// Its epoch.
        session: Op,
    },
    /// A timer ran out and something followed.
    TimerFired {
        /// Which.
        timer: Timer,
    },
    /// An internal rule did not hold: violation I0. The replica halts.
    RuleBroken {
        /// The rule, in words.
        rule: &'static str,
        /// The op it is about; zero where none.
        op: Op,
    },
    /// A rule that is off would have decided otherwise here.
    Mutated {
        /// Which.
        mutation: Mutation,
    },
    /// Something about checkpoints, or about states on their way between replicas.
    State(StateNote),
    /// We are the next primary and pass our turn, a checkpoint behind.
    Forfeited {
        /// The view that somebody else should have.
        view: View,
        /// How far we have everything.
        ours: Op,
        /// The checkpoint that somebody has.
        theirs: Op,
        /// Who.
        by: ReplicaId,
    },
    /// The group comes, goes, or is spoken to while it is not hosted.
    Hosting(HostNote),
    /// Restarted in a group that acknowledges from memory, it has the whole log of a started view:
    /// its nacks count again.
    TrustRegained {
        /// The head of that log.
        head: Op,
    },
}
