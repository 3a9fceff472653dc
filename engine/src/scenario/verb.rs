//! The verbs: all that can be done to a cluster, by a story, a click, a command line, as text both
//! ways. Must never know how it is done.

use std::fmt;

use super::condition::Condition;
use super::faults::Profile;
use super::group_name::GroupName;
use super::mutations::parse_mutation;
use super::places::{
    Links, PacketName, Part, check_process, kinds_text, parse_client, parse_kinds, parse_op,
    parse_replica, parse_sides,
};
use super::problem::{Problem, number_u32, shown};
use super::run::Cluster;
use super::setting::{Setting, parse_rate};
use super::skew::Skew;
use crate::error::InputError;
use crate::ids::{ClientId, Op, Process, ReplicaId};
use crate::sim::sets::KindSet;
use crate::vsr::mutation::Mutation;

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `crash.2`: power off; what is not durable is lost.
    Crash(ReplicaId),
    /// `restart.2`: boot from its disk.
    Restart(ReplicaId),
    /// `pause.1`: it stands still, keeps its memory, and what arrives waits.
    Pause(ReplicaId),
    /// `resume.1`: it goes on.
    Resume(ReplicaId),
    /// `cut.01-2`: nothing passes between the sides, both ways.
    Cut(Links),
    /// `mute.2-01`: 2 no longer reaches 0 and 1; the other way stays.
    Mute(Links),
    /// `join.01-2`: takes back cuts and mutes between the sides, both ways.
    Join(Links),
    /// `clog.0to2.200`: what is due on these links waits so many ticks, or until healed if zero.
    Clog(Links, u32),
    /// `delay.0to2.30`: so many ticks on top of every delay; zero takes it back.
    Delay(Links, u32),
    /// `filter.0to1.Prepare-Commit`: these kinds and no others are stopped there; `none` lifts it.
    Filter(Links, KindSet),
    /// `hold.1to0.DoViewChange`: these kinds are parked there until released.
    Hold(Links, KindSet),
    /// `release.1to0`: parked packets of these links go on, and nothing is parked any more.
    Release(Links),
    /// `drop.0to1.57`: one packet in flight is lost.
    Drop(PacketName),
    /// `dup.0to1.57`: one packet in flight will arrive twice.
    Dup(PacketName),
    /// `deliver.0to1.57`: one packet in flight arrives now.
    Deliver(PacketName),
    /// `heal`: lifts all that the user set on links, and the standing partition and clogs.
    Heal,
    /// `corrupt.1.op5.prepare`: what 1 has on its disk of op 5, prepare, header or both, rots.
    Corrupt(ReplicaId, Op, Part),
    /// `punch.1.op5`: op 5 is gone from both rings of 1's disk, as if it had never been written.
    Punch(ReplicaId, Op),
    /// `misdirect.1.op5.op6`: 1's disk has put the prepare of op 5 where that of op 6 belongs; in
    /// its own place stands what stood there before.
    Misdirect(ReplicaId, Op, Op),
    /// `tear.1`: the next crash of 1 tears every write that is not on its disk by then.
    Tear(ReplicaId),
    /// `lie.1`, `lie.1.off`: 1's disk reports writes durable and loses them with a crash.
    Lie(ReplicaId, bool),
    /// `slow.1.20`: 1's disk takes 20 times as long from now on; `slow.1.1` takes it back.
    Slow(ReplicaId, u32),
    /// `skew.1.m500`: from now on 1's clock is half a second behind; `skew.1.500.d20`: ahead, and
    /// gaining 20 millionths. It survives crashes; timers do not know it.
    Skew(ReplicaId, Skew),
    /// `write.c0`, `write.c0.to1`: an idle client writes, to the replica it prefers or to this one.
    Write(ClientId, Option<ReplicaId>),
    /// `read.c0`, `read.c0.to1`: an idle client reads.
    Read(ClientId, Option<ReplicaId>),
    /// `warm.3`: every client registers and makes so many writes; done when all are answered and
    /// every running replica has executed them. Its next write is then its request number k + 1.
    Warm(u32),
    /// `load.20000`: chance per million and tick that an idle client asks; zero stops.
    Load(u32),
    /// `set.heartbeat-wait.100`: changes one setting.
    Set(Setting, u32),
    /// `profile.heavy`: the network values of a profile.
    Profile(Profile),
    /// `settle`: the end phase; faults freeze, a core heals and must converge.
    Settle,
    /// `expect-same-log`, `expect-no-primary.0`: the condition must come to hold within so many
    /// ticks, by default within five view-change waits.
    Expect(Condition, Option<u32>),
    /// `mutate.M03`, `mutate.M03.off`: a rule of the protocol is off at every replica, or in force
    /// again.
    Mutate(Mutation, bool),
    /// `create.c0`: an idle client asks the metadata group for one more partition of the first topic.
    Create(ClientId),
    /// `delete.c0`: it asks for the last partition of the first topic to go.
    Delete(ClientId),
}

