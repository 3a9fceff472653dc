//! The events of a run, in words or in the forms of other tools, printed tick by tick as the run goes
//! on. Must never keep more than a tick of them.

use engine::error::InputError;
use engine::ids::Tick;
use engine::run::Session;
use engine::scenario::{Run, encode};
use engine::trace::{Event, Line, Perfetto, Recorder, Row, SHIVIZ_HEADER, ShiViz};
use serde::Serialize;

use crate::args;
use crate::args_hunt::{Format, TraceArgs, tick};
use crate::out;

/// Plays the link and prints its events.
pub(crate) fn run(arguments: &TraceArgs) -> Result<u8, InputError> {
    let run = args::link(&arguments.link.link)?;
    let from = tick("--from", &arguments.from)?;
    let to = match &arguments.to {
        Some(text) => tick("--to", text)?,
        None => match run.at {
            Some(at) => at.tick.0,
            None => u64::from(args::ticks(&arguments.link.ticks)?),
        },
    };
    if from > to {
        let expected = format!("a tick up to {to}, the last one printed");
        return Err(InputError::new("--from", from.to_string(), expected));
    }
    let mut writer = Writer::new(arguments.format);
    let mut session = Session::new(run.clone(), Recorder::default())?;
    let is_read = writer.begin(&run, from, to) && write_ticks(&mut session, &mut writer, from, to);
    if is_read {
        writer.end(session.cursor().tick, session.hash());
    }
    Ok(0)
}

/// Whether somebody reads on.
fn write_ticks(session: &mut Session, writer: &mut Writer, from: u64, to: u64) -> bool {
    let mut next = 0;
    while session.cursor().tick.0 < to && !session.has_failed() {
        // The first tick comes with what happened before it.
        session.advance_ticks(1);
        let record = session.simulator().world().record.borrow();
        let recorder = record.recorder();
        if session.cursor().tick.0 >= from {
            let replicas = session.run().cluster.replicas;
            let rows = recorder.rows(next, usize::MAX, replicas);
            let first = recorder
                .events()
                .partition_point(|event| event.number < next);
            let events = recorder.events().range(first..);
            let text: String = events
                .zip(&rows)
                .filter(|(event, _)| event.tick.0 >= from)
                .map(|(event, row)| writer.event(event, row))
                .collect();
            if !out::text_is_read(&text) {
                return false;
            }
        }
        next = recorder.next_number();
    }
    true
}

enum Writer {
    Text,
    Jsonl,
    Perfetto { export: Perfetto, is_first: bool },
    Shiviz(ShiViz),
}

impl Writer {
    fn new(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Jsonl => Self::Jsonl,
            Format::Perfetto => Self::Perfetto {
                export: Perfetto::default(),
                is_first: true,
            },
            Format::Shiviz => Self::Shiviz(ShiViz::default()),
        }
    }

    fn begin(&mut self, run: &Run, from: u64, to: u64) -> bool {
        let text = match self {
            Self::Text => format!("# {}\n", encode(run)),
            Self::Jsonl => json_line(&Line::Run {
                link: encode(run),
                from,
                to,
            }),
            Self::Perfetto { is_first, .. } => {
                let cluster = run.cluster;
                let tracks = Perfetto::tracks(cluster.replicas, cluster.clients);
                "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[".to_owned()
                    + &elements(&tracks, is_first)
            }
            Self::Shiviz(_) => SHIVIZ_HEADER.to_owned(),
        };
        out::text_is_read(&text)
    }

    fn event(&mut self, event: &Event, row: &Row) -> String {
        match self {
            Self::Text => format!("{row}\n"),
            Self::Jsonl => json_line(&Line::Event(row.clone())),
            Self::Perfetto { export, is_first } => elements(&export.event(event, row), is_first),
            Self::Shiviz(export) => export.entry(event, row).unwrap_or_default(),
        }
    }

    fn end(&self, tick: Tick, hash: u64) {
        let hash = crate::report::hex(hash);
        match self {
            Self::Text => out::line(format_args!("# tick {tick}, run hash {hash}")),
            Self::Jsonl => out::text(&json_line(&Line::End { tick: tick.0, hash })),
            Self::Perfetto { .. } => out::text("\n]}\n"),
            Self::Shiviz(_) => {}
        }
    }
}

fn elements<T: Serialize>(elements: &[T], is_first: &mut bool) -> String {
    let mut text = String::new();
    for element in elements {
        text += if std::mem::take(is_first) {
            "\n"
        } else {
            ",\n"
        };
        text += json_line(element).trim_end();
    }
    text
}

fn json_line<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value);
    text.expect("plain data with text keys is always JSON") + "\n"
}
