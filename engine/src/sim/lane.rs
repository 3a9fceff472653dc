//! A client's dealings with one group: opens a session, has one request under way, sends it again to
//! the next replica when no answer comes, and opens a new session when its own is gone. A small pure
//! state machine that hands its sends and events to the caller. Must never know the simulator, the
//! network, other groups, or what a request's body says.

use std::fmt;
use std::rc::Rc;

use serde::Serialize;

use crate::digest::checksum_bytes;
use crate::ids::{ClientId, GroupId, Op, Process, ReplicaId, RequestNumber, Tick, View};
use crate::trace::EventKind;
use crate::vsr::message::{Frame, Message, Operation, Reply, Request};

/// How long a lane waits for an answer before it asks the next replica.
pub const REQUEST_TIMEOUT_TICKS: u32 = 200;

/// What the caller must do, in order.
#[derive(Clone, Debug)]
pub enum LaneEffect {
    /// Send a message to a replica.
    Send {
        /// The receiver.
        to: ReplicaId,
        /// In which group.
        group: GroupId,
        /// The message.
        message: Message,
    },
    /// Something happened: [`EventKind::Requested`] just before its send, [`EventKind::Replied`] or
    /// [`EventKind::SessionLost`].
    Event(EventKind),
}

/// What a lane is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaneState {
    /// It has no session and asks for none; the next tick does.
    Idle,
    /// It asked for a session.
    Registering,
    /// It has a session and asks nothing.
    Registered,
    /// It waits for the answer to a request.
    Waiting,
}

/// Why a lane cannot take a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSubmitted {
    /// It has no session yet.
    NoSession,
    /// Its last request is not answered.
    Waiting {
        /// That request.
        request: RequestNumber,
    },
    /// The cluster has no such replica.
    NoSuchReplica {
        /// The replica named.
        replica: ReplicaId,
    },
}

impl fmt::Display for NotSubmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => write!(f, "the client has no session yet"),
            Self::Waiting { request } => {
                write!(
                    f,
                    "the client still waits for the answer to request {request}"
                )
            }
            Self::NoSuchReplica { replica } => write!(f, "there is no replica {replica}"),
        }
    }
}

/// A request that has no answer yet.
#[derive(Clone, Debug)]
struct InFlight {
    request: Rc<Request>,
    first_sent: Tick,
    last_sent: Tick,
    sends: u32,
}

/// A request to be sent as soon as there is a session.
#[derive(Clone, Debug)]
pub(super) struct First {
    pub(super) body: Rc<[u8]>,
    pub(super) target: Option<ReplicaId>,
}

/// One client in one group.
#[derive(Clone, Debug)]
pub struct Lane {
    id: ClientId,
    group: GroupId,
    first: Option<First>,
    replica_count: u8,
    request_timeout_ticks: u32,
    session: Option<Op>,
    /// The newest session it ever had: an answer to an old register must not bring one back.
    newest_session: Op,
    request: RequestNumber,
    in_flight: Option<InFlight>,
    /// The newest view a replica answered from.
    view: View,
    target: ReplicaId,
    replies: u64,
}

impl Lane {
    /// A lane that has no session and takes the primary of view 0 for the leader.
    #[must_use]
    pub fn new(
        id: ClientId,
        group: GroupId,
        replica_count: u8,
        request_timeout_ticks: u32,
    ) -> Self {
        Self {
            id,
            group,
            first: None,
            replica_count,
            request_timeout_ticks,
            session: None,
            newest_session: Op(0),
            request: RequestNumber(0),
            in_flight: None,
            view: View(0),
            target: View(0).primary(replica_count),
            replies: 0,
        }
    }

    /// Has it ask this as soon as it has a session.
    pub(super) fn begin_with(&mut self, first: First) {
        self.first = Some(first);
    }

    /// Lets a tick pass: opens a session where there is none, sends again what waited too long.
    pub fn tick(&mut self, now: Tick, out: &mut Vec<LaneEffect>) {
        if self.state() == LaneState::Idle {
            self.register(now, out);
        } else if self.is_overdue(now) {
            self.target = self.after(self.target);
            self.send(now, out);
        }
    }