/// Longest wait, clog or delay that an action can name.
const ACTION_TICKS_MAX: u32 = 10_000_000;

/// Verbs that the grammar has and this release does not.
const LATER: &[&str] = &["wipe", "boot"];

/// Slowest disk.
const SLOW_FACTOR_MAX: u32 = 1_000;

const VERBS: &str = "crash, restart, pause, resume, cut, mute, join, clog, delay, filter, hold, \
    release, drop, dup, deliver, heal, corrupt, punch, misdirect, tear, lie, slow, skew, write, \
    read, warm, load, set, profile, settle, mutate, create, delete or expect-CONDITION";

impl Verb {
    fn parse(words: &[&str]) -> Result<Self, Problem> {
        let (&name, args) = words
            .split_first()
            .ok_or_else(|| Problem::new("nothing", format!("a verb: {VERBS}")))?;
        if let Some(condition) = name.strip_prefix("expect-") {
            return parse_expect(condition, args);
        }
        match (name, args) {
            ("crash", [replica]) => parse_replica(replica).map(Self::Crash),
            ("restart", [replica]) => parse_replica(replica).map(Self::Restart),
            ("pause", [replica]) => parse_replica(replica).map(Self::Pause),
            ("resume", [replica]) => parse_replica(replica).map(Self::Resume),
            ("cut", [sides]) => parse_sides(sides).map(Self::Cut),
            ("mute", [sides]) => parse_sides(sides).map(Self::Mute),
            ("join", [sides]) => parse_sides(sides).map(Self::Join),
            ("clog", [links, ticks]) => Ok(Self::Clog(Links::parse(links)?, parse_ticks(ticks)?)),
            ("delay", [links, ticks]) => Ok(Self::Delay(Links::parse(links)?, parse_ticks(ticks)?)),
            ("filter", [links, kinds]) => {
                Ok(Self::Filter(Links::parse(links)?, parse_kinds(kinds)?))
            }
            ("hold", [links, kinds]) => parse_hold(links, kinds),
            ("release", [links]) => Links::parse(links).map(Self::Release),
            ("drop", [link, packet]) => PacketName::parse(link, packet).map(Self::Drop),
            ("dup", [link, packet]) => PacketName::parse(link, packet).map(Self::Dup),
            ("deliver", [link, packet]) => PacketName::parse(link, packet).map(Self::Deliver),
            ("heal", []) => Ok(Self::Heal),
            ("corrupt", [replica, op, part]) => Ok(Self::Corrupt(
                parse_replica(replica)?,
                parse_op(op)?,
                Part::parse(part)?,
            )),
            ("punch", [replica, op]) => Ok(Self::Punch(parse_replica(replica)?, parse_op(op)?)),
            ("misdirect", [replica, op, other]) => parse_misdirect(replica, op, other),
            ("tear", [replica]) => parse_replica(replica).map(Self::Tear),
            ("lie", [replica]) => Ok(Self::Lie(parse_replica(replica)?, true)),
            ("lie", [replica, "off"]) => Ok(Self::Lie(parse_replica(replica)?, false)),
            ("slow", [replica, factor]) => {
                let factor = number_u32(factor, 1, SLOW_FACTOR_MAX)?;
                Ok(Self::Slow(parse_replica(replica)?, factor))
            }
            ("skew", [replica, rest @ ..]) if !rest.is_empty() => {
                Ok(Self::Skew(parse_replica(replica)?, Skew::parse(rest)?))
            }
            ("write", [client, target @ ..]) if target.len() <= 1 => {
                Ok(Self::Write(parse_client(client)?, parse_target(target)?))
            }
            ("read", [client, target @ ..]) if target.len() <= 1 => {
                Ok(Self::Read(parse_client(client)?, parse_target(target)?))
            }
            ("warm", [writes]) => number_u32(writes, 1, 1_000).map(Self::Warm),
            ("load", [rate]) => parse_rate(rate).map(Self::Load),
            ("set", [setting, value]) => parse_set(setting, value),
            ("profile", [profile]) => Profile::parse(profile).map(Self::Profile),
            ("settle", []) => Ok(Self::Settle),
            ("create", [client]) => parse_client(client).map(Self::Create),
            ("delete", [client]) => parse_client(client).map(Self::Delete),
            ("mutate", [mutation]) => Ok(Self::Mutate(parse_mutation(mutation)?, true)),
            ("mutate", [mutation, "off"]) => Ok(Self::Mutate(parse_mutation(mutation)?, false)),
            (name, _) => Err(wrong_verb(name, args)),
        }
    }

