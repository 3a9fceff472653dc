//! Damage to disks: what people ask for, what the dice of the fault profile want, and the fault atlas
//! that holds the dice within what a cluster must recover from. Must never touch the memory of a
//! running replica: it notices when it reads.

use crate::ids::{GroupId, Op, ReplicaId, Tick};
use crate::journal::{self, Block, Sector, Zone};
use crate::prng::{Purpose, Rng};
use crate::scenario::{Action, DiskFaults, GroupName, Part, Verb};
use crate::sim::disk::Disk;
use crate::sim::disk_faults::{DiskDice, Whim};
use crate::sim::simulator::Simulator;
use crate::vsr::quorum::Quorums;

/// How long a disk lies or is slow when nobody asked for it, and how slow it is.
const LIE_TICKS: (u32, u32) = (20, 200);
const SLOW_TICKS: (u32, u32) = (50, 500);
const SLOW_FACTORS: (u32, u32) = (5, 50);

/// When troubles end that the dice began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiskTroubles {
    lies_until: Option<Tick>,
    slow_until: Option<Tick>,
}

/// A replica in a group.
type Member = (ReplicaId, GroupId);

/// What a ring holds of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    Damaged,
    Whole,
}

impl Simulator {
    // What people ask for.

    /// Why a disk cannot be damaged like this now.
    pub(super) fn refusal_to_damage(&self, verb: Verb, group: GroupId) -> Option<String> {
        match verb {
            Verb::Corrupt(replica, op, part) => self.refusal_to_corrupt((replica, group), op, part),
            Verb::Punch(replica, op) => {
                let mut held = zones(Part::Both)
                    .iter()
                    .map(|&zone| self.held((replica, group), op, zone));
                held.all(|held| held == Held::Nothing)
                    .then(|| nothing_of(replica, op))
            }
            Verb::Misdirect(replica, op, to) => self.refusal_to_misdirect((replica, group), op, to),
            Verb::Tear(replica) => {
                if !self.places[usize::from(replica.0)].up {
                    return Some(format!("replica {replica} is down and writes nothing"));
                }
                let tears = self.world.disk(replica).tears();
                tears.then(|| format!("the next crash of replica {replica} tears already"))
            }
            Verb::Lie(replica, lies) => match (self.world.disk(replica).lies(), lies) {
                (true, true) => Some(format!("the disk of replica {replica} lies already")),
                (false, false) => Some(format!("the disk of replica {replica} is honest")),
                (true, false) | (false, true) => None,
            },
            Verb::Slow(replica, factor) => {
                let same = self.world.disk(replica).slow_factor() == factor;
                same.then(|| format!("the disk of replica {replica} is just as slow already"))
            }
            _ => None,
        }
    }

    fn refusal_to_corrupt(&self, at: Member, op: Op, part: Part) -> Option<String> {
        let (replica, _) = at;
        let rings = zones(part).iter();
        let held: Vec<Held> = rings.map(|&zone| self.held(at, op, zone)).collect();
        if held.contains(&Held::Whole) {
            return None;
        }
        Some(if held.contains(&Held::Damaged) {
            format!("op {op} is damaged on the disk of replica {replica} already")
        } else {
            nothing_of(replica, op)
        })
    }

    fn refusal_to_misdirect(&self, at: Member, op: Op, to: Op) -> Option<String> {
        let (replica, group) = at;
        match self.held(at, op, Zone::Prepares) {
            Held::Nothing => return Some(nothing_of(replica, op)),
            Held::Damaged => {
                let reason = format!("op {op} is damaged on the disk of replica {replica}");
                return Some(reason);
            }
            Held::Whole => {}
        }
        let place = |op| self.address(group, op, Zone::Prepares);
        let shared = place(op) == place(to);
        shared.then(|| format!("ops {op} and {to} share a slot"))
    }

