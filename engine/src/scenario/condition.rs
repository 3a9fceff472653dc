//! Conditions: what a story waits for, what it expects, and what a person runs until. Data and text
//! both ways, evaluated in one group over [`Observed`], the little of a cluster that conditions
//! need to see. Must never know the simulator behind it.

use std::fmt;

use super::group_name::GroupName;
use super::places::{
    check_process, check_processes, parse_client, parse_processes, parse_replica, replicas_of,
};
use super::problem::{Problem, number, number_u32, shown};
use super::run::Cluster;
use crate::ids::{Checksum, ClientId, GroupId, Op, Process, ReplicaId, RequestNumber, View};
use crate::sim::sets::ProcessSet;
use crate::vsr::io::Status;

/// What a condition sees of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaFacts {
    /// Running; a paused replica is up.
    pub up: bool,
    /// Status in the group.
    pub status: Status,
    /// View.
    pub view: View,
    /// The last view whose log it installed.
    pub log_view: View,
    /// Head of its log.
    pub head: Op,
    /// Identity of the entry at its head; of the root where the log is empty. Entries are chained, so
    /// equal heads mean equal logs.
    pub head_checksum: Checksum,
    /// Executed here.
    pub commit_min: Op,
    /// Known committed here.
    pub commit_max: Op,
    /// Normal, and the primary of its view.
    pub primary: bool,
    /// The highest view for which a DoViewChange of this replica was ever sent, over all its lives.
    pub voted: View,
    /// The most acks by *other* replicas counted for one op that still waits for a quorum.
    pub acks: u8,
}

/// What a condition sees of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFacts {
    /// The highest request it accepted a reply for; zero before the first.
    pub replied: RequestNumber,
}

/// A cluster as conditions see it. Cheap to ask: it is asked every tick.
pub trait Observed {
    /// Sizes.
    fn cluster(&self) -> Cluster;
    /// All groups there are.
    fn groups(&self) -> &[GroupId];
    /// The group of a name, where there is one now.
    fn group(&self, name: GroupName) -> Option<GroupId>;
    /// One replica in a group, up or down.
    fn replica(&self, group: GroupId, replica: ReplicaId) -> ReplicaFacts;
    /// One client in a group.
    fn client(&self, group: GroupId, client: ClientId) -> ClientFacts;
    /// The highest request of this client that the replica executed with an effect.
    fn executed(&self, group: GroupId, replica: ReplicaId, client: ClientId) -> RequestNumber;
    /// Replies to requests accepted by all clients so far. Registers are not counted.
    fn replies(&self, group: GroupId) -> u64;
    /// Views started so far, the first one not counted.
    fn views_started(&self, group: GroupId) -> u64;
    /// Whether a property was violated, in whatever group; `None` asks for any.
    fn violated(&self, property: Option<u8>) -> bool;
}

/// What stood in a group when the waiting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    replies: u64,
    views_started: u64,
    commit_max: Op,
}

impl Since {
    pub(super) fn of(observed: &impl Observed, group: GroupId) -> Self {
        Self {
            replies: observed.replies(group),
            views_started: observed.views_started(group),
            commit_max: commit_max(observed, group),
        }
    }
}

/// A condition on a cluster. *Up* replicas are meant where a condition names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `primary`: some replica leads its view.
    Primary,
    /// `no-primary`: none does.
    NoPrimary,
    /// `view-1`: every replica is in exactly this view.
    View(View),
    /// `new-view`: a view started since the waiting began.
    NewView,
    /// `reply`: a client accepted a reply since the waiting began.
    Reply,
    /// `replies-5`: so many replies in all.
    Replies(u64),
    /// `replied-c0-2`: this client accepted a reply to this request.
    Replied(ClientId, RequestNumber),
    /// `executed-c0-2`: every replica executed this request.
    Executed(ClientId, RequestNumber),
    /// `acks-1`: some primary counted so many acks of others for an op that waits for a quorum.
    Acks(u8),
    /// `commit`: something was committed since the waiting began.
    Commit,
    /// `commit-5`: some replica knows this op to be committed.
    CommitAt(Op),
    /// `same-log`, `same-log-02`: equal logs, executed to the end; of all, or of these, which then
    /// must be up.
    SameLog(ProcessSet),
    /// `violation`, `violation-I4`: a property was violated.
    Violation(Option<u8>),
    /// `r1-…`: something about one replica.
    Replica(ReplicaId, ReplicaCondition),
}

