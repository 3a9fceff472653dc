//! The small words that rows share: processes, ranges, messages, acts. Must never know events.

use super::script;
use crate::ids::{GROUP_METADATA, GroupId, Op, Process, ReplicaId, RequestNumber};
use crate::vsr::io::{Status, Timer};
use crate::vsr::message::{Frame, Message, Operation, Rejection};
use crate::vsr::mutation::Mutation;

/// `meta`, `g0` for the first partition a cluster is formatted with; later ones by their number.
pub(super) fn group(id: GroupId) -> String {
    match id {
        GROUP_METADATA => "meta".to_string(),
        GroupId(place @ 1..=255) => format!("g{}", place - 1),
        later => format!("#{later}"),
    }
}

/// `2`, `client 0`.
pub(super) fn process(process: Process) -> String {
    match process {
        Process::Replica(replica) => replica.to_string(),
        Process::Client(client) => format!("client {client}"),
    }
}

/// `one tick`, `3 ticks`.
pub(super) fn ticks(ticks: u64) -> String {
    match ticks {
        1 => "one tick".to_string(),
        many => format!("{many} ticks"),
    }
}

/// Small numbers as words, for sentences.
pub(super) fn numeral(number: u8) -> String {
    const WORDS: [&str; 10] = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    let word = WORDS.get(usize::from(number));
    word.map_or(number.to_string(), ToString::to_string)
}

/// `1 vote`, `2 votes`.
pub(super) fn count(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// `0`, `0 and 2`, `0, 1 and 2`.
pub(super) fn list(replicas: &[ReplicaId]) -> String {
    let names: Vec<String> = replicas.iter().map(ToString::to_string).collect();
    joined(&names)
}

fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// `op 3`, `ops 3 to 9`.
pub(super) fn ops(from: Op, through: Op) -> String {
    if from == through {
        format!("op {from}")
    } else {
        format!("ops {from} to {through}")
    }
}

/// A request by its number; a register has none.
pub(super) fn request(request: RequestNumber) -> String {
    match request {
        RequestNumber(0) => "its register".to_string(),
        number => format!("request {number}"),
    }
}

/// How a replica is, in its own words.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Normal => "I take part in my view as usual",
        Status::ViewChange => "I am in a view change",
        Status::Recovering => "I restarted and still ask who leads",
        Status::RecoveringHead => {
            "I restarted, cannot read where my log ends, and still ask who leads"
        }
    }
}

/// What a replica does when a timer runs out.
pub(super) fn timer(timer: Timer) -> &'static str {
    match timer {
        Timer::Heartbeat => "tells the others it is there: its heartbeat timer ran out",
        Timer::HeartbeatWait => "waits no longer for its primary: the heartbeat wait ran out",
        Timer::ViewChangeWait => {
            "waits no longer for the view to start: the view-change wait ran out"
        }
        Timer::StartViewChangeResend => "sends its vote to leave again",
        Timer::DoViewChangeResend => "sends its log again to whoever will lead",
        Timer::PrepareResend => "sends prepares again that lack acks",
        Timer::Abdicate => "waits no longer for a commit: the abdication wait ran out",
        Timer::Probe => "asks again who leads",
        Timer::RepairRetry => "asks again for bodies that did not come",
        Timer::StateRetry => "asks again for a state, or for parts of one that did not come",
    }
}

/// Why a client is turned down, as the rest of *request 3 …*.
pub(super) fn rejection(rejection: Rejection) -> &'static str {
    match rejection {
        Rejection::NoSession => "it has no session here",
        Rejection::SessionTooOld => "a newer session of the same client exists",
        Rejection::RequestTooOld => "it is older than the replies that are kept",
        Rejection::NumberReused => "its number was used before, for another body",
    }
}