    pub(crate) fn check(&self, cluster: Cluster) -> Result<(), Problem> {
        let replica = |replica| check_process(Process::Replica(replica), cluster);
        match *self {
            Self::Crash(at)
            | Self::Restart(at)
            | Self::Pause(at)
            | Self::Resume(at)
            | Self::Corrupt(at, ..)
            | Self::Punch(at, _)
            | Self::Misdirect(at, ..)
            | Self::Tear(at)
            | Self::Lie(at, _)
            | Self::Slow(at, _)
            | Self::Skew(at, _) => replica(at),
            Self::Cut(links)
            | Self::Mute(links)
            | Self::Join(links)
            | Self::Clog(links, _)
            | Self::Delay(links, _)
            | Self::Filter(links, _)
            | Self::Hold(links, _)
            | Self::Release(links) => links.check(cluster),
            Self::Drop(packet) | Self::Dup(packet) | Self::Deliver(packet) => packet.check(cluster),
            Self::Write(client, target) | Self::Read(client, target) => {
                check_process(Process::Client(client), cluster)?;
                target.map_or(Ok(()), replica)
            }
            Self::Create(client) | Self::Delete(client) => {
                check_process(Process::Client(client), cluster)
            }
            Self::Expect(condition, _) => condition.check(cluster),
            Self::Heal
            | Self::Warm(_)
            | Self::Load(_)
            | Self::Set(..)
            | Self::Profile(_)
            | Self::Settle
            | Self::Mutate(..) => Ok(()),
        }
    }

    /// Whether it can be about one group alone.
    pub(super) fn takes_group(&self) -> bool {
        match self {
            Self::Filter(..)
            | Self::Hold(..)
            | Self::Corrupt(..)
            | Self::Punch(..)
            | Self::Misdirect(..)
            | Self::Write(..)
            | Self::Read(..)
            | Self::Warm(_)
            | Self::Expect(..) => true,
            Self::Crash(_)
            | Self::Restart(_)
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::Cut(_)
            | Self::Mute(_)
            | Self::Join(_)
            | Self::Clog(..)
            | Self::Delay(..)
            | Self::Release(_)
            | Self::Drop(_)
            | Self::Dup(_)
            | Self::Deliver(_)
            | Self::Heal
            | Self::Tear(_)
            | Self::Lie(..)
            | Self::Slow(..)
            | Self::Skew(..)
            | Self::Load(_)
            | Self::Set(..)
            | Self::Profile(_)
            | Self::Settle
            | Self::Create(_)
            | Self::Delete(_)
            | Self::Mutate(..) => false,
        }
    }
}

fn parse_ticks(text: &str) -> Result<u32, Problem> {
    number_u32(text, 0, ACTION_TICKS_MAX)
}

fn parse_hold(links: &str, kinds: &str) -> Result<Verb, Problem> {
    let (links, set) = (Links::parse(links)?, parse_kinds(kinds)?);
    if set.is_empty() {
        let expected = format!("message types to hold; release.{links} lets them go");
        return Err(Problem::new(shown(kinds), expected));
    }
    Ok(Verb::Hold(links, set))
}

fn parse_misdirect(replica: &str, op: &str, other: &str) -> Result<Verb, Problem> {
    let (replica, from, to) = (parse_replica(replica)?, parse_op(op)?, parse_op(other)?);
    if from == to {
        let expected = "another op, whose place the block took";
        return Err(Problem::new(shown(other), expected));
    }
    Ok(Verb::Misdirect(replica, from, to))
}

