//! What oracles may look at, once a tick: plain data that the simulator copies out, and look-ups into
//! logs and disks that cannot change anything. Must never know the simulator that fills it in.

use serde::Serialize;

use super::weather::Weather;
use crate::ids::{Checksum, GroupId, Incarnation, Op, Process, ReplicaId, Tick, View};
use crate::vsr::io::{Status, Timer};
use crate::vsr::quorum::Quorums;

/// A set of timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timers(u16);

impl Timers {
    /// This set and one more.
    #[must_use]
    pub fn with(self, timer: Timer) -> Self {
        Self(self.0 | 1 << timer as u16)
    }

    /// Whether a timer is in it.
    #[must_use]
    pub fn contains(self, timer: Timer) -> bool {
        self.0 & (1 << timer as u16) != 0
    }
}

impl FromIterator<Timer> for Timers {
    fn from_iter<I: IntoIterator<Item = Timer>>(timers: I) -> Self {
        timers.into_iter().fold(Self::default(), Self::with)
    }
}

/// One replica in one group, at the end of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberView {
    /// Which replica.
    pub replica: ReplicaId,
    /// In which group.
    pub group: GroupId,
    /// Whether it runs. If not, only the durable fields mean anything.
    pub up: bool,
    /// Whether it is paused: it runs, yet nothing moves in it.
    pub paused: bool,
    /// Its life.
    pub incarnation: Incarnation,
    /// Its status.
    pub status: Status,
    /// Its view.
    pub view: View,
    /// The last view whose log it installed.
    pub log_view: View,
    /// The view its superblock holds.
    pub durable_view: View,
    /// The log_view its superblock holds.
    pub durable_log_view: View,
    /// The last op of its log.
    pub head: Op,
    /// It holds every body up to here.
    pub held: Op,
    /// How long it waits for a view change, back-off included.
    pub view_change_wait: u32,
    /// The last op it executed.
    pub commit_min: Op,
    /// The largest op it knows committed.
    pub commit_max: Op,
    /// Its durable checkpoint.
    pub checkpoint: Op,
    /// The checkpoint its state machine was last loaded from, at boot or by state transfer: it
    /// executes from the next op on.
    pub restored: Op,
    /// Digest of its state after `commit_min`.
    pub digest: Checksum,
    /// Which of its timers run.
    pub timers: Timers,
    /// Whether it leads and has stopped its heartbeats on purpose.
    pub abdicated: bool,
    /// Whether what it lacks was never acknowledged by it: not so after a restart where acks leave
    /// before writes land.
    pub trusted: bool,
    /// Whether an op of (checkpoint, head] lacks its body.
    pub holes: bool,
    /// Whether one of them has a slot, so that it can be fetched.
    pub fetchable: bool,
    /// Whether what it lacks can be had only with a state from others.
    pub needs_state: bool,
    /// Disk writes under way.
    pub writes_pending: u32,
    /// Prepares that wait for a quorum.
    pub pipeline: u32,
    /// Sessions in its table.
    pub sessions: u32,
    /// Frames in the inboxes of its shards now.
    pub inbox: u32,
    /// Most frames in any of them at any moment of this tick.
    pub inbox_high: u32,
    /// Frames in the channels between its shards now.
    pub between: u32,
    /// Most frames in any of them at any moment of this tick.
    pub between_high: u32,
}

impl MemberView {
    /// A replica that does not run.
    #[must_use]
    pub fn down(replica: ReplicaId, group: GroupId) -> Self {
        Self {
            replica,
            group,
            up: false,
            paused: false,
            incarnation: Incarnation(0),
            status: Status::Recovering,
            view: View(0),
            log_view: View(0),
            durable_view: View(0),
            durable_log_view: View(0),
            head: Op(0),
            held: Op(0),
            view_change_wait: 0,
            commit_min: Op(0),
            commit_max: Op(0),
            checkpoint: Op(0),
            restored: Op(0),
            digest: Checksum(0),
            timers: Timers::default(),
            abdicated: false,
            trusted: true,
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
}

/// The configured maxima.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// Packets on one directed link; held ones lie outside it.
    pub link: u32,
    /// Frames in one inbox.
    pub inbox: u32,
    /// Frames in the channel to one shard.
    pub channel: u32,
    /// Prepares that wait for a quorum.
    pub pipeline: u32,
    /// Sessions of one group.
    pub sessions: u32,
}

/// The fullest directed link of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullestLink {
    /// Sender.
    pub from: Process,
    /// Receiver.
    pub to: Process,
    /// Most packets in flight at any moment of this tick, held ones aside.
    pub in_flight: u32,
}

/// Look-ups into logs and disks.
pub trait Logs {
    /// Identity of the entry whose body a running replica holds at an op above its checkpoint, in
    /// memory; on disk, where it fetches a state and its log in memory begins higher.
    fn checksum_at(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum>;

    /// Identity of the entry that a replica's disk holds at an op, synced in both rings and
    /// readable, whether the replica runs or not.
    fn durable_checksum(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum>;

    /// The same as a read would find it now: with what is written and not durable, or reported durable
    /// by a liar.
    fn stored_checksum(&self, replica: ReplicaId, group: GroupId, op: Op) -> Option<Checksum>;
}

/// The cluster at the end of a tick.
#[derive(Clone, Copy)]
pub struct ClusterView<'a> {
    /// The tick that ends.
    pub tick: Tick,
    /// Every replica in every group it has: group by group, replicas ascending within.
    pub members: &'a [MemberView],
    /// The fullest link, if a packet moved in this tick.
    pub fullest_link: Option<FullestLink>,
    /// Logs and disks.
    pub logs: &'a dyn Logs,
    /// What the world does to replicas and links.
    pub weather: &'a dyn Weather,
}

impl ClusterView<'_> {
    /// One replica in one group.
    #[must_use]
    pub fn member(&self, replica: ReplicaId, group: GroupId) -> Option<&MemberView> {
        self.members
            .iter()
            .find(|member| member.replica == replica && member.group == group)
    }
}

/// What oracles know of a cluster from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roster {
    /// How many replicas.
    pub replica_count: u8,
    /// Their quorums.
    pub quorums: Quorums,
    /// The configured maxima.
    pub bounds: Bounds,
}