/// A condition on one replica. All but `down` want it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaCondition {
    /// What is asked.
    pub what: ReplicaWhat,
    /// `…-v1`: and it is in exactly this view.
    pub in_view: Option<View>,
}

/// What a condition asks of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaWhat {
    /// `up`: it runs.
    Up,
    /// `down`: it is crashed.
    Down,
    /// `primary`: it leads its view.
    Primary,
    /// `normal`: it takes part in its view.
    Normal,
    /// `view-change`: it is between views.
    ViewChange,
    /// `recovering`: it restarted and asks who leads.
    Recovering,
    /// `voted-v1`: it sent a DoViewChange for this view or a later one, in whatever life.
    Voted(View),
    /// `view-1`: its view is at least this.
    View(View),
    /// `head-5`: its log reaches this op.
    Head(Op),
    /// `commit-5`: it executed this op.
    Commit(Op),
    /// `acks-1`: as primary it counted so many acks of others for one waiting op.
    Acks(u8),
    /// `executed-c0-2`: it executed this request.
    Executed(ClientId, RequestNumber),
}

impl Condition {
    /// Whether it holds now in a group; `since` is when the waiting began.
    pub fn holds(&self, group: GroupId, now: &impl Observed, since: &Since) -> bool {
        match *self {
            Self::Primary => up(now, group).any(|(_, facts)| facts.primary),
            Self::NoPrimary => !up(now, group).any(|(_, facts)| facts.primary),
            Self::View(view) => every(now, group, |_, facts| facts.view == view),
            Self::NewView => now.views_started(group) > since.views_started,
            Self::Reply => now.replies(group) > since.replies,
            Self::Replies(count) => now.replies(group) >= count,
            Self::Replied(client, request) => now.client(group, client).replied >= request,
            Self::Executed(client, request) => every(now, group, |replica, _| {
                now.executed(group, replica, client) >= request
            }),
            Self::Acks(count) => up(now, group).any(|(_, facts)| facts.acks >= count),
            Self::Commit => commit_max(now, group) > since.commit_max,
            Self::CommitAt(op) => commit_max(now, group) >= op,
            Self::SameLog(replicas) => same_log(now, group, replicas),
            Self::Violation(property) => now.violated(property),
            Self::Replica(replica, condition) => condition.holds(group, replica, now),
        }
    }

