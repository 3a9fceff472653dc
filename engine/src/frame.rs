//! What a page may see of a run at one moment, as plain serialisable data. Must never change
//! anything, nor know who draws it.

mod groups;
mod packets;
mod settings;

pub use groups::{GroupFrame, Plane};
pub use packets::{PACKET_STRIDE, packets};
pub use settings::{FaultsView, WorkloadView};

use groups::{group_frame, name};
use serde::Serialize;

use crate::disk_view::{self, Damage, Troubles};
use crate::ids::{Checksum, GroupId, Incarnation, Op, ReplicaId, RequestNumber, Tick, View};
use crate::oracle::{Check, Violation};
use crate::run::{MutationState, Session, Verdict};
use crate::scenario::Shards;
use crate::shard::Group;
use crate::sim::lane::{Lane, LaneState};
use crate::sim::link::FOR_EVER;
use crate::sim::network::LinkView;
use crate::sim::record::Totals;
use crate::sim::{Place as ReplicaPlace, Settle, Simulator};
use crate::vsr::io::{Status, Timer};
use crate::vsr::knobs::Knobs;
use crate::vsr::log::SlotState;
use crate::vsr::quorum::Quorums;
use crate::why::{Why, why_nothing_commits};

/// Ops of each log that a frame shows, up to the head.
const OPS_SHOWN: u64 = 64;

/// The whole picture.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct Frame {
    pub tick: Tick,
    pub step: u32,
    pub hash: Checksum,
    pub schedule_hash: Checksum,
    pub virtual_micros: u64,
    pub seed: String,
    pub replica_count: u8,
    pub client_count: u8,
    pub shards: Shards,
    pub quorums: Quorums,
    pub knobs: Knobs,
    pub faults: FaultsView,
    pub workload: WorkloadView,
    pub replicas: Vec<ReplicaFrame>,
    pub clients: Vec<ClientFrame>,
    pub links: Vec<LinkFrame>,
    /// Every group there is.
    pub groups: Vec<GroupFrame>,
    /// The group that replicas, clients and `why` are shown in.
    pub group: String,
    pub why: Option<Why>,
    pub checks: Vec<Check>,
    pub violations: Vec<Violation>,
    pub totals: Totals,
    pub mutations: Vec<MutationState>,
    pub story: StoryView,
    pub settle: Option<SettleView>,
    pub verdict: Verdict,
    pub next_event: u64,
}

/// One replica.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct ReplicaFrame {
    pub id: ReplicaId,
    pub up: bool,
    pub paused: bool,
    pub status: ReplicaStatus,
    pub primary: bool,
    pub view: View,
    pub log_view: View,
    pub durable_view: View,
    pub durable_log_view: View,
    pub head: Op,
    pub held: Op,
    pub proven_from: Op,
    pub commit_min: Op,
    pub commit_max: Op,
    pub checkpoint: Op,
    pub journal_limit: Op,
    pub transfer: Option<TransferFrame>,
    pub incarnation: Incarnation,
    pub writes_pending: usize,
    pub inbox: usize,
    pub abdicated: bool,
    pub timers: Vec<TimerFrame>,
    pub leave_votes: Vec<ReplicaId>,
    pub log_votes: Vec<ReplicaId>,
    pub acks: Vec<AckFrame>,
    pub log: Vec<OpFrame>,
    pub sessions: Vec<SessionFrame>,
    pub digest: Checksum,
    pub clock: ClockFrame,
    pub disk: Troubles,
}

/// How wrong a replica's clock is.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct ClockFrame {
    pub offset_micros: i64,
    pub drift_ppm: i32,
}

/// A state on its way to a replica: parts so far, and parts it takes.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct TransferFrame {
    pub checkpoint: Op,
    pub have: u32,
    pub of: u32,
}

/// A replica's status, powered off and booting included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is the status of that name")]
pub enum ReplicaStatus {
    Normal,
    ViewChange,
    Recovering,
    RecoveringHead,
    Booting,
    Crashed,
}

/// A running timer.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct TimerFrame {
    pub timer: Timer,
    pub left: u64,
    pub of: u32,
}

