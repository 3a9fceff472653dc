//! One replica's part in one group: its state, the dispatch of inputs, and what is durable of it
//! (protocol section 2). The phases of the protocol are in the files beside this one. Must never
//! know how an effect is performed.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::digest::mix;
use crate::ids::{Checksum, GroupId, Incarnation, Op, Process, ReplicaId, View};
use crate::prng::Rng;
use crate::vsr::checkpoint::Snapshots;
use crate::vsr::commit::AcksOwed;
use crate::vsr::io::{Checkpoint, Effect, Input, StateMachine, Status, Superblock, Timer};
use crate::vsr::knobs::Knobs;
use crate::vsr::log::{Dropped, Log};
use crate::vsr::message::{DoViewChange, Frame, Message, MessageKind};
use crate::vsr::mutation::{Mutation, Mutations, Rules};
use crate::vsr::note::{Ignored, Note, StateNote};
use crate::vsr::quorum::Quorums;
use crate::vsr::repair::Repair;
pub use crate::vsr::replica_set::ReplicaSet;
use crate::vsr::sessions::Sessions;
use crate::vsr::state_server::StateServer;
use crate::vsr::state_transfer::Transfer;
use crate::vsr::timeout::Timers;
use crate::vsr::view_change::LeaveVotes;

/// Whose part it is: checked at boot and on every frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roster {
    /// This replica.
    pub replica: ReplicaId,
    /// Of how many.
    pub replica_count: u8,
    /// In which group.
    pub group: GroupId,
}

/// What a handler may use besides the state: time, the state machine, and where effects go.
pub struct Context<'a> {
    /// Virtual time at this replica, in microseconds.
    pub now_micros: u64,
    /// The group's state machine.
    pub machine: &'a mut dyn StateMachine,
    /// Effects, in order.
    pub effects: &'a mut Vec<Effect>,
}

impl Context<'_> {
    pub(super) fn note(&mut self, note: Note) {
        self.effects.push(Effect::Note(note));
    }

    pub(super) fn note_state(&mut self, note: StateNote) {
        self.note(Note::State(note));
    }
}

/// One replica's part in one group.
pub struct Replica {
    pub(super) roster: Roster,
    pub(super) quorums: Quorums,
    pub(super) knobs: Knobs,
    pub(super) mutations: Mutations,
    pub(super) incarnation: Incarnation,
    pub(super) status: Status,
    pub(super) view: View,
    pub(super) log_view: View,
    pub(super) commit_min: Op,
    pub(super) commit_max: Op,
    /// The newest checkpoint whose snapshot is on disk; the durable superblock may still name an
    /// older one.
    pub(super) checkpoint: Checkpoint,
    /// The checkpoint that the state was loaded from in this life.
    pub(super) restored: Op,
    pub(super) log: Log,
    pub(super) sessions: Sessions,
    pub(super) timers: Timers,
    pub(super) jitter: Rng,

    pub(super) durable: Rc<Superblock>,
    writing: Option<Rc<Superblock>>,
    is_stale: bool,

    pub(super) leave: LeaveVotes,
    pub(super) has_voted: bool,
    pub(super) failed_views: u32,
    pub(super) brought: Vec<Option<(Incarnation, Rc<DoViewChange>)>>,
    pub(super) is_chosen: bool,
    pub(super) is_announced: bool,
    pub(super) probe_attempts: u32,
    /// Damage may hide entries above the head, until another log is installed.
    pub(super) is_head_uncertain: bool,
    pub(super) behind_of: Op,
    pub(super) asked_newer: Option<u64>,

    /// Holders of each op above `commit_max`, at the primary.
    pub(super) acks: VecDeque<ReplicaSet>,
    /// What to ack once an adopted StartView is durable.
    pub(super) acks_owed: Option<AcksOwed>,
    /// The op up to which everything above the durable head is safe to acknowledge.
    pub(super) safe_through: Op,
    /// Whether what it lacks was never acknowledged by it: not so after a restart in a group that
    /// acknowledges from memory, until it has a started view's log.
    pub(super) is_trusted: bool,
    pub(super) resend_attempts: u32,
    pub(super) has_abdicated: bool,
    pub(super) normal_since: u64,

    pub(super) repair: Repair,
    pub(super) snapshots: Snapshots,
    pub(super) transfer: Transfer,
    pub(super) state_server: StateServer,
    is_halted: bool,
}

