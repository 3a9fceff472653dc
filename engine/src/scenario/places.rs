//! Where an action takes place, as text both ways: sets of processes (`01`, `0c0`), sets of links
//! (`0to12`), kinds of message (`Prepare-Commit`), one packet (`0to1.57`). Must never know what is
//! done there.

use std::fmt;

use super::problem::{Problem, number, shown};
use super::run::Cluster;
use crate::ids::{CLIENTS_MAX, ClientId, Op, Process, REPLICAS_MAX, ReplicaId};
use crate::sim::sets::{KindSet, ProcessSet};
use crate::vsr::message::MessageKind;

/// A set of processes: `01`, `0c0`.
pub(crate) fn parse_processes(text: &str) -> Result<ProcessSet, Problem> {
    let wrong = || {
        Problem::new(
            shown(text),
            "replicas by their digits and clients with a c before theirs, 01 or 2c0 for instance",
        )
    };
    let mut set = ProcessSet::default();
    let mut client = false;
    for character in text.chars() {
        if character == 'c' && !client {
            client = true;
            continue;
        }
        let digit = character.to_digit(10).ok_or_else(wrong)?;
        let digit = u8::try_from(digit).map_err(|_| wrong())?;
        let process = if client {
            parse_client_number(digit)
        } else {
            parse_replica_number(digit)
        }
        .ok_or_else(wrong)?;
        if set.contains(process) {
            return Err(wrong());
        }
        set.insert(process);
        client = false;
    }
    if set.is_empty() || client {
        return Err(wrong());
    }
    Ok(set)
}

/// Every process of a set exists in this cluster.
pub(crate) fn check_processes(set: ProcessSet, cluster: Cluster) -> Result<(), Problem> {
    set.iter()
        .try_for_each(|process| check_process(process, cluster))
}

/// The replicas of a set.
pub(crate) fn replicas_of(set: ProcessSet) -> impl Iterator<Item = ReplicaId> {
    set.iter().filter_map(|process| match process {
        Process::Replica(replica) => Some(replica),
        Process::Client(_) => None,
    })
}

fn parse_replica_number(digit: u8) -> Option<Process> {
    (digit < REPLICAS_MAX).then_some(Process::Replica(ReplicaId(digit)))
}

fn parse_client_number(digit: u8) -> Option<Process> {
    (digit < CLIENTS_MAX).then_some(Process::Client(ClientId(digit)))
}

/// A process exists in this cluster.
pub(crate) fn check_process(process: Process, cluster: Cluster) -> Result<(), Problem> {
    let (kind, index, count, prefix) = match process {
        Process::Replica(ReplicaId(replica)) => ("replica", replica, cluster.replicas, ""),
        Process::Client(ClientId(client)) => ("client", client, cluster.clients, "c"),
    };
    if index < count {
        return Ok(());
    }
    let expected = match count {
        1 => format!("{kind} {prefix}0, the only one"),
        _ => format!("a {kind} from {prefix}0 to {prefix}{}", count - 1),
    };
    Err(Problem::new(format!("{kind} {process}"), expected))
}

/// One replica: `2`.
pub(crate) fn parse_replica(text: &str) -> Result<ReplicaId, Problem> {
    let value = number(text, 0, u64::from(REPLICAS_MAX - 1))
        .ok()
        .filter(|_| text.len() == 1)
        .and_then(|value| u8::try_from(value).ok())
        .ok_or_else(|| Problem::new(shown(text), "a replica, 0 to 8"))?;
    Ok(ReplicaId(value))
}

/// One client: `c0`.
pub(crate) fn parse_client(text: &str) -> Result<ClientId, Problem> {
    match parse_processes(text).map(|set| set.iter().collect::<Vec<_>>()) {
        Ok(members) => match members.as_slice() {
            [Process::Client(client)] => Ok(*client),
            _ => Err(Problem::new(shown(text), "a client, c0 to c7")),
        },
        Err(_) => Err(Problem::new(shown(text), "a client, c0 to c7")),
    }
}

/// One op: `op5`.
pub(crate) fn parse_op(text: &str) -> Result<Op, Problem> {
    text.strip_prefix("op")
        .and_then(|digits| number(digits, 1, u64::from(u32::MAX)).ok())
        .map(Op)
        .ok_or_else(|| Problem::new(shown(text), "an op from 1 on, op5 for instance"))
}

