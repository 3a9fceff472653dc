//! The command line: flags, their help, and the Run they describe. Values are read by the engine's
//! own rules, so that a flag and a link refuse the same things in the same words. Must never run
//! anything.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Parser, Subcommand};
use engine::digest::mix;
use engine::error::InputError;
use engine::scenario::{
    BUILT_IN, Profile, Run, Setting, decode, mutations_from_text, seed_from_text,
};

use crate::args_gates::GateArgs;
use crate::args_hunt::{MutantsArgs, ShrinkArgs, TestArgs, TraceArgs};

const EXIT_CODES: &str = "\
Exit codes:
  0    converged: every replica of the core agrees, nothing was lost
  2    bad input: a flag, a link or a file
  3    vacuous: too little happened to prove anything
  4    stuck: the core did not converge, and could have
  5    stuck but excused: it could not, with the proof printed
  6    story stuck: a story's condition or expectation did not come to hold
  70   engine fault: a bug of the simulator itself, or a run that did not repeat itself
  101  safety violation: a property was broken

A run that fails prints the complete link that reproduces it: open it behind the page's
address, or give it to `workload-fuzz replay --link`.";

const EXAMPLES: &str = "\
Examples:
  workload-fuzz --seed 211 --ticks 4000 --crash-prob 0.02 --restart-prob 0.08 --crash-primary
      crash replicas, the primary too, for 40 virtual seconds, then heal and check
  workload-fuzz --replicas 5 --clients 4 --faults heavy --json
      a bad network, a random seed (printed), the result as JSON
  workload-fuzz --seed 211 --plane metadata --journal-slots 80 --require-faults --crash-prob 0.02 \
      --restart-prob 0.08 --crash-primary --ticks 4000
      structural operations, frequent checkpoints, and no pass unless something went wrong
  workload-fuzz --story a1
      play a prepared schedule to its expectation
  workload-fuzz --seed 7 --packet-loss-prob 0.1 --set heartbeat-wait=200
      change single values; the names of --set are those of links
  workload-fuzz sweep --seeds 1..=2000 --replicas 5 --faults light --crash-prob 0.01
      many seeds on all cores, with totals by verdict
  workload-fuzz sweep --seeds 1..=100000 --faults swarm --resume swarm.jsonl
      a different cluster, network and load for every seed; interrupt it and start it again at will
  workload-fuzz shrink --link 'v=1&seed=211&faults=heavy'
      the few acts that matter of a run that fails; `test` makes a Rust test of its link
  workload-fuzz trace --link 'v=1&seed=211&at=500' --format perfetto > trace.json
      look at a run in ui.perfetto.dev
  workload-fuzz replay --link 'v=1&seed=211&at=4000&hash=9f3ac01277aa01de'
      play a link again and compare its hash";

/// Deterministic simulation of a Viewstamped Replication cluster: one seed, one run, the same hash
/// every time.
#[derive(Parser)]
#[command(
    name = "workload-fuzz",
    version,
    args_conflicts_with_subcommands = true,
    after_help = EXIT_CODES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) run: SingleArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What else can be done.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Plays a link again, and compares its hash where it carries one
    Replay(ReplayArgs),
    /// Runs many seeds on all cores and prints totals by verdict
    Sweep(Box<SweepArgs>),
    /// Makes a failing run small: the shortest script that fails in the same way
    Shrink(ShrinkArgs),
    /// Prints the events of a run, for people, programs, Perfetto or ShiViz
    Trace(TraceArgs),
    /// Prints a Rust test that asserts that a run does not break its property again
    Test(TestArgs),
    /// Switches rules of the protocol off, one by one, and shows that an oracle sees it
    Mutants(MutantsArgs),
    /// Runs the table of golden Runs, each twice, and prints their hashes
    Golden(JsonArgs),
    /// Measures the speed of a few standard Runs
    Bench(JsonArgs),
}