fn parse_target(args: &[&str]) -> Result<Option<ReplicaId>, Problem> {
    let &[target] = args else { return Ok(None) };
    let replica = target
        .strip_prefix("to")
        .ok_or_else(|| Problem::new(shown(target), "the replica to ask, to1 for instance"))?;
    parse_replica(replica).map(Some)
}

fn parse_set(name: &str, value: &str) -> Result<Verb, Problem> {
    let changing = || {
        Setting::ALL
            .into_iter()
            .filter(|setting| setting.changes_while_running())
            .map(Setting::name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let setting = Setting::from_name(name)
        .ok_or_else(|| Problem::new(shown(name), format!("a setting: {}", changing())))?;
    if !setting.changes_while_running() {
        let expected = format!(
            "a setting that may change while the run goes on: {}",
            changing()
        );
        return Err(Problem::new(setting.name(), expected));
    }
    Ok(Verb::Set(setting, setting.parse_for_action(value)?))
}

fn parse_expect(condition: &str, args: &[&str]) -> Result<Verb, Problem> {
    let condition = Condition::parse(condition)?;
    match args {
        [] => Ok(Verb::Expect(condition, None)),
        [ticks] => Ok(Verb::Expect(condition, Some(parse_ticks(ticks)?))),
        _ => Err(Problem::new(
            args.join("."),
            "a number of ticks, or nothing, behind the condition",
        )),
    }
}

fn wrong_verb(name: &str, args: &[&str]) -> Problem {
    if LATER.contains(&name) {
        let found = format!("{name}, a verb that this release does not have yet");
        return Problem::new(found, format!("a verb: {VERBS}"));
    }
    let usage = match name {
        "crash" | "restart" | "pause" | "resume" => "one replica: crash.2",
        "cut" | "mute" | "join" => "two sides: cut.01-2",
        "clog" | "delay" => "links and ticks: clog.0to2.200",
        "filter" | "hold" => "links and message types: filter.0to1.Prepare-Commit",
        "release" => "links: release.1to0",
        "drop" | "dup" | "deliver" => "a packet, link and number: drop.0to1.57",
        "heal" | "settle" => "nothing behind it",
        "corrupt" => "a replica, an op, and prepare, header or both: corrupt.1.op5.prepare",
        "punch" => "a replica and an op: punch.1.op5",
        "misdirect" => "a replica, an op, and the op whose place it took: misdirect.1.op5.op6",
        "tear" => "one replica: tear.1",
        "lie" => "a replica, and off to end it: lie.1 or lie.1.off",
        "slow" => "a replica and how many times as long: slow.1.20",
        "skew" => {
            "a replica, milliseconds, m before them if behind, and drift in millionths if wanted: \
             skew.1.m500 or skew.1.500.d20"
        }
        "write" | "read" => "a client, and a replica if wanted: write.c0 or write.c0.to1",
        "warm" => "a number of writes: warm.3",
        "load" => "a rate per million: load.20000",
        "set" => "a setting and its value: set.heartbeat-wait.100",
        "mutate" => "a mutation, and off to end it: mutate.M03 or mutate.M03.off",
        "profile" => "none, light, heavy or swarm: profile.heavy",
        _ => return Problem::new(shown(name), format!("a verb: {VERBS}")),
    };
    let found = match args {
        [] => format!("{name} alone"),
        _ => shown(&format!("{name}.{}", args.join("."))),
    };
    Problem::new(found, usage)
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(replica) => write!(f, "crash.{replica}"),
            Self::Restart(replica) => write!(f, "restart.{replica}"),
            Self::Pause(replica) => write!(f, "pause.{replica}"),
            Self::Resume(replica) => write!(f, "resume.{replica}"),
            Self::Cut(sides) => write!(f, "cut.{}-{}", sides.from, sides.to),
            Self::Mute(sides) => write!(f, "mute.{}-{}", sides.from, sides.to),
            Self::Join(sides) => write!(f, "join.{}-{}", sides.from, sides.to),
            Self::Clog(links, ticks) => write!(f, "clog.{links}.{ticks}"),
            Self::Delay(links, ticks) => write!(f, "delay.{links}.{ticks}"),
            Self::Filter(links, kinds) => write!(f, "filter.{links}.{}", kinds_text(*kinds)),
            Self::Hold(links, kinds) => write!(f, "hold.{links}.{}", kinds_text(*kinds)),
            Self::Release(links) => write!(f, "release.{links}"),
            Self::Drop(packet) => write!(f, "drop.{packet}"),
            Self::Dup(packet) => write!(f, "dup.{packet}"),
            Self::Deliver(packet) => write!(f, "deliver.{packet}"),
            Self::Heal => f.write_str("heal"),
            Self::Corrupt(replica, op, part) => write!(f, "corrupt.{replica}.op{op}.{part}"),
            Self::Punch(replica, op) => write!(f, "punch.{replica}.op{op}"),
            Self::Misdirect(replica, op, to) => write!(f, "misdirect.{replica}.op{op}.op{to}"),
            Self::Tear(replica) => write!(f, "tear.{replica}"),
            Self::Lie(replica, true) => write!(f, "lie.{replica}"),
            Self::Lie(replica, false) => write!(f, "lie.{replica}.off"),
            Self::Slow(replica, factor) => write!(f, "slow.{replica}.{factor}"),
            Self::Skew(replica, skew) => write!(f, "skew.{replica}.{skew}"),
            Self::Create(client) => write!(f, "create.c{client}"),
            Self::Delete(client) => write!(f, "delete.c{client}"),
            Self::Write(client, None) => write!(f, "write.c{client}"),
            Self::Write(client, Some(replica)) => write!(f, "write.c{client}.to{replica}"),
            Self::Read(client, None) => write!(f, "read.c{client}"),
            Self::Read(client, Some(replica)) => write!(f, "read.c{client}.to{replica}"),
            Self::Warm(writes) => write!(f, "warm.{writes}"),
            Self::Load(rate) => write!(f, "load.{rate}"),
            Self::Set(setting, value) => {
                write!(
                    f,
                    "set.{}.{}",
                    setting.name(),
                    setting.text_for_action(*value)
                )
            }
            Self::Profile(profile) => write!(f, "profile.{}", profile.name()),
            Self::Settle => f.write_str("settle"),
            Self::Mutate(mutation, true) => write!(f, "mutate.{}", mutation.name()),
            Self::Mutate(mutation, false) => write!(f, "mutate.{}.off", mutation.name()),
            Self::Expect(condition, None) => write!(f, "expect-{condition}"),
            Self::Expect(condition, Some(ticks)) => write!(f, "expect-{condition}.{ticks}"),
        }
    }
}

