//! A cluster driven by hand for the tests of this folder: frames wait on their links and disk writes
//! wait at their replica until a test lets them go. Must never decide anything by itself, except
//! that it watches, on every send, that the disk already holds what the message speaks for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::digest::{checksum_bytes, mix};
use crate::ids::{
    Checksum, ClientId, GROUP_PARTITION_0, Incarnation, Op, Process, ReplicaId, RequestNumber, View,
};
use crate::prng::{Purpose, Rng};
use crate::vsr::io::{Durability, Effect, Input, Malformed, StateMachine, Superblock};
use crate::vsr::knobs::Knobs;
use crate::vsr::message::{
    Frame, Header, Message, MessageKind, Operation, Prepare, Reply, Request,
};
use crate::vsr::note::Note;
use crate::vsr::snapshot::Snapshot;
use crate::vsr::{Context, Recovered, Replica, Roster};

#[path = "testing_disk.rs"]
mod disk;
#[path = "testing_links.rs"]
mod links;
#[path = "testing_said.rs"]
mod said;

use disk::Write;

/// A state machine that answers with the body and remembers the order.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    digest: u64,
    pub(crate) applied: Vec<Op>,
}

impl StateMachine for Echo {
    fn apply(&mut self, prepare: &Prepare) -> Rc<[u8]> {
        self.applied.push(prepare.header.op);
        self.digest = mix(self.digest, prepare.header.checksum.0);
        Rc::clone(&prepare.body)
    }

    fn digest(&self) -> Checksum {
        Checksum(self.digest)
    }

    fn snapshot(&self) -> Rc<[u8]> {
        let ops = self.applied.iter().map(|op| op.0);
        let words = std::iter::once(self.digest).chain(ops);
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let (words, []) = bytes.as_chunks::<8>() else {
            return Err(Malformed);
        };
        let words: Vec<u64> = words.iter().copied().map(u64::from_le_bytes).collect();
        let (digest, ops) = words.split_first().ok_or(Malformed)?;
        self.digest = *digest;
        self.applied = ops.iter().copied().map(Op).collect();
        Ok(())
    }
}

/// One replica with its disk.
struct Node {
    replica: Option<Replica>,
    machine: Echo,
    superblock: Superblock,
    /// The ring, by slot.
    slots: BTreeMap<u64, Rc<Prepare>>,
    snapshots: BTreeMap<u32, Rc<Snapshot>>,
    writes: VecDeque<Write>,
}

/// The cluster.
pub(crate) struct Cluster {
    nodes: Vec<Node>,
    knobs: Knobs,
    links: BTreeMap<(u8, u8), VecDeque<Frame>>,
    cut: BTreeSet<(u8, u8)>,
    blocked: BTreeSet<(u8, u8, MessageKind)>,
    held: BTreeSet<(u8, u8)>,
    slow_disks: BTreeSet<u8>,
    /// What clients were told, by whom, in order.
    pub(crate) told: Vec<(u8, ClientId, Message)>,
    /// What replicas said about themselves, in order.
    pub(crate) notes: Vec<(u8, Note)>,
    /// Every message ever sent, as (from, to, view, message).
    pub(crate) sent: Vec<(u8, u8, View, Message)>,
    numbers: BTreeMap<ClientId, (Op, u64)>,
    ticks: u64,
}

pub(crate) fn roster(replica: u8, replica_count: u8) -> Roster {
    Roster {
        replica: ReplicaId(replica),
        replica_count,
        group: GROUP_PARTITION_0,
    }
}

pub(crate) fn request(client: u8, session: Op, number: u64, body: &str) -> Rc<Request> {
    let is_register = session == Op(0);
    Rc::new(Request {
        client: ClientId(client),
        session,
        request: RequestNumber(number),
        operation: if is_register {
            Operation::Register
        } else {
            Operation::Machine
        },
        body_checksum: checksum_bytes(body.as_bytes()),
        body: Rc::from(body.as_bytes()),
    })
}

/// The entry after `parent`, prepared in `view`, with a body of its own.
pub(crate) fn entry_after(parent: &Header, view: u32, body: &str) -> Rc<Prepare> {
    let header = Header {
        op: parent.op.next(),
        parent: parent.checksum,
        view: View(view),
        timestamp_micros: parent.timestamp_micros + 1,
        operation: Operation::Machine,
        session: Op(1),
        request: RequestNumber(parent.op.0 + 1),
        body_checksum: checksum_bytes(body.as_bytes()),
        ..Header::root(GROUP_PARTITION_0)
    };
    Rc::new(Prepare {
        header: Rc::new(header.sealed()),
        body: Rc::from(body.as_bytes()),
    })
}

