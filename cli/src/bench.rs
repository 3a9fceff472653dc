//! The speed of a few standard Runs.

use engine::error::InputError;
use engine::scenario::decode;
use serde_json::json;

use crate::args::JsonArgs;
use crate::out;
use crate::play;

/// Cases: name, Run, ticks. `iggy` is the run that Apache Iggy's own simulator was measured with.
const CASES: &[(&str, &str, u32)] = &[
    ("iggy", "v=1&seed=211&load=1&slots=1048576", 100_000),
    (
        "saturated",
        "v=1&seed=211&clients=8&load=1&slots=1048576",
        100_000,
    ),
    (
        "heavy",
        "v=1&seed=211&replicas=7&clients=8&faults=heavy&load=1&slots=1048576",
        50_000,
    ),
    ("idle", "v=1&seed=211&load=0", 100_000),
];

/// Runs the cases, prints them.
pub(crate) fn run(arguments: &JsonArgs) -> Result<u8, InputError> {
    for &(case, link, ticks) in CASES {
        let outcome = play::play_bare(decode(link)?, ticks)?;
        let seconds = outcome.wall.as_secs_f64();
        let (delivered, replies) = (outcome.totals.delivered, outcome.totals.replies);
        if arguments.json {
            let line = json!({
                "case": case,
                "link": link,
                "ticks": ticks,
                "seconds": seconds,
                "delivered": delivered,
                "replies": replies,
            });
            out::line(line);
        } else {
            out::line(format_args!(
                "{case:<10} {ticks} ticks in {seconds:.3} s   {:.0} ticks/s   {:.0} messages/s   \
                 {:.0} replies/s",
                f64::from(ticks) / seconds,
                rate(delivered, seconds),
                rate(replies, seconds),
            ));
        }
    }
    Ok(0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate for people, and counts stay far below 2^53"
)]
fn rate(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds.max(1e-9)
}
