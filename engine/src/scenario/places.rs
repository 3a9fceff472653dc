//! Where an action takes place, as text both ways: sets of processes (`01`, `0c0`), sets of links
//! (`0to12`), kinds of message (`Prepare-Commit`), one packet (`0to1.57`). Must never know what is
//! done there.

use std::fmt;

use serde::Serialize;

use super::problem::{Problem, number, shown};
use super::run::Cluster;
use crate::ids::{CLIENTS_MAX, ClientId, Process, REPLICAS_MAX, ReplicaId};
use crate::vsr::message::MessageKind;

/// A set of replicas and clients: `01`, `2`, `0c0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProcessSet(u32);

impl ProcessSet {
    /// One process alone.
    #[must_use]
    pub fn of(process: Process) -> Self {
        Self(1 << process.index())
    }

    /// This set and one more.
    #[must_use]
    pub fn with(self, process: Process) -> Self {
        Self(self.0 | Self::of(process).0)
    }

    /// Whether it has this process.
    #[must_use]
    pub fn contains(self, process: Process) -> bool {
        self.0 & Self::of(process).0 != 0
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its members, replicas first.
    pub fn iter(self) -> impl Iterator<Item = Process> {
        (0..REPLICAS_MAX + CLIENTS_MAX)
            .filter_map(Process::from_index)
            .filter(move |&process| self.contains(process))
    }

    /// Its replicas.
    pub fn replicas(self) -> impl Iterator<Item = ReplicaId> {
        self.iter().filter_map(|process| match process {
            Process::Replica(replica) => Some(replica),
            Process::Client(_) => None,
        })
    }

    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::new(
                shown(text),
                "replicas by their digits and clients with a c before theirs, 01 or 2c0 for instance",
            )
        };
        let mut set = Self::default();
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
            set = set.with(process);
            client = false;
        }
        if set.is_empty() || client {
            return Err(wrong());
        }
        Ok(set)
    }

    pub(crate) fn check(self, cluster: Cluster) -> Result<(), Problem> {
        self.iter()
            .try_for_each(|process| check_process(process, cluster))
    }
}

impl fmt::Display for ProcessSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|process| process.fmt(f))
    }
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
    match ProcessSet::parse(text).map(|set| set.iter().collect::<Vec<_>>()) {
        Ok(members) => match members.as_slice() {
            [Process::Client(client)] => Ok(*client),
            _ => Err(Problem::new(shown(text), "a client, c0 to c7")),
        },
        Err(_) => Err(Problem::new(shown(text), "a client, c0 to c7")),
    }
}

/// Directed links: from each of one set to each of another. `0to12`, `c0to1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkSet {
    /// The senders.
    pub from: ProcessSet,
    /// The receivers.
    pub to: ProcessSet,
}

impl LinkSet {
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
            from: ProcessSet::parse(from).map_err(|_| wrong())?,
            to: ProcessSet::parse(to).map_err(|_| wrong())?,
        };
        if set.iter().next().is_none() {
            return Err(wrong());
        }
        Ok(set)
    }

    pub(crate) fn check(self, cluster: Cluster) -> Result<(), Problem> {
        self.from.check(cluster)?;
        self.to.check(cluster)
    }
}

fn is_link(from: Process, to: Process) -> bool {
    from != to && !matches!((from, to), (Process::Client(_), Process::Client(_)))
}

impl fmt::Display for LinkSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}to{}", self.from, self.to)
    }
}

/// Two sides of a cut: `01-2`.
pub(crate) fn parse_sides(text: &str) -> Result<LinkSet, Problem> {
    let wrong = || {
        Problem::new(
            shown(text),
            "two sides without a common member, 01-2 for instance",
        )
    };
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let from = ProcessSet::parse(from).map_err(|_| wrong())?;
    let to = ProcessSet::parse(to).map_err(|_| wrong())?;
    let sides = LinkSet { from, to };
    if from.meets(to) || sides.iter().next().is_none() {
        return Err(wrong());
    }
    Ok(sides)
}

/// Kinds of message: `Prepare-Commit`, `all`, `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindSet(u32);

impl KindSet {
    /// These kinds.
    #[must_use]
    pub fn of(kinds: &[MessageKind]) -> Self {
        Self(
            kinds
                .iter()
                .fold(0, |bits, &kind| bits | 1 << u32::from(kind as u8)),
        )
    }

    /// Every kind.
    #[must_use]
    pub fn all() -> Self {
        Self::of(&MessageKind::ALL)
    }

    /// Whether it has this kind.
    #[must_use]
    pub fn contains(self, kind: MessageKind) -> bool {
        self.0 & (1 << u32::from(kind as u8)) != 0
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its kinds, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = MessageKind> {
        MessageKind::ALL
            .into_iter()
            .filter(move |&kind| self.contains(kind))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "none" => return Ok(Self::default()),
            "all" => return Ok(Self::all()),
            _ => {}
        }
        let mut set = Self::default();
        for name in text.split('-') {
            let kind = MessageKind::from_name(name).ok_or_else(|| {
                Problem::new(
                    shown(text),
                    "message types joined by -, Prepare-Commit for instance, or all, or none",
                )
            })?;
            set.0 |= Self::of(&[kind]).0;
        }
        Ok(set)
    }
}

impl fmt::Display for KindSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        if *self == Self::all() {
            return f.write_str("all");
        }
        for (place, kind) in self.iter().enumerate() {
            if place > 0 {
                f.write_str("-")?;
            }
            f.write_str(kind.name())?;
        }
        Ok(())
    }
}

/// One packet: the link it travels and its number there, from 1. `0to1.57`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
        let links: Vec<_> = LinkSet::parse(link)?.iter().collect();
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
