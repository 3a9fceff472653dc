//! The trace in the JSON form that Chrome's tracing and Perfetto open: a track for each process and
//! one for the world, a slice for each event, an arrow for each packet that arrived, a long slice
//! while a replica is down. Must never know files.
//!
//! A tick is 10 ms there as everywhere. Events of one tick stand a microsecond apart, in their order.

use std::collections::BTreeMap;

use serde::Serialize;

use super::event::{Event, EventKind, Fate};
use super::text::Row;
use crate::ids::{ClientId, Process, ReplicaId, TICK_MICROS};

/// The one process of the trace; its threads are the tracks.
const CLUSTER: u32 = 1;
/// The track of acts and faults.
const WORLD: u32 = 0;

/// One element of `traceEvents`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceEvent {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    ph: &'static str,
    ts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    pid: u32,
    tid: u32,
    /// Ties the two ends of an arrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// `e`: the arrow ends at the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    args: BTreeMap<&'static str, Value>,
}

/// A value of `args`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Number(u64),
}

/// Turns events into elements, one after the other.
#[derive(Debug, Default)]
pub struct Perfetto {
    tick: u64,
    in_tick: u64,
    /// The number of the event that sent each packet on its way.
    sent: BTreeMap<(Process, Process, u64), u64>,
}

impl Perfetto {
    /// The names of the tracks.
    #[must_use]
    pub fn tracks(replicas: u8, clients: u8) -> Vec<TraceEvent> {
        let mut tracks = vec![
            named("process_name", WORLD, "name", Value::Text("cluster".into())),
            named("thread_name", WORLD, "name", Value::Text("world".into())),
        ];
        let replicas = (0..replicas).map(|replica| Process::Replica(ReplicaId(replica)));
        let clients = (0..clients).map(|client| Process::Client(ClientId(client)));
        for process in replicas.chain(clients) {
            let kind = match process {
                Process::Replica(_) => "replica",
                Process::Client(_) => "client",
            };
            let (tid, name) = (track(process), Value::Text(format!("{kind} {process}")));
            tracks.push(named("thread_name", tid, "name", name));
            tracks.push(named(
                "thread_sort_index",
                tid,
                "sort_index",
                Value::Number(u64::from(tid)),
            ));
        }
        tracks
    }

    /// What an event becomes; `row` has its words.
    pub fn event(&mut self, event: &Event, row: &Row) -> Vec<TraceEvent> {
        let ts = self.place(event);
        let tid = owner(row).map_or(WORLD, track);
        let mut slice = TraceEvent {
            name: title(&event.kind),
            cat: Some("event"),
            ph: "X",
            ts,
            dur: Some(1),
            pid: CLUSTER,
            tid,
            id: None,
            bp: None,
            args: BTreeMap::from([
                ("text", Value::Text(row.text.clone())),
                ("number", Value::Number(event.number)),
                ("at", Value::Text(format!("{}.{}", event.tick, event.step))),
            ]),
        };
        if let Some(packet) = &row.packet {
            slice.args.insert("packet", Value::Text(packet.clone()));
        }
        let arrow = self.arrow(event).map(|(ph, id)| TraceEvent {
            name: "packet".into(),
            cat: Some("packet"),
            ph,
            dur: None,
            id: Some(id),
            bp: (ph == "f").then_some("e"),
            args: BTreeMap::new(),
            ..slice.clone()
        });
        let down = down(&event.kind).map(|ph| TraceEvent {
            name: "down".into(),
            ph,
            dur: None,
            args: BTreeMap::new(),
            ..slice.clone()
        });
        [Some(slice), arrow, down].into_iter().flatten().collect()
    }

    fn place(&mut self, event: &Event) -> u64 {
        if self.tick == event.tick.0 {
            self.in_tick += 1;
        } else {
            self.tick = event.tick.0;
            self.in_tick = 0;
        }
        event.tick.0 * TICK_MICROS + self.in_tick.min(TICK_MICROS - 1)
    }

    /// Which end of which arrow an event is.
    fn arrow(&mut self, event: &Event) -> Option<(&'static str, u64)> {
        match &event.kind {
            EventKind::Sent { frame, packet, .. } => {
                let name = (frame.from, frame.to, *packet);
                self.sent.insert(name, event.number);
                Some(("s", event.number))
            }
            EventKind::Ended {
                from,
                to,
                packet,
                fate,
                ..
            } => {
                let sent = self.sent.remove(&(*from, *to, *packet))?;
                (*fate == Fate::Delivered).then_some(("f", sent))
            }
            _ => None,
        }
    }
}

fn named(name: &str, tid: u32, key: &'static str, value: Value) -> TraceEvent {
    TraceEvent {
        name: name.into(),
        cat: None,
        ph: "M",
        ts: 0,
        dur: None,
        pid: CLUSTER,
        tid,
        id: None,
        bp: None,
        args: BTreeMap::from([(key, value)]),
    }
}

fn track(process: Process) -> u32 {
    u32::from(process.index()) + 1
}

/// The process that a row is said by; nobody where it is about the world.
pub(super) fn owner(row: &Row) -> Option<Process> {
    let replica = row.replica.map(Process::Replica);
    replica.or(row.client.map(Process::Client))
}

fn title(kind: &EventKind) -> String {
    match kind {
        EventKind::Sent { frame, .. } => format!("send {}", frame.message.kind().name()),
        EventKind::Ended { kind, fate, .. } if *fate == Fate::Delivered => {
            format!("receive {}", kind.name())
        }
        EventKind::Ended { kind, .. } => format!("lose {}", kind.name()),
        EventKind::Noted { note, .. } => note_title(note),
        EventKind::Acted(act) => act.text.to_string(),
        EventKind::Skipped(skipped) => format!("{} (not done)", skipped.act.text),
        EventKind::Crashed { .. } => "crash".into(),
        EventKind::Restarted { .. } => "restart".into(),
        EventKind::Requested { .. } => "request".into(),
        EventKind::Replied { .. } => "reply".into(),
        EventKind::SessionLost { .. } => "session lost".into(),
        EventKind::Violated(violated) => format!("violation of {}", violated.property),
    }
}

/// A note by its variant's name.
fn note_title(note: &crate::vsr::note::Note) -> String {
    let text = format!("{note:?}");
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

fn down(kind: &EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Crashed { .. } => Some("B"),
        EventKind::Restarted { .. } => Some("E"),
        _ => None,
    }
}