    /// Damages a disk, once nothing stands against it.
    pub(super) fn damage(&mut self, verb: Verb, group: GroupId) {
        match verb {
            Verb::Corrupt(replica, op, part) => {
                for &zone in zones(part) {
                    if self.held((replica, group), op, zone) == Held::Whole {
                        let address = self.address(group, op, zone);
                        self.world.disk(replica).damage(address);
                    }
                }
                self.record_fault((replica, group), op);
            }
            Verb::Punch(replica, op) => {
                for &zone in zones(Part::Both) {
                    if self.held((replica, group), op, zone) != Held::Nothing {
                        let address = self.address(group, op, zone);
                        self.world.disk(replica).erase(address);
                    }
                }
                self.record_fault((replica, group), op);
            }
            Verb::Misdirect(replica, op, to) => {
                let (from, target) = (
                    self.address(group, op, Zone::Prepares),
                    self.address(group, to, Zone::Prepares),
                );
                let overwritten = self.op_at(replica, target);
                self.world.disk(replica).misdirect(from, target);
                self.record_fault((replica, group), op);
                if let Some(overwritten) = overwritten {
                    self.record_fault((replica, group), overwritten);
                }
            }
            Verb::Tear(replica) => self.world.disk(replica).set_tearing(true),
            Verb::Lie(replica, lies) => self.world.disk(replica).set_lying(lies),
            Verb::Slow(replica, factor) => self.world.disk(replica).set_slow_factor(factor),
            _ => {}
        }
    }

    /// Takes the power from a disk and tells the oracles what it did not keep. How many writes were
    /// not durable, and how many places are torn.
    pub(super) fn cut_power_of_disk(&mut self, replica: ReplicaId) -> (u32, u32) {
        let outage = self.world.disk(replica).crash();
        for &address in &outage.torn {
            if let Some(op) = self.op_at(replica, address) {
                self.record_fault((replica, journal::group(address)), op);
            }
        }
        let record = &mut *self.world.record.borrow_mut();
        record.totals.torn_writes += outage.torn.len() as u64;
        record.totals.disk_faults += outage.unkept.len() as u64;
        for (address, block) in &outage.unkept {
            let oracles = &mut record.oracles;
            let group = journal::group(*address);
            match block {
                Block::Prepare(_) | Block::Header(_) => {
                    let op = block.op().unwrap_or_default();
                    oracles.disk_lied(replica, group, op);
                }
                Block::Superblock(_) => oracles.superblock_lost(replica, group),
                // A superblock that names it is written later, and finds it gone at boot.
                Block::Snapshot(_) => {}
            }
        }
        let torn = u32::try_from(outage.torn.len()).unwrap_or(u32::MAX);
        (outage.writes_lost, torn)
    }

    fn record_fault(&self, (replica, group): Member, op: Op) {
        let record = &mut *self.world.record.borrow_mut();
        record.totals.disk_faults += 1;
        record.oracles.fault(replica, group, op);
        // The op that shares its slot behind the checkpoint may be on its way there: what was hit is
        // the place, whichever of the two it held (seed 332 of a mixed swarm sweep).
        let next = Op(op.0 + u64::from(self.run.knobs.journal_slots));
        record.oracles.fault(replica, group, next);
    }

    // What stands where.

    fn address(&self, group: GroupId, op: Op, zone: Zone) -> u64 {
        let place = journal::slot(op, self.run.knobs.journal_slots);
        journal::address(group, zone, place)
    }

    fn op_at(&self, replica: ReplicaId, address: u64) -> Option<Op> {
        self.world.disk(replica).pristine(address)?.op()
    }

    fn held(&self, (replica, group): Member, op: Op, zone: Zone) -> Held {
        let address = self.address(group, op, zone);
        if self.op_at(replica, address) != Some(op) {
            return Held::Nothing;
        }
        match self.world.disk(replica).durable(address) {
            Sector::Damaged => Held::Damaged,
            Sector::Empty | Sector::Block(_) => Held::Whole,
        }
    }

    // What the dice want.

    /// Hands the dice of the run to the disks.
    pub(super) fn set_disk_dice(&self) {
        let faults = &self.run.faults.disk;
        let dice = DiskDice {
            tear_per_million: faults.tear_per_million,
            rot_per_million: faults.rot_per_million,
            misdirect_per_million: faults.misdirect_per_million,
        };
        for replica in self.replica_ids() {
            self.world.disk(replica).set_dice(dice);
        }
    }