/// Holders of one op that waits for a quorum.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct AckFrame {
    pub op: Op,
    pub from: Vec<ReplicaId>,
}

/// One cell of the log matrix.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct OpFrame {
    pub op: Op,
    pub view: Option<View>,
    pub checksum: Option<Checksum>,
    pub state: OpState,
    /// The disk could not give it back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// What a replica has at an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpState {
    /// Executed here.
    Committed,
    /// Held and synced.
    Prepared,
    /// Held, its write under way.
    Writing,
    /// The header is known, the body is not held.
    Header,
    /// Nothing is known.
    Missing,
    /// Held, and nothing vouches for it yet.
    Unproven,
}

/// One session.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct SessionFrame {
    pub client: u8,
    pub session: Op,
    pub request: RequestNumber,
}

/// One client in the group shown.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct ClientFrame {
    pub id: u8,
    pub state: LaneState,
    pub session: Op,
    pub request: RequestNumber,
    pub target: ReplicaId,
    pub since_tick: Option<Tick>,
    pub attempts: u32,
    pub replies: u64,
    pub asks: Option<String>,
}

/// One directed link.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct LinkFrame {
    pub from: String,
    pub to: String,
    pub cut: bool,
    pub partitioned: bool,
    pub filtered: Vec<&'static str>,
    pub held_kinds: Vec<&'static str>,
    pub clogged: bool,
    /// The first tick it flows again; nothing where it is not clogged, or until healed.
    pub clogged_until: Option<u64>,
    pub extra_delay_ticks: u32,
    pub loss_per_million: Option<u32>,
    pub in_flight: u32,
    pub waiting: u32,
}

/// Where the story stands.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct StoryView {
    pub name: Option<&'static str>,
    pub done: usize,
    pub steps: usize,
}

/// Where the end phase stands.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct SettleView {
    pub core: Vec<ReplicaId>,
    pub deadline: Tick,
    pub over: bool,
}

/// The picture of a session now.
#[must_use]
pub fn frame(session: &Session) -> Frame {
    let simulator = session.simulator();
    let values = simulator.values();
    let cursor = session.cursor();
    let shown = session.shown_group();
    let count = values.cluster.replicas;
    let replicas = (0..count).map(ReplicaId);
    Frame {
        tick: cursor.tick,
        step: cursor.step,
        hash: Checksum(session.hash()),
        schedule_hash: Checksum(session.schedule_hash()),
        virtual_micros: simulator.world().clock.now_micros(),
        seed: values.seed.to_string(),
        replica_count: count,
        client_count: values.cluster.clients,
        shards: values.shards,
        quorums: Quorums::of(count),
        knobs: values.knobs.clone(),
        faults: FaultsView::of(values),
        workload: WorkloadView::of(values),
        replicas: replicas
            .map(|replica| replica_frame(simulator, replica, shown))
            .collect(),
        clients: client_frames(simulator, shown),
        links: simulator
            .network()
            .links(simulator.tick().0)
            .map(|link| link_frame(&link))
            .collect(),
        groups: simulator
            .group_ids()
            .iter()
            .map(|&group| group_frame(simulator, group))
            .collect(),
        group: name(simulator, shown),
        why: why_nothing_commits(simulator, shown),
        checks: session.checks(),
        violations: session.violations(),
        totals: session.totals(),
        mutations: session.mutations(),
        story: StoryView {
            name: values.story.name(),
            done: simulator.story_done(),
            steps: values.story.actions().len(),
        },
        settle: simulator.settling().map(settle_view),
        verdict: session.verdict(),
        next_event: simulator.world().record.borrow().recorder().next_number(),
    }
}

fn settle_view(settle: &Settle) -> SettleView {
    SettleView {
        core: settle.core.clone(),
        deadline: settle.deadline,
        over: settle.outcome.is_some(),
    }
}

fn replica_frame(simulator: &Simulator, replica: ReplicaId, group: GroupId) -> ReplicaFrame {
    match simulator.group(replica, group) {
        Some(group) => running(simulator, replica, &group.borrow()),
        None => powered_off(simulator, replica, group),
    }
}

