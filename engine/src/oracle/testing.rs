//! A make-believe world for the oracles' tests: headers, events and views made by hand.

use std::rc::Rc;

use super::Oracles;
use super::view::{Bounds, ClusterView, FullestLink, Logs, MemberView, Roster, Timers};
use super::violation::{Property, Violation};
use super::weather::Fair;
use crate::digest::checksum_bytes;
use crate::ids::{
    Checksum, ClientId, GROUP_PARTITION_0, GroupId, Incarnation, Op, Process, ReplicaId,
    RequestNumber, Tick, View,
};
use crate::trace::{Event, EventKind};
use crate::vsr::io::{Status, Timer};
use crate::vsr::message::{Frame, Header, Message, Operation, Prepare, Reply};
use crate::vsr::note::Note;
use crate::vsr::quorum::Quorums;

pub(super) const GROUP: GroupId = GROUP_PARTITION_0;

/// The header after `before`: a register where the session is zero, else a machine operation.
pub(super) fn next(before: Option<&Header>, session: u64, request: u64) -> Header {
    let root = Header::root(GROUP);
    let before = before.unwrap_or(&root);
    Header {
        op: before.op.next(),
        parent: before.checksum,
        timestamp_micros: before.timestamp_micros + 1,
        session: Op(session),
        request: RequestNumber(request),
        operation: if session == 0 {
            Operation::Register
        } else {
            Operation::Machine
        },
        body_checksum: checksum_bytes(&request.to_le_bytes()),
        ..root.clone()
    }
    .sealed()
}

/// Ops 1 to `length`: a register and its client's requests.
pub(super) fn chain(length: u64) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for request in 0..length {
        let session = u64::from(request > 0);
        headers.push(next(headers.last(), session, request));
    }
    headers
}

/// Another entry at the same place.
pub(super) fn fork(header: &Header) -> Header {
    Header {
        view: header.view.next(),
        ..header.clone()
    }
    .sealed()
}

/// Logs and disks, one and the same here unless said otherwise: identities by replica and op.
#[derive(Default)]
pub(super) struct FakeLogs {
    entries: Vec<Vec<Option<Checksum>>>,
    /// Where a read of the disk finds something else.
    stored: Vec<(u8, Op, Option<Checksum>)>,
    /// What the log in memory minds no more, though the disk has it.
    forgotten: Vec<(u8, Op)>,
}

impl FakeLogs {
    fn set(&mut self, replica: u8, op: Op, checksum: Option<Checksum>) {
        let (replica, op) = (usize::from(replica), usize::try_from(op.0).unwrap());
        if self.entries.len() <= replica {
            self.entries.resize(replica + 1, Vec::new());
        }
        let log = &mut self.entries[replica];
        if log.len() <= op {
            log.resize(op + 1, None);
        }
        log[op] = checksum;
    }

    pub(super) fn put(&mut self, replica: u8, header: &Header) {
        self.set(replica, header.op, Some(header.checksum));
    }

    pub(super) fn stored(&mut self, replica: u8, op: Op, checksum: Option<Checksum>) {
        self.stored.push((replica, op, checksum));
    }

    pub(super) fn remove(&mut self, replica: u8, op: u64) {
        self.set(replica, Op(op), None);
    }

    pub(super) fn forget(&mut self, replica: u8, op: u64) {
        self.forgotten.push((replica, Op(op)));
    }

    fn entry(&self, replica: ReplicaId, op: Op) -> Option<Checksum> {
        let log = self.entries.get(usize::from(replica.0))?;
        log.get(usize::try_from(op.0).ok()?).copied().flatten()
    }
}

impl Logs for FakeLogs {
    fn checksum_at(&self, replica: ReplicaId, _: GroupId, op: Op) -> Option<Checksum> {
        let is_minded = !self.forgotten.contains(&(replica.0, op));
        self.entry(replica, op).filter(|_| is_minded)
    }

    fn durable_checksum(&self, replica: ReplicaId, _: GroupId, op: Op) -> Option<Checksum> {
        self.entry(replica, op)
    }

    fn stored_checksum(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum> {
        let of = |&&(of, at, _): &&(u8, Op, Option<Checksum>)| of == replica.0 && at == op;
        match self.stored.iter().find(of) {
            Some((_, _, stored)) => *stored,
            None => self.durable_checksum(replica, group, op),
        }
    }
}

pub(super) struct World {
    pub(super) oracles: Oracles,
    pub(super) roster: Roster,
    pub(super) members: Vec<MemberView>,
    pub(super) logs: FakeLogs,
    pub(super) weather: Fair,
    pub(super) fullest_link: Option<FullestLink>,
    pub(super) last: Option<Header>,
    tick: Tick,
    events: u64,
}

impl World {
    pub(super) fn new(replica_count: u8) -> Self {
        let roster = Roster {
            replica_count,
            quorums: Quorums::of(replica_count),
            bounds: Bounds {
                link: 64,
                inbox: 128,
                channel: 32,
                pipeline: 8,
                sessions: 4,
            },
        };
        Self {
            oracles: Oracles::new(roster),
            roster,
            members: (0..replica_count).map(member).collect(),
            logs: FakeLogs::default(),
            weather: Fair::default(),
            fullest_link: None,
            last: None,
            tick: Tick(0),
            events: 0,
        }
    }

    pub(super) fn event(&mut self, kind: EventKind) {
        let event = Event {
            number: self.events,
            tick: self.tick,
            step: 0,
            kind,
        };
        self.events += 1;
        self.oracles.observe(&event);
    }

    pub(super) fn note(&mut self, replica: u8, note: Note) {
        self.event(EventKind::Noted {
            replica: ReplicaId(replica),
            group: GROUP,
            note,
        });
    }

