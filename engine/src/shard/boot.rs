//! Booting a replica from its disk: for each group it finds there read the superblock and both rings,
//! let the core decide, host the group. Must never decide what a block is worth.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::{GROUP_METADATA, GroupId, Incarnation, Op, ShardId};
use crate::journal::{
    self, Block, COPIES, Sector, Unopenable, Window, Zone, open_superblock, write_order,
};
use crate::machine::{Genesis, Machine};
use crate::prng::{Purpose, Rng};
use crate::shard::bus::MessageBus;
use crate::shard::group::{Group, GroupHandle};
use crate::shard::host::Host;
use crate::shard::mesh::{METADATA_SHARD, Mesh};
use crate::shard::pump::Shard;
use crate::vsr::host_note::HostNote;
use crate::vsr::io::{Checkpoint, Durability, Superblock};
use crate::vsr::message::{Header, Prepare};
use crate::vsr::mutation::Rules;
use crate::vsr::note::Note;
use crate::vsr::snapshot::Snapshot;
use crate::vsr::{Context, DamagedSlot, Recovered, Replica, Roster};

/// What a replica boots with.
pub struct Boot<B: MessageBus> {
    /// Whose part it is in the metadata group; in the others it is the same but for the group.
    pub roster: Roster,
    /// Knobs, and rules that are off; acts change them while the replica runs.
    pub rules: RefCell<Rules>,
    /// The seed of back-off jitter.
    pub jitter_seed: u64,
    /// Its new life.
    pub life: Incarnation,
    /// What the metadata group's log begins with.
    pub genesis: Genesis,
    /// Messages that a partition keeps.
    pub retention: u32,
    /// Its shards, and the lanes into each one's pump.
    pub mesh: Rc<Mesh>,
    /// Where groups are put once they are up.
    pub host: Rc<Host<B>>,
}

/// The back-off jitter of a replica in a group for one life.
#[must_use]
pub fn jitter(seed: u64, roster: Roster, life: Incarnation) -> Rng {
    let key = [
        roster.group.0 << 8 | u64::from(roster.replica.0),
        u64::from(life.0),
    ];
    Rng::keyed(seed, Purpose::Jitter, key)
}

/// Starts a pump a shard.
pub fn start_pumps<B: MessageBus>(bus: &B, boot: &Rc<Boot<B>>) {
    for id in boot.mesh.shards() {
        let shard = Shard::new(bus.clone(), Rc::clone(boot), id);
        bus.spawn(Box::pin(shard.pump()));
    }
}

/// Starts the pumps, then boots every group that the disk holds: the metadata group first, then each
/// shard its own, one after the other. A group works while the others are read.
pub async fn boot_and_run<B: MessageBus>(bus: B, boot: Rc<Boot<B>>) {
    start_pumps(&bus, &boot);
    let found = groups_on(&bus);
    if found.first() != Some(&GROUP_METADATA) {
        not_found(&bus, GROUP_METADATA, Unopenable::NotFound);
        return;
    }
    if !bring_up(&bus, &boot, GROUP_METADATA, None).await {
        return;
    }
    for shard in boot.mesh.shards().filter(|&shard| shard != METADATA_SHARD) {
        let own = owned(&boot, &found, shard);
        let (bus, boot) = (bus.clone(), Rc::clone(&boot));
        bus.clone().spawn(Box::pin(
            async move { bring_up_all(&bus, &boot, own).await },
        ));
    }
    let own = owned(&boot, &found, METADATA_SHARD);
    bring_up_all(&bus, &boot, own).await;
}

fn owned<B: MessageBus>(boot: &Boot<B>, groups: &[GroupId], shard: ShardId) -> Vec<GroupId> {
    let groups = groups.iter().copied();
    groups
        .filter(|&group| boot.mesh.owner(group) == shard)
        .collect()
}

/// Up to the first whose disk is past use: the replica halts for it.
async fn bring_up_all<B: MessageBus>(bus: &B, boot: &Boot<B>, groups: Vec<GroupId>) {
    for id in groups {
        if !bring_up(bus, boot, id, None).await {
            return;
        }
    }
}

/// Hosts a group, unless it is hosted or on its way: from its disk, or where that holds nothing of it,
/// formatted as the catalogue says; what a disk does not tell and no catalogue told yet has to wait
/// for it. Whether nothing is wrong with the disk.
pub async fn bring_up<B: MessageBus>(
    bus: &B,
    boot: &Boot<B>,
    id: GroupId,
    catalogued: Option<Durability>,
) -> bool {
    if !boot.host.begin(id) {
        return true;
    }
    let outcome = boot_group(bus, boot, id).await;
    let is_well = match outcome {
        Ok(()) => true,
        // A crash may have torn the format: nothing was said in the group's name before that was
        // durable. The metadata group is formatted before its replica ever starts.
        Err(_) if id != GROUP_METADATA && is_blank(bus, id) => {
            if let Some(durability) = catalogued {
                found_group(bus, boot, id, durability).await;
            }
            true
        }
        Err(unopenable) => {
            not_found(bus, id, unopenable);
            false
        }
    };
    boot.host.end(id);
    is_well
}