fn running(simulator: &Simulator, id: ReplicaId, group: &Group) -> ReplicaFrame {
    let place = &simulator.places()[usize::from(id.0)];
    let core = &group.replica;
    let log = core.log();
    ReplicaFrame {
        id,
        up: place.up,
        paused: place.paused,
        status: match core.status() {
            Status::Normal => ReplicaStatus::Normal,
            Status::ViewChange => ReplicaStatus::ViewChange,
            Status::Recovering => ReplicaStatus::Recovering,
            Status::RecoveringHead => ReplicaStatus::RecoveringHead,
        },
        primary: core.is_primary() && core.status() == Status::Normal,
        view: core.view(),
        log_view: core.log_view(),
        durable_view: core.durable().view,
        durable_log_view: core.durable().log_view,
        head: log.head(),
        held: log.held_through(),
        proven_from: log.proven_from(),
        commit_min: core.commit_min(),
        commit_max: core.commit_max(),
        checkpoint: core.checkpoint(),
        journal_limit: core.journal_limit(),
        transfer: core
            .transfer_progress()
            .map(|(checkpoint, have, of)| TransferFrame {
                checkpoint,
                have,
                of,
            }),
        incarnation: core.incarnation(),
        writes_pending: group.writes_pending(),
        inbox: place.inbox(),
        abdicated: core.has_abdicated(),
        timers: core
            .timers()
            .iter()
            .map(|(timer, left, of)| TimerFrame { timer, left, of })
            .collect(),
        leave_votes: core.leave_votes().iter().collect(),
        log_votes: core.log_votes().iter().collect(),
        acks: core
            .acks()
            .map(|(op, holders)| AckFrame {
                op,
                from: holders.iter().collect(),
            })
            .collect(),
        log: op_frames(simulator, id, group),
        sessions: core
            .sessions()
            .iter()
            .map(|(client, session, request)| SessionFrame {
                client: client.0,
                session,
                request,
            })
            .collect(),
        digest: core.digest(&group.machine),
        clock: clock_frame(place),
        disk: disk_view::troubles(simulator, id),
    }
}

fn op_frames(simulator: &Simulator, id: ReplicaId, group: &Group) -> Vec<OpFrame> {
    let core = &group.replica;
    let log = core.log();
    let lowest = log.floor().next();
    let first = Op(log.head().0.saturating_sub(OPS_SHOWN - 1)).max(lowest);
    (first.0..=log.head().0)
        .map(Op)
        .map(|op| OpFrame {
            op,
            view: log.header(op).map(|header| header.view),
            checksum: log.identity(op),
            state: match log.state(op) {
                SlotState::Missing | SlotState::Contained => OpState::Missing,
                SlotState::Known => OpState::Header,
                SlotState::Held { .. } if op <= core.commit_min() => OpState::Committed,
                SlotState::Held { .. } if op < log.proven_from() => OpState::Unproven,
                SlotState::Held { synced: true } => OpState::Prepared,
                SlotState::Held { synced: false } => OpState::Writing,
            },
            damaged: {
                let is_synced = log.state(op) == SlotState::Held { synced: true };
                disk_view::is_damaged(simulator, id, core.roster().group, op, is_synced)
            },
        })
        .collect()
}

/// A replica that is down or boots shows what its disk vouches for.
fn powered_off(simulator: &Simulator, id: ReplicaId, group: GroupId) -> ReplicaFrame {
    let place = &simulator.places()[usize::from(id.0)];
    let superblock = simulator.superblock_of(id, group);
    let superblock = superblock.as_deref();
    let log = disk_frames(simulator, id, group);
    let head = superblock.map_or(Op(0), crate::vsr::io::Superblock::head);
    let head = log.last().map_or(head, |entry| entry.op.max(head));
    let commit_max = superblock.map_or(Op(0), |superblock| superblock.commit_max);
    let views = superblock.map_or((View(0), View(0)), |superblock| {
        (superblock.view, superblock.log_view)
    });
    ReplicaFrame {
        id,
        up: place.up,
        paused: place.paused,
        status: if place.up {
            ReplicaStatus::Booting
        } else {
            ReplicaStatus::Crashed
        },
        primary: false,
        view: views.0,
        log_view: views.1,
        durable_view: views.0,
        durable_log_view: views.1,
        head,
        held: Op(0),
        proven_from: head.next(),
        commit_min: Op(0),
        commit_max,
        checkpoint: superblock.map_or(Op(0), |superblock| superblock.checkpoint.op()),
        journal_limit: Op(0),
        transfer: None,
        incarnation: place.incarnation,
        writes_pending: 0,
        inbox: 0,
        abdicated: false,
        timers: Vec::new(),
        leave_votes: Vec::new(),
        log_votes: Vec::new(),
        acks: Vec::new(),
        log,
        sessions: Vec::new(),
        digest: Checksum(0),
        clock: clock_frame(place),
        disk: disk_view::troubles(simulator, id),
    }
}

