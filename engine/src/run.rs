//! A session: the only door that the command line, the page and the tests go through. It plays a Run
//! forward, takes acts, and says what came of it. Must never know who is at the door.

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::ids::{GROUP_METADATA, GROUP_PARTITION_0, GroupId, Tick};
use crate::oracle::{Check, Violation};
use crate::scenario::{
    Action, Awaited, Baseline, Cursor, GroupName, Run, TimedAct, encode, parse_acts,
};
use crate::sim::executor::Livelock;
use crate::sim::record::Totals;
use crate::sim::{Outcome, Simulator, StopAt};
use crate::trace::Recorder;
use crate::vsr::message::MessageKind;
use crate::vsr::mutation::Mutation;
use crate::workload::Histories;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// In one word.
    pub kind: VerdictKind,
    /// In one sentence.
    pub text: String,
}

/// The verdicts; each has an exit code of its own on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// The run goes on; nothing was found so far.
    Running,
    /// The core converged and something was compared.
    Converged,
    /// A property was violated.
    Violation,
    /// The core did not converge, and nothing excuses it.
    Stuck,
    /// The core did not converge, and could not; the text holds the proof.
    Excused,
    /// Too little happened to say anything.
    Vacuous,
    /// The story waited for something that did not come.
    StoryStuck,
    /// The engine itself failed.
    EngineFault,
}

/// A mutation in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MutationState {
    /// `M03`.
    pub id: &'static str,
    /// Whether the rule is off now.
    pub on: bool,
    /// Decisions that were made otherwise for it.
    pub hits: u64,
    /// The rule.
    pub rule: &'static str,
    /// What replicas do instead.
    pub instead: &'static str,
    /// The properties that it may break.
    pub oracles: &'static [&'static str],
}

/// What must have happened for a run to prove anything. What is not asked for is one of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gates {
    /// Ops that somebody executed.
    pub min_commits: Option<u64>,
    /// Ops that two replicas or more executed and that were compared.
    pub min_ops_compared: Option<u64>,
    /// Some replica's contents were compared with the auditor's at the end.
    pub entity_oracle: bool,
    /// Some fault was injected.
    pub faults: bool,
}

/// A run being played.
pub struct Session {
    run: Run,
    simulator: Simulator,
    gates: Gates,
    fault: Option<Livelock>,
    /// The group that is looked at; nothing that happens depends on it.
    shown: GroupId,
}

impl Session {
    /// Starts a run at tick 0.
    ///
    /// # Errors
    /// If the run names something that its cluster does not have, or values that contradict each
    /// other.
    pub fn new(run: Run, recorder: Recorder) -> Result<Self, InputError> {
        run.validate()?;
        Ok(Self {
            simulator: Simulator::new(run.clone(), recorder),
            run,
            gates: Gates::default(),
            fault: None,
            shown: GROUP_PARTITION_0,
        })
    }

    // Driving.

    /// Goes on by whole ticks; a tick under way is finished first and counts as one.
    pub fn advance_ticks(&mut self, ticks: u32) {
        for _ in 0..ticks {
            if self.advance(StopAt::Tick).is_none() {
                return;
            }
        }
    }

    /// Goes on by one event: a delivery, the end of a disk operation, a timer with an effect, an act.
    /// Quiet ticks are passed over, `quiet_ticks_max` at most. Whether there was an event.
    pub fn advance_event(&mut self, quiet_ticks_max: u32) -> bool {
        let mut quiet_ticks = 0;
        loop {
            match self.advance(StopAt::Event) {
                None => return false,
                Some(false) => return true,
                Some(true) => {
                    quiet_ticks += 1;
                    if quiet_ticks >= quiet_ticks_max {
                        return false;
                    }
                }
            }
        }
    }

    /// Goes on until a condition holds at the end of a tick, for `ticks_max` ticks at most. Whether
    /// it came to hold.
    pub fn advance_until(&mut self, awaited: &Awaited, ticks_max: u32) -> bool {
        let baseline = Baseline::of(&self.simulator);
        for _ in 0..ticks_max {
            if self.advance(StopAt::Tick).is_none() {
                return false;
            }
            if awaited.holds(&self.simulator, &baseline) {
                return true;
            }
        }
        false
    }

    /// Goes on to a cursor; a cursor that has passed is not gone back to.
    pub fn advance_to(&mut self, cursor: Cursor) {
        let before = Tick(cursor.tick.0.saturating_sub(1));
        let whole = if cursor.step == 0 {
            cursor.tick
        } else {
            before
        };
        while self.simulator.tick() < whole || !self.simulator.is_between_ticks() {
            if self.advance(StopAt::Tick).is_none() {
                return;
            }
        }
        for _ in 0..cursor.step {
            if self.advance(StopAt::Event) != Some(false) {
                return;
            }
        }
    }