/// A message, with the numbers that tell it from its like.
pub(super) fn message(frame: &Frame) -> String {
    let view = frame.view;
    match &frame.message {
        Message::Request(request) => match request.operation {
            Operation::Register => "a Request for a session".to_string(),
            Operation::Root | Operation::Machine => format!("Request {}", request.request),
        },
        Message::Prepare { prepare, .. } => format!("Prepare of op {}", prepare.header.op),
        Message::PrepareOk { op, .. } => format!("PrepareOk of op {op}"),
        Message::Reply(reply) => format!("the Reply of op {}", reply.op),
        Message::Eviction {
            request, rejection, ..
        } => format!(
            "an Eviction of {}: {}",
            self::request(*request),
            self::rejection(*rejection)
        ),
        Message::Commit { commit_max } => format!("a heartbeat, Commit up to op {commit_max}"),
        Message::StartViewChange => format!("StartViewChange, to leave view {view}"),
        Message::DoViewChange(vote) => format!(
            "DoViewChange for view {view}, the log of view {} up to op {}",
            vote.log_view, vote.head
        ),
        Message::StartView(start) => format!("StartView of view {view}, head {}", start.head()),
        Message::RequestStartView { recovering } => {
            let who = if *recovering { ", just restarted" } else { "" };
            format!("RequestStartView from view {view}{who}")
        }
        Message::RequestPrepares { from, to } => {
            format!("RequestPrepares for {}", ops(*from, *to))
        }
        Message::RepairPrepare { prepare } => format!("RepairPrepare of op {}", prepare.header.op),
        Message::RepairDone {
            from,
            through,
            evicted: None,
        } => format!("RepairDone for {}", ops(*from, *through)),
        Message::RepairDone {
            from,
            evicted: Some(checkpoint),
            ..
        } => format!(
            "RepairDone: op {from} has left the ring and can be had with checkpoint {checkpoint}"
        ),
        Message::RequestStateTransfer { wanted, .. } => {
            format!("RequestStateTransfer, for a checkpoint at op {wanted} or later")
        }
        Message::StateTransferTarget(target) => format!(
            "StateTransferTarget, checkpoint {} in {}",
            target.op(),
            count(u64::from(target.len()), "part")
        ),
        Message::RequestStateChunk {
            first, count: many, ..
        } => format!("RequestStateChunk for {}", parts(*first, *many)),
        Message::StateChunk { index, bytes, .. } => {
            format!("StateChunk, part {index} of {} bytes", bytes.len())
        }
    }
}

/// Parts of a state, by number.
pub(super) fn parts(first: u32, many: u32) -> String {
    match many {
        0 | 1 => format!("part {first}"),
        many => format!("parts {first} to {}", first + many - 1),
    }
}

/// Processes as the script writes them: `01` reads *0 and 1*, `c0c1` *c0 and c1*.
fn sides(text: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut name = String::new();
    for character in text.chars() {
        name.push(character);
        if character != 'c' {
            names.push(std::mem::take(&mut name));
        }
    }
    joined(&names)
}

/// `0to12` reads *0 to 1 and 2*.
fn link(text: &str) -> String {
    let (from, to) = text.split_once("to").unwrap_or((text, ""));
    format!("{} to {}", sides(from), sides(to))
}

/// `op5` reads *op 5*.
fn named(op: &str) -> String {
    op.replacen("op", "op ", 1)
}

/// Which part of an op.
fn entry(op: &str, part: &str) -> String {
    match part {
        "both" => format!("all of {}", named(op)),
        part => format!("the {part} of {}", named(op)),
    }
}

/// `m500` reads *500 ms behind*.
fn skewed(offset: &str) -> String {
    match (offset, offset.strip_prefix('m')) {
        ("0", _) => "right".to_string(),
        (_, Some(behind)) => format!("{behind} ms behind"),
        (ahead, None) => format!("{ahead} ms ahead"),
    }
}

/// `dm20` reads *and loses 20 millionths*.
fn drifting(drift: &str) -> String {
    let drift = drift.strip_prefix('d').unwrap_or(drift);
    match drift.strip_prefix('m') {
        Some(loses) => format!("and loses {loses} millionths"),
        None => format!("and gains {drift} millionths"),
    }
}

/// An act in words.
pub(super) fn act(text: &str) -> String {
    match text.rsplit_once('.') {
        Some((act, group)) if is_group(group) => {
            format!("{}, in {}", act_in_all(act), group_in_words(group))
        }
        _ => act_in_all(text),
    }
}

/// `g2` reads *partition 2*.
fn group_in_words(name: &str) -> String {
    match name.strip_prefix('g') {
        Some(place) => format!("partition {place}"),
        None => "metadata".to_string(),
    }
}

/// As scripts name groups.
fn is_group(word: &str) -> bool {
    let place = word.strip_prefix('g').unwrap_or_default();
    word == "meta" || (!place.is_empty() && place.bytes().all(|digit| digit.is_ascii_digit()))
}