fn clock_frame(place: &ReplicaPlace) -> ClockFrame {
    ClockFrame {
        offset_micros: place.clock().offset_micros(),
        drift_ppm: place.clock().drift_ppm(),
    }
}

/// What stands in the journal of a replica that is down, and what does not any more.
fn disk_frames(simulator: &Simulator, replica: ReplicaId, group: GroupId) -> Vec<OpFrame> {
    let damages = disk_view::damages(simulator, replica, group);
    let is_lost = |op| damages.iter().any(|damage| damage.op == op);
    let prepares = simulator.journaled(replica, group);
    let whole = prepares
        .iter()
        .filter(|prepare| !is_lost(prepare.header.op));
    let whole = whole.map(|prepare| OpFrame {
        op: prepare.header.op,
        view: Some(prepare.header.view),
        checksum: Some(prepare.header.checksum),
        state: OpState::Prepared,
        damaged: false,
    });
    let mut frames: Vec<OpFrame> = whole.chain(damages.iter().map(damaged_frame)).collect();
    frames.sort_by_key(|frame| frame.op);
    let head = frames.last().map_or(0, |frame| frame.op.0);
    frames.retain(|frame| frame.op.0 + OPS_SHOWN > head);
    frames
}

fn damaged_frame(damage: &Damage) -> OpFrame {
    OpFrame {
        op: damage.op,
        view: damage.header.map(|(view, _)| view),
        checksum: damage.header.map(|(_, checksum)| checksum),
        state: match damage.header {
            Some(_) => OpState::Header,
            None => OpState::Missing,
        },
        damaged: true,
    }
}

fn client_frames(simulator: &Simulator, group: GroupId) -> Vec<ClientFrame> {
    let clients = simulator.clients().iter();
    clients
        .map(|client| match client.lane(group) {
            Some(lane) => lane_frame(lane),
            None => ClientFrame {
                id: client.id().0,
                state: LaneState::Idle,
                session: Op(0),
                request: RequestNumber(0),
                target: View(0).primary(simulator.values().cluster.replicas),
                since_tick: None,
                attempts: 0,
                replies: 0,
                asks: None,
            },
        })
        .collect()
}

fn lane_frame(lane: &Lane) -> ClientFrame {
    ClientFrame {
        id: lane.client().0,
        state: lane.state(),
        session: lane.session(),
        request: lane.request(),
        target: lane.target(),
        since_tick: lane.since(),
        attempts: lane.attempts(),
        replies: lane.replies(),
        asks: lane
            .waiting_for()
            .map(|body| crate::machine::describe(body)),
    }
}

fn link_frame(link: &LinkView) -> LinkFrame {
    LinkFrame {
        from: link.from.to_string(),
        to: link.to.to_string(),
        cut: link.cut,
        partitioned: link.partitioned,
        filtered: link.filtered.iter().map(|kind| kind.name()).collect(),
        held_kinds: link.held_kinds.iter().map(|kind| kind.name()).collect(),
        clogged: link.clogged_until.is_some(),
        clogged_until: link.clogged_until.filter(|&until| until != FOR_EVER),
        extra_delay_ticks: link.extra_delay_ticks,
        loss_per_million: link.loss_per_million,
        in_flight: link.travelling,
        waiting: link.waiting,
    }
}
