//! The flags that say what must have happened for a run to prove anything, and those of other
//! simulators that have nothing to do here. Must never run anything.

use clap::Args;
use engine::error::InputError;
use engine::run::Gates;
use engine::scenario::{Run, Setting};

/// What must have happened.
#[derive(Args)]
#[command(next_help_heading = "What a run must show; with less it is vacuous")]
pub(crate) struct GateArgs {
    /// Ops committed at least [default: 1]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    min_commits: Option<String>,
    /// Ops compared on two replicas or more at least [default: 1, or 0 for one replica]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    min_ops_compared: Option<String>,
    /// Some replica's contents must have been compared with what clients were told
    #[arg(long, conflicts_with = "no_settle")]
    require_entity_oracle: bool,
    /// Some fault must have been injected
    #[arg(long)]
    require_faults: bool,
    /// Taken for the sake of other simulators' command lines: disks and snapshots are in memory here,
    /// and no file is written
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<String>,
    /// The same: every run begins with formatted disks
    #[arg(long, requires = "data_dir")]
    reuse_data_dir: bool,
}

impl GateArgs {
    /// What a run must show.
    pub(crate) fn gates(&self) -> Result<Gates, InputError> {
        Ok(Gates {
            min_commits: count("--min-commits", self.min_commits.as_deref())?,
            min_ops_compared: count("--min-ops-compared", self.min_ops_compared.as_deref())?,
            entity_oracle: self.require_entity_oracle,
            faults: self.require_faults,
        })
    }

    /// Says what is taken and does nothing.
    pub(crate) fn say_idle(&self) {
        if let Some(folder) = &self.data_dir {
            eprintln!("--data-dir {folder}: nothing is written there; disks are in memory");
        }
        if self.reuse_data_dir {
            eprintln!(
                "--reuse-data-dir: nothing is read there; every run begins with formatted disks"
            );
        }
    }

    /// Refuses what no run of these flags could show.
    pub(crate) fn check(&self, run: &Run) -> Result<(), InputError> {
        let gates = self.gates()?;
        let compares = run.cluster.replicas > 1;
        if let Some(least) = gates.min_ops_compared.filter(|&least| least > 0)
            && !compares
        {
            let found = format!("{least} with one replica");
            let expected = "0, or two replicas to compare";
            return Err(InputError::new("--min-ops-compared", found, expected));
        }
        if gates.faults && !may_fail(run) {
            let found = "given without a fault to inject";
            let expected =
                "a profile (--faults light), a rate (--crash-prob 0.01) or a story beside it";
            return Err(InputError::new("--require-faults", found, expected));
        }
        Ok(())
    }
}

/// Whether anything can go wrong by itself.
fn may_fail(run: &Run) -> bool {
    const RATES: [Setting; 9] = [
        Setting::Crash,
        Setting::Loss,
        Setting::Partition,
        Setting::Clog,
        Setting::Rot,
        Setting::Misdirect,
        Setting::Lie,
        Setting::Slow,
        Setting::ClockOffsetMax,
    ];
    let has_script = !run.story.actions().is_empty() || !run.acts.is_empty();
    has_script || run.faults.clock.drift_max_ppm > 0 || RATES.iter().any(|rate| rate.read(run) > 0)
}

fn count(flag: &str, text: Option<&str>) -> Result<Option<u64>, InputError> {
    let Some(text) = text else {
        return Ok(None);
    };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = Some(text)
        .filter(|_| digits)
        .and_then(|text| text.parse().ok());
    let wrong = || InputError::new(flag, text, "a whole number");
    value.ok_or_else(wrong).map(Some)
}