/// Which ring's block of an op is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The prepare.
    Prepare,
    /// The redundant header.
    Header,
    /// Either.
    Both,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Prepare, Self::Header, Self::Both];

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        Self::ALL
            .into_iter()
            .find(|part| part.name() == text)
            .ok_or_else(|| Problem::new(shown(text), "prepare, header or both"))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Header => "header",
            Self::Both => "both",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Directed links: from each of one set to each of another. `0to12`, `c0to1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// The senders.
    pub from: ProcessSet,
    /// The receivers.
    pub to: ProcessSet,
}

impl Links {
    /// The links, each once. Nobody has a link to itself, and clients have none between them.
    pub fn iter(self) -> impl Iterator<Item = (Process, Process)> {
        self.from.iter().flat_map(move |from| {
            self.to
                .iter()
                .filter(move |&to| is_link(from, to))
                .map(move |to| (from, to))
        })
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::new(
                shown(text),
                "a link between two processes, 0to1, c0to1 or 0to12 for instance",
            )
        };
        let (from, to) = text.split_once("to").ok_or_else(wrong)?;
        let set = Self {
            from: parse_processes(from).map_err(|_| wrong())?,
            to: parse_processes(to).map_err(|_| wrong())?,
        };
        if set.iter().next().is_none() {
            return Err(wrong());
        }
        Ok(set)
    }

    pub(crate) fn check(self, cluster: Cluster) -> Result<(), Problem> {
        check_processes(self.from, cluster)?;
        check_processes(self.to, cluster)
    }
}

fn is_link(from: Process, to: Process) -> bool {
    from != to && !matches!((from, to), (Process::Client(_), Process::Client(_)))
}

impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}to{}", self.from, self.to)
    }
}

/// Two sides of a cut: `01-2`.
pub(crate) fn parse_sides(text: &str) -> Result<Links, Problem> {
    let wrong = || {
        Problem::new(
            shown(text),
            "two sides without a common member, 01-2 for instance",
        )
    };
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let from = parse_processes(from).map_err(|_| wrong())?;
    let to = parse_processes(to).map_err(|_| wrong())?;
    let sides = Links { from, to };
    if !from.intersection(to).is_empty() || sides.iter().next().is_none() {
        return Err(wrong());
    }
    Ok(sides)
}

fn all_kinds() -> KindSet {
    MessageKind::ALL.into_iter().collect()
}

/// Kinds of message: `Prepare-Commit`, `all`, `none`.
pub(crate) fn parse_kinds(text: &str) -> Result<KindSet, Problem> {
    match text {
        "none" => return Ok(KindSet::default()),
        "all" => return Ok(all_kinds()),
        _ => {}
    }
    text.split('-')
        .map(MessageKind::from_name)
        .collect::<Option<KindSet>>()
        .ok_or_else(|| {
            Problem::new(
                shown(text),
                "message types joined by -, Prepare-Commit for instance, or all, or none",
            )
        })
}

/// The shortest text of a set of kinds.
pub(crate) fn kinds_text(kinds: KindSet) -> String {
    if kinds == all_kinds() {
        "all".to_owned()
    } else {
        kinds.to_string()
    }
}

/// One packet: the link it travels and its number there, from 1. `0to1.57`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketName {
    /// The sender.
    pub from: Process,
    /// The receiver.
    pub to: Process,
    /// Its number on that link.
    pub number: u64,
}

impl PacketName {
    pub(crate) fn parse(link: &str, packet: &str) -> Result<Self, Problem> {
        let links: Vec<_> = Links::parse(link)?.iter().collect();
        let [(from, to)] = links.as_slice() else {
            return Err(Problem::new(
                shown(link),
                "one link alone, 0to1 for instance",
            ));
        };
        Ok(Self {
            from: *from,
            to: *to,
            number: number(packet, 1, u64::from(u32::MAX))?,
        })
    }

    pub(crate) fn check(self, cluster: Cluster) -> Result<(), Problem> {
        check_process(self.from, cluster)?;
        check_process(self.to, cluster)
    }
}

impl fmt::Display for PacketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}to{}.{}", self.from, self.to, self.number)
    }
}
