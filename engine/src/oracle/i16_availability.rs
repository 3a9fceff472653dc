//! I16, availability: while a core of at least vc replicas is free of faults and a client waits that
//! reaches every replica that runs, some client gets a reply within so many ticks; and while there is
//! such a core at all, views are few (scenarios A31 to A37, A43; TigerBeetle, *Simulation Testing For
//! Liveness*). The weather is looked at now and then. Must never know who leads.
//!
//! A core: replicas that run, are not paused, have a quick and honest disk, may vote or soon will, and
//! reach each other both ways, all the time. Whoever is outside may do as it likes: that is the point
//! of A31 and A33 to A35.
//!
//! Exceptions. Delays near the waits of the protocol make no promise. Where dice lose packets, or small
//! links push them out, replies take longer and views are not counted. A wiped replica that is being
//! rebuilt is no part of a core. A core whose disks cannot decide on a log stalls honestly: the proof
//! of I17 is asked for before a verdict. Replicas that lost what they acknowledged from memory need
//! the answers of all, so that they are no core without the rest. One client of many may be unlucky for long where pipelines are
//! short, so any client's reply counts. The time allowed holds twice the wait of a view change as it
//! is, back-off included, for every replica's turn, since each may be the one that is gone.

use std::collections::VecDeque;

use super::view::{ClusterView, MemberView, Roster};
use super::violation::{Property, Replicas, Report};
use super::weather::{LOOK_EVERY, Pace, Weather};
use crate::ids::{CLIENTS_MAX, ClientId, Process, ReplicaId, Tick, View};
use crate::vsr::io::Status;

/// Waits of a view change in which views are counted.
const VIEW_WINDOW: u64 = 10;

/// One client.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    /// Since when it waits for an answer.
    asked: Option<Tick>,
    /// Since when it reaches all that run.
    free: Option<Tick>,
}

/// One group.
#[derive(Debug)]
pub(super) struct Availability {
    replica_count: u8,
    view_change: u8,
    clients: [Waiting; CLIENTS_MAX as usize],
    last_reply: Tick,
    core: Replicas,
    core_since: Tick,
    pace: Option<Pace>,
    newest: View,
    /// When the newest views were entered first, the oldest in front.
    entered: VecDeque<Tick>,
    told_slow: bool,
    told_views: bool,
}

impl Availability {
    pub(super) fn new(roster: &Roster) -> Self {
        Self {
            replica_count: roster.replica_count,
            view_change: roster.quorums.view_change,
            clients: [Waiting::default(); CLIENTS_MAX as usize],
            last_reply: Tick(0),
            core: Replicas::NONE,
            core_since: Tick(0),
            pace: None,
            newest: View(0),
            entered: VecDeque::new(),
            told_slow: false,
            told_views: false,
        }
    }

    /// A client asks for something, perhaps again.
    pub(super) fn requested(&mut self, client: ClientId, tick: Tick) {
        if let Some(waiting) = self.clients.get_mut(usize::from(client.0)) {
            waiting.asked.get_or_insert(tick);
        }
    }

    /// A client has its answer.
    pub(super) fn replied(&mut self, client: ClientId, tick: Tick) {
        if let Some(waiting) = self.clients.get_mut(usize::from(client.0)) {
            waiting.asked = None;
        }
        self.last_reply = tick;
        self.told_slow = false;
    }

    /// A replica entered a view.
    pub(super) fn entered(&mut self, view: View, report: &mut Report) {
        if view <= self.newest {
            return;
        }
        self.newest = view;
        let views_max = usize::from(self.replica_count) + 3;
        self.entered.push_back(report.tick);
        if self.entered.len() <= views_max {
            return;
        }
        let Some(first) = self.entered.pop_front() else {
            return;
        };
        let Some(pace) = self.pace.filter(|pace| !pace.lossy) else {
            return;
        };
        let window = VIEW_WINDOW * u64::from(pace.view_change_wait_ticks);
        let is_calm = !self.core.is_empty() && self.core_since <= first;
        if is_calm && report.tick.0 - first.0 < window && !self.told_views {
            self.told_views = true;
            report.violated(
                Property::I16,
                None,
                self.core,
                format!(
                    "{} views began within {} ticks, up to view {view}, though {} could work together",
                    views_max + 1,
                    report.tick.0 - first.0,
                    self.core
                ),
            );
        }
    }

    /// Looks at the weather and at who waits, now and then.
    pub(super) fn look(&mut self, members: &[MemberView], view: &ClusterView, report: &mut Report) {
        if !view.tick.0.is_multiple_of(LOOK_EVERY) {
            return;
        }
        let weather = view.weather;
        let pace = weather.pace();
        let same_pace = self.pace.replace(pace) == Some(pace);
        let core = if pace.is_prompt() {
            self.find_core(members, weather)
        } else {
            Replicas::NONE
        };
        if core != self.core || core.is_empty() || !same_pace {
            self.core = core;
            self.core_since = view.tick;
            self.told_views = false;
        }
        let Some((client, since)) = self.longest_wait(members, view) else {
            return;
        };
        if self.core.is_empty() {
            return;
        }
        report.compared(Property::I16);
        let since = since.max(self.core_since).max(self.last_reply);
        let allowed = patience(&pace, self.replica_count, self.core, members);
        if view.tick.0 - since.0 > allowed && !self.told_slow {
            self.told_slow = true;
            self.verdict(client, since, view, report);
        }
    }

