//! The trace as a log that ShiViz opens: two lines for each event, its words, then its host and vector
//! clock. Hosts are the processes and the world, which acts on them. A packet that did not arrive has
//! no second event, since no process saw it end. Must never know files.

use std::collections::BTreeMap;

use super::event::{Event, EventKind, Fate};
use super::perfetto::owner;
use super::text::Row;
use crate::ids::Process;

/// The first line of a log is the pattern of its entries; the second would divide executions.
pub const HEADER: &str = "(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})\n\n";

/// A host: a process, or the world.
type Host = Option<Process>;
type Vector = BTreeMap<Host, u64>;

/// Turns events into entries, one after the other. Clocks begin with the first event that is given.
#[derive(Debug, Default)]
pub struct ShiViz {
    clocks: BTreeMap<Host, Vector>,
    /// The clock that each packet carries.
    sent: BTreeMap<(Process, Process, u64), Vector>,
    /// The clock of the last act: what it does comes right behind it.
    acted: Vector,
}

impl ShiViz {
    /// The two lines of an event, or nothing where nobody saw it.
    pub fn entry(&mut self, event: &Event, row: &Row) -> Option<String> {
        let heard = match &event.kind {
            EventKind::Ended {
                from,
                to,
                packet,
                fate,
                ..
            } => {
                let carried = self.sent.remove(&(*from, *to, *packet));
                if *fate != Fate::Delivered {
                    return None;
                }
                carried
            }
            EventKind::Crashed { .. } | EventKind::Restarted { .. } => Some(self.acted.clone()),
            _ => None,
        };
        let host = owner(row);
        let clock = self.tick(host, heard.as_ref());
        let text = format!(
            "{}.{} {}\n{} {}\n",
            event.tick,
            event.step,
            row.text.replace('\n', " "),
            name(host),
            json(&clock)
        );
        match &event.kind {
            EventKind::Sent { frame, packet, .. } => {
                self.sent.insert((frame.from, frame.to, *packet), clock);
            }
            EventKind::Acted(_) => self.acted = clock,
            _ => {}
        }
        Some(text)
    }

    /// One more event of a host, that knows of what it heard.
    fn tick(&mut self, host: Host, heard: Option<&Vector>) -> Vector {
        let clock = self.clocks.entry(host).or_default();
        for (&other, &time) in heard.into_iter().flatten() {
            let known = clock.entry(other).or_default();
            *known = time.max(*known);
        }
        *clock.entry(host).or_default() += 1;
        clock.clone()
    }
}

fn name(host: Host) -> String {
    match host {
        Some(Process::Replica(replica)) => format!("r{replica}"),
        Some(Process::Client(client)) => format!("c{client}"),
        None => "world".into(),
    }
}

fn json(clock: &Vector) -> String {
    let times: Vec<String> = clock
        .iter()
        .map(|(&host, time)| format!("\"{}\":{time}", name(host)))
        .collect();
    format!("{{{}}}", times.join(","))
}