    /// Begins the end phase and plays it to its outcome.
    pub fn settle(&mut self) {
        if self.simulator.settling().is_none() {
            // Without arguments, and not begun: it cannot be refused.
            let _ = self.act("settle");
        }
        while !self.is_settled() {
            if self.advance(StopAt::Tick).is_none() {
                return;
            }
        }
    }

    fn is_settled(&self) -> bool {
        let settling = self.simulator.settling();
        settling.is_some_and(|settle| settle.outcome.is_some())
    }

    /// Whether a tick ended, or nothing where the engine has failed.
    fn advance(&mut self, stop: StopAt) -> Option<bool> {
        match self.simulator.advance(stop) {
            Ok(ended) => Some(ended),
            Err(livelock) => {
                self.fault = Some(livelock);
                None
            }
        }
    }

    /// From here on the dice inject none but these faults: for shrinking, where some of a random
    /// run's faults are left out and all else keeps its luck.
    pub fn mask_faults(&mut self, kept: &[TimedAct]) {
        self.simulator.mask_faults(kept);
    }

    /// Says what must have happened for this run to prove anything.
    pub fn set_gates(&mut self, gates: Gates) {
        self.gates = gates;
    }

    /// From here on keeps what clients send and are told, for [`Session::search_histories`]. It changes
    /// nothing that happens.
    pub fn keep_histories(&mut self) {
        let mut record = self.simulator.world().record.borrow_mut();
        record.histories = Some(Histories::new(self.run.workload.retention));
    }

    /// Searches what clients saw, once it is over, for an order that explains every answer. What finds
    /// none is a violation of I6.
    pub fn search_histories(&mut self) {
        let mut record = self.simulator.world().record.borrow_mut();
        record.search_histories();
    }

