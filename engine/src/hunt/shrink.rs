//! Shrinking (design section 6): first the run keeps its seed and its dice, and recorded faults are
//! masked; once few are left they become acts, with the same run hash; then the script is made
//! smaller until no act can be spared. Must never accept a run that does not meet the goal.

use crate::error::InputError;
use crate::hunt::minimise::fewest;
use crate::hunt::probe::{Found, Limit, Probe, play};
use crate::hunt::rewrite::{rewrite, spell_out_packets};
use crate::hunt::{Goal, moves, weaken};
use crate::ids::Tick;
use crate::scenario::{Cursor, EPOCH, Run, TimedAct};

/// Faults that are few enough to go on with as acts.
const FEW_FAULTS: usize = 12;

/// A candidate may meet the goal this much later than the run it came from.
const SLACK_TICKS: u64 = 500;

/// Lost and copied packets that are spelt out as acts; more are left to the dice.
const PACKET_ACTS_MAX: usize = 20_000;

/// What is to be shrunk.
pub struct Hunt<'a> {
    /// The run.
    pub run: &'a Run,
    /// What it shows.
    pub goal: &'a dyn Goal,
    /// Where it is given up if it does not.
    pub limit: Limit,
}

/// How far shrinking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, in a few words.
    pub stage: &'static str,
    /// Runs played so far.
    pub runs: u64,
    /// Faults and acts left.
    pub left: usize,
    /// Where the goal is met.
    pub tick: Tick,
}

/// The small script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// It, with the place where the goal is met and the hash there.
    pub run: Run,
    /// Faults that the dice had injected up to the goal.
    pub faults: usize,
    /// Runs played.
    pub runs: u64,
    /// Whether the dice's faults, written as acts, gave the same run hash: not where a person's acts
    /// and the faults fell on the same links.
    pub is_exact: bool,
}

/// Why there is nothing to shrink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// The run contradicts itself.
    Refused(InputError),
    /// It does not meet the goal.
    Never,
    /// It does, but not once its faults are acts.
    NotAsScript,
}

/// Makes a run that meets a goal as small as it goes; `watch` is told how it goes.
///
/// # Errors
/// Where the run does not meet the goal in the first place.
pub fn shrink(hunt: &Hunt<'_>, watch: &mut dyn FnMut(Progress)) -> Result<Shrunk, NotFound> {
    let first = play(hunt.run, None, hunt.goal, hunt.limit).map_err(NotFound::Refused)?;
    let found = first.found.ok_or(NotFound::Never)?;
    let mut shrinker = Shrinker {
        goal: hunt.goal,
        run: hunt.run.clone(),
        found,
        runs: 1,
        watch,
    };
    let faults = first.injected.len();
    let masked = shrinker.mask(&first);
    let is_exact = shrinker.emit(&masked)?;
    shrinker.simplify();
    let Shrinker {
        mut run,
        found,
        runs,
        ..
    } = shrinker;
    run.epoch = EPOCH;
    run.at = Some(Cursor {
        tick: found.tick,
        step: 0,
    });
    run.expected_hash = Some(found.hash);
    Ok(Shrunk {
        run,
        faults,
        runs,
        is_exact,
    })
}

struct Shrinker<'a> {
    goal: &'a dyn Goal,
    /// The smallest run so far.
    run: Run,
    /// Where it meets the goal.
    found: Found,
    runs: u64,
    watch: &'a mut dyn FnMut(Progress),
}

