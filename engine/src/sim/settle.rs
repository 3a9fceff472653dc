//! The end phase: faults freeze, a drawn core of replicas heals and must converge in time, what lies
//! outside stays broken. A stall is excused only with proof. Must never help a core beyond healing
//! it.

use std::rc::Rc;

use crate::ids::{Checksum, ClientId, GroupId, Op, Process, ReplicaId, Tick};
use crate::journal::{self, Block, Sector, Zone, open_superblock};
use crate::oracle::{DiskFacts, Replicas, Slot, SlotFact, Unconverged, converged, undecidable};
use crate::scenario::{GroupName, Setting};
use crate::sim::network_options::NetworkOptions;
use crate::sim::observe::oracle_roster;
use crate::sim::sets::ProcessSet;
use crate::sim::simulator::Simulator;
use crate::vsr::io::{Status, Superblock};
use crate::vsr::message::Prepare;
use crate::vsr::quorum::Quorums;

/// Waits that a core has, in view-change waits, before its size adds to them. The wait doubles up to
/// 16×, and every replica may have to take its turn at that length.
const WAITS_BASE: u64 = 40;
const WAITS_PER_REPLICA: u64 = 20;

/// How the end phase ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The core converged.
    Converged,
    /// It did not, and nothing excuses it.
    Stuck(String),
    /// It did not, and could not: the proof.
    Excused(String),
}

/// The end phase.
#[derive(Clone, Debug)]
pub struct Settle {
    /// The core.
    pub core: Vec<ReplicaId>,
    /// When it must have converged.
    pub deadline: Tick,
    /// How it ended.
    pub outcome: Option<Outcome>,
}

impl Simulator {
    /// The end phase, where it has begun.
    #[must_use]
    pub fn settling(&self) -> Option<&Settle> {
        self.settle.as_ref()
    }

    pub(super) fn begin_settling(&mut self) {
        let core = self.draw_core();
        let replicas = u64::from(self.run.cluster.replicas);
        let waits = WAITS_BASE + WAITS_PER_REPLICA * replicas;
        let ticks = waits * u64::from(self.run.knobs.view_change_wait_ticks);
        self.calm_disks(&core);
        self.freeze_faults();
        let members = core.iter().map(|&replica| Process::Replica(replica));
        self.network
            .heal_among(self.tick.0, members.collect::<ProcessSet>());
        self.heal_clients();
        for &replica in &core {
            let place = &self.places[usize::from(replica.0)];
            if !place.up {
                self.restart(replica);
            } else if place.paused {
                self.set_paused(replica, false);
            }
        }
        self.settle = Some(Settle {
            core,
            deadline: Tick(self.tick.0 + ticks),
            outcome: None,
        });
    }

    /// Clients reach everybody again: the primary may lie outside the core.
    fn heal_clients(&mut self) {
        for replica in self.replica_ids() {
            let clients = (0..self.run.cluster.clients).map(ClientId);
            let ends = clients
                .map(Process::Client)
                .chain([Process::Replica(replica)]);
            self.network
                .heal_among(self.tick.0, ends.collect::<ProcessSet>());
        }
    }

    /// A random set of at least a view-change quorum.
    fn draw_core(&self) -> Vec<ReplicaId> {
        let count = self.run.cluster.replicas;
        let quorum = Quorums::of(count).view_change;
        let mut rng = self.pick_rng(0);
        let size = rng.between(u32::from(quorum), u32::from(count));
        let mut left: Vec<ReplicaId> = self.replica_ids().collect();
        while u32::try_from(left.len()).unwrap_or(u32::MAX) > size {
            let place = rng.below(u32::try_from(left.len()).unwrap_or(u32::MAX));
            left.remove(usize::try_from(place).unwrap_or(0));
        }
        left
    }

    fn freeze_faults(&mut self) {
        let capacity = self.run.faults.network.link_capacity;
        self.run.faults.network = NetworkOptions::none();
        self.run.faults.network.link_capacity = capacity;
        self.run.faults.crash_per_million = 0;
        self.run.faults.restart_per_million = 0;
        self.set(Setting::Load, 0);
    }

    pub(super) fn watch_settling(&mut self) {
        let Some(settle) = &self.settle else {
            return;
        };
        if settle.outcome.is_some() {
            return;
        }
        let (is_over, deadline) = (self.tick >= settle.deadline, settle.deadline);
        let unconverged = self.unconverged();
        let outcome = match unconverged.first() {
            None => Some(Outcome::Converged),
            Some(_) if !is_over => None,
            Some(_) => Some(self.judge_stalls(&unconverged)),
        };
        if let Some(outcome) = outcome {
            debug_assert!(self.tick <= deadline, "judged once");
            self.end_settling(outcome);
        }
    }

    fn core(&self) -> Vec<ReplicaId> {
        let settle = self.settle.as_ref();
        settle.map_or(Vec::new(), |settle| settle.core.clone())
    }

