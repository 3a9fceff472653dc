//! Booting a replica from its disk: read the superblock and both rings, let the core decide, host
//! the group. Must never decide what a block is worth.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::{GroupId, Op};
use crate::journal::{
    self, Block, COPIES, Sector, Unopenable, Window, Zone, open_superblock, write_order,
};
use crate::machine::Partition;
use crate::prng::Rng;
use crate::shard::bus::MessageBus;
use crate::shard::group::{Group, GroupHandle};
use crate::shard::mailbox::Mailbox;
use crate::shard::pump::Shard;
use crate::vsr::io::{Checkpoint, Superblock};
use crate::vsr::message::{Header, Prepare};
use crate::vsr::mutation::Rules;
use crate::vsr::note::Note;
use crate::vsr::snapshot::Snapshot;
use crate::vsr::{Context, DamagedSlot, Recovered, Replica, Roster};

/// Where a booted group is put, for those who look at it.
pub type Booted = Rc<RefCell<Option<Rc<RefCell<Group>>>>>;

/// What a replica boots with.
pub struct Boot {
    /// Whose part it is.
    pub roster: Roster,
    /// Knobs, and rules that are off.
    pub rules: Rules,
    /// Back-off jitter of this life.
    pub jitter: Rng,
    /// The lanes into its pump.
    pub mailbox: Rc<Mailbox>,
    /// Where the group is put once it is up.
    pub booted: Booted,
}

/// Reads the disk, boots, and runs the pump until the replica crashes.
pub async fn boot_and_run<B: MessageBus>(bus: B, boot: Boot) {
    let group_id = boot.roster.group;
    let (found, order) = match read_disk(&bus, &boot).await {
        Ok(found) => found,
        Err(unopenable) => {
            let rule = match unopenable {
                Unopenable::NotFound => "a disk holds a superblock",
                Unopenable::QuorumLost => "two copies of a superblock agree",
            };
            bus.note(group_id, Note::RuleBroken { rule, op: Op(0) });
            return;
        }
    };
    let mut machine = Partition::default();
    let mut effects = Vec::new();
    let mut context = Context {
        now_micros: bus.realtime_micros(),
        machine: &mut machine,
        effects: &mut effects,
    };
    let replica = Replica::boot(boot.roster, boot.rules, found, boot.jitter, &mut context);
    let group = Group::new(replica, machine, effects).with_superblock_order(order);
    let group = Rc::new(RefCell::new(group));
    *boot.booted.borrow_mut() = Some(Rc::clone(&group));
    let handle = GroupHandle::new(group, Rc::clone(&boot.mailbox), bus.clone());
    Shard::new(bus, boot.mailbox, vec![handle]).pump().await;
}

/// What the disk gives back, and the order in which copies of the superblock are written from now on.
async fn read_disk<B: MessageBus>(
    bus: &B,
    boot: &Boot,
) -> Result<(Recovered, [u32; COPIES as usize]), Unopenable> {
    let group = boot.roster.group;
    let copies = read_zone(bus, group, Zone::Superblock).await;
    let mut by_place: [Sector<Rc<Superblock>>; COPIES as usize] =
        std::array::from_fn(|_| Sector::Empty);
    for (place, sector) in copies {
        if let Some(copy) = by_place.get_mut(place as usize) {
            *copy = sector.and_then(Block::superblock);
        }
    }
    let superblock = open_superblock(&by_place)?;
    let order = write_order(&by_place, &superblock);
    let prepares = read_zone(bus, group, Zone::Prepares).await;
    let headers = read_zone(bus, group, Zone::Headers).await;
    let prepares: BTreeMap<u32, Sector<Rc<Prepare>>> = prepares
        .into_iter()
        .map(|(place, sector)| (place, sector.and_then(Block::prepare)))
        .collect();
    let headers: BTreeMap<u32, Sector<Rc<Header>>> = headers
        .into_iter()
        .map(|(place, sector)| (place, sector.and_then(Block::header)))
        .collect();
    let window = Window {
        checkpoint: superblock.checkpoint.op(),
        slots: boot.rules.knobs.journal_slots,
    };
    let rings = journal::recover_rings(&headers, &prepares, window);
    heal_headers(bus, boot, &rings.to_heal).await;
    let damaged = rings.unreadable.into_iter().map(|slot| DamagedSlot {
        op: slot.op,
        header: slot.header,
    });
    let recovered = Recovered {
        superblock: superblock.as_ref().clone(),
        prepares: rings.prepares,
        damaged: damaged.collect(),
        snapshot: read_snapshot(bus, group, &superblock.checkpoint).await,
    };
    Ok((recovered, order))
}

/// What stands in the place that a checkpoint names, where that can be read.
async fn read_snapshot<B: MessageBus>(
    bus: &B,
    group: GroupId,
    checkpoint: &Checkpoint,
) -> Option<Rc<Snapshot>> {
    if checkpoint.op() == Op(0) {
        return None;
    }
    let address = journal::address(group, Zone::Snapshots, checkpoint.place);
    let found = bus.read(vec![address]).await.pop()?;
    found.block()?.snapshot()
}

/// Writes again the headers that a crash took: an entry counts as synced only in both rings.
async fn heal_headers<B: MessageBus>(bus: &B, boot: &Boot, to_heal: &[Rc<Prepare>]) {
    if to_heal.is_empty() {
        return;
    }
    let writes: Vec<_> = to_heal
        .iter()
        .map(|prepare| {
            let place = journal::slot(prepare.header.op, boot.rules.knobs.journal_slots);
            let address = journal::address(boot.roster.group, Zone::Headers, place);
            bus.write(address, Block::Header(Rc::clone(&prepare.header)))
        })
        .collect();
    for write in writes {
        write.await;
    }
    bus.sync().await;
}

/// What stands in a zone, by place; places where nothing was ever written are left out.
async fn read_zone<B: MessageBus>(
    bus: &B,
    group: GroupId,
    zone: Zone,
) -> Vec<(u32, Sector<Block>)> {
    let addresses = bus.addresses(journal::zone(group, zone));
    let sectors = bus.read(addresses.clone()).await;
    let places = addresses.into_iter().map(journal::place);
    places.zip(sectors).collect()
}
