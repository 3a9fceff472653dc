//! Words for events: one row of the event log each, with the numbers and the reason. What a row says
//! is said by the process that the row names, so the text begins with what that process did. All words
//! are made here and in its two neighbours, `words` and `reasons`; the page only shows them. Must
//! never decide anything.

use std::collections::VecDeque;
use std::fmt;

use serde::Serialize;

use super::class::{Class, class_of, is_big};
use super::event::{Act, Actor, Event, EventKind, Fate};
use super::reasons;
use super::words::{self, numeral};
use crate::ids::{ClientId, GroupId, Op, Process, ReplicaId, Tick, View};
use crate::vsr::message::{Frame, Message, MessageKind};
use crate::vsr::note::Note;

/// One row of the event log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The event's number.
    pub number: u64,
    /// When it happened.
    pub tick: Tick,
    /// In which step of the tick.
    pub step: u32,
    /// Its class.
    pub class: Class,
    /// Whether the timeline paints it and the live region says it.
    pub big: bool,
    /// The replica that did it.
    pub replica: Option<ReplicaId>,
    /// The client that did it, or that it is about.
    pub client: Option<ClientId>,
    /// What happened, in plain words.
    pub text: String,
    /// The packet, as links name it: `0to1.57`.
    pub packet: Option<String>,
    /// What became of it.
    pub fate: Option<Fate>,
    /// Its sender.
    pub from: Option<String>,
    /// Its receiver.
    pub to: Option<String>,
    /// Its message type.
    pub kind: Option<MessageKind>,
    /// The number of the event that caused it.
    pub cause: Option<u64>,
    /// The view it is about.
    pub view: Option<View>,
    /// The op it is about.
    pub op: Option<Op>,
    /// The group it belongs to; nothing where it is about all of them.
    pub group: Option<GroupId>,
}

/// A row as a line: when, who, what, and the event that caused it.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match (self.replica, self.client) {
            (Some(replica), _) => format!("r{replica}"),
            (None, Some(client)) => format!("c{client}"),
            (None, None) => "-".into(),
        };
        let place = format!("{}.{}", self.tick, self.step);
        let group = self.group.map_or("-".into(), words::group);
        write!(f, "#{:<7} {place:<9} {who:<3} {group:<4}", self.number)?;
        if let Some(packet) = &self.packet {
            write!(f, " [{packet}]")?;
        }
        write!(f, " {}", self.text)
    }
}

/// What a text may refer to besides its own event.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// How many replicas there are.
    pub replica_count: u8,
    /// The events kept.
    pub events: &'a VecDeque<Event>,
    /// Where the event stands among them.
    pub place: usize,
}

/// How far back a text looks for what it refers to: far enough for a round trip, and bounded, since
/// rows are made while a person scrolls.
const LOOK_BACK: usize = 2_000;

impl<'a> Context<'a> {
    /// The events before this one, the latest first.
    fn earlier(&self) -> impl Iterator<Item = &'a Event> + use<'a> {
        let first = self.place.saturating_sub(LOOK_BACK);
        let last = self.place.min(self.events.len());
        self.events.range(first..last).rev()
    }

    /// The frame of a packet, and what caused it.
    fn frame(&self, link: (Process, Process), number: u64) -> Option<(&'a Frame, u64)> {
        self.earlier().find_map(|event| {
            let EventKind::Sent {
                frame,
                packet,
                cause,
                ..
            } = &event.kind
            else {
                return None;
            };
            let same = *packet == number && (frame.from, frame.to) == link;
            same.then_some((&**frame, *cause))
        })
    }

    /// Who was counted as a holder of an op of a group by its primary.
    fn holders(&self, primary: ReplicaId, group: GroupId, op: Op) -> Vec<ReplicaId> {
        let mut holders: Vec<ReplicaId> = self
            .earlier()
            .filter_map(|event| {
                let EventKind::Noted {
                    replica,
                    group: within,
                    note,
                } = &event.kind
                else {
                    return None;
                };
                let Note::AckCounted {
                    op: acked, from, ..
                } = note
                else {
                    return None;
                };
                let same = *replica == primary && *within == group && *acked == op;
                same.then_some(*from)
            })
            .collect();
        holders.sort_unstable();
        holders.dedup();
        holders
    }
}