/// One run.
#[derive(Args)]
pub(crate) struct SingleArgs {
    /// Where all randomness comes from, below 2^64 [default: drawn from the time, and printed]
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a run is, apart from its seed.
#[derive(Args)]
pub(crate) struct ShapeArgs {
    /// Length of the storm, in ticks of 10 virtual ms; the end phase comes after it
    #[arg(
        long,
        value_name = "TICKS",
        default_value = "10000",
        allow_hyphen_values = true
    )]
    pub(crate) ticks: String,
    /// Stop after the storm, without healing and without demanding convergence
    #[arg(long, visible_alias = "no-quiesce")]
    pub(crate) no_settle: bool,
    /// Heal every link and start every replica before the end phase, which else heals a drawn core
    /// and leaves the rest broken
    #[arg(long, conflicts_with = "no_settle")]
    pub(crate) heal_before_quiesce: bool,
    /// Replicas, 1 to 9 [default: 3, the story's, or drawn by swarm]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    replicas: Option<String>,
    /// Clients, 1 to 8 [default: 1, the story's, or drawn by swarm]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    clients: Option<String>,
    /// Partitions, 1 to 8, each a group of its own beside the metadata group [default: 1, the
    /// story's, or drawn by swarm]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    partitions: Option<String>,
    /// A prepared schedule by its name: opening, a1, a15, ...
    #[arg(long, value_name = "NAME")]
    story: Option<String>,
    /// Rules of the protocol to switch off: M03, or M03-M09
    #[arg(long, value_name = "MUTATIONS")]
    mutations: Option<String>,
    /// Faults: none, light, heavy, or swarm, which draws everything from the seed: cluster, network,
    /// crashes, load, knobs; flags override what it draws [default: none, or the story's]
    #[arg(long, value_name = "PROFILE")]
    faults: Option<String>,
    /// Chance per tick that a replica is crashed, 0.02 for instance
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    crash_prob: Option<String>,
    /// Chance per tick that a crashed replica is restarted
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    restart_prob: Option<String>,
    /// Let crashes hit the primary too
    #[arg(long)]
    crash_primary: bool,
    /// Replicas that crashes leave alive [default: the view-change quorum]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    min_survivors: Option<String>,
    /// Chance per tick that an idle client asks [default: 0.02]
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    load: Option<String>,
    /// What clients ask for: partition, metadata, mixed or uniform [default: partition, or the story's]
    #[arg(long, value_name = "PLANE")]
    plane: Option<String>,
    /// Share of new topics that are `persisted`: what is acknowledged is on the disks of a quorum and
    /// outlives a power cut of all. The others are `replicated`: it is in a quorum's memory, and lost
    /// with that [default: 0.5]
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    ack_quorum_ratio: Option<String>,
    /// Shards of each replica, 1 to 4 [default: 1, or drawn by swarm]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    shards: Option<String>,
    /// Frames that may wait for one shard in the channel from the others
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    mesh: Option<String>,
    /// Let requests pass the request shell: login, session binding, access tokens; read, and without
    /// effect yet
    #[arg(long)]
    shell: bool,
    /// Slots of each journal's rings: few make checkpoints frequent
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    journal_slots: Option<String>,
    /// Messages that a partition keeps [default: 128]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    retention: Option<String>,
    /// How far a replica's clock is off at most, in milliseconds [default: 0, or drawn by swarm]
    #[arg(long, value_name = "MILLISECONDS", allow_hyphen_values = true)]
    clock_offset_max: Option<String>,
    /// How much a replica's clock gains or loses at most, in millionths
    #[arg(long, value_name = "MILLIONTHS", allow_hyphen_values = true)]
    clock_drift_max: Option<String>,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    #[command(flatten)]
    network: NetworkArgs,
    /// Change any other value by its name in links: --set heartbeat-wait=200 --set slots=1024
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Single values of the network, on top of the profile.
#[derive(Args)]
#[command(next_help_heading = "Network, on top of the profile")]
struct NetworkArgs {
    /// Chance that a packet is lost
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    packet_loss_prob: Option<String>,
    /// Chance that a packet arrives twice
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    replay_prob: Option<String>,
    /// Shortest one-way delay
    #[arg(long, value_name = "TICKS", allow_hyphen_values = true)]
    one_way_delay_min: Option<String>,
    /// Mean one-way delay
    #[arg(long, value_name = "TICKS", allow_hyphen_values = true)]
    one_way_delay_mean: Option<String>,
    /// Packets that a link holds
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    link_capacity: Option<String>,
    /// Chance per tick that the replicas part
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    partition_prob: Option<String>,
    /// Chance per tick that they meet again
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    unpartition_prob: Option<String>,
    /// How long a partition stands at least
    #[arg(long, value_name = "TICKS", allow_hyphen_values = true)]
    partition_stability: Option<String>,
    /// How long the replicas stay together at least
    #[arg(long, value_name = "TICKS", allow_hyphen_values = true)]
    unpartition_stability: Option<String>,
    /// none, uniform-size, uniform-partition or isolate-single
    #[arg(long, value_name = "MODE")]
    partition_mode: Option<String>,
    /// symmetric or asymmetric
    #[arg(long, value_name = "SYMMETRY")]
    partition_symmetry: Option<String>,
    /// Chance per tick and link that it clogs
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    clog_prob: Option<String>,
    /// Mean length of a clog
    #[arg(long, value_name = "TICKS", allow_hyphen_values = true)]
    clog_duration_mean: Option<String>,
}

