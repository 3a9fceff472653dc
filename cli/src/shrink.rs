//! A failing run made small: the shortest script that fails in the same way.

use std::time::{Duration, Instant};

use engine::error::InputError;
use engine::hunt::{EngineFails, Goal, Hunt, NotFound, Progress, Reaches, Shrunk, shrink};
use engine::scenario::{Awaited, LINK_BYTES_MAX, encode};
use serde_json::json;

use crate::args_hunt::ShrinkArgs;
use crate::out;
use crate::target::{Shown, Target, nothing_shown};

/// Shrinks it, prints the script.
pub(crate) fn run(arguments: &ShrinkArgs) -> Result<u8, InputError> {
    let target = Target::read(&arguments.link)?;
    let goal = goal(arguments, &target)?;
    let began = Instant::now();
    let mut ticker = Ticker::new(began);
    let hunt = Hunt {
        run: &target.run,
        goal: &*goal,
        limit: target.limit,
    };
    let shrunk = shrink(&hunt, &mut |progress| ticker.say(progress));
    let shrunk = shrunk.map_err(|refusal| match refusal {
        NotFound::Refused(error) => error,
        NotFound::Never => nothing_shown(&goal.name()),
        NotFound::NotAsScript => InputError::new(
            "--link",
            "a run in which a person's acts and random faults share links",
            "one whose faults can be written as acts",
        ),
    })?;
    print(&shrunk, &goal.name(), began.elapsed(), arguments.json);
    Ok(0)
}

fn goal(arguments: &ShrinkArgs, target: &Target) -> Result<Box<dyn Goal>, InputError> {
    if let Some(text) = &arguments.until {
        let condition = Awaited::from_text(text);
        let named = |error: InputError| InputError::new("--until", error.found, error.expected);
        return Ok(Box::new(Reaches(condition.map_err(named)?)));
    }
    match target.property(arguments.goal.property.as_deref())? {
        Shown::Broken(property) => Ok(Box::new(Reaches::violation_of(property))),
        Shown::EngineFault => Ok(Box::new(EngineFails)),
        Shown::Nothing => Err(nothing_shown("a violation")),
    }
}

fn print(shrunk: &Shrunk, goal: &str, took: Duration, as_json: bool) {
    let link = encode(&shrunk.run);
    let tick = shrunk.run.at.map_or(0, |at| at.tick.0);
    let seconds = took.as_secs_f64();
    let acts: Vec<String> = shrunk.run.acts.iter().map(ToString::to_string).collect();
    if as_json {
        out::line(json!({
            "goal": goal,
            "faults": shrunk.faults,
            "acts": acts,
            "tick": tick,
            "runs": shrunk.runs,
            "exact": shrunk.is_exact,
            "seconds": seconds,
            "link": link,
        }));
    } else {
        out::line(format_args!("goal           {goal}, met at tick {tick}"));
        out::line(format_args!(
            "shrunk         {} random faults to {} acts, {} runs in {seconds:.1} s",
            shrunk.faults,
            acts.len(),
            shrunk.runs
        ));
        for act in acts {
            out::line(format_args!("  {act}"));
        }
        out::line(format_args!("link           {link}"));
    }
    if link.len() > LINK_BYTES_MAX {
        eprintln!("this link is longer than the {LINK_BYTES_MAX} bytes that are read");
    }
}

/// Tells a person how it goes: each stage, and each of its seconds.
struct Ticker {
    began: Instant,
    stage: &'static str,
    said: Instant,
}

impl Ticker {
    fn new(began: Instant) -> Self {
        Self {
            began,
            stage: "",
            said: began,
        }
    }

    fn say(&mut self, progress: Progress) {
        let is_due = self.said.elapsed() >= Duration::from_secs(1);
        if progress.stage == self.stage && !is_due {
            return;
        }
        self.stage = progress.stage;
        self.said = Instant::now();
        eprintln!(
            "{:>6.1} s  {}: {} left, met at tick {}, {} runs",
            self.began.elapsed().as_secs_f64(),
            progress.stage,
            progress.left,
            progress.tick,
            progress.runs
        );
    }
}