fn act_in_all(text: &str) -> String {
    let mut parts = text.split('.');
    let verb = parts.next().unwrap_or_default();
    let args: Vec<&str> = parts.collect();
    match (verb, args.as_slice()) {
        ("crash", [replica]) => format!("crash {replica}"),
        ("restart", [replica]) => format!("restart {replica}"),
        ("pause", [replica]) => format!("pause {replica}"),
        ("resume", [replica]) => format!("let {replica} go on"),
        ("cut", [both]) if both.contains('-') => {
            let (one, other) = both.split_once('-').unwrap_or_default();
            format!("cut {} off from {}", sides(one), sides(other))
        }
        ("mute", [both]) if both.contains('-') => {
            let (one, other) = both.split_once('-').unwrap_or_default();
            format!("nothing from {} reaches {}", sides(one), sides(other))
        }
        ("join", [both]) if both.contains('-') => {
            let (one, other) = both.split_once('-').unwrap_or_default();
            format!("join {} and {} again", sides(one), sides(other))
        }
        ("clog", [between, "0"]) => format!("clog the link {} until healed", link(between)),
        ("clog", [between, ticks]) => format!("clog the link {} for {ticks} ticks", link(between)),
        ("delay", [between, ticks]) => {
            format!("delay the link {} by {ticks} ticks", link(between))
        }
        ("filter", [between, "none"]) => format!("let everything pass on {}", link(between)),
        ("filter", [between, kinds]) => {
            format!("stop {} on {}", kinds.replace('-', " and "), link(between))
        }
        ("hold", [between, kinds]) => {
            format!("hold {} on {}", kinds.replace('-', " and "), link(between))
        }
        ("release", [between]) => format!("release what is held on {}", link(between)),
        ("drop", [between, packet]) => format!("drop packet {packet} from {}", link(between)),
        ("dup", [between, packet]) => format!("send packet {packet} twice from {}", link(between)),
        ("deliver", [between, packet]) => {
            format!("deliver packet {packet} from {} now", link(between))
        }
        ("corrupt", [replica, op, part]) => {
            format!("on the disk of {replica} {} rots", entry(op, part))
        }
        ("punch", [replica, op]) => format!("{} vanishes from the disk of {replica}", named(op)),
        ("misdirect", [replica, op, to]) => format!(
            "the disk of {replica} put {} in the place of {}",
            named(op),
            named(to)
        ),
        ("tear", [replica]) => format!("the next crash of {replica} tears what it is writing"),
        ("lie", [replica]) => {
            format!("the disk of {replica} says that writes are durable and keeps none")
        }
        ("lie", [replica, "off"]) => format!("the disk of {replica} is honest again"),
        ("slow", [replica, "1"]) => format!("the disk of {replica} is as fast as ever again"),
        ("slow", [replica, factor]) => {
            format!("the disk of {replica} takes {factor} times as long")
        }
        ("skew", [replica, offset]) => format!("the clock of {replica} is {}", skewed(offset)),
        ("skew", [replica, offset, drift]) => {
            format!(
                "the clock of {replica} is {}, {}",
                skewed(offset),
                drifting(drift)
            )
        }
        ("heal", []) => "heal every link".to_string(),
        ("write", [client]) => format!("{client} writes"),
        ("create", [client]) => format!("{client} asks for one more partition"),
        ("delete", [client]) => format!("{client} asks for the last partition to go"),
        ("read", [client]) => format!("{client} reads"),
        ("load", ["0"]) => "stop the load".to_string(),
        ("profile", [name]) => format!("faults {name}"),
        ("mutate", [name]) => mutation(name),
        ("mutate", [name, "off"]) => format!("the rule of {name} is in force again"),
        ("settle", []) => "faults end, the rest must converge".to_string(),
        _ => script::act(text),
    }
}

fn mutation(name: &str) -> String {
    Mutation::from_name(name).map_or_else(
        || format!("mutation {name}"),
        |mutation| {
            let instead = mutation.instead().trim_end_matches('.');
            format!("mutation {name} at every replica: {instead}")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_read_as_people_say_them() {
        let read: Vec<String> = [
            "cut.01-2",
            "mute.2-01",
            "clog.0to2.200",
            "filter.0to1.Prepare-Commit",
            "write.c0",
            "corrupt.1.op5.prepare",
            "corrupt.1.op5.both",
            "punch.1.op5",
            "misdirect.1.op5.op6",
            "lie.1.off",
            "slow.1.20",
            "mutate.M03",
            "mutate.M03.off",
            "skew.1.m500",
            "skew.1.0.d20",
            "skew.1.0",
            "cut.c0c1-12",
            "filter.0to34.Prepare",
            "cut.012",
            "filter.0to1.Commit.meta",
            "write.c0.g2",
        ]
        .map(act)
        .into();
        assert_eq!(
            read,
            [
                "cut 0 and 1 off from 2",
                "nothing from 2 reaches 0 and 1",
                "clog the link 0 to 2 for 200 ticks",
                "stop Prepare and Commit on 0 to 1",
                "c0 writes",
                "on the disk of 1 the prepare of op 5 rots",
                "on the disk of 1 all of op 5 rots",
                "op 5 vanishes from the disk of 1",
                "the disk of 1 put op 5 in the place of op 6",
                "the disk of 1 is honest again",
                "the disk of 1 takes 20 times as long",
                "mutation M03 at every replica: One replica that never journaled it is enough",
                "the rule of M03 is in force again",
                "the clock of 1 is 500 ms behind",
                "the clock of 1 is right, and gains 20 millionths",
                "the clock of 1 is right",
                "cut c0 and c1 off from 1 and 2",
                "stop Prepare on 0 to 3 and 4",
                "cut.012",
                "stop Commit on 0 to 1, in metadata",
                "c0 writes, in partition 2",
            ]
        );
    }
}