/// `replay`.
#[derive(Args)]
pub(crate) struct ReplayArgs {
    /// The link: its text, the whole address, or the name of a file that holds one
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) link: String,
    /// How far to play a link that names no place (`at`), before the end phase
    #[arg(
        long,
        value_name = "TICKS",
        default_value = "10000",
        allow_hyphen_values = true
    )]
    pub(crate) ticks: String,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `sweep`.
#[derive(Args)]
pub(crate) struct SweepArgs {
    /// The seeds: 1..2001 (without the last) or 1..=2000 (with it)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(crate) seeds: String,
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    /// A file to which each finished seed is appended as a JSON line; those it holds are not played
    /// again, so that an interrupted sweep goes on where it was
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<String>,
    /// Play every n-th seed alone, from this one on, counted from 0: for batch systems
    #[arg(
        long,
        value_name = "INDEX",
        requires = "shard_count",
        allow_hyphen_values = true
    )]
    pub(crate) shard_index: Option<String>,
    /// How many shards share the seeds
    #[arg(
        long,
        value_name = "COUNT",
        requires = "shard_index",
        allow_hyphen_values = true
    )]
    pub(crate) shard_count: Option<String>,
    /// Print one JSON object for each seed that did not converge, and one with the totals
    #[arg(long)]
    pub(crate) json: bool,
}

/// `golden`, `bench`.
#[derive(Args)]
pub(crate) struct JsonArgs {
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a number of ticks.
pub(crate) fn ticks(text: &str) -> Result<u32, InputError> {
    const TICKS_MAX: u32 = 100_000_000;
    let wrong = || {
        let expected = format!("a whole number of ticks from 1 to {TICKS_MAX}");
        InputError::new("--ticks", text, expected)
    };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = Some(text)
        .filter(|_| digits)
        .and_then(|text| text.parse().ok());
    value
        .filter(|value| (1..=TICKS_MAX).contains(value))
        .ok_or_else(wrong)
}

impl SingleArgs {
    /// The Run that the flags describe.
    pub(crate) fn to_run(&self) -> Result<Run, InputError> {
        let seed = match &self.seed {
            Some(text) => seed_from_text("--seed", text)?,
            None => seed_from_time(),
        };
        self.shape.to_run(seed)
    }
}

/// Nobody asked for this seed, so any will do; it is printed with the result.
fn seed_from_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    u64::try_from(nanos % u128::from(u64::MAX)).map_or(0, |nanos| mix(0, nanos))
}