impl Replica {
    /// A replica whose disk holds `superblock` and nothing else is known yet.
    pub(super) fn new(roster: Roster, rules: Rules, superblock: Superblock, jitter: Rng) -> Self {
        let Rules { knobs, mutations } = rules;
        let count = usize::from(roster.replica_count);
        Self {
            roster,
            quorums: Quorums::of(roster.replica_count),
            incarnation: superblock.incarnation,
            status: Status::Recovering,
            view: superblock.view,
            log_view: superblock.log_view,
            commit_min: superblock.checkpoint.op(),
            commit_max: superblock.commit_max,
            checkpoint: superblock.checkpoint.clone(),
            restored: superblock.checkpoint.op(),
            log: Log::above(Rc::clone(&superblock.checkpoint.header)),
            sessions: Sessions::new(knobs.sessions_max),
            timers: Timers::default(),
            jitter,
            writing: None,
            is_stale: false,
            leave: LeaveVotes::default(),
            has_voted: false,
            failed_views: 0,
            brought: vec![None; count],
            is_chosen: false,
            is_announced: false,
            probe_attempts: 0,
            is_head_uncertain: false,
            behind_of: Op(0),
            asked_newer: None,
            acks: VecDeque::new(),
            acks_owed: None,
            safe_through: superblock.head(),
            is_trusted: true,
            resend_attempts: 0,
            has_abdicated: false,
            normal_since: 0,
            repair: Repair::default(),
            snapshots: Snapshots::default(),
            transfer: Transfer::default(),
            state_server: StateServer::new(roster.replica_count),
            is_halted: false,
            durable: Rc::new(superblock),
            knobs,
            mutations,
        }
    }

    /// Handles one input to its end. Effects go to the context in the order they must happen.
    pub fn handle(&mut self, input: Input, ctx: &mut Context<'_>) {
        if self.is_halted {
            return;
        }
        match input {
            Input::Tick => {
                if self.timers.tick() {
                    while let Some(timer) = self.timers.take_due() {
                        self.on_timer(timer, ctx);
                    }
                }
            }
            Input::Frame(frame) => self.on_frame(frame, ctx),
            Input::PrepareSynced { op, checksum } => self.on_prepare_synced(op, checksum, ctx),
            Input::SuperblockSynced { sequence } => self.on_superblock_synced(sequence, ctx),
            Input::SnapshotSynced { op, checksum } => self.on_snapshot_synced(op, checksum, ctx),
        }
        self.regain_trust(ctx);
    }

    fn on_timer(&mut self, timer: Timer, ctx: &mut Context<'_>) {
        match timer {
            Timer::Heartbeat => self.on_heartbeat_due(ctx),
            Timer::HeartbeatWait => self.on_primary_silent(ctx),
            Timer::ViewChangeWait => self.on_view_change_too_long(ctx),
            Timer::StartViewChangeResend => self.send_leave_vote(ctx),
            Timer::DoViewChangeResend => self.send_do_view_change(ctx),
            Timer::PrepareResend => self.on_prepare_resend_due(ctx),
            Timer::Abdicate => self.on_abdicate_due(ctx),
            Timer::Probe => self.on_probe_due(ctx),
            Timer::RepairRetry => self.on_repair_retry_due(ctx),
            Timer::StateRetry => self.on_state_retry_due(ctx),
        }
    }

    /// The one table of messages. Identity first: a frame of another group or roster is nobody's.
    fn on_frame(&mut self, frame: Frame, ctx: &mut Context<'_>) {
        let kind = frame.message.kind();
        if frame.group != self.roster.group || frame.to != Process::Replica(self.roster.replica) {
            self.ignore(kind, None, Ignored::Foreign, ctx);
            return;
        }
        let from = match frame.from {
            Process::Client(_) => {
                if let Message::Request(request) = &frame.message {
                    self.on_request(request, ctx);
                } else {
                    self.ignore(kind, None, Ignored::Foreign, ctx);
                }
                return;
            }
            Process::Replica(from) => from,
        };
        if from.0 >= self.roster.replica_count || from == self.roster.replica {
            self.ignore(kind, Some(from), Ignored::Foreign, ctx);
            return;
        }
        let sender = Sender {
            replica: from,
            view: frame.view,
            incarnation: frame.incarnation,
        };
        match frame.message {
            Message::Prepare {
                prepare,
                commit_max,
            } => self.on_prepare(sender, &prepare, commit_max, ctx),
            Message::PrepareOk { op, checksum } => self.on_prepare_ok(sender, op, checksum, ctx),
            Message::Commit { commit_max } => self.on_heartbeat(sender, commit_max, ctx),
            Message::StartViewChange => self.on_start_view_change(sender, ctx),
            Message::DoViewChange(dvc) => self.on_do_view_change(sender, dvc, ctx),
            Message::StartView(start) => self.on_start_view(sender, &start, ctx),
            Message::RequestStartView { recovering } => self.on_probe(sender, recovering, ctx),
            Message::RequestPrepares { from: first, to } => {
                self.on_request_prepares(sender, first, to, ctx);
            }
            Message::RepairPrepare { prepare } => self.on_repair_prepare(sender, &prepare, ctx),
            Message::RepairDone {
                from: first,
                through,
                evicted,
            } => self.on_repair_done(sender, (first, through), evicted, ctx),
            Message::RequestStateTransfer { wanted, pinned } => {
                self.on_request_state_transfer(sender, wanted, pinned, ctx);
            }
            Message::StateTransferTarget(target) => self.on_state_target(sender, target, ctx),
            Message::RequestStateChunk {
                snapshot,
                chunk_bytes,
                first,
                count,
            } => self.on_request_state_chunk(sender, snapshot, (chunk_bytes, first, count), ctx),
            Message::StateChunk {
                snapshot,
                index,
                bytes,
            } => self.on_state_chunk(sender, snapshot, index, bytes, ctx),
            Message::Request(_) | Message::Reply(_) | Message::Eviction { .. } => {
                self.ignore(kind, Some(from), Ignored::Foreign, ctx);
            }
        }
    }