    fn end_settling(&mut self, outcome: Outcome) {
        if matches!(outcome, Outcome::Converged) {
            let view = self.cluster_view();
            let oracles = &mut self.world.record.borrow_mut().oracles;
            for &group in &self.groups {
                oracles.converged(self.tick, group);
            }
            oracles.at_rest(&view);
        }
        self.check_contents();
        self.world.record.borrow_mut().collect_violations();
        if let Some(settle) = &mut self.settle {
            settle.outcome = Some(outcome);
        }
    }

    /// Every replica's messages against the auditors'.
    fn check_contents(&self) {
        let record = &mut *self.world.record.borrow_mut();
        for &id in &self.groups {
            for replica in self.replica_ids() {
                let Some(group) = self.group(replica, id) else {
                    continue;
                };
                let group = group.borrow();
                record.totals.replicas_compared += 1;
                let executed = group.replica.commit_min();
                let auditors = &mut record.auditors;
                auditors.check_machine(id, replica, executed, &group.machine);
            }
        }
    }

    /// The groups in which the core has not converged, each with the first thing that keeps it from
    /// it.
    fn unconverged(&self) -> Vec<(GroupId, Unconverged)> {
        let groups = self.groups.iter();
        let apart = groups.filter_map(|&group| Some((group, self.unconverged_in(group)?)));
        apart.collect()
    }

    /// Replicas first, then clients, who must all have their answers.
    fn unconverged_in(&self, group: GroupId) -> Option<Unconverged> {
        let settle = self.settle.as_ref()?;
        let view = self.cluster_view();
        let roster = oracle_roster(&self.run);
        if let Err(why) = converged(&view, group, &settle.core, &roster) {
            return Some(why);
        }
        let waiting = self.clients.iter().find(|client| !client.is_ready(group))?;
        Some(Unconverged {
            text: format!("client {} still waits for an answer", waiting.id()),
        })
    }

    /// Every group that stalls needs an excuse of its own.
    fn judge_stalls(&self, stalls: &[(GroupId, Unconverged)]) -> Outcome {
        let mut excuses = Vec::new();
        for (group, why) in stalls {
            match self.judge_stall(*group, why) {
                Outcome::Excused(text) => excuses.push(text),
                Outcome::Stuck(text) => {
                    let why = Unconverged { text: text.clone() };
                    let core = self.core().into_iter().collect::<Replicas>();
                    let oracles = &mut self.world.record.borrow_mut().oracles;
                    oracles.stuck(self.tick, *group, core, &why);
                    return Outcome::Stuck(text);
                }
                Outcome::Converged => {}
            }
        }
        Outcome::Excused(excuses.join("; "))
    }

    fn judge_stall(&self, group: GroupId, why: &Unconverged) -> Outcome {
        let core = self.core();
        let disks: Vec<DiskFacts> = core
            .iter()
            .filter_map(|&replica| self.disk_facts(replica, group))
            .collect();
        let count = self.run.cluster.replicas;
        // The first partition is what is meant where nothing is said.
        let place = match self.name_of(group) {
            None | Some(GroupName::Partition(0)) => String::new(),
            Some(name) => format!("in {name} "),
        };
        let why = format!("{place}{}", why.text);
        if let Some(stall) = undecidable(&disks, count, Quorums::of(count)) {
            return Outcome::Excused(format!("{why}, and {stall}"));
        }
        match self.half_connected_primary(&core, group) {
            Some(proof) => Outcome::Excused(format!("{why}, and {proof}")),
            None => Outcome::Stuck(why),
        }
    }

    /// A living primary outside the core that some of the core hear and some do not keeps those that
    /// hear it loyal, so that the others find no quorum to leave it with (A33): no protocol of this
    /// kind moves then, as long as nothing has to commit.
    fn half_connected_primary(&self, core: &[ReplicaId], group: GroupId) -> Option<String> {
        let count = self.run.cluster.replicas;
        let cluster = self.cluster_view();
        let members = core
            .iter()
            .filter_map(|&replica| cluster.member(replica, group));
        let normal = members.filter(|member| member.status == Status::Normal);
        let view = normal.map(|member| member.view).max()?;
        let primary = view.primary(count);
        if core.contains(&primary) || !self.places[usize::from(primary.0)].up {
            return None;
        }
        let leads = Process::Replica(primary);
        let blocked = |from: Process, to: Process| {
            self.network
                .link(self.tick.0, from, to)
                .is_some_and(|link| {
                    link.cut
                        || link.partitioned
                        || link.clogged_until.is_some()
                        || !link.filtered.is_empty()
                        || !link.held_kinds.is_empty()
                })
        };
        let deaf = core.iter().find(|&&replica| {
            let member = Process::Replica(replica);
            blocked(member, leads) || blocked(leads, member)
        })?;
        Some(format!(
            "its primary {primary} lies outside and is half connected: {deaf} and {primary} do not hear each other both ways"
        ))
    }