/// The row of an event.
#[must_use]
pub fn describe(event: &Event, context: &Context) -> Row {
    let mut row = Row {
        number: event.number,
        tick: event.tick,
        step: event.step,
        class: class_of(&event.kind),
        big: is_big(&event.kind),
        replica: None,
        client: None,
        text: String::new(),
        packet: None,
        fate: None,
        from: None,
        to: None,
        kind: None,
        cause: None,
        view: None,
        op: None,
        group: event.kind.group(),
    };
    match &event.kind {
        EventKind::Sent {
            frame,
            packet,
            due,
            cause,
            copy,
        } => {
            packet_of(&mut row, (frame.from, frame.to), *packet);
            frame_of(&mut row, frame, *cause);
            said_by(&mut row, frame.from);
            let wait = due.0.saturating_sub(event.tick.0);
            let (what, to) = (words::message(frame), words::process(frame.to));
            let verb = if *copy {
                "duplicated on its way to"
            } else {
                "sent to"
            };
            row.text = format!("{verb} {to}: {what} (due in {})", words::ticks(wait));
        }
        EventKind::Ended {
            from,
            to,
            packet,
            kind,
            fate,
            ..
        } => {
            packet_of(&mut row, (*from, *to), *packet);
            row.kind = Some(*kind);
            row.fate = Some(*fate);
            let sent = context.frame((*from, *to), *packet);
            if let Some((frame, cause)) = sent {
                frame_of(&mut row, frame, cause);
            }
            let what = sent.map_or(kind.name().to_string(), |(frame, _)| words::message(frame));
            said_by(&mut row, if *fate == Fate::Delivered { *to } else { *from });
            row.text = end_of(&what, *from, *to, *fate);
        }
        EventKind::Noted {
            replica,
            group,
            note,
        } => {
            row.replica = Some(*replica);
            about(&mut row, note);
            row.text = if let Note::CommitAdvanced { commit_max } = note {
                committed((*replica, *group), *commit_max, context)
            } else {
                reasons::note(*replica, note, context.replica_count)
            };
        }
        EventKind::Acted(act) => row.text = act_text(act),
        EventKind::Skipped(skipped) => {
            row.text = format!("{}; not done: {}", act_text(&skipped.act), skipped.because);
        }
        EventKind::Crashed {
            replica,
            writes_lost,
            writes_torn,
        } => {
            row.replica = Some(*replica);
            row.text = match writes_lost {
                0 => "crashed; no write was under way".to_string(),
                1 => "crashed; one write that was not on disk yet is gone".to_string(),
                lost => format!("crashed; {lost} writes that were not on disk yet are gone"),
            };
            match writes_torn {
                0 => {}
                1 => row.text += ", and one place is torn and unreadable",
                torn => row.text += &format!(", and {torn} places are torn and unreadable"),
            }
        }
        EventKind::Restarted {
            replica,
            incarnation,
        } => {
            row.replica = Some(*replica);
            row.text = format!("restarts; this is its life {incarnation}");
        }
        EventKind::Requested { .. } | EventKind::Replied { .. } | EventKind::SessionLost { .. } => {
            client_row(&mut row, &event.kind);
        }
        EventKind::Violated(violated) => {
            row.replica = violated.replica;
            row.op = violated.op;
            let name = violated.name.to_lowercase();
            row.text = format!("{} {name}: {}", violated.property, violated.text);
        }
    }
    row
}

fn packet_of(row: &mut Row, (from, to): (Process, Process), number: u64) {
    row.packet = Some(format!("{from}to{to}.{number}"));
    row.from = Some(from.to_string());
    row.to = Some(to.to_string());
}

fn frame_of(row: &mut Row, frame: &Frame, cause: u64) {
    row.kind = Some(frame.message.kind());
    row.cause = Some(cause);
    row.op = frame.message.op();
    // A client has no view.
    row.view = matches!(frame.from, Process::Replica(_)).then_some(frame.view);
    if let Message::Request(request) = &frame.message {
        row.client = Some(request.client);
    }
}

fn said_by(row: &mut Row, process: Process) {
    match process {
        Process::Replica(replica) => row.replica = Some(replica),
        Process::Client(client) => row.client = Some(client),
    }
}

fn end_of(what: &str, from: Process, to: Process, fate: Fate) -> String {
    let (from, to) = (words::process(from), words::process(to));
    let why = match fate {
        Fate::Delivered => return format!("received from {from}: {what}"),
        Fate::Lost => "lost by the dice of the link".to_string(),
        Fate::Cut => "the link is cut".to_string(),
        Fate::Partitioned => "the fault profile has parted them".to_string(),
        Fate::Filtered => "a filter stops its type".to_string(),
        Fate::Evicted => "pushed out of the full link".to_string(),
        Fate::TargetDown => format!("{to} is down"),
        Fate::Dropped => "dropped by hand".to_string(),
        Fate::InboxFull => format!("the inbox of {to} is full"),
    };
    format!("did not reach {to} with {what}: {why}")
}

fn act_text(act: &Act) -> String {
    let what = words::act(&act.text);
    match act.by {
        Actor::Person => format!("by hand: {what}"),
        Actor::Story => format!("the story: {what}"),
        Actor::Nemesis => format!("the fault profile: {what}"),
        Actor::Settle => format!("the end phase: {what}"),
    }
}