/// `length` linked entries after `parent`, prepared in `view`.
pub(crate) fn chain_after(parent: &Header, view: u32, length: u64) -> Vec<Rc<Prepare>> {
    let mut chain: Vec<Rc<Prepare>> = Vec::new();
    for _ in 0..length {
        let above = chain.last().map_or(parent, |prepare| &prepare.header);
        chain.push(entry_after(above, view, "chain"));
    }
    chain
}

/// A ring of six slots, a pipeline of two, and so a checkpoint every other op.
pub(crate) const SMALL: Knobs = Knobs {
    journal_slots: 6,
    pipeline_max: 2,
    repair_chunk_max: 2,
    state_chunk_bytes: 16,
    ..Knobs::DEFAULT
};

/// Three replicas of which 2 was cut off while the others used all their slots again, and is back.
pub(crate) fn laggard(knobs: Knobs) -> Cluster {
    let writes = 3 * u64::from(knobs.journal_slots);
    let mut cluster = Cluster::with_knobs(3, knobs);
    cluster.warm(0);
    cluster.isolate(2);
    for _ in 0..writes {
        cluster.write(0, 0);
        cluster.settle();
    }
    cluster.heal();
    cluster
}

impl Cluster {
    pub(crate) fn new(replica_count: u8) -> Self {
        Self::with_knobs(replica_count, Knobs::default())
    }

    pub(crate) fn with_knobs(replica_count: u8, knobs: Knobs) -> Self {
        Self::of(replica_count, knobs, Durability::Persisted)
    }

    /// A group that acknowledges from memory.
    pub(crate) fn replicated(replica_count: u8) -> Self {
        Self::of(replica_count, Knobs::default(), Durability::Replicated)
    }

    fn of(replica_count: u8, knobs: Knobs, durability: Durability) -> Self {
        let nodes = (0..replica_count).map(|r| Node {
            replica: None,
            machine: Echo::default(),
            superblock: Superblock {
                durability,
                ..Replica::format(roster(r, replica_count))
            },
            slots: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            writes: VecDeque::new(),
        });
        let mut cluster = Self {
            nodes: nodes.collect(),
            knobs,
            links: BTreeMap::new(),
            cut: BTreeSet::new(),
            blocked: BTreeSet::new(),
            held: BTreeSet::new(),
            slow_disks: BTreeSet::new(),
            told: Vec::new(),
            notes: Vec::new(),
            sent: Vec::new(),
            numbers: BTreeMap::new(),
            ticks: 0,
        };
        for r in 0..replica_count {
            cluster.begin(r, false);
        }
        cluster
    }

    pub(crate) fn count(&self) -> u8 {
        u8::try_from(self.nodes.len()).unwrap()
    }

    fn node(&mut self, r: u8) -> &mut Node {
        &mut self.nodes[usize::from(r)]
    }

    /// A replica that runs.
    pub(crate) fn at(&self, r: u8) -> &Replica {
        self.nodes[usize::from(r)].replica.as_ref().expect("runs")
    }

    pub(crate) fn applied(&self, r: u8) -> &[Op] {
        &self.nodes[usize::from(r)].machine.applied
    }

    pub(crate) fn disk_superblock(&self, r: u8) -> &Superblock {
        &self.nodes[usize::from(r)].superblock
    }

    pub(crate) fn is_up(&self, r: u8) -> bool {
        self.nodes[usize::from(r)].replica.is_some()
    }

    // Inputs.

    fn begin(&mut self, r: u8, is_boot: bool) {
        let place = roster(r, self.count());
        let knobs = self.knobs.clone();
        let now_micros = self.ticks * 10_000;
        let node = self.node(r);
        let mut machine = Echo::default();
        let mut effects = Vec::new();
        let life = u64::from(node.superblock.incarnation.0);
        let jitter = Rng::keyed(7, Purpose::Jitter, [u64::from(r), life]);
        let mut ctx = Context {
            now_micros,
            machine: &mut machine,
            effects: &mut effects,
        };
        let superblock = node.superblock.clone();
        let replica = if is_boot {
            let mut prepares: Vec<_> = node.slots.values().cloned().collect();
            prepares.sort_by_key(|prepare| prepare.header.op);
            let snapshot = node.snapshots.get(&superblock.checkpoint.place);
            let recovered = Recovered {
                snapshot: snapshot.cloned(),
                superblock,
                prepares,
                damaged: Vec::new(),
            };
            Replica::boot(place, knobs, recovered, jitter, &mut ctx)
        } else {
            Replica::start(place, knobs, superblock, jitter, &mut ctx)
        };
        node.replica = Some(replica);
        node.machine = machine;
        self.perform(r, effects);
    }