    // What is durable.

    /// Writes (view, log_view, commit_max, suffix) as they are now, in one piece. One write at a
    /// time: what changes meanwhile is written next.
    pub(super) fn write_superblock(&mut self, ctx: &mut Context<'_>) {
        if self.writing.is_some() {
            self.is_stale = true;
            return;
        }
        let superblock = Rc::new(Superblock {
            sequence: self.durable.sequence + 1,
            replica: self.roster.replica,
            replica_count: self.roster.replica_count,
            group: self.roster.group,
            durability: self.durable.durability,
            incarnation: self.incarnation,
            view: self.view,
            log_view: self.log_view,
            commit_max: self.commit_max,
            checkpoint: self.checkpoint.clone(),
            suffix: self.suffix(),
        });
        self.writing = Some(Rc::clone(&superblock));
        self.is_stale = false;
        ctx.effects.push(Effect::WriteSuperblock(superblock));
    }

    /// Makes the log just installed durable before anything is said that depends on it.
    pub(super) fn persist_log_view(&mut self, ctx: &mut Context<'_>) {
        let knows_view_alone = self.durable.view == self.view
            && self.durable.log_view != self.log_view
            && self.durable.incarnation == self.incarnation
            && self.writing.is_none();
        if !knows_view_alone || !self.skips(Mutation::M16, ctx) {
            return self.write_superblock(ctx);
        }
        self.safe_through = self.durable.head();
        self.after_durable(ctx);
    }

    /// Headers `commit_max ..= head` of the log, up to the first hole. Entries beyond a hole carry
    /// the view of this log themselves (protocol section 5).
    pub(super) fn suffix(&self) -> Rc<[Rc<crate::vsr::message::Header>]> {
        let from = self.commit_max.min(self.log.head());
        self.log.headers_from(from).into()
    }

    fn on_superblock_synced(&mut self, sequence: u64, ctx: &mut Context<'_>) {
        let Some(written) = self.writing.take() else {
            return self.break_rule(
                "a superblock finished that was not being written",
                Op(0),
                ctx,
            );
        };
        if written.sequence != sequence {
            return self.break_rule("superblocks finish in order", Op(0), ctx);
        }
        let before = std::mem::replace(&mut self.durable, written);
        self.safe_through = self.durable.head();
        self.advance_safe();
        ctx.note(Note::SuperblockDurable {
            view: self.durable.view,
            log_view: self.durable.log_view,
            commit_max: self.durable.commit_max,
            head: self.durable.head(),
        });
        if before.checkpoint != self.durable.checkpoint {
            self.on_checkpoint_durable(before.checkpoint.op(), ctx);
        }
        if self.is_stale {
            self.write_superblock(ctx);
        }
        self.after_durable(ctx);
    }

    /// Whether the disk holds the (view, log_view) that our next message would speak for.
    pub(super) fn is_durable(&self) -> bool {
        self.durable.view == self.view
            && (self.durable.log_view == self.log_view || self.mutations.contains(Mutation::M16))
            && self.durable.incarnation == self.incarnation
    }

    /// Sends what had to wait for the disk.
    fn after_durable(&mut self, ctx: &mut Context<'_>) {
        if !self.is_durable() {
            return;
        }
        match self.status {
            Status::Normal => self.send_acks_owed(ctx),
            Status::ViewChange if self.is_chosen => self.announce_view(ctx),
            Status::ViewChange => self.send_do_view_change(ctx),
            Status::Recovering | Status::RecoveringHead => self.begin_probing(ctx),
        }
    }

    // Sending.

    /// Sends to every other replica, in the durable or current view as the caller made sure.
    pub(super) fn broadcast(&self, message: &Message, ctx: &mut Context<'_>) {
        for to in (0..self.roster.replica_count).map(ReplicaId) {
            if to != self.roster.replica {
                self.send(to, message.clone(), ctx);
            }
        }
    }

