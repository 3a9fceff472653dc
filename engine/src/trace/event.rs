//! The closed event enum. Events are facts with their operands; words for them are made elsewhere.

use std::rc::Rc;

use serde::Serialize;

use crate::ids::{
    Checksum, ClientId, GroupId, Incarnation, Op, Process, ReplicaId, RequestNumber, Tick, View,
};
use crate::vsr::message::{Frame, MessageKind, Reply};
use crate::vsr::note::Note;

/// One event of a run.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its number in the run, from 0.
    pub number: u64,
    /// The tick it happened in.
    pub tick: Tick,
    /// The number of the step inside the tick it belongs to, the n of `at=1234.n`; zero for what
    /// belongs to the tick as a whole, as packets sent at its end do.
    pub step: u32,
    /// What happened.
    pub kind: EventKind,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Fate {
    /// Handed to its target.
    Delivered = 0,
    /// Lost by the dice of the link.
    Lost = 1,
    /// Stopped by a cut the user made.
    Cut = 2,
    /// Stopped by a partition of the fault profile.
    Partitioned = 3,
    /// Stopped by a filter on its type.
    Filtered = 4,
    /// Pushed out of a full link.
    Evicted = 5,
    /// Its target was down.
    TargetDown = 6,
    /// Dropped by the user.
    Dropped = 7,
    /// The target's inbox was full.
    InboxFull = 8,
}

/// Something done to the world, by the person, the story or the fault profile. `text` is the script
/// form of the action, `crash.2` for instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// The verb and its arguments.
    pub text: Rc<str>,
    /// Who did it.
    pub by: Actor,
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    /// The person, by a click or a link.
    Person,
    /// A story.
    Story,
    /// The fault profile.
    Nemesis,
    /// The end phase.
    Settle,
}

/// Why an act that was possible to write could not be done when its time came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The act.
    pub act: Act,
    /// Why, in words: the replica was already down.
    pub because: Rc<str>,
}

impl EventKind {
    /// The group it belongs to; nothing where it is about all of them.
    #[must_use]
    pub fn group(&self) -> Option<GroupId> {
        match self {
            Self::Sent { frame, .. } => Some(frame.group),
            Self::Ended { group, .. }
            | Self::Noted { group, .. }
            | Self::Requested { group, .. }
            | Self::Replied { group, .. }
            | Self::SessionLost { group, .. } => Some(*group),
            Self::Violated(violated) => Some(violated.group),
            Self::Acted(_) | Self::Skipped(_) | Self::Crashed { .. } | Self::Restarted { .. } => {
                None
            }
        }
    }
}

/// What happened. Closed: readers match it whole.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// A frame entered a link.
    Sent {
        /// The frame.
        frame: Rc<Frame>,
        /// Its number on that link, from 1: the packet is `0to1.57`.
        packet: u64,
        /// The tick it is due.
        due: Tick,
        /// The event that caused it.
        cause: u64,
        /// Whether the network made it out of another packet: its sender said nothing anew.
        copy: bool,
    },
    /// A packet ended.
    Ended {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
        /// Its number on that link.
        packet: u64,
        /// Its group.
        group: GroupId,
        /// Its message type.
        kind: MessageKind,
        /// What became of it.
        fate: Fate,
    },
    /// A replica's note, with its reason.
    Noted {
        /// Whose.
        replica: ReplicaId,
        /// In which group.
        group: GroupId,
        /// What.
        note: Note,
    },
    /// Something was done to the world.
    Acted(Act),
    /// Something could not be done.
    Skipped(Skipped),
    /// A replica went down; everything not durable is lost.
    Crashed {
        /// Which.
        replica: ReplicaId,
        /// Writes that were under way or not synced, and are gone.
        writes_lost: u32,
        /// Places on its disk where such a write left something unreadable.
        writes_torn: u32,
    },
    /// A replica begins to boot.
    Restarted {
        /// Which.
        replica: ReplicaId,
        /// Its new life.
        incarnation: Incarnation,
    },
    /// A client sent a request (again).
    Requested {
        /// Who.
        client: ClientId,
        /// In which group.
        group: GroupId,
        /// To which replica.
        to: ReplicaId,
        /// Session epoch; zero for a register.
        session: Op,
        /// Number.
        request: RequestNumber,
        /// Sends before this one.
        attempts: u32,
        /// Body checksum.
        body_checksum: Checksum,
    },
    /// A client accepted a reply: from here on the op must never be lost.
    Replied {
        /// Who.
        client: ClientId,
        /// Of which group.
        group: GroupId,
        /// The reply.
        reply: Rc<Reply>,
        /// The view of the replica that sent it.
        view: View,
        /// Ticks since the first send.
        latency_ticks: u64,
    },
    /// A client's session is gone.
    SessionLost {
        /// Whose.
        client: ClientId,
        /// In which group.
        group: GroupId,
    },
    /// A property did not hold. It stands right behind the event that showed it, and is no part of
    /// what happened: no hash folds it.
    Violated(Violated),
}

/// What an oracle or the auditor found, as far as a row tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// `I4`.
    pub property: &'static str,
    /// `Durability`.
    pub name: &'static str,
    /// In which group.
    pub group: GroupId,
    /// The replica concerned, where it is one alone.
    pub replica: Option<ReplicaId>,
    /// The op it is about, where it is about one.
    pub op: Option<Op>,
    /// One sentence in plain words.
    pub text: Rc<str>,
}