    /// What a replica's disk holds, read from the disk itself and not from its memory.
    pub(super) fn disk_facts(&self, replica: ReplicaId, group: GroupId) -> Option<DiskFacts> {
        let superblock = self.superblock_of(replica, group)?;
        let prepares = self.journaled(replica, group);
        let vouched = |op: Op| {
            superblock
                .suffix
                .iter()
                .find(|header| header.op == op)
                .map(|header| (header.checksum, header.parent))
        };
        let own_head = prepares
            .iter()
            .filter(|prepare| prepare.header.view == superblock.log_view)
            .map(|prepare| prepare.header.op)
            .max();
        let head = superblock.head().max(own_head.unwrap_or_default());
        let slots = (superblock.checkpoint.op().0 + 1..=head.0)
            .map(Op)
            .map(|op| {
                let place = prepares.binary_search_by_key(&op, |prepare| prepare.header.op);
                let held = place.ok().map(|place| &prepares[place]);
                let own = held
                    .filter(|prepare| {
                        op > superblock.head() && prepare.header.view == superblock.log_view
                    })
                    .map(|prepare| (prepare.header.checksum, prepare.header.parent));
                SlotFact {
                    op,
                    vouched: vouched(op).or(own),
                    slot: match held {
                        Some(prepare) => Slot::Body {
                            checksum: prepare.header.checksum,
                            parent: prepare.header.parent,
                        },
                        None if self.is_op_unreadable((replica, group), op) => Slot::Damaged,
                        None => Slot::Empty,
                    },
                }
            });
        let core = self.group(replica, group);
        Some(DiskFacts {
            replica,
            trusted: core.is_none_or(|core| core.borrow().replica.is_trusted()),
            log_view: superblock.log_view,
            commit_max: superblock.commit_max,
            checkpoint: superblock.checkpoint.op(),
            head,
            slots: slots.collect(),
        })
    }

    /// Whether an op that a disk does not give back may have been there: not if its slot is whole
    /// without it, nor if the redundant header never got there, as with a torn append.
    fn is_op_unreadable(&self, (replica, group): (ReplicaId, GroupId), op: Op) -> bool {
        let slots = self.run.knobs.journal_slots;
        let place = journal::slot(op, slots);
        let found = |zone| {
            let address = journal::address(group, zone, place);
            let sector = self.world.disk(replica).durable(address);
            sector.and_then(|block| block.op().filter(|&op| journal::slot(op, slots) == place))
        };
        match (found(Zone::Headers), found(Zone::Prepares)) {
            (Sector::Block(header), _) => header == op,
            (Sector::Damaged, Sector::Block(_)) | (Sector::Empty, _) => false,
            (Sector::Damaged, Sector::Empty | Sector::Damaged) => true,
        }
    }

    /// The readable prepares on a replica's disk that stand in their slots, ascending by op.
    #[must_use]
    pub fn journaled(&self, replica: ReplicaId, group: GroupId) -> Vec<Rc<Prepare>> {
        let zone = journal::zone(group, Zone::Prepares);
        let slots = self.run.knobs.journal_slots;
        let found = self.world.disk(replica).scan(zone).into_iter();
        let mut prepares: Vec<Rc<Prepare>> = found
            .filter_map(|(address, sector)| Some((address, sector.block()?.prepare()?)))
            .filter(|(address, prepare)| {
                journal::place(*address) == journal::slot(prepare.header.op, slots)
            })
            .map(|(_, prepare)| prepare)
            .collect();
        prepares.sort_by_key(|prepare| prepare.header.op);
        prepares
    }

    /// The superblock that a replica's disk would open a group with.
    #[must_use]
    pub fn superblock_of(&self, replica: ReplicaId, group: GroupId) -> Option<Rc<Superblock>> {
        let zone = journal::zone(group, Zone::Superblock);
        let found = self.world.disk(replica).scan(zone).into_iter();
        let copies: Vec<_> = found
            .map(|(_, sector)| sector.and_then(Block::superblock))
            .collect();
        open_superblock(&copies).ok()
    }

    /// The identity that a replica's disk holds at an op, in both rings.
    pub(super) fn durable_identity(
        &self,
        replica: ReplicaId,
        group: GroupId,
        op: Op,
    ) -> Option<Checksum> {
        self.identity_on(group, op, |address| {
            self.world.disk(replica).durable(address)
        })
    }

    /// The same as a read would find it now.
    pub(super) fn stored_identity(
        &self,
        replica: ReplicaId,
        group: GroupId,
        op: Op,
    ) -> Option<Checksum> {
        self.identity_on(group, op, |address| {
            self.world.disk(replica).readable(address)
        })
    }

    fn identity_on(
        &self,
        group: GroupId,
        op: Op,
        sector: impl Fn(u64) -> Sector<Block>,
    ) -> Option<Checksum> {
        let place = journal::slot(op, self.run.knobs.journal_slots);
        let at = |zone| sector(journal::address(group, zone, place));
        match (at(Zone::Prepares), at(Zone::Headers)) {
            (Sector::Block(Block::Prepare(prepare)), Sector::Block(Block::Header(header)))
                if prepare.header.checksum == header.checksum && header.op == op =>
            {
                Some(header.checksum)
            }
            _ => None,
        }
    }
}
