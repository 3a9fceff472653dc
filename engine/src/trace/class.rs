//! Sorts events for the page: which class a row belongs to, and which rows are big enough for the
//! timeline and the live region. Must never know words.

use serde::Serialize;

use super::event::{Actor, EventKind};
use crate::vsr::note::{Note, StateNote};

/// The class of a row, for filters and colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A packet left or ended.
    Packet,
    /// Something was ignored, or became durable.
    Decision,
    /// An op went on its way to being committed.
    Replication,
    /// A view is left, or starts.
    ViewChange,
    /// A log is mended.
    Repair,
    /// A client and its requests.
    Client,
    /// Something was done to the world.
    Fault,
    /// A rule or a property did not hold.
    Violation,
    /// A timer ran out.
    Timer,
}

/// The class of an event.
#[must_use]
pub fn class_of(kind: &EventKind) -> Class {
    match kind {
        EventKind::Sent { .. } | EventKind::Ended { .. } => Class::Packet,
        EventKind::Noted { note, .. } => class_of_note(note),
        EventKind::Acted(_)
        | EventKind::Skipped(_)
        | EventKind::Crashed { .. }
        | EventKind::Restarted { .. } => Class::Fault,
        EventKind::Requested { .. } | EventKind::Replied { .. } | EventKind::SessionLost { .. } => {
            Class::Client
        }
        EventKind::Violated(_) => Class::Violation,
    }
}

fn class_of_note(note: &Note) -> Class {
    match note {
        Note::MessageIgnored { .. } | Note::Hosting(_) | Note::SuperblockDurable { .. } => {
            Class::Decision
        }
        Note::RequestDropped { .. }
        | Note::RequestRejected { .. }
        | Note::ReplyRepeated { .. }
        | Note::SessionOpened { .. }
        | Note::SessionEvicted { .. } => Class::Client,
        Note::Prepared { .. }
        | Note::Appended { .. }
        | Note::Journaled { .. }
        | Note::Acked { .. }
        | Note::AckCounted { .. }
        | Note::CommitAdvanced { .. }
        | Note::Executed { .. } => Class::Replication,
        Note::Filled { repair, .. } => {
            if *repair {
                Class::Repair
            } else {
                Class::Replication
            }
        }
        Note::LeaveVoted { .. }
        | Note::VoteWithdrawn { .. }
        | Note::LeaveCounted { .. }
        | Note::ViewEntered { .. }
        | Note::Merged { .. }
        | Note::OpDecided { .. }
        | Note::ViewStarted { .. }
        | Note::BecameNormal { .. }
        | Note::LogAdopted { .. }
        | Note::EntryDropped { .. }
        | Note::Probed { .. }
        | Note::ProbeAnswered { .. }
        | Note::Abdicated { .. }
        | Note::Forfeited { .. }
        | Note::TrustRegained { .. } => Class::ViewChange,
        Note::Proven { .. } | Note::RepairRequested { .. } | Note::RepairServed { .. } => {
            Class::Repair
        }
        Note::State(note) => class_of_state(note),
        Note::Booted { .. } | Note::Mutated { .. } => Class::Fault,
        Note::TimerFired { .. } => Class::Timer,
        Note::RuleBroken { .. } => Class::Violation,
    }
}

fn class_of_state(note: &StateNote) -> Class {
    match note {
        StateNote::SnapshotTaken { .. }
        | StateNote::SnapshotWritten { .. }
        | StateNote::Checkpointed { .. }
        | StateNote::AckWithheld { .. } => Class::Decision,
        StateNote::StateUnreadable { .. }
        | StateNote::TransferStarted { .. }
        | StateNote::TransferPinned { .. }
        | StateNote::TransferChunk { .. }
        | StateNote::TransferServed { .. }
        | StateNote::TransferAbandoned { .. }
        | StateNote::TransferFinished { .. } => Class::Repair,
    }
}

/// Verbs that change the world so that a person should see it on the timeline. Crashes and restarts
/// are events of their own, which say what came of them.
const BIG_VERBS: [&str; 20] = [
    "wipe",
    "pause",
    "resume",
    "cut",
    "mute",
    "join",
    "clog",
    "heal",
    "hold",
    "release",
    "profile",
    "settle",
    "corrupt",
    "punch",
    "misdirect",
    "tear",
    "lie",
    "slow",
    "mutate",
    "skew",
];

/// Whether an event is big.
#[must_use]
pub fn is_big(kind: &EventKind) -> bool {
    match kind {
        EventKind::Crashed { .. } | EventKind::Restarted { .. } | EventKind::Violated(_) => true,
        EventKind::Acted(act) => {
            let verb = act.text.split('.').next().unwrap_or_default();
            // A profile clogs some link at most ticks, and its clocks are wrong from the start; what
            // is always so is no news.
            let is_weather = act.by == Actor::Nemesis && matches!(verb, "clog" | "skew");
            BIG_VERBS.contains(&verb) && !is_weather
        }
        EventKind::Noted { note, .. } => matches!(
            note,
            Note::ViewEntered { .. }
                | Note::ViewStarted { .. }
                | Note::RuleBroken { .. }
                | Note::State(StateNote::TransferFinished { .. })
        ),
        EventKind::Sent { .. }
        | EventKind::Ended { .. }
        | EventKind::Skipped(_)
        | EventKind::Requested { .. }
        | EventKind::Replied { .. }
        | EventKind::SessionLost { .. } => false,
    }
}
