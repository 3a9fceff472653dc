//! The trace as JSON Lines: a line that says which run it is, then one for each event, its words and
//! its operands. Who writes it down serialises these. Must never know files.

use serde::Serialize;

use super::text::Row;

/// A line.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first: which run this is.
    Run {
        /// The link that plays it.
        link: String,
        /// The first tick of the trace.
        from: u64,
        /// The last.
        to: u64,
    },
    /// One event.
    Event(Row),
    /// The last: how it ended.
    End {
        /// The last tick played.
        tick: u64,
        /// The run hash there, as text, since readers of JSON hold only 53 bits.
        hash: String,
    },
}