    /// Lets something happen to a replica; what is down does not notice.
    pub(crate) fn input(&mut self, r: u8, input: Input) {
        let now_micros = self.ticks * 10_000;
        let node = self.node(r);
        let Some(replica) = &mut node.replica else {
            return;
        };
        let mut effects = Vec::new();
        let mut ctx = Context {
            now_micros,
            machine: &mut node.machine,
            effects: &mut effects,
        };
        replica.handle(input, &mut ctx);
        self.perform(r, effects);
    }

    /// Queues what a replica wants done; a broken rule fails the test where it stands.
    fn perform(&mut self, r: u8, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::SendReplica { to, view, message } => self.send(r, to, view, message),
                Effect::SendClient { to, message, .. } => self.told.push((r, to, message)),
                Effect::WritePrepare(prepare) => {
                    self.node(r).writes.push_back(Write::Prepare(prepare));
                }
                Effect::WriteSuperblock(superblock) => {
                    self.node(r).writes.push_back(Write::Superblock(superblock));
                }
                Effect::WriteSnapshot { place, snapshot } => {
                    let write = Write::Snapshot(place, snapshot);
                    self.node(r).writes.push_back(write);
                }
                Effect::ServePrepares {
                    to,
                    from,
                    through,
                    entries,
                    checkpoint,
                } => self.serve(r, to, (from, through, checkpoint), &entries),
                Effect::Note(note) => {
                    if let Note::RuleBroken { rule, op } = &note {
                        panic!("replica {r} breaks a rule at op {op}: {rule}");
                    }
                    self.notes.push((r, note));
                }
            }
        }
    }

    fn send(&mut self, r: u8, to: ReplicaId, view: View, message: Message) {
        self.watch_promise(r, view, &message);
        let incarnation = self.at_or_booting(r);
        let frame = Frame {
            group: GROUP_PARTITION_0,
            from: Process::Replica(ReplicaId(r)),
            to: Process::Replica(to),
            view,
            incarnation,
            message: message.clone(),
        };
        let is_blocked = self.blocked.contains(&(r, to.0, message.kind()));
        self.sent.push((r, to.0, view, message));
        if !is_blocked && !self.cut.contains(&(r, to.0)) {
            self.links.entry((r, to.0)).or_default().push_back(frame);
        }
    }

    fn at_or_booting(&self, r: u8) -> Incarnation {
        let node = &self.nodes[usize::from(r)];
        node.replica
            .as_ref()
            .map_or(node.superblock.incarnation, Replica::incarnation)
    }

    /// Protocol section 2, *Sends*: nothing whose meaning depends on (view, log_view) leaves before
    /// the superblock on disk holds them.
    fn watch_promise(&self, r: u8, view: View, message: &Message) {
        let disk = &self.nodes[usize::from(r)].superblock;
        let log_view = match message {
            Message::DoViewChange(dvc) => dvc.log_view,
            Message::StartView(_)
            | Message::Prepare { .. }
            | Message::PrepareOk { .. }
            | Message::Commit { .. } => view,
            Message::StartViewChange => disk.log_view,
            Message::RequestStartView { .. }
            | Message::RequestPrepares { .. }
            | Message::RepairPrepare { .. }
            | Message::RepairDone { .. }
            | Message::RequestStateTransfer { .. }
            | Message::StateTransferTarget(_)
            | Message::RequestStateChunk { .. }
            | Message::StateChunk { .. }
            | Message::Request(_)
            | Message::Reply(_)
            | Message::Eviction { .. } => return,
        };
        assert!(
            disk.view == view && disk.log_view == log_view,
            "replica {r} says {:?} for view {view}, log view {log_view}, but its disk holds view {}, log view {}",
            message.kind(),
            disk.view,
            disk.log_view,
        );
    }

    // Time.

    /// Lets ticks pass everywhere without delivering anything.
    pub(crate) fn tick(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.ticks += 1;
            for r in 0..self.count() {
                self.input(r, Input::Tick);
            }
        }
    }

    /// Lets ticks pass at one replica alone.
    pub(crate) fn tick_at(&mut self, r: u8, ticks: u64) {
        for _ in 0..ticks {
            self.input(r, Input::Tick);
        }
    }

    /// Lets ticks pass, delivering and writing everything that is not held back after each.
    pub(crate) fn run(&mut self, ticks: u64) {
        self.settle();
        for _ in 0..ticks {
            self.tick(1);
            self.settle();
        }
    }

    /// Runs until a condition holds, for so many ticks at most; whether it came to hold.
    pub(crate) fn run_until(&mut self, ticks: u64, is_so: impl Fn(&Self) -> bool) -> bool {
        self.settle();
        for _ in 0..ticks {
            if is_so(self) {
                return true;
            }
            self.tick(1);
            self.settle();
        }
        is_so(self)
    }

    /// Delivers and writes until nothing is left that is not held back.
    pub(crate) fn settle(&mut self) {
        loop {
            let before = self.sent.len() + self.notes.len();
            let mut moved = false;
            for r in 0..self.count() {
                while !self.slow_disks.contains(&r) && self.write_next(r) {
                    moved = true;
                }
            }
            let links: Vec<(u8, u8)> = self.links.keys().copied().collect();
            for (from, to) in links {
                if !self.held.contains(&(from, to)) {
                    moved |= self.deliver_all(from, to) > 0;
                }
            }
            if !moved && before == self.sent.len() + self.notes.len() {
                return;
            }
        }
    }

    // Clients.

    /// Hands a request to a replica.
    pub(crate) fn ask(&mut self, r: u8, request: &Rc<Request>) {
        let frame = Frame {
            group: GROUP_PARTITION_0,
            from: Process::Client(request.client),
            to: Process::Replica(ReplicaId(r)),
            view: View(0),
            incarnation: Incarnation(0),
            message: Message::Request(Rc::clone(request)),
        };
        self.input(r, Input::Frame(frame));
    }

    /// Opens a session of a client at a primary that can commit.
    pub(crate) fn open(&mut self, r: u8, client: u8) -> Op {
        self.ask(r, &request(client, Op(0), 0, ""));
        self.settle();
        let reply = self.last_reply(client).expect("a register is answered");
        assert_eq!(reply.request, RequestNumber(0));
        let session = reply.session;
        self.numbers.insert(ClientId(client), (session, 0));
        session
    }

    /// Opens a session of a client, where the primary can commit; whether it could.
    pub(crate) fn try_open(&mut self, r: u8, client: u8) -> bool {
        self.ask(r, &request(client, Op(0), 0, ""));
        self.settle();
        let Some(session) = self.last_reply(client).map(|reply| reply.session) else {
            return false;
        };
        self.numbers.insert(ClientId(client), (session, 0));
        true
    }

    pub(crate) fn slots(&self) -> usize {
        self.knobs.journal_slots as usize
    }

    /// Asks for the next operation of a client with an open session, and delivers nothing.
    pub(crate) fn write(&mut self, r: u8, client: u8) -> Rc<Request> {
        let (session, number) = self.numbers.get_mut(&ClientId(client)).expect("is open");
        *number += 1;
        let next = request(client, *session, *number, &format!("write {number}"));
        self.ask(r, &next);
        next
    }

    /// A session of client 0 and `writes` operations, committed and executed everywhere.
    pub(crate) fn warm(&mut self, writes: u64) {
        self.open(0, 0);
        for _ in 0..writes {
            self.write(0, 0);
            self.settle();
        }
        self.run(u64::from(self.knobs.heartbeat_ticks));
        for r in 0..self.count() {
            assert_eq!(self.at(r).commit_min(), Op(writes + 1), "at replica {r}");
        }
    }

    pub(crate) fn last_reply(&self, client: u8) -> Option<&Reply> {
        self.told.iter().rev().find_map(|(_, to, message)| {
            let Message::Reply(reply) = message else {
                return None;
            };
            (*to == ClientId(client)).then_some(reply.as_ref())
        })
    }

    pub(crate) fn replies(&self, asked: &Request) -> usize {
        let is_it = |message: &Message| {
            matches!(message, Message::Reply(reply)
            if reply.client == asked.client && reply.request == asked.request)
        };
        let told = self.told.iter();
        told.filter(|(_, _, message)| is_it(message)).count()
    }
}
