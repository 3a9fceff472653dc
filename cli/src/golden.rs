//! The golden table: each Run twice in this process, its hash printed.

use engine::error::InputError;
use engine::run::VerdictKind;
use engine::scenario::{GOLDEN, decode};
use serde_json::json;

use crate::args::JsonArgs;
use crate::out;
use crate::play::{self, exit_code};
use crate::report::hex;

/// Runs the table, prints it, gives the exit code: that of a violation where a Run did not repeat
/// itself, as nothing that is proved of such a build holds.
pub(crate) fn run(arguments: &JsonArgs) -> Result<u8, InputError> {
    let mut repeats = true;
    for golden in GOLDEN {
        let first = play::play_bare(decode(golden.link)?, golden.ticks)?;
        let second = play::play_bare(decode(golden.link)?, golden.ticks)?;
        let equal = (first.hash, first.schedule_hash) == (second.hash, second.schedule_hash);
        repeats &= equal;
        if arguments.json {
            let line = json!({
                "name": golden.name,
                "link": golden.link,
                "ticks": golden.ticks,
                "hash": hex(first.hash),
            });
            out::line(line);
        } else {
            out::line(format_args!(
                "{:<18} {:>6} ticks  {}",
                golden.name,
                golden.ticks,
                hex(first.hash)
            ));
        }
        if !equal {
            eprintln!(
                "{} did not repeat itself: {} and {}",
                golden.name,
                hex(first.hash),
                hex(second.hash)
            );
        }
    }
    Ok(if repeats {
        0
    } else {
        exit_code(VerdictKind::Violation)
    })
}