    fn verdict(&self, client: ClientId, since: Tick, view: &ClusterView, report: &mut Report) {
        let core: Vec<ReplicaId> = self.core.iter().collect();
        if view.weather.proven_stall(report.group, &core).is_some() {
            return;
        }
        report.violated(
            Property::I16,
            None,
            self.core,
            format!(
                "client {client} and everybody else had no reply for {} ticks, though {} could work \
                 together",
                view.tick.0 - since.0,
                self.core
            ),
        );
    }

    /// Of the clients that wait and reach all that run, the one that has done so for longest.
    fn longest_wait(
        &mut self,
        members: &[MemberView],
        view: &ClusterView,
    ) -> Option<(ClientId, Tick)> {
        let mut longest: Option<(ClientId, Tick)> = None;
        for (place, waiting) in (0_u8..).zip(&mut self.clients) {
            let client = ClientId(place);
            let Some(asked) = waiting.asked else {
                waiting.free = None;
                continue;
            };
            if !reaches_all(client, members, view.weather) {
                waiting.free = None;
                continue;
            }
            let free = *waiting.free.get_or_insert(view.tick);
            let since = asked.max(free);
            if longest.is_none_or(|(_, other)| since < other) {
                longest = Some((client, since));
            }
        }
        longest
    }

    /// The core of last time while it holds; else the largest there is, the lowest among equals.
    fn find_core(&self, members: &[MemberView], weather: &dyn Weather) -> Replicas {
        let fit: Vec<ReplicaId> = members
            .iter()
            .filter(|member| votes(member) && weather.is_hale(member.replica))
            .map(|member| member.replica)
            .collect();
        if fit.len() < usize::from(self.view_change) {
            return Replicas::NONE;
        }
        let all: Replicas = fit.iter().copied().collect();
        let reach: Vec<Replicas> = fit
            .iter()
            .map(|&one| {
                let others = fit.iter().filter(|&&other| meet(one, other, weather));
                others.copied().collect::<Replicas>().with(one)
            })
            .collect();
        let trusted = members.iter().filter(|member| member.trusted);
        let trusted: Replicas = trusted.map(|member| member.replica).collect();
        let can_choose = |core: Replicas| {
            let forgetful = core.without(trusted);
            forgetful.is_empty()
                || core.count() == self.replica_count
                || core.without(forgetful).count() >= self.view_change
        };
        let holds = |core: Replicas| {
            can_choose(core)
                && core.without(all).is_empty()
                && fit
                    .iter()
                    .zip(&reach)
                    .all(|(&one, reached)| !core.contains(one) || core.without(*reached).is_empty())
        };
        if !self.core.is_empty() && holds(self.core) {
            return self.core;
        }
        subsets(all)
            .filter(|core| core.count() >= self.view_change && holds(*core))
            .fold(Replicas::NONE, |best, core| {
                if core.count() > best.count() {
                    core
                } else {
                    best
                }
            })
    }
}

fn meet(one: ReplicaId, other: ReplicaId, weather: &dyn Weather) -> bool {
    let (one, other) = (Process::Replica(one), Process::Replica(other));
    one == other || (weather.is_free(one, other) && weather.is_free(other, one))
}

fn reaches_all(client: ClientId, members: &[MemberView], weather: &dyn Weather) -> bool {
    let client = Process::Client(client);
    members.iter().filter(|member| member.up).all(|member| {
        let replica = Process::Replica(member.replica);
        weather.is_free(client, replica) && weather.is_free(replica, client)
    })
}

/// Whether a replica votes, or will once its probes went unanswered.
fn votes(member: &MemberView) -> bool {
    match member.status {
        Status::Normal | Status::ViewChange | Status::Recovering | Status::RecoveringHead => {
            member.up && !member.paused
        }
    }
}

/// All sets of some replicas; there are 512 at most.
fn subsets(all: Replicas) -> impl Iterator<Item = Replicas> {
    let members: Vec<ReplicaId> = all.iter().collect();
    (0..1_u32 << members.len()).map(move |chosen| {
        let places = members.iter().enumerate();
        places
            .filter(|(place, _)| chosen & 1 << place != 0)
            .map(|(_, &replica)| replica)
            .collect()
    })
}

/// How long it may take until somebody has a reply.
fn patience(pace: &Pace, replica_count: u8, core: Replicas, members: &[MemberView]) -> u64 {
    let waits = members
        .iter()
        .filter(|member| core.contains(member.replica));
    let wait = waits.map(|member| member.view_change_wait).max();
    let wait = u64::from(wait.unwrap_or(0).max(pace.view_change_wait_ticks));
    let turns = u64::from(replica_count) + 2;
    let probing = u64::from(pace.probe_ticks) * (u64::from(pace.probe_attempts_max) + 2);
    let allowed = 2 * wait * turns
        + 2 * u64::from(pace.heartbeat_wait_ticks)
        + u64::from(pace.abdicate_ticks)
        + probing
        + turns * u64::from(pace.client_retry_ticks);
    if pace.lossy { 4 * allowed } else { allowed }
}

#[cfg(test)]
#[path = "i16_tests.rs"]
mod tests;