impl Shrinker<'_> {
    fn limit(&self) -> Limit {
        Limit::At(Tick(self.found.tick.0 + SLACK_TICKS))
    }

    fn say(&mut self, stage: &'static str, left: usize) {
        (self.watch)(Progress {
            stage,
            runs: self.runs,
            left,
            tick: self.found.tick,
        });
    }

    /// Plays a candidate that contradicts itself, perhaps: then it is none.
    fn probe(&mut self, run: &Run, kept: Option<&[TimedAct]>) -> Option<Probe> {
        self.runs += 1;
        let probe = play(run, kept, self.goal, self.limit()).ok()?;
        probe.found?;
        Some(probe)
    }

    /// Takes a candidate over if it meets the goal.
    fn accept(&mut self, candidate: Run) -> bool {
        let Some(found) = self.probe(&candidate, None).and_then(|probe| probe.found) else {
            return false;
        };
        self.found = found;
        self.run = candidate;
        let tick = found.tick;
        self.run.acts.retain(|act| act.tick <= tick);
        true
    }

    /// The first of some candidates that meets the goal.
    fn accept_any(&mut self, candidates: Vec<Run>) -> bool {
        candidates
            .into_iter()
            .any(|candidate| self.accept(candidate))
    }

    // The dice.

    /// Masks faults until few are left; what the masked run injects.
    fn mask(&mut self, first: &Probe) -> Probe {
        let run = self.run.clone();
        let mut best = first.clone();
        self.say("masking faults", best.injected.len());
        fewest(first.injected.clone(), FEW_FAULTS, |kept| {
            let Some(probe) = self.probe(&run, Some(kept)) else {
                return false;
            };
            if let Some(found) = probe.found {
                self.found = found;
            }
            self.say("masking faults", probe.injected.len());
            best = probe;
            true
        });
        best
    }

    /// Writes the masked run as a script; whether that has the same run hash.
    fn emit(&mut self, masked: &Probe) -> Result<bool, NotFound> {
        let before = self.found;
        let mut script = rewrite(&self.run, &masked.injected);
        script.acts.retain(|act| act.tick <= before.tick);
        self.say("writing faults as acts", script.acts.len());
        if !self.accept(script) {
            return Err(NotFound::NotAsScript);
        }
        Ok(self.found == before)
    }

    // The script.

    fn simplify(&mut self) {
        self.drop_acts();
        loop {
            let before = self.run.clone();
            self.drop_story();
            self.still_packets();
            self.reset_values();
            self.shrink_cluster();
            self.drop_acts();
            self.weaken_acts();
            self.shorten();
            self.drop_acts();
            if self.run == before {
                return;
            }
        }
    }

    fn drop_acts(&mut self) {
        self.say("dropping acts", self.run.acts.len());
        let run = self.run.clone();
        fewest(run.acts.clone(), 0, |acts| {
            let candidate = Run {
                acts: acts.to_vec(),
                ..run.clone()
            };
            let accepted = self.accept(candidate);
            if accepted {
                self.say("dropping acts", self.run.acts.len());
            }
            accepted
        });
    }

    fn drop_story(&mut self) {
        while self.accept_any(moves::shorter_stories(&self.run)) {
            self.say("dropping the story's actions", self.run.acts.len());
        }
    }

    /// Without loss and duplication, or with those that matter as acts.
    fn still_packets(&mut self) {
        let network = &self.run.faults.network;
        if network.loss_per_million == 0 && network.replay_per_million == 0 {
            return;
        }
        self.say("stilling loss and duplication", self.run.acts.len());
        let mut still = self.run.clone();
        still.faults.network.loss_per_million = 0;
        still.faults.network.replay_per_million = 0;
        if self.accept(still) {
            return;
        }
        let spelt = spell_out_packets(&self.run, self.found.tick);
        if let Ok(spelt) = spelt
            && spelt.acts.len() <= PACKET_ACTS_MAX
        {
            self.accept(spelt);
        }
    }

    fn reset_values(&mut self) {
        self.say("resetting values", self.run.acts.len());
        while self.accept_any(moves::defaults(&self.run)) {}
        while self.accept_any(moves::fewer_mutations(&self.run)) {}
        while self.accept_any(moves::less_work(&self.run)) {}
    }

    fn shrink_cluster(&mut self) {
        self.say("shrinking the cluster", self.run.acts.len());
        while self.accept_any(moves::smaller_clusters(&self.run)) {}
        while self.accept_any(moves::fewer_shards(&self.run)) {}
    }

    fn weaken_acts(&mut self) {
        self.say("weakening acts", self.run.acts.len());
        let mut place = 0;
        while let Some(act) = self.run.acts.get(place) {
            let milder = weaken::milder(act.action).into_iter().map(|action| {
                let mut candidate = self.run.clone();
                candidate.acts[place].action = action;
                candidate
            });
            if !self.accept_any(milder.collect()) {
                place += 1;
            }
        }
    }

    /// Acts sooner after one another, as long as the goal is met sooner, too.
    fn shorten(&mut self) {
        self.say("shortening", self.run.acts.len());
        loop {
            let sooner = moves::sooner(&self.run);
            let (run, found) = (self.run.clone(), self.found);
            if !self.accept_any(sooner) {
                return;
            }
            if self.found.tick >= found.tick {
                (self.run, self.found) = (run, found);
                return;
            }
        }
    }
}