    /// Asks for `body` to be executed, at `target` or else at the replica taken for the primary.
    ///
    /// # Errors
    /// If it has no session, waits for another answer, or the cluster has no such replica.
    pub fn submit(
        &mut self,
        now: Tick,
        body: Rc<[u8]>,
        target: Option<ReplicaId>,
        out: &mut Vec<LaneEffect>,
    ) -> Result<(), NotSubmitted> {
        let session = self.session.ok_or(NotSubmitted::NoSession)?;
        if self.in_flight.is_some() {
            let request = self.request;
            return Err(NotSubmitted::Waiting { request });
        }
        if let Some(replica) = target {
            if replica.0 >= self.replica_count {
                return Err(NotSubmitted::NoSuchReplica { replica });
            }
            self.target = replica;
        }
        self.request = RequestNumber(self.request.0 + 1);
        self.start(now, session, Operation::Machine, body, out);
        Ok(())
    }

    /// Takes a frame. Whatever does not answer the request under way is late or a duplicate.
    pub fn on_frame(&mut self, now: Tick, frame: &Frame, out: &mut Vec<LaneEffect>) {
        let Process::Replica(from) = frame.from else {
            return;
        };
        if frame.to != Process::Client(self.id) || frame.group != self.group {
            return;
        }
        match &frame.message {
            Message::Reply(reply) => self.on_reply(now, from, frame.view, reply, out),
            Message::Eviction {
                session, request, ..
            } => {
                if self.awaits(*session, *request) {
                    self.follow(from, frame.view);
                    self.lose_session(now, out);
                }
            }
            Message::Request(_)
            | Message::Prepare { .. }
            | Message::PrepareOk { .. }
            | Message::Commit { .. }
            | Message::StartViewChange
            | Message::DoViewChange(_)
            | Message::StartView(_)
            | Message::RequestStartView { .. }
            | Message::RequestPrepares { .. }
            | Message::RepairPrepare { .. }
            | Message::RepairDone { .. }
            | Message::RequestStateTransfer { .. }
            | Message::StateTransferTarget(_)
            | Message::RequestStateChunk { .. }
            | Message::StateChunk { .. } => {}
        }
    }

    fn on_reply(
        &mut self,
        now: Tick,
        from: ReplicaId,
        view: View,
        reply: &Rc<Reply>,
        out: &mut Vec<LaneEffect>,
    ) {
        if reply.client != self.id {
            return;
        }
        let answers = match self.state() {
            LaneState::Registering => {
                reply.request == RequestNumber(0) && reply.session > self.newest_session
            }
            LaneState::Waiting => self.awaits(reply.session, reply.request),
            LaneState::Idle | LaneState::Registered => false,
        };
        if !answers {
            return;
        }
        let Some(in_flight) = self.in_flight.take() else {
            return;
        };
        self.follow(from, view);
        self.replies += 1;
        if in_flight.request.operation == Operation::Register {
            self.session = Some(reply.session);
            self.newest_session = reply.session;
            self.request = RequestNumber(0);
        }
        out.push(LaneEffect::Event(EventKind::Replied {
            client: self.id,
            group: self.group,
            reply: Rc::clone(reply),
            view,
            latency_ticks: now.0.saturating_sub(in_flight.first_sent.0),
        }));
        if let Some(First { body, target }) = self.first.take() {
            // It has just got its session, and whoever asked made sure of the replica.
            let _ = self.submit(now, body, target, out);
        }
    }

    /// Whether a machine request of this session and number is under way. Any refusal of it ends the
    /// session, also one for a number too old or used again: asking again could never succeed.
    fn awaits(&self, session: Op, request: RequestNumber) -> bool {
        self.state() == LaneState::Waiting
            && self.session == Some(session)
            && self.request == request
    }

    /// The request under way may or may not be executed: it is never sent again.
    fn lose_session(&mut self, now: Tick, out: &mut Vec<LaneEffect>) {
        self.session = None;
        self.in_flight = None;
        self.request = RequestNumber(0);
        let (client, group) = (self.id, self.group);
        out.push(LaneEffect::Event(EventKind::SessionLost { client, group }));
        self.register(now, out);
    }