fn client_row(row: &mut Row, kind: &EventKind) {
    match kind {
        EventKind::Requested {
            client,
            to,
            session,
            request,
            attempts,
            ..
        } => {
            row.client = Some(*client);
            let again = match attempts {
                0 => String::new(),
                tries => format!(" again, try {}", tries + 1),
            };
            row.text = if *session == Op(0) {
                format!("asked {to} for a session{again}")
            } else {
                format!("sent request {request} to {to}{again}")
            };
        }
        EventKind::Replied {
            client,
            reply,
            view,
            latency_ticks,
            ..
        } => {
            row.client = Some(*client);
            row.view = Some(*view);
            row.op = Some(reply.op);
            let what = words::request(reply.request);
            row.text = format!(
                "has the reply to {what} after {}: op {} of view {view} must never be lost now",
                words::ticks(*latency_ticks),
                reply.op
            );
        }
        EventKind::SessionLost { client, .. } => {
            row.client = Some(*client);
            row.text =
                "lost its session; what it still had under way has an unknown outcome".into();
        }
        EventKind::Sent { .. }
        | EventKind::Ended { .. }
        | EventKind::Noted { .. }
        | EventKind::Acted(_)
        | EventKind::Skipped(_)
        | EventKind::Crashed { .. }
        | EventKind::Restarted { .. }
        | EventKind::Violated(_) => {}
    }
}

/// What a note is about, for filters and jumps.
fn about(row: &mut Row, note: &Note) {
    let (view, op, client) = match note {
        Note::MessageIgnored { kind, .. } => {
            row.kind = Some(*kind);
            (None, None, None)
        }
        Note::RequestDropped { client, .. } | Note::RequestRejected { client, .. } => {
            (None, None, Some(*client))
        }
        Note::ReplyRepeated { op, client, .. } | Note::Prepared { op, client, .. } => {
            (None, Some(*op), Some(*client))
        }
        Note::Appended { op, .. }
        | Note::Filled { op, .. }
        | Note::Journaled { op, .. }
        | Note::Acked { op, .. }
        | Note::AckCounted { op, .. }
        | Note::OpDecided { op, .. } => (None, Some(*op), None),
        Note::CommitAdvanced { commit_max } => (None, Some(*commit_max), None),
        Note::Executed { prepare, .. } => {
            let header = &prepare.header;
            (Some(header.view), Some(header.op), Some(header.client))
        }
        Note::LeaveVoted { view, .. }
        | Note::VoteWithdrawn { view }
        | Note::LeaveCounted { view, .. }
        | Note::ViewEntered { view, .. }
        | Note::Merged { view, .. }
        | Note::Probed { view, .. } => (Some(*view), None, None),
        Note::ViewStarted { view, head, .. }
        | Note::BecameNormal { view, head, .. }
        | Note::LogAdopted { view, head, .. }
        | Note::SuperblockDurable { view, head, .. }
        | Note::Booted { view, head, .. } => (Some(*view), Some(*head), None),
        Note::EntryDropped { op, view, .. } | Note::Abdicated { view, op } => {
            (Some(*view), Some(*op), None)
        }
        Note::Proven { from }
        | Note::RepairRequested { from, .. }
        | Note::RepairServed { from, .. } => (None, Some(*from), None),
        Note::ProbeAnswered { head, .. } | Note::TrustRegained { head } => {
            (None, Some(*head), None)
        }
        Note::SessionOpened { client, session } | Note::SessionEvicted { client, session } => {
            (None, Some(*session), Some(*client))
        }
        Note::State(note) => (None, Some(note.op()), None),
        Note::Forfeited { view, .. } => (Some(*view), None, None),
        Note::TimerFired { .. } | Note::Mutated { .. } | Note::Hosting(_) => (None, None, None),
        Note::RuleBroken { op, .. } => (None, (*op != Op(0)).then_some(*op), None),
    };
    row.view = view;
    row.op = op;
    row.client = client;
}

fn committed((replica, group): (ReplicaId, GroupId), op: Op, context: &Context) -> String {
    let holders = context.holders(replica, group, op);
    let quorum = crate::vsr::quorum::Quorums::of(context.replica_count).replication;
    let share = format!(
        "{} of {} is a quorum",
        numeral(quorum),
        numeral(context.replica_count)
    );
    // Where the ring has let the acks go, the number alone is known.
    if holders.len() < usize::from(quorum) {
        return format!("committed op {op}: {share}");
    }
    match holders.as_slice() {
        [one] => format!("committed op {op}: replica {one} holds it, {share}"),
        many => format!(
            "committed op {op}: replicas {} hold it, {share}",
            words::list(many)
        ),
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[path = "text_tests.rs"]
pub(super) mod tests;