    /// What disks do in this tick on their own, in the words that a person would use for it.
    pub(super) fn roll_disks(&mut self) -> Vec<Action> {
        let faults = self.run.faults.disk;
        let mut actions = Vec::new();
        for replica in self.replica_ids() {
            if faults.rot_per_million > 0 || faults.misdirect_per_million > 0 {
                let whims = self.world.disk(replica).take_whims().into_iter();
                actions.extend(whims.filter_map(|whim| self.action_of(replica, whim)));
            }
            let lie = self.roll_lie(replica, &faults);
            let slow = self.roll_slow(replica, &faults);
            actions.extend(lie.into_iter().chain(slow).map(Action::of));
        }
        actions
    }

    /// What dice want, as the action that does it; nothing where the group is gone. The first
    /// partition needs no name.
    fn action_of(&self, replica: ReplicaId, whim: Whim) -> Option<Action> {
        let group = match whim {
            Whim::Rot { address } | Whim::Misdirect { address, .. } => journal::group(address),
        };
        let name = self.name_of(group)?;
        let verb = verb_of(replica, self.world.disk(replica), whim)?;
        let is_first = name == GroupName::Partition(0);
        Some(Action {
            verb,
            group: (!is_first).then_some(name),
        })
    }

    fn roll_lie(&mut self, replica: ReplicaId, faults: &DiskFaults) -> Option<Verb> {
        let tick = self.tick;
        let troubles = &mut self.places[usize::from(replica.0)].troubles;
        if troubles.lies_until.is_some_and(|until| until <= tick) {
            troubles.lies_until = None;
            return Some(Verb::Lie(replica, false));
        }
        if troubles.lies_until.is_none() && faults.lie_per_million > 0 && !faults.atlas {
            let key = [tick.0, u64::from(replica.0)];
            let mut rng = Rng::keyed(self.seeds.disk, Purpose::Lie, key);
            if rng.chance(faults.lie_per_million) {
                let ticks = rng.between(LIE_TICKS.0, LIE_TICKS.1);
                troubles.lies_until = Some(Tick(tick.0 + u64::from(ticks)));
                return Some(Verb::Lie(replica, true));
            }
        }
        None
    }

    fn roll_slow(&mut self, replica: ReplicaId, faults: &DiskFaults) -> Option<Verb> {
        let tick = self.tick;
        let troubles = &mut self.places[usize::from(replica.0)].troubles;
        if troubles.slow_until.is_some_and(|until| until <= tick) {
            troubles.slow_until = None;
            return Some(Verb::Slow(replica, 1));
        }
        if troubles.slow_until.is_none() && faults.slow_per_million > 0 {
            let key = [tick.0, u64::from(replica.0)];
            let mut rng = Rng::keyed(self.seeds.disk, Purpose::Slow, key);
            if rng.chance(faults.slow_per_million) {
                let factor = rng.between(SLOW_FACTORS.0, SLOW_FACTORS.1);
                let ticks = rng.between(SLOW_TICKS.0, SLOW_TICKS.1);
                troubles.slow_until = Some(Tick(tick.0 + u64::from(ticks)));
                return Some(Verb::Slow(replica, factor));
            }
        }
        None
    }

    /// Whether the dice may do this now. Damage that has found nothing to damage is no news, and the
    /// atlas lets no dice do what a cluster could not recover from.
    pub(super) fn may_dice_do(&self, action: Action) -> bool {
        let Some(group) = self.group_or_first(action.group) else {
            return false;
        };
        if self.refusal_to_damage(action.verb, group).is_some() {
            return false;
        }
        if !self.run.faults.disk.atlas {
            return true;
        }
        match action.verb {
            Verb::Corrupt(replica, op, part) => {
                let at = (replica, group);
                self.is_within_budget(at, op)
                    && (part == Part::Prepare || self.does_prepare_match(at, op))
            }
            // The redundant header must still tell that something is missing.
            Verb::Misdirect(replica, op, to) => [op, to].into_iter().all(|op| {
                let at = (replica, group);
                self.is_within_budget(at, op)
                    && self.is_slot_sound(at, op)
                    && self.held(at, op, Zone::Headers) == Held::Whole
            }),
            _ => true,
        }
    }