    /// Whether the engine itself has failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.fault.is_some()
    }

    // Acting.

    /// Does something in the next tick. Answers the act as the link carries it, `731.crash.2`.
    ///
    /// # Errors
    /// If the text is no verb, or names what this cluster does not have.
    pub fn act(&mut self, verb: &str) -> Result<String, InputError> {
        let action = Action::from_text(verb)?;
        action.validate(self.run.cluster)?;
        let act = TimedAct {
            tick: Tick(self.simulator.tick().0 + 1),
            action,
        };
        self.run.add_act(act);
        self.simulator.add_act(act);
        Ok(act.to_string())
    }

    /// Replaces every act after the tick that is shown: for going back in time, where the future is
    /// given back.
    ///
    /// # Errors
    /// If the text is no list of acts.
    pub fn plan(&mut self, acts: &str) -> Result<(), InputError> {
        let now = self.simulator.tick();
        let planned = if acts.is_empty() {
            Vec::new()
        } else {
            parse_acts("act", acts)?
        };
        for act in &planned {
            act.action.validate(self.run.cluster)?;
        }
        self.run.acts.retain(|act| act.tick <= now);
        for act in planned.into_iter().filter(|act| act.tick > now) {
            self.run.add_act(act);
        }
        self.simulator.replace_acts(&self.run.acts);
        Ok(())
    }

    // Looking.

    /// The run as data, with every act so far.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The simulator, to look at.
    #[must_use]
    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Looks at another group from here on. That changes nothing in the run.
    ///
    /// # Errors
    /// If the text names no group, or one that is not there now.
    pub fn select_group(&mut self, name: &str) -> Result<(), InputError> {
        let group = GroupName::parse(name).and_then(|name| self.simulator.group_named(name));
        self.shown = group.ok_or_else(|| {
            let names = self.simulator.group_ids().iter();
            let names = names.filter_map(|&group| self.simulator.name_of(group));
            let names: Vec<String> = names.map(|name| name.to_string()).collect();
            let expected = format!("one of {}", names.join(", "));
            InputError::new("group", format!("{name:?}"), expected)
        })?;
        Ok(())
    }

    /// The group that is looked at; where it is gone, the first partition or what else there is.
    #[must_use]
    pub fn shown_group(&self) -> GroupId {
        let groups = self.simulator.group_ids();
        if groups.contains(&self.shown) {
            return self.shown;
        }
        groups.get(1).copied().unwrap_or(GROUP_METADATA)
    }

    /// Where it stands.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        let is_whole = self.simulator.is_between_ticks();
        Cursor {
            tick: self.simulator.tick(),
            step: if is_whole { 0 } else { self.simulator.step() },
        }
    }

    /// The run hash.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.simulator.world().record.borrow().hash()
    }

    /// The schedule hash.
    #[must_use]
    pub fn schedule_hash(&self) -> u64 {
        self.simulator.world().executor.schedule_hash()
    }

    /// The link that replays this run to where it stands, without the `#`.
    #[must_use]
    pub fn link(&self) -> String {
        let run = Run {
            at: Some(self.cursor()),
            expected_hash: Some(self.hash()),
            epoch: crate::scenario::EPOCH,
            ..self.run.clone()
        };
        encode(&run)
    }

    /// What has happened, counted.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.simulator.world().record.borrow().totals
    }

    /// Messages delivered, by type, in the order of [`MessageKind::ALL`].
    #[must_use]
    pub fn delivered(&self) -> [u64; MessageKind::ALL.len()] {
        self.simulator.world().record.borrow().delivered
    }

    /// The violations found so far.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let record = self.simulator.world().record.borrow();
        record.oracles.violations().to_vec()
    }

    /// The lines of the checks panel.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        self.simulator.world().record.borrow().oracles.checks()
    }

    /// Every mutation there is, whether it is on, and how often it mattered.
    #[must_use]
    pub fn mutations(&self) -> Vec<MutationState> {
        let on = self.simulator.values().mutations;
        let hits = self.simulator.world().record.borrow().mutation_hits;
        Mutation::ALL
            .into_iter()
            .zip(hits)
            .map(|(mutation, hits)| MutationState {
                id: mutation.name(),
                on: on.contains(mutation),
                hits,
                rule: mutation.rule(),
                instead: mutation.instead(),
                oracles: mutation.oracles(),
            })
            .collect()
    }

    /// What came of it so far.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if let Some(livelock) = self.fault {
            return verdict(VerdictKind::EngineFault, livelock.to_string());
        }
        if let Some(violation) = self.violations().first() {
            let text = format!("{}: {}", violation.property.id(), violation.text);
            return verdict(VerdictKind::Violation, text);
        }
        if let Some(stuck) = self.simulator.story_stuck() {
            return verdict(VerdictKind::StoryStuck, stuck.to_string());
        }
        let settle = self.simulator.settling();
        match settle.and_then(|settle| settle.outcome.as_ref()) {
            None => self.judge_unsettled(),
            Some(Outcome::Stuck(text)) => verdict(VerdictKind::Stuck, text.clone()),
            Some(Outcome::Excused(text)) => verdict(VerdictKind::Excused, text.clone()),
            Some(Outcome::Converged) => self.judge_vacuity(),
        }
    }

    /// A run that is not settled is held to nothing but what was asked for.
    fn judge_unsettled(&self) -> Verdict {
        if self.gates != Gates::default()
            && let Some(text) = self.vacuity(&self.totals())
        {
            return verdict(VerdictKind::Vacuous, text);
        }
        verdict(VerdictKind::Running, String::new())
    }

    fn judge_vacuity(&self) -> Verdict {
        let totals = self.totals();
        if let Some(text) = self.vacuity(&totals) {
            return verdict(VerdictKind::Vacuous, text);
        }
        let text = format!(
            "{} ops committed, {} compared on two replicas or more, {} replies",
            totals.commits, totals.ops_compared, totals.replies
        );
        verdict(VerdictKind::Converged, text)
    }

    /// What too little happened of.
    fn vacuity(&self, totals: &Totals) -> Option<String> {
        let gates = self.gates;
        // One replica has nobody to be compared with.
        let compares = u64::from(self.run.cluster.replicas > 1);
        let min_commits = gates.min_commits.unwrap_or(1);
        let min_compared = gates.min_ops_compared.unwrap_or(compares);
        let faults = totals.injected + totals.crashes + totals.dice_lost + totals.disk_faults;
        if totals.commits < min_commits || (totals.replies == 0 && min_commits > 0) {
            let (commits, replies) = (totals.commits, totals.replies);
            return Some(format!(
                "{commits} ops committed and {replies} replies are too little to say anything"
            ));
        }
        if totals.ops_compared < min_compared {
            let compared = totals.ops_compared;
            return Some(format!(
                "{compared} ops compared on two replicas or more are too little to say anything"
            ));
        }
        if gates.entity_oracle && totals.replicas_compared == 0 {
            return Some("no replica's contents were compared with what clients were told".into());
        }
        (gates.faults && faults == 0).then(|| "no fault was injected".into())
    }
}

fn verdict(kind: VerdictKind, text: String) -> Verdict {
    Verdict { kind, text }
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod groups_tests;
#[cfg(test)]
#[path = "late_groups_tests.rs"]
mod late_groups_tests;
#[cfg(test)]
#[path = "shards_tests.rs"]
mod shards_tests;
#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