/// A verb, and the group it is about where that matters: `write.c0`, `write.c0.g0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// What to do.
    pub verb: Verb,
    /// In which group; where not given, the first partition, or all groups of a link.
    pub group: Option<GroupName>,
}

impl Action {
    /// A verb that names no group.
    #[must_use]
    pub fn of(verb: Verb) -> Self {
        Self { verb, group: None }
    }

    /// Reads an action without its trigger, as a click or `Session::act` gives it.
    ///
    /// # Errors
    /// If it is no verb, or its arguments are none of the verb's.
    pub fn from_text(text: &str) -> Result<Self, InputError> {
        Self::parse(text).map_err(|problem| problem.at(format!("action {}", shown(text))))
    }

    /// Checks that this cluster has what the action names.
    ///
    /// # Errors
    /// If it names a replica or client that does not exist. Groups come and go.
    pub fn validate(&self, cluster: Cluster) -> Result<(), InputError> {
        self.check(cluster)
            .map_err(|problem| problem.at(format!("action {self}")))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let mut words: Vec<&str> = text.split('.').collect();
        let group = words.last().and_then(|word| GroupName::parse(word));
        if group.is_some() {
            words.pop();
        }
        let verb = Verb::parse(&words)?;
        match group {
            Some(group) if !verb.takes_group() => Err(Problem::new(
                format!("group {group}"),
                format!("{verb} alone"),
            )),
            _ => Ok(Self { verb, group }),
        }
    }

    pub(crate) fn check(&self, cluster: Cluster) -> Result<(), Problem> {
        self.verb.check(cluster)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.verb.fmt(f)?;
        match self.group {
            Some(group) => write!(f, ".{group}"),
            None => Ok(()),
        }
    }
}
