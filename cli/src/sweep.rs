//! Many seeds on all cores, with totals by verdict. One seed's failure, even a panic of the engine,
//! never costs the results of the others.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Instant;

use engine::error::InputError;
use engine::run::VerdictKind;
use engine::sim::record::Totals;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde_json::json;

use crate::args::{self, ShapeArgs, SweepArgs};
use crate::out;
use crate::play::{self, Storm};
use crate::report::{self, verdict_name};

/// A sweep proves little if more of its runs than this were vacuous.
const VACUOUS_PERCENT_MAX: u64 = 1;

/// What is kept of one seed.
struct Row {
    seed: u64,
    verdict: VerdictKind,
    totals: Totals,
    explanation: String,
    link: String,
}

/// Runs the sweep, prints it, gives the exit code of the worst verdict.
pub(crate) fn run(arguments: &SweepArgs) -> Result<u8, InputError> {
    let seeds = parse_seeds(&arguments.seeds)?;
    let ticks = args::ticks(&arguments.shape.ticks)?;
    let first = arguments.shape.to_run(*seeds.start())?;
    let storm = Storm {
        ticks,
        settle: !arguments.shape.no_settle,
    };
    if !arguments.json {
        let header = report::header(&first, ticks);
        out::text(&format!(
            "seeds {} to {}, each: {header}",
            seeds.start(),
            seeds.end()
        ));
        out::text("\n");
    }
    let began = Instant::now();
    let rows = play_all(&arguments.shape, seeds, storm)?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(print_rows(&rows, seconds, arguments.json))
}

fn play_all(
    shape: &ShapeArgs,
    seeds: RangeInclusive<u64>,
    storm: Storm,
) -> Result<Vec<Row>, InputError> {
    let count = (seeds.end() - seeds.start()).saturating_add(1);
    let bar = ProgressBar::new(count).with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} seeds  {per_sec}  {eta} left  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    play::silence_panics();
    let rows: Result<Vec<Row>, InputError> = seeds
        .into_par_iter()
        .map(|seed| {
            let row = play_seed(shape, seed, storm)?;
            if is_failure(row.verdict) {
                bar.suspend(|| {
                    eprintln!("{} seed {seed}: {}", verdict_name(row.verdict), row.link)
                });
            }
            bar.inc(1);
            Ok(row)
        })
        .collect();
    bar.finish_and_clear();
    rows
}

fn play_seed(shape: &ShapeArgs, seed: u64, storm: Storm) -> Result<Row, InputError> {
    let run = shape.to_run(seed)?;
    Ok(match play::caught(|| play::play(run.clone(), storm)) {
        Ok(outcome) => {
            let outcome = outcome?;
            Row {
                seed,
                verdict: outcome.verdict,
                totals: outcome.totals,
                explanation: outcome.explanation,
                link: outcome.link,
            }
        }
        Err(message) => Row {
            seed,
            verdict: VerdictKind::EngineFault,
            totals: Totals::default(),
            explanation: message,
            link: report::fault_link(&run, storm),
        },
    })
}

fn print_rows(rows: &[Row], seconds: f64, as_json: bool) -> u8 {
    let totals = report::sum(rows.iter().map(|row| &row.totals));
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        *verdicts.entry(verdict_name(row.verdict)).or_default() += 1;
        if row.verdict == VerdictKind::Converged {
            continue;
        }
        if as_json {
            let line = json!({
                "seed": row.seed.to_string(),
                "verdict": verdict_name(row.verdict),
                "explanation": row.explanation,
                "link": row.link,
            });
            out::line(line);
        } else {
            out::line(format_args!(
                "{} seed {}: {}",
                verdict_name(row.verdict),
                row.seed,
                row.explanation
            ));
            out::line(format_args!("  {}", row.link));
        }
    }
    if as_json {
        let line = json!({
            "seeds": rows.len(),
            "verdicts": verdicts,
            "totals": report::totals_json(&totals),
            "seconds": seconds,
        });
        out::line(line);
    } else {
        let seeds = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let rate = f64::from(seeds) / seconds.max(1e-9);
        out::line(format_args!(
            "{seeds} seeds in {seconds:.1} s, {rate:.1} a second"
        ));
        for (name, count) in verdicts {
            out::line(format_args!("{name:<14} {count}"));
        }
        out::text("\n");
        out::text(&report::totals(&totals));
    }
    exit_code(rows)
}

fn exit_code(rows: &[Row]) -> u8 {
    let worst = [
        VerdictKind::Violation,
        VerdictKind::EngineFault,
        VerdictKind::Stuck,
        VerdictKind::StoryStuck,
    ];
    let found = worst
        .into_iter()
        .find(|verdict| rows.iter().any(|row| row.verdict == *verdict));
    if let Some(verdict) = found {
        return play::exit_code(verdict);
    }
    let vacuous = rows
        .iter()
        .filter(|row| row.verdict == VerdictKind::Vacuous);
    if vacuous.count() as u64 * 100 > rows.len() as u64 * VACUOUS_PERCENT_MAX {
        return play::exit_code(VerdictKind::Vacuous);
    }
    0
}

fn parse_seeds(text: &str) -> Result<RangeInclusive<u64>, InputError> {
    let wrong = || {
        InputError::new(
            "--seeds",
            text,
            "two whole numbers below 2^64, the first not above the last: 1..2001 or 1..=2000",
        )
    };
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number =
        |text: &str| engine::scenario::seed_from_text("--seeds", text).map_err(|_| wrong());
    let from = number(from)?;
    let to = match to.strip_prefix('=') {
        Some(last) => number(last)?,
        None => number(to)?.checked_sub(1).ok_or_else(wrong)?,
    };
    if from > to {
        return Err(wrong());
    }
    Ok(from..=to)
}

/// Whether somebody should look at it at once.
fn is_failure(verdict: VerdictKind) -> bool {
    match verdict {
        VerdictKind::Running
        | VerdictKind::Converged
        | VerdictKind::Excused
        | VerdictKind::Vacuous => false,
        VerdictKind::Violation
        | VerdictKind::Stuck
        | VerdictKind::StoryStuck
        | VerdictKind::EngineFault => true,
    }
}