    pub(super) fn send(&mut self, replica: u8, view: u32, message: Message) {
        self.event(EventKind::Sent {
            frame: Rc::new(Frame {
                group: GROUP,
                from: Process::Replica(ReplicaId(replica)),
                to: Process::Replica(ReplicaId((replica + 1) % self.roster.replica_count)),
                view: View(view),
                incarnation: Incarnation(1),
                message,
            }),
            packet: 1,
            due: self.tick,
            cause: 0,
            copy: false,
        });
    }

    pub(super) fn execute_with(&mut self, replica: u8, header: &Header, digest: u64, effect: bool) {
        self.note(
            replica,
            Note::Executed {
                prepare: Rc::new(Prepare {
                    header: header.clone().into(),
                    body: Rc::from([]),
                }),
                effect,
                digest: Checksum(digest),
            },
        );
        self.logs.put(replica, header);
        let member = &mut self.members[usize::from(replica)];
        member.commit_min = header.op;
        member.commit_max = member.commit_max.max(header.op);
        member.head = member.head.max(header.op);
        member.held = member.held.max(header.op);
        member.digest = Checksum(digest);
    }

    pub(super) fn execute(&mut self, replica: u8, header: &Header, digest: u64) {
        self.execute_with(replica, header, digest, true);
    }

    pub(super) fn execute_everywhere(&mut self, length: u64) {
        for header in &chain(length) {
            for replica in 0..self.roster.replica_count {
                self.execute(replica, header, header.op.0);
            }
        }
    }

    pub(super) fn reply(&mut self, header: &Header, view: u32) {
        self.event(EventKind::Replied {
            client: ClientId(0),
            group: GROUP,
            reply: Rc::new(Reply {
                client: ClientId(0),
                session: header.session,
                request: header.request,
                op: header.op,
                checksum: header.checksum,
                result: Rc::from([]),
            }),
            view: View(view),
            latency_ticks: 1,
        });
    }

    /// The primary of a view starts it with these ops, of which those above `commit_max` are decided.
    pub(super) fn start_view(&mut self, view: u32, headers: &[Header], commit_max: u64) {
        let primary = View(view).primary(self.roster.replica_count);
        let suffix: Rc<[Rc<Header>]> = headers
            .iter()
            .filter(|header| header.op.0 >= commit_max)
            .map(|header| Rc::new(header.clone()))
            .collect();
        self.note(
            primary.0,
            Note::ViewStarted {
                view: View(view),
                head: headers.last().map_or(Op(0), |header| header.op),
                commit_max: Op(commit_max),
                suffix,
            },
        );
    }

    pub(super) fn crash(&mut self, replica: u8) {
        self.members[usize::from(replica)].up = false;
        self.event(EventKind::Crashed {
            replica: ReplicaId(replica),
            writes_lost: 0,
            writes_torn: 0,
        });
    }

    pub(super) fn boot(&mut self, replica: u8) {
        let member = &mut self.members[usize::from(replica)];
        member.up = true;
        member.incarnation.0 += 1;
        member.commit_min = Op(0);
        member.commit_max = Op(0);
        let (incarnation, view) = (member.incarnation, member.durable_view);
        let (log_view, head) = (member.durable_log_view, member.head);
        self.event(EventKind::Restarted {
            replica: ReplicaId(replica),
            incarnation,
        });
        self.note(
            replica,
            Note::Booted {
                incarnation,
                view,
                log_view,
                head,
                unproven: 0,
            },
        );
    }

    pub(super) fn restart(&mut self, replica: u8) {
        self.crash(replica);
        self.boot(replica);
    }

    pub(super) fn view(&self) -> ClusterView<'_> {
        ClusterView {
            tick: self.tick,
            members: &self.members,
            fullest_link: self.fullest_link,
            logs: &self.logs,
            weather: &self.weather,
        }
    }

    pub(super) fn tick(&mut self) {
        self.oracles.end_of_tick(&ClusterView {
            tick: self.tick,
            members: &self.members,
            fullest_link: self.fullest_link,
            logs: &self.logs,
            weather: &self.weather,
        });
        self.tick.0 += 1;
    }

    pub(super) fn at_rest(&mut self) {
        self.oracles.at_rest(&ClusterView {
            tick: self.tick,
            members: &self.members,
            fullest_link: None,
            logs: &self.logs,
            weather: &self.weather,
        });
    }

    pub(super) fn kept(&self) -> &[Violation] {
        self.oracles.violations()
    }

    pub(super) fn found(&self, property: Property) -> u64 {
        self.oracles.book().found(property)
    }

    pub(super) fn compared(&self, property: Property) -> u64 {
        self.oracles.book().compared(property)
    }
}

fn member(replica: u8) -> MemberView {
    let leads = replica == 0;
    MemberView {
        trusted: true,
        replica: ReplicaId(replica),
        group: GROUP,
        up: true,
        paused: false,
        incarnation: Incarnation(1),
        status: Status::Normal,
        view: View(0),
        log_view: View(0),
        durable_view: View(0),
        durable_log_view: View(0),
        head: Op(0),
        held: Op(0),
        view_change_wait: 500,
        commit_min: Op(0),
        commit_max: Op(0),
        checkpoint: Op(0),
        restored: Op(0),
        digest: Checksum(0),
        timers: if leads {
            Timers::default().with(Timer::Heartbeat)
        } else {
            Timers::default().with(Timer::HeartbeatWait)
        },
        abdicated: false,
        holes: false,
        fetchable: false,
        needs_state: false,
        writes_pending: 0,
        pipeline: 0,
        sessions: 0,
        inbox: 0,
        inbox_high: 0,
        between: 0,
        between_high: 0,
    }
}
