//! An honest cluster without replicas: every group is one machine that executes what it is asked at
//! once. What it tells the auditors can be held back or altered by a test.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{AuditorOptions, Auditors};
use crate::digest::checksum_bytes;
use crate::ids::{Checksum, ClientId, GROUP_METADATA, GroupId, Op, ReplicaId, RequestNumber, View};
use crate::machine::{Genesis, Machine};
use crate::trace::EventKind;
use crate::vsr::io::StateMachine;
use crate::vsr::message::{Header, Operation, Prepare, Reply};
use crate::vsr::note::Note;

pub(super) struct Honest {
    pub(super) auditors: Auditors,
    pub(super) machines: BTreeMap<GroupId, Machine>,
    options: AuditorOptions,
    heads: BTreeMap<GroupId, Op>,
    lanes: BTreeMap<(GroupId, ClientId), (Op, RequestNumber)>,
    now_micros: u64,
}

impl Honest {
    pub(super) fn new(partitions: u8, retention: u32) -> Self {
        let options = AuditorOptions {
            sessions_max: 8,
            retention,
            genesis: Genesis {
                partitions,
                ..Genesis::default()
            },
        };
        Self {
            auditors: Auditors::new(options.clone()),
            machines: BTreeMap::new(),
            options,
            heads: BTreeMap::new(),
            lanes: BTreeMap::new(),
            now_micros: 1_000_000,
        }
    }

    /// All groups, metadata first.
    pub(super) fn groups(&self) -> Vec<GroupId> {
        let partitions = self.auditors.groups_alive();
        std::iter::once(GROUP_METADATA).chain(partitions).collect()
    }

    /// Asks, executes, and gives the honest answer.
    pub(super) fn ask(&mut self, client: ClientId, group: GroupId, body: &Rc<[u8]>) -> Rc<[u8]> {
        self.request(client, group, body);
        let reply = self.execute(client, group, body);
        self.accept(group, &reply);
        Rc::clone(&reply.result)
    }

    /// The client asks; it opens a session first where it has none.
    pub(super) fn request(&mut self, client: ClientId, group: GroupId, body: &Rc<[u8]>) {
        if !self.lanes.contains_key(&(group, client)) {
            let register = self.append(client, group, Operation::Register, &Rc::from([]));
            let session = register.header.op;
            self.lanes
                .insert((group, client), (session, RequestNumber(0)));
            let reply = reply_to(&register, session, Rc::from([]));
            self.accept(group, &reply);
        }
        let (session, request) = self.lanes.get_mut(&(group, client)).unwrap();
        request.0 += 1;
        let event = EventKind::Requested {
            group,
            client,
            to: ReplicaId(0),
            session: *session,
            request: *request,
            attempts: 0,
            body_checksum: checksum_bytes(body),
        };
        self.auditors.observe(group, &event);
    }

    /// The group executes the client's last request; the answer is not given yet.
    pub(super) fn execute(&mut self, client: ClientId, group: GroupId, body: &Rc<[u8]>) -> Reply {
        let prepare = self.append(client, group, Operation::Machine, body);
        let result = self.machine(group).apply(&prepare);
        reply_to(&prepare, prepare.header.session, result)
    }

    pub(super) fn machine(&mut self, group: GroupId) -> &mut Machine {
        let AuditorOptions {
            genesis, retention, ..
        } = &self.options;
        let new = || Machine::new(group, genesis, *retention);
        self.machines.entry(group).or_insert_with(new)
    }

    pub(super) fn accept(&mut self, group: GroupId, reply: &Reply) {
        let event = EventKind::Replied {
            group,
            client: reply.client,
            reply: Rc::new(Reply {
                result: Rc::clone(&reply.result),
                ..*reply
            }),
            view: View(0),
            latency_ticks: 1,
        };
        self.auditors.observe(group, &event);
    }

    fn append(
        &mut self,
        client: ClientId,
        group: GroupId,
        operation: Operation,
        body: &Rc<[u8]>,
    ) -> Rc<Prepare> {
        let head = self.heads.entry(group).or_default();
        *head = head.next();
        self.now_micros += 10_000;
        let lane = self.lanes.get(&(group, client)).copied();
        let (session, request) = lane.unwrap_or_default();
        let header = Header {
            op: *head,
            timestamp_micros: self.now_micros,
            client,
            session,
            request,
            operation,
            body_checksum: checksum_bytes(body),
            ..Header::root(group)
        };
        let prepare = Rc::new(Prepare {
            header: Rc::new(header.sealed()),
            body: Rc::clone(body),
        });
        self.auditors.observe(group, &executed(&prepare));
        prepare
    }
}

/// A replica executed an entry, with an effect.
pub(super) fn executed(prepare: &Rc<Prepare>) -> EventKind {
    EventKind::Noted {
        replica: ReplicaId(0),
        group: prepare.header.group,
        note: Note::Executed {
            prepare: Rc::clone(prepare),
            effect: true,
            digest: Checksum(0),
        },
    }
}

fn reply_to(prepare: &Prepare, session: Op, result: Rc<[u8]>) -> Reply {
    Reply {
        client: prepare.header.client,
        session,
        request: prepare.header.request,
        op: prepare.header.op,
        checksum: prepare.header.checksum,
        result,
    }
}