    pub(crate) fn check(&self, cluster: Cluster) -> Result<(), Problem> {
        let client = |client| check_process(Process::Client(client), cluster);
        match *self {
            Self::Replied(asker, _) | Self::Executed(asker, _) => client(asker),
            Self::SameLog(replicas) => check_processes(replicas, cluster),
            Self::Replica(replica, condition) => {
                check_process(Process::Replica(replica), cluster)?;
                match condition.what {
                    ReplicaWhat::Executed(asker, _) => client(asker),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let words: Vec<&str> = text.split('-').collect();
        let parsed = match words.as_slice() {
            ["primary"] => Ok(Self::Primary),
            ["no", "primary"] => Ok(Self::NoPrimary),
            ["view", view] => parse_view(view).map(Self::View),
            ["new", "view"] => Ok(Self::NewView),
            ["reply"] => Ok(Self::Reply),
            ["replies", count] => number(count, 1, u64::from(u32::MAX)).map(Self::Replies),
            ["replied", client, request] => parse_request(client, request)
                .map(|(client, request)| Self::Replied(client, request)),
            ["executed", client, request] => parse_request(client, request)
                .map(|(client, request)| Self::Executed(client, request)),
            ["acks", count] => parse_acks(count).map(Self::Acks),
            ["commit"] => Ok(Self::Commit),
            ["commit", op] => parse_op(op).map(Self::CommitAt),
            ["same", "log"] => Ok(Self::SameLog(ProcessSet::default())),
            ["same", "log", replicas] => parse_replicas(replicas).map(Self::SameLog),
            ["violation"] => Ok(Self::Violation(None)),
            ["violation", property] => parse_property(property).map(Self::Violation),
            [replica, rest @ ..] if replica.starts_with('r') && !rest.is_empty() => {
                let replica = parse_replica(&replica[1..]);
                replica.and_then(|replica| {
                    let condition = ReplicaCondition::parse(rest)?;
                    Ok(Self::Replica(replica, condition))
                })
            }
            _ => Err(Problem::new("", "")),
        };
        parsed.map_err(|_| {
            Problem::new(
                shown(text),
                "a condition: primary, no-primary, view-1, new-view, reply, replies-5, \
                 replied-c0-2, executed-c0-2, acks-1, commit, commit-5, same-log, same-log-02, \
                 violation, violation-I4, or r1- before up, down, primary, normal, view-change, \
                 recovering, voted-v1, view-1, head-5, commit-5, acks-1, executed-c0-2 (and -v1 \
                 behind primary, normal, view-change or recovering)",
            )
        })
    }
}

impl ReplicaCondition {
    fn holds(self, group: GroupId, replica: ReplicaId, now: &impl Observed) -> bool {
        let facts = now.replica(group, replica);
        if self.in_view.is_some_and(|view| view != facts.view) {
            return false;
        }
        if let ReplicaWhat::Down = self.what {
            return !facts.up;
        }
        facts.up
            && match self.what {
                ReplicaWhat::Up => true,
                ReplicaWhat::Down => false,
                ReplicaWhat::Primary => facts.primary,
                ReplicaWhat::Normal => facts.status == Status::Normal,
                ReplicaWhat::ViewChange => facts.status == Status::ViewChange,
                ReplicaWhat::Recovering => {
                    matches!(facts.status, Status::Recovering | Status::RecoveringHead)
                }
                ReplicaWhat::Voted(view) => facts.voted >= view,
                ReplicaWhat::View(view) => facts.view >= view,
                ReplicaWhat::Head(op) => facts.head >= op,
                ReplicaWhat::Commit(op) => facts.commit_min >= op,
                ReplicaWhat::Acks(count) => facts.acks >= count,
                ReplicaWhat::Executed(client, request) => {
                    now.executed(group, replica, client) >= request
                }
            }
    }

    fn parse(words: &[&str]) -> Result<Self, Problem> {
        let plain = |what| {
            Ok(Self {
                what,
                in_view: None,
            })
        };
        match words {
            ["up"] => plain(ReplicaWhat::Up),
            ["down"] => plain(ReplicaWhat::Down),
            ["voted", view] => plain(ReplicaWhat::Voted(parse_named_view(view)?)),
            ["view", view] if *view != "change" => plain(ReplicaWhat::View(parse_view(view)?)),
            ["head", op] => plain(ReplicaWhat::Head(parse_op(op)?)),
            ["commit", op] => plain(ReplicaWhat::Commit(parse_op(op)?)),
            ["acks", count] => plain(ReplicaWhat::Acks(parse_acks(count)?)),
            ["executed", client, request] => {
                let (client, request) = parse_request(client, request)?;
                plain(ReplicaWhat::Executed(client, request))
            }
            ["view", "change"] => plain(ReplicaWhat::ViewChange),
            ["primary"] => plain(ReplicaWhat::Primary),
            ["normal"] => plain(ReplicaWhat::Normal),
            ["recovering"] => plain(ReplicaWhat::Recovering),
            [status @ .., view]
                if matches!(
                    status,
                    ["primary"] | ["normal"] | ["recovering"] | ["view", "change"]
                ) =>
            {
                Ok(Self {
                    in_view: Some(parse_named_view(view)?),
                    ..Self::parse(status)?
                })
            }
            _ => Err(Problem::new("", "")),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => f.write_str("primary"),
            Self::NoPrimary => f.write_str("no-primary"),
            Self::View(view) => write!(f, "view-{view}"),
            Self::NewView => f.write_str("new-view"),
            Self::Reply => f.write_str("reply"),
            Self::Replies(count) => write!(f, "replies-{count}"),
            Self::Replied(client, request) => write!(f, "replied-c{client}-{request}"),
            Self::Executed(client, request) => write!(f, "executed-c{client}-{request}"),
            Self::Acks(count) => write!(f, "acks-{count}"),
            Self::Commit => f.write_str("commit"),
            Self::CommitAt(op) => write!(f, "commit-{op}"),
            Self::SameLog(replicas) if replicas.is_empty() => f.write_str("same-log"),
            Self::SameLog(replicas) => write!(f, "same-log-{replicas}"),
            Self::Violation(None) => f.write_str("violation"),
            Self::Violation(Some(property)) => write!(f, "violation-I{property}"),
            Self::Replica(replica, condition) => write!(f, "r{replica}-{condition}"),
        }
    }
}

impl fmt::Display for ReplicaCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            ReplicaWhat::Up => f.write_str("up")?,
            ReplicaWhat::Down => f.write_str("down")?,
            ReplicaWhat::Primary => f.write_str("primary")?,
            ReplicaWhat::Normal => f.write_str("normal")?,
            ReplicaWhat::ViewChange => f.write_str("view-change")?,
            ReplicaWhat::Recovering => f.write_str("recovering")?,
            ReplicaWhat::Voted(view) => write!(f, "voted-v{view}")?,
            ReplicaWhat::View(view) => write!(f, "view-{view}")?,
            ReplicaWhat::Head(op) => write!(f, "head-{op}")?,
            ReplicaWhat::Commit(op) => write!(f, "commit-{op}")?,
            ReplicaWhat::Acks(count) => write!(f, "acks-{count}")?,
            ReplicaWhat::Executed(client, request) => write!(f, "executed-c{client}-{request}")?,
        }
        match self.in_view {
            Some(view) => write!(f, "-v{view}"),
            None => Ok(()),
        }
    }
}