impl ShapeArgs {
    /// The Run that the flags describe, with this seed.
    pub(crate) fn to_run(&self, seed: u64) -> Result<Run, InputError> {
        self.check_twice()?;
        let mut run = self.base()?;
        run.seed = seed;
        if let Some(name) = &self.faults {
            run.set_profile(profile(name)?);
        }
        if let Some(text) = &self.replicas {
            run.cluster.replicas = size("--replicas", text, 9)?;
        }
        if let Some(text) = &self.clients {
            run.cluster.clients = size("--clients", text, 8)?;
        }
        if let Some(text) = &self.partitions {
            run.cluster.partitions = size("--partitions", text, 8)?;
        }
        for (flag, setting, value) in self.given_settings() {
            set(&mut run, flag, setting, value)?;
        }
        if self.crash_primary {
            run.faults.crash_primary = true;
        }
        for pair in &self.set {
            set_by_name(&mut run, pair)?;
        }
        if let Some(text) = &self.mutations {
            run.mutations = mutations_from_text("--mutations", text)?;
        }
        if self.shell {
            Setting::Shell.write(1, &mut run);
        }
        run.reconcile();
        run.validate()?;
        self.gates.check(&run)?;
        Ok(run)
    }

    /// A value that is given by its flag and again by its name, or twice by its name, contradicts
    /// itself.
    fn check_twice(&self) -> Result<(), InputError> {
        let mut given: Vec<(&str, &str)> = self
            .given_settings()
            .map(|(flag, setting, _)| (setting.name(), flag))
            .collect();
        let alone = [
            (self.crash_primary, Setting::CrashPrimary, "--crash-primary"),
            (self.shell, Setting::Shell, "--shell"),
        ];
        let alone = alone.into_iter().filter(|(is_given, ..)| *is_given);
        given.extend(alone.map(|(_, setting, flag)| (setting.name(), flag)));
        for pair in &self.set {
            let name = pair.split_once('=').map_or(pair.as_str(), |(name, _)| name);
            if let Some((_, flag)) = given.iter().find(|(other, _)| *other == name) {
                let found = format!("{pair}, given beside {flag}");
                return Err(InputError::new("--set", found, "each value once"));
            }
            given.push((name, "another --set of it"));
        }
        Ok(())
    }

    fn base(&self) -> Result<Run, InputError> {
        let Some(name) = &self.story else {
            return Ok(Run::default());
        };
        let story = BUILT_IN.iter().find(|story| story.name == name);
        let names = || {
            let names: Vec<_> = BUILT_IN.iter().map(|story| story.name).collect();
            InputError::new("--story", name, format!("one of {}", names.join(", ")))
        };
        story.map(engine::scenario::BuiltIn::run).ok_or_else(names)
    }