    /// Fewer than r replicas have a fault where this op belongs, this one counted.
    fn is_within_budget(&self, (replica, group): Member, op: Op) -> bool {
        let replication = Quorums::of(self.run.cluster.replicas).replication;
        let others = self.replica_ids().filter(|&other| other != replica);
        let faulty = others.filter(|&other| !self.is_slot_sound((other, group), op));
        faulty.count() + 1 < usize::from(replication)
    }

    /// Without its header, an old prepare in this place would pass for all that was ever written.
    fn does_prepare_match(&self, (replica, group): Member, op: Op) -> bool {
        let address = self.address(group, op, Zone::Prepares);
        match self.world.disk(replica).durable(address) {
            Sector::Damaged => true,
            Sector::Block(prepare) => prepare.op() == Some(op),
            Sector::Empty => false,
        }
    }

    /// Whether a slot holds what an honest disk may hold: nothing, an entry, or a new entry whose
    /// header is still to be written.
    fn is_slot_sound(&self, (replica, group): Member, op: Op) -> bool {
        let disk = self.world.disk(replica);
        let found = |zone| {
            let block = disk.durable(self.address(group, op, zone));
            block.and_then(|block| {
                let at = self.address(group, block.op()?, zone);
                (at == self.address(group, op, zone)).then_some(block.op()?)
            })
        };
        match (found(Zone::Headers), found(Zone::Prepares)) {
            (Sector::Empty, Sector::Empty | Sector::Block(_)) => true,
            (Sector::Block(header), Sector::Block(prepare)) => header <= prepare,
            (Sector::Block(_), Sector::Empty)
            | (Sector::Damaged, _)
            | (Sector::Empty | Sector::Block(_), Sector::Damaged) => false,
        }
    }

    /// The end phase: dice rest, and the disks of the core are honest and quick again. What is
    /// damaged stays damaged.
    pub(super) fn calm_disks(&mut self, core: &[ReplicaId]) {
        let atlas = self.run.faults.disk.atlas;
        self.run.faults.disk = DiskFaults {
            atlas,
            ..DiskFaults::default()
        };
        for place in &mut self.places {
            place.troubles = DiskTroubles::default();
        }
        for &replica in core {
            let disk = self.world.disk(replica);
            disk.set_lying(false);
            disk.set_slow_factor(1);
        }
    }
}

fn nothing_of(replica: ReplicaId, op: Op) -> String {
    format!("the disk of replica {replica} holds nothing of op {op} there")
}

/// The rings of a part.
fn zones(part: Part) -> &'static [Zone] {
    match part {
        Part::Prepare => &[Zone::Prepares],
        Part::Header => &[Zone::Headers],
        Part::Both => &[Zone::Prepares, Zone::Headers],
    }
}

/// What dice want, as the verb that does it. Superblocks suffer torn writes alone.
fn verb_of(replica: ReplicaId, disk: &Disk<Block>, whim: Whim) -> Option<Verb> {
    match whim {
        Whim::Rot { address } => match disk.durable(address).block()? {
            Block::Prepare(prepare) => {
                Some(Verb::Corrupt(replica, prepare.header.op, Part::Prepare))
            }
            Block::Header(header) => Some(Verb::Corrupt(replica, header.op, Part::Header)),
            Block::Superblock(_) | Block::Snapshot(_) => None,
        },
        // It is the prepare that went astray, and shows once the header is written, too.
        Whim::Misdirect { address, mut rng } => {
            let op = disk.durable(address).block()?.header()?.op;
            let ring = journal::zone(journal::group(address), Zone::Prepares);
            let targets: Vec<Op> = disk
                .scan(ring)
                .into_iter()
                .filter_map(|(_, sector)| sector.block()?.op())
                .filter(|&other| other != op)
                .collect();
            let count = u32::try_from(targets.len())
                .ok()
                .filter(|&count| count > 0)?;
            let to = *targets.get(usize::try_from(rng.below(count)).ok()?)?;
            Some(Verb::Misdirect(replica, op, to))
        }
    }
}

#[cfg(test)]
#[path = "damage_tests.rs"]
mod tests;