fn up(now: &impl Observed, group: GroupId) -> impl Iterator<Item = (ReplicaId, ReplicaFacts)> {
    (0..now.cluster().replicas)
        .map(move |replica| (ReplicaId(replica), now.replica(group, ReplicaId(replica))))
        .filter(|(_, facts)| facts.up)
}

/// Every replica that is up, and there is one: that nothing happened never passes.
fn every(
    now: &impl Observed,
    group: GroupId,
    holds: impl Fn(ReplicaId, ReplicaFacts) -> bool,
) -> bool {
    let mut some = false;
    for (replica, facts) in up(now, group) {
        if !holds(replica, facts) {
            return false;
        }
        some = true;
    }
    some
}

fn commit_max(now: &impl Observed, group: GroupId) -> Op {
    up(now, group)
        .map(|(_, facts)| facts.commit_max)
        .max()
        .unwrap_or_default()
}

fn same_log(now: &impl Observed, group: GroupId, replicas: ProcessSet) -> bool {
    if replicas_of(replicas).any(|replica| !now.replica(group, replica).up) {
        return false;
    }
    let mut compared = up(now, group).filter(|&(replica, _)| {
        replicas.is_empty() || replicas.contains(Process::Replica(replica))
    });
    let Some((_, first)) = compared.next() else {
        return false;
    };
    let complete = |facts: ReplicaFacts| facts.commit_min == facts.head;
    complete(first)
        && compared.all(|(_, facts)| {
            complete(facts)
                && facts.head == first.head
                && facts.head_checksum == first.head_checksum
        })
}

fn parse_view(text: &str) -> Result<View, Problem> {
    number_u32(text, 0, u32::MAX).map(View)
}

fn parse_named_view(text: &str) -> Result<View, Problem> {
    let digits = text
        .strip_prefix('v')
        .ok_or_else(|| Problem::new(shown(text), "a view, v1 for instance"))?;
    parse_view(digits)
}

fn parse_op(text: &str) -> Result<Op, Problem> {
    number(text, 1, u64::from(u32::MAX)).map(Op)
}

fn parse_acks(text: &str) -> Result<u8, Problem> {
    let count = number(text, 1, 8)?;
    u8::try_from(count).map_err(|_| Problem::new(shown(text), "1 to 8"))
}

fn parse_request(client: &str, request: &str) -> Result<(ClientId, RequestNumber), Problem> {
    let request = number(request, 1, u64::from(u32::MAX))?;
    Ok((parse_client(client)?, RequestNumber(request)))
}

fn parse_replicas(text: &str) -> Result<ProcessSet, Problem> {
    let set = parse_processes(text)?;
    if replicas_of(set).count() == set.iter().count() {
        Ok(set)
    } else {
        Err(Problem::new(shown(text), "replicas"))
    }
}

fn parse_property(text: &str) -> Result<Option<u8>, Problem> {
    let digits = text
        .strip_prefix('I')
        .ok_or_else(|| Problem::new(shown(text), "a property, I4 for instance"))?;
    let property = number(digits, 0, 18)?;
    Ok(u8::try_from(property).ok())
}

#[cfg(test)]
#[path = "condition_tests.rs"]
mod tests;