    /// Flags that stand for a setting, in an order in which a partition rate comes before its mode.
    fn given_settings(&self) -> impl Iterator<Item = (&'static str, Setting, &str)> {
        let network = &self.network;
        [
            ("--crash-prob", Setting::Crash, &self.crash_prob),
            ("--restart-prob", Setting::Restart, &self.restart_prob),
            (
                "--min-survivors",
                Setting::MinSurvivors,
                &self.min_survivors,
            ),
            ("--load", Setting::Load, &self.load),
            ("--plane", Setting::Plane, &self.plane),
            (
                "--ack-quorum-ratio",
                Setting::AckQuorumRatio,
                &self.ack_quorum_ratio,
            ),
            ("--shards", Setting::Shards, &self.shards),
            ("--mesh", Setting::Mesh, &self.mesh),
            ("--journal-slots", Setting::Slots, &self.journal_slots),
            ("--retention", Setting::Retention, &self.retention),
            (
                "--clock-offset-max",
                Setting::ClockOffsetMax,
                &self.clock_offset_max,
            ),
            (
                "--clock-drift-max",
                Setting::ClockDriftMax,
                &self.clock_drift_max,
            ),
            (
                "--packet-loss-prob",
                Setting::Loss,
                &network.packet_loss_prob,
            ),
            ("--replay-prob", Setting::Replay, &network.replay_prob),
            (
                "--one-way-delay-min",
                Setting::DelayMin,
                &network.one_way_delay_min,
            ),
            (
                "--one-way-delay-mean",
                Setting::DelayMean,
                &network.one_way_delay_mean,
            ),
            ("--link-capacity", Setting::Capacity, &network.link_capacity),
            (
                "--partition-prob",
                Setting::Partition,
                &network.partition_prob,
            ),
            (
                "--unpartition-prob",
                Setting::Unpartition,
                &network.unpartition_prob,
            ),
            (
                "--partition-stability",
                Setting::PartitionStability,
                &network.partition_stability,
            ),
            (
                "--unpartition-stability",
                Setting::UnpartitionStability,
                &network.unpartition_stability,
            ),
            (
                "--partition-mode",
                Setting::PartitionMode,
                &network.partition_mode,
            ),
            (
                "--partition-symmetry",
                Setting::PartitionSymmetry,
                &network.partition_symmetry,
            ),
            ("--clog-prob", Setting::Clog, &network.clog_prob),
            (
                "--clog-duration-mean",
                Setting::ClogMean,
                &network.clog_duration_mean,
            ),
        ]
        .into_iter()
        .filter_map(|(flag, setting, value)| Some((flag, setting, value.as_deref()?)))
    }
}

fn size(flag: &str, text: &str, high: u8) -> Result<u8, InputError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = Some(text)
        .filter(|_| digits)
        .and_then(|text| text.parse().ok());
    value
        .filter(|value| (1..=high).contains(value))
        .ok_or_else(|| InputError::new(flag, text, format!("a whole number from 1 to {high}")))
}

fn profile(name: &str) -> Result<Profile, InputError> {
    let profile = Profile::ALL.into_iter().find(|known| known.name() == name);
    profile.ok_or_else(|| InputError::new("--faults", name, "none, light, heavy or swarm"))
}

fn set(run: &mut Run, flag: &str, setting: Setting, text: &str) -> Result<(), InputError> {
    let value = setting.value_from_text(flag, text)?;
    setting.write(value, run);
    Ok(())
}

fn set_by_name(run: &mut Run, pair: &str) -> Result<(), InputError> {
    let names = || {
        let names: Vec<_> = Setting::ALL.into_iter().map(Setting::name).collect();
        format!("NAME=VALUE with one of {}", names.join(", "))
    };
    let wrong = || InputError::new("--set", pair, names());
    let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
    let setting = Setting::from_name(name).ok_or_else(wrong)?;
    set(run, &format!("--set {name}"), setting, value)
}

/// Reads a link given as its text, as an address with one behind its `#`, or as a file's name.
pub(crate) fn link(given: &str) -> Result<Run, InputError> {
    let looks_like_text = given.contains('=');
    let text = if looks_like_text {
        given.to_owned()
    } else {
        read_file(given)?
    };
    let text = text.trim();
    decode(text.rsplit_once('#').map_or(text, |(_, link)| link))
}

fn read_file(name: &str) -> Result<String, InputError> {
    let expected = "a link (v=1&seed=211) or the name of a file that holds one";
    let wrong = |found: String| InputError::new("--link", found, expected);
    let size = std::fs::metadata(name)
        .map_err(|error| wrong(format!("{name}: {error}")))?
        .len();
    if size > 1 << 20 {
        return Err(wrong(format!("{name}, a file of {size} bytes")));
    }
    std::fs::read_to_string(name).map_err(|error| wrong(format!("{name}: {error}")))
}
