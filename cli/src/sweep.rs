//! Many seeds on all cores, with totals by verdict. One seed's failure, even a panic of the engine,
//! never costs the results of the others, nor does an interruption where a file was given.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::error::InputError;
use engine::oracle::Property;
use engine::run::VerdictKind;
use engine::scenario::{Profile, encode};
use engine::sim::record::Totals;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde_json::json;

use crate::args::{ShapeArgs, SweepArgs};
use crate::ledger::{Identity, Ledger, Row};
use crate::out;
use crate::play::{self, Storm};
use crate::report::{self, verdict_name};

/// A sweep proves little if more of its runs than this were vacuous.
const VACUOUS_PERCENT_MAX: u64 = 1;

/// Where there is no terminal to draw a bar on, a line of progress each time this has passed.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Which seeds: a range, and of it every n-th.
#[derive(Clone, Debug)]
struct Seeds {
    range: RangeInclusive<u64>,
    shard_index: u64,
    shard_count: u64,
}

/// What came of the seeds so far.
#[derive(Default)]
struct Tally {
    seeds: u64,
    verdicts: BTreeMap<VerdictKind, u64>,
    totals: Totals,
    /// How often each property was put to the test, in the order of their list.
    checks: Vec<u64>,
    /// Seeds that did not converge.
    rest: BTreeMap<u64, Row>,
    ledger: Option<Ledger>,
}

/// Runs the sweep, prints it, gives the exit code of the worst verdict.
pub(crate) fn run(arguments: &SweepArgs) -> Result<u8, InputError> {
    let seeds = Seeds::read(arguments)?;
    let storm = Storm::of(&arguments.shape)?;
    let ticks = storm.ticks;
    arguments.shape.gates.say_idle();
    let first = arguments.shape.to_run(*seeds.range.start())?;
    let mut tally = Tally::default();
    let mut done = BTreeMap::new();
    if let Some(name) = &arguments.resume {
        let identity = Identity {
            sweep: encode(&arguments.shape.to_run(0)?),
            ticks,
            settle: storm.settle,
            heal: storm.heal,
            gates: storm.gates,
        };
        let (ledger, rows) = Ledger::open(name, &identity)?;
        tally.ledger = Some(ledger);
        done = rows;
    }
    done.retain(|&seed, _| seeds.has(seed));
    let resumed = done.len() as u64;
    for row in done.values() {
        tally.count(row);
    }
    if !arguments.json {
        let header = report::header(&first, ticks);
        let each = match first.faults.profile {
            Profile::Swarm => "each drawn from its seed, the first",
            Profile::None | Profile::Light | Profile::Heavy => "each",
        };
        out::text(&format!(
            "{seeds}, {each}: {header}
"
        ));
        if resumed > 0 {
            out::line(format_args!("{resumed} seeds are done already\n"));
        }
    }
    let began = Instant::now();
    let tally = Mutex::new(tally);
    play_all(&arguments.shape, &seeds, &done, storm, &tally)?;
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let seconds = began.elapsed().as_secs_f64();
    tally.print(resumed, seconds, arguments.json);
    Ok(tally.exit_code())
}

fn play_all(
    shape: &ShapeArgs,
    seeds: &Seeds,
    done: &BTreeMap<u64, Row>,
    storm: Storm,
    tally: &Mutex<Tally>,
) -> Result<(), InputError> {
    let left = seeds.count().saturating_sub(done.len() as u64);
    let meter = Meter::new(left);
    play::silence_panics();
    let all = seeds.range.clone().into_par_iter();
    let played = all
        .filter(|seed| seeds.has(*seed) && !done.contains_key(seed))
        .try_for_each(|seed| {
            let row = play_seed(shape, seed, storm)?;
            if is_failure(row.verdict) {
                meter.say(&format!(
                    "{} seed {seed}: {}",
                    verdict_name(row.verdict),
                    row.link
                ));
            }
            tally
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(row)?;
            meter.step();
            Ok(())
        });
    meter.bar.finish_and_clear();
    played
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
                checks: outcome.checks.iter().map(|&(_, count)| count).collect(),
                explanation: outcome.explanation,
                link: outcome.link,
            }
        }
        Err(message) => Row {
            seed,
            verdict: VerdictKind::EngineFault,
            totals: Totals::default(),
            checks: Vec::new(),
            explanation: message,
            link: report::fault_link(&run, storm),
        },
    })
}

/// Progress: a bar on a terminal, else a line now and then.
struct Meter {
    bar: ProgressBar,
    said: Mutex<Instant>,
}

impl Meter {
    fn new(left: u64) -> Self {
        let style = ProgressStyle::with_template(
            "{bar:30} {pos}/{len} seeds  {per_sec}  {eta} left  {msg}",
        );
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self {
            bar: ProgressBar::new(left).with_style(style),
            said: Mutex::new(Instant::now()),
        }
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    fn step(&self) {
        self.bar.inc(1);
        if !self.bar.is_hidden() {
            return;
        }
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.elapsed() < LINE_EVERY {
            return;
        }
        *said = Instant::now();
        let left = self.bar.eta().as_secs();
        eprintln!(
            "{}/{} seeds, {:.1} a second, {left} s left",
            self.bar.position(),
            self.bar.length().unwrap_or(0),
            self.bar.per_sec()
        );
    }
}

impl Tally {
    /// Takes a finished seed in, and writes it down first.
    fn add(&mut self, row: Row) -> Result<(), InputError> {
        if let Some(ledger) = &mut self.ledger {
            ledger.write(&row)?;
        }
        self.count(&row);
        Ok(())
    }