/// Whether nothing was ever journaled for a group.
fn is_blank<B: MessageBus>(bus: &B, group: GroupId) -> bool {
    let zones = [Zone::Prepares, Zone::Headers, Zone::Snapshots];
    let mut zones = zones.into_iter().map(|zone| journal::zone(group, zone));
    zones.all(|zone| bus.addresses(zone).is_empty())
}

/// Formats the disk for a group that was created while the cluster runs, and starts it: in view 0,
/// with log_view 0, however late its creation was learnt of. Its log is the floor, not a canonical one
/// (A17).
async fn found_group<B: MessageBus>(bus: &B, boot: &Boot<B>, id: GroupId, durability: Durability) {
    let roster = Roster {
        group: id,
        ..boot.roster
    };
    let superblock = Superblock {
        durability,
        ..Replica::format(roster)
    };
    let shared = Rc::new(superblock.clone());
    let writes: Vec<_> = (0..COPIES)
        .map(|copy| {
            let address = journal::address(id, Zone::Superblock, copy);
            bus.write(address, Block::Superblock(Rc::clone(&shared)))
        })
        .collect();
    for write in writes {
        write.await;
    }
    bus.sync().await;
    bus.note(id, Note::Hosting(HostNote::Founded));
    start_group(bus, boot, roster, superblock);
}

/// Hosts a group whose disk was just formatted.
pub fn start_group<B: MessageBus>(bus: &B, boot: &Boot<B>, roster: Roster, superblock: Superblock) {
    let mut machine = Machine::new(roster.group, &boot.genesis, boot.retention);
    let mut effects = Vec::new();
    let mut context = Context {
        now_micros: bus.realtime_micros(),
        machine: &mut machine,
        effects: &mut effects,
    };
    let jitter = jitter(boot.jitter_seed, roster, boot.life);
    let replica = Replica::start(
        roster,
        boot.rules.borrow().clone(),
        superblock,
        jitter,
        &mut context,
    );
    let group = Rc::new(RefCell::new(Group::new(replica, machine, effects)));
    let handle = GroupHandle::new(
        group,
        Rc::clone(boot.mesh.mailbox_of(roster.group)),
        bus.clone(),
    );
    boot.host.add(handle);
}

/// The groups whose superblocks a disk holds, ascending.
fn groups_on<B: MessageBus>(bus: &B) -> Vec<GroupId> {
    let addresses = bus.addresses(0..u64::MAX).into_iter();
    let mut groups: Vec<GroupId> = addresses
        .filter(|&address| journal::is_superblock(address))
        .map(journal::group)
        .collect();
    groups.dedup();
    groups
}

fn not_found<B: MessageBus>(bus: &B, group: GroupId, unopenable: Unopenable) {
    let rule = match unopenable {
        Unopenable::NotFound => "a disk holds a superblock",
        Unopenable::QuorumLost => "two copies of a superblock agree",
    };
    bus.note(group, Note::RuleBroken { rule, op: Op(0) });
}

async fn boot_group<B: MessageBus>(bus: &B, boot: &Boot<B>, id: GroupId) -> Result<(), Unopenable> {
    let roster = Roster {
        group: id,
        ..boot.roster
    };
    let slots = boot.rules.borrow().knobs.journal_slots;
    let (found, order) = read_disk(bus, id, slots).await?;
    let mut machine = Machine::new(id, &boot.genesis, boot.retention);
    let mut effects = Vec::new();
    let mut context = Context {
        now_micros: bus.realtime_micros(),
        machine: &mut machine,
        effects: &mut effects,
    };
    let jitter = jitter(boot.jitter_seed, roster, boot.life);
    let replica = Replica::boot(
        roster,
        boot.rules.borrow().clone(),
        found,
        jitter,
        &mut context,
    );
    let group = Group::new(replica, machine, effects).with_superblock_order(order);
    let group = Rc::new(RefCell::new(group));
    let handle = GroupHandle::new(
        group,
        Rc::clone(boot.mesh.mailbox_of(roster.group)),
        bus.clone(),
    );
    boot.host.add(handle);
    Ok(())
}

/// What the disk gives back, and the order in which copies of the superblock are written from now on.
async fn read_disk<B: MessageBus>(
    bus: &B,
    group: GroupId,
    journal_slots: u32,
) -> Result<(Recovered, [u32; COPIES as usize]), Unopenable> {
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
        slots: journal_slots,
    };
    let rings = journal::recover_rings(&headers, &prepares, window);
    heal_headers(bus, group, journal_slots, &rings.to_heal).await;
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
async fn heal_headers<B: MessageBus>(
    bus: &B,
    group: GroupId,
    journal_slots: u32,
    to_heal: &[Rc<Prepare>],
) {
    if to_heal.is_empty() {
        return;
    }
    let writes: Vec<_> = to_heal
        .iter()
        .map(|prepare| {
            let place = journal::slot(prepare.header.op, journal_slots);
            let address = journal::address(group, Zone::Headers, place);
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