    pub(super) fn send(&self, to: ReplicaId, message: Message, ctx: &mut Context<'_>) {
        ctx.effects.push(Effect::SendReplica {
            to,
            view: self.view,
            message,
        });
    }

    // Reasons.

    pub(super) fn ignore(
        &self,
        kind: MessageKind,
        from: Option<ReplicaId>,
        reason: Ignored,
        ctx: &mut Context<'_>,
    ) {
        ctx.note(Note::MessageIgnored { kind, from, reason });
    }

    pub(super) fn note_dropped(dropped: Vec<Dropped>, ctx: &mut Context<'_>) {
        for entry in dropped {
            ctx.note(Note::EntryDropped {
                op: entry.header.op,
                checksum: entry.header.checksum,
                view: entry.header.view,
            });
        }
    }

    /// An internal rule does not hold: this replica halts as crashed, the run goes on (violation I0).
    pub(super) fn break_rule(&mut self, rule: &'static str, op: Op, ctx: &mut Context<'_>) {
        self.is_halted = true;
        ctx.note(Note::RuleBroken { rule, op });
    }

    // What others may read.

    /// The primary of the current view.
    #[must_use]
    pub fn primary(&self) -> ReplicaId {
        self.view.primary(self.roster.replica_count)
    }

    /// Whether this replica is the primary of its view, started or not.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        self.primary() == self.roster.replica
    }

    /// Whether a broken rule has stopped it.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.is_halted
    }

    /// Whether it takes part in view changes: a recovering one only after its probes went
    /// unanswered.
    #[must_use]
    pub fn can_vote(&self) -> bool {
        !self.is_recovering() || self.probe_attempts > self.knobs.probe_attempts_max
    }

    /// Whether it restarted and has not found its place yet.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        matches!(self.status, Status::Recovering | Status::RecoveringHead)
    }

    /// Whose part it is.
    #[must_use]
    pub fn roster(&self) -> Roster {
        self.roster
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Its view.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// The last view whose log it installed.
    #[must_use]
    pub fn log_view(&self) -> View {
        self.log_view
    }

    /// Its life.
    #[must_use]
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Executed up to here.
    #[must_use]
    pub fn commit_min(&self) -> Op {
        self.commit_min
    }

    /// Known committed up to here.
    #[must_use]
    pub fn commit_max(&self) -> Op {
        self.commit_max
    }

    /// Its durable checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> Op {
        self.durable.checkpoint.op()
    }

    /// The checkpoint that its state was loaded from in this life: it executed from the next op on.
    #[must_use]
    pub fn restored(&self) -> Op {
        self.restored
    }

    /// Its log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Its superblock as the disk has it.
    #[must_use]
    pub fn durable(&self) -> &Superblock {
        &self.durable
    }

    /// Its session table.
    #[must_use]
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// A digest of everything executed: sessions, replies and the state machine.
    #[must_use]
    pub fn digest(&self, machine: &dyn StateMachine) -> Checksum {
        Checksum(mix(self.sessions.digest().0, machine.digest().0))
    }

    /// Whether what it lacks was never acknowledged by it (protocol section 9).
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Whether it leads and has stopped its heartbeats, since nothing commits.
    #[must_use]
    pub fn has_abdicated(&self) -> bool {
        self.has_abdicated
    }

    /// Its running timers.
    #[must_use]
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Its knobs.
    #[must_use]
    pub fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    /// Changes the knobs; timers that run keep their length.
    pub fn set_knobs(&mut self, knobs: Knobs) {
        self.knobs = knobs;
    }

    /// Changes which rules are off, from the next input on.
    pub fn set_mutations(&mut self, mutations: Mutations) {
        self.mutations = mutations;
    }

    /// Votes to leave its view that count now.
    #[must_use]
    pub fn leave_votes(&self) -> ReplicaSet {
        self.leave
            .counting(self.timers.now(), self.knobs.vote_expiry_ticks)
    }

    /// Replicas whose logs it was brought for its view.
    #[must_use]
    pub fn log_votes(&self) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        for (place, brought) in (0_u8..).zip(&self.brought) {
            if brought.is_some() {
                set.insert(ReplicaId(place));
            }
        }
        set
    }

    /// Holders of each op above `commit_max`, where it leads.
    pub fn acks(&self) -> impl Iterator<Item = (Op, ReplicaSet)> + '_ {
        let first = self.commit_max.0 + 1;
        (first..).map(Op).zip(self.acks.iter().copied())
    }
}

/// Who sent a frame, and from which view and life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub(super) replica: ReplicaId,
    pub(super) view: View,
    pub(super) incarnation: Incarnation,
}