    fn count(&mut self, row: &Row) {
        self.seeds += 1;
        *self.verdicts.entry(row.verdict).or_default() += 1;
        self.totals = report::sum([&self.totals, &row.totals].into_iter());
        self.checks
            .resize(self.checks.len().max(row.checks.len()), 0);
        for (sum, count) in self.checks.iter_mut().zip(&row.checks) {
            *sum += count;
        }
        if row.verdict != VerdictKind::Converged {
            self.rest.insert(row.seed, row.clone());
        }
    }

    fn print(&self, resumed: u64, seconds: f64, as_json: bool) {
        for row in self.rest.values() {
            let verdict = verdict_name(row.verdict);
            if as_json {
                out::line(json!({
                    "seed": row.seed.to_string(),
                    "verdict": verdict,
                    "explanation": row.explanation,
                    "link": row.link,
                }));
            } else {
                out::line(format_args!(
                    "{verdict} seed {}: {}\n  {}",
                    row.seed, row.explanation, row.link
                ));
            }
        }
        let named = |(&verdict, &count): (&VerdictKind, &u64)| (verdict_name(verdict), count);
        let verdicts: BTreeMap<&str, u64> = self.verdicts.iter().map(named).collect();
        if as_json {
            out::line(json!({
                "seeds": self.seeds,
                "resumed": resumed,
                "verdicts": verdicts,
                "totals": report::totals_json(&self.totals),
                "checks": report::counts_json(&self.named_checks()),
                "seconds": seconds,
            }));
            return;
        }
        let played = u32::try_from(self.seeds - resumed).unwrap_or(u32::MAX);
        let rate = f64::from(played) / seconds.max(1e-9);
        let before = match resumed {
            0 => String::new(),
            _ => format!(" and {resumed} before"),
        };
        out::line(format_args!(
            "{played} seeds in {seconds:.1} s, {rate:.1} a second{before}"
        ));
        for (name, count) in verdicts {
            out::line(format_args!("{name:<14} {count}"));
        }
        out::text("\n");
        out::text(&report::totals(&self.totals));
        out::text(&report::list("compared", &self.named_checks()));
    }

    fn named_checks(&self) -> Vec<(&'static str, u64)> {
        let ids = Property::CHECKED.iter().map(|property| property.id());
        ids.zip(self.checks.iter().copied()).collect()
    }

    fn exit_code(&self) -> u8 {
        let of = |verdict: VerdictKind| self.verdicts.get(&verdict).copied().unwrap_or(0);
        let worst = [
            VerdictKind::Violation,
            VerdictKind::EngineFault,
            VerdictKind::Stuck,
            VerdictKind::StoryStuck,
        ];
        if let Some(verdict) = worst.into_iter().find(|&verdict| of(verdict) > 0) {
            return play::exit_code(verdict);
        }
        if of(VerdictKind::Vacuous) * 100 > self.seeds * VACUOUS_PERCENT_MAX {
            return play::exit_code(VerdictKind::Vacuous);
        }
        0
    }
}

impl Seeds {
    fn read(arguments: &SweepArgs) -> Result<Self, InputError> {
        let range = parse_seeds(&arguments.seeds)?;
        let number = |flag: &str, text: &Option<String>, default: u64| match text {
            Some(text) => {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let value = Some(text).filter(|_| digits).and_then(|t| t.parse().ok());
                let wrong = || InputError::new(flag, text.as_str(), "a whole number");
                value.ok_or_else(wrong)
            }
            None => Ok(default),
        };
        let shard_count = number("--shard-count", &arguments.shard_count, 1)?;
        let shard_index = number("--shard-index", &arguments.shard_index, 0)?;
        if shard_count == 0 {
            return Err(InputError::new("--shard-count", "0", "at least 1"));
        }
        if shard_index >= shard_count {
            let expected = format!("a shard from 0 to {}", shard_count - 1);
            let found = shard_index.to_string();
            return Err(InputError::new("--shard-index", found, expected));
        }
        Ok(Self {
            range,
            shard_index,
            shard_count,
        })
    }

    fn has(&self, seed: u64) -> bool {
        self.range.contains(&seed)
            && (seed - self.range.start()) % self.shard_count == self.shard_index
    }

    fn count(&self) -> u64 {
        let last = self.range.end() - self.range.start();
        match last.checked_sub(self.shard_index) {
            Some(after) => after / self.shard_count + 1,
            None => 0,
        }
    }
}

impl std::fmt::Display for Seeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seeds {} to {}", self.range.start(), self.range.end())?;
        if self.shard_count > 1 {
            write!(f, ", shard {} of {}", self.shard_index, self.shard_count)?;
        }
        Ok(())
    }
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