    /// Remembers whom to ask first. A late answer from an older view tells nothing.
    fn follow(&mut self, from: ReplicaId, view: View) {
        if view > self.view {
            self.view = view;
            self.target = view.primary(self.replica_count);
        } else if view == self.view {
            self.target = from;
        }
    }

    fn register(&mut self, now: Tick, out: &mut Vec<LaneEffect>) {
        self.start(now, Op(0), Operation::Register, Rc::from([]), out);
    }

    fn start(
        &mut self,
        now: Tick,
        session: Op,
        operation: Operation,
        body: Rc<[u8]>,
        out: &mut Vec<LaneEffect>,
    ) {
        let request = Rc::new(Request {
            client: self.id,
            session,
            request: self.request,
            operation,
            body_checksum: checksum_bytes(&body),
            body,
        });
        self.in_flight = Some(InFlight {
            request,
            first_sent: now,
            last_sent: now,
            sends: 0,
        });
        self.send(now, out);
    }

    fn send(&mut self, now: Tick, out: &mut Vec<LaneEffect>) {
        let Some(in_flight) = &mut self.in_flight else {
            return;
        };
        let request = &in_flight.request;
        out.push(LaneEffect::Event(EventKind::Requested {
            client: self.id,
            group: self.group,
            to: self.target,
            session: request.session,
            request: request.request,
            attempts: in_flight.sends,
            body_checksum: request.body_checksum,
        }));
        out.push(LaneEffect::Send {
            to: self.target,
            group: self.group,
            message: Message::Request(Rc::clone(request)),
        });
        in_flight.last_sent = now;
        in_flight.sends += 1;
    }

    fn is_overdue(&self, now: Tick) -> bool {
        self.in_flight.as_ref().is_some_and(|in_flight| {
            let waited = now.0.saturating_sub(in_flight.last_sent.0);
            waited >= u64::from(self.request_timeout_ticks.max(1))
        })
    }

    fn after(&self, replica: ReplicaId) -> ReplicaId {
        ReplicaId((replica.0 + 1) % self.replica_count)
    }

    /// Changes the knob; it counts from the last send.
    pub fn set_request_timeout_ticks(&mut self, ticks: u32) {
        self.request_timeout_ticks = ticks;
    }

    /// Whether [`Lane::submit`] would be taken.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state() == LaneState::Registered
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> LaneState {
        match (self.session, &self.in_flight) {
            (None, None) => LaneState::Idle,
            (None, Some(_)) => LaneState::Registering,
            (Some(_), None) => LaneState::Registered,
            (Some(_), Some(_)) => LaneState::Waiting,
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn client(&self) -> ClientId {
        self.id
    }

    /// In which group.
    #[must_use]
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Its session epoch; zero where it has none.
    #[must_use]
    pub fn session(&self) -> Op {
        self.session.unwrap_or_default()
    }

    /// The number of its last request in this session; zero where it made none.
    #[must_use]
    pub fn request(&self) -> RequestNumber {
        self.request
    }

    /// Whom it asks, or would ask next.
    #[must_use]
    pub fn target(&self) -> ReplicaId {
        self.target
    }

    /// When it first sent what it waits for.
    #[must_use]
    pub fn since(&self) -> Option<Tick> {
        self.in_flight.as_ref().map(|flight| flight.first_sent)
    }

    /// How often it sent what it waits for.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.in_flight.as_ref().map_or(0, |flight| flight.sends)
    }

    /// The body of the machine request it waits for, or will make once it has its session.
    #[must_use]
    pub fn waiting_for(&self) -> Option<&Rc<[u8]>> {
        if let Some(first) = &self.first {
            return Some(&first.body);
        }
        let flight = self.in_flight.as_ref()?;
        (flight.request.operation == Operation::Machine).then_some(&flight.request.body)
    }

    /// Answers it accepted, those to registers among them.
    #[must_use]
    pub fn replies(&self) -> u64 {
        self.replies
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
