//! What goes wrong with a disk: rot, torn and misdirected writes, lying syncs, slowness. What dice ask
//! for is only noted here, and done by whoever weighs it against the rest of the cluster. Must never
//! know what a block holds.

use crate::prng::{Purpose, Rng};
use crate::sim::disk::{Block, Disk, Operation, State, Stored, count};

/// The dice of a disk. A chance of zero draws nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskDice {
    /// Chance that a crash tears a write that is under way or not synced.
    pub tear_per_million: u32,
    /// Chance that a written block rots.
    pub rot_per_million: u32,
    /// Chance that a written block lands elsewhere in its zone.
    pub misdirect_per_million: u32,
}

/// What a disk's dice ask for, of a block that has just become durable.
#[derive(Clone, Debug)]
pub enum Whim {
    /// It rots.
    Rot {
        /// Where it stands.
        address: u64,
    },
    /// It landed elsewhere.
    Misdirect {
        /// Where it stands.
        address: u64,
        /// Draws where it goes instead.
        rng: Rng,
    },
}

/// What a crash cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage<B> {
    /// Writes under way or not synced.
    pub writes_lost: u32,
    /// The addresses of those that left a damaged sector behind, ascending.
    pub torn: Vec<u64>,
    /// What the disk had called durable and did not keep.
    pub unkept: Vec<(u64, B)>,
}

/// The standing troubles of a disk.
pub(super) struct Troubles {
    pub(super) dice: DiskDice,
    pub(super) lies: bool,
    pub(super) tears: bool,
    pub(super) slow_factor: u32,
    crashes: u64,
    whims: Vec<Whim>,
}

impl Default for Troubles {
    fn default() -> Self {
        Self {
            dice: DiskDice::default(),
            lies: false,
            tears: false,
            slow_factor: 1,
            crashes: 0,
            whims: Vec::new(),
        }
    }
}

impl<B: Clone> Disk<B> {
    /// Sets the dice for what is written, and crashes, from now on.
    pub fn set_dice(&self, dice: DiskDice) {
        self.state.borrow_mut().troubles.dice = dice;
    }

    /// What the dice asked for since this was last called.
    #[must_use]
    pub fn take_whims(&self) -> Vec<Whim> {
        std::mem::take(&mut self.state.borrow_mut().troubles.whims)
    }

    /// What was last written durably at an address, damaged or not. Nobody but the world may ask: a
    /// replica cannot read it.
    #[must_use]
    pub fn pristine(&self, address: u64) -> Option<B> {
        let state = self.state.borrow();
        let stored = state.durable.get(&address);
        stored.map(|stored| stored.block.content.clone())
    }

    /// What was last written at an address and is not durable yet.
    #[must_use]
    pub fn cached(&self, address: u64) -> Option<B> {
        let state = self.state.borrow();
        let written = state.volatile.iter();
        let newest = written
            .filter(|entry| entry.address == address)
            .max_by_key(|entry| entry.block.write);
        newest.map(|entry| entry.block.content.clone())
    }

    /// Bit rot: what is durable there cannot be read until it is written again. Whether that is news.
    pub fn damage(&self, address: u64) -> bool {
        self.state.borrow_mut().damaged.insert(address)
    }

    /// An address is as if never written, the cache aside where it holds a younger write.
    pub fn erase(&self, address: u64) {
        let mut state = self.state.borrow_mut();
        state.damaged.remove(&address);
        let erased = state.durable.remove(&address);
        let write = erased.map_or(0, |stored| stored.block.write);
        state
            .volatile
            .retain(|entry| entry.address != address || entry.block.write > write);
    }

    /// What was last written at `from` has landed at `to`: the former holds what stood there before,
    /// the latter a block that does not belong there. Whether there was something.
    pub fn misdirect(&self, from: u64, to: u64) -> bool {
        let mut state = self.state.borrow_mut();
        let Some(Stored { block, before }) = state.durable.remove(&from) else {
            return false;
        };
        state.damaged.remove(&from);
        state.damaged.remove(&to);
        if let Some(block) = before {
            let before = None;
            state.durable.insert(from, Stored { block, before });
        }
        let overwritten = state.durable.remove(&to).map(|stored| stored.block);
        let write = overwritten.as_ref().map_or(0, |older| older.write);
        let stray = Block {
            write: block.write.max(write),
            content: block.content,
        };
        let stored = Stored {
            block: stray,
            before: overwritten,
        };
        state.durable.insert(to, stored);
        true
    }

    /// Whether the next crash tears every write that is not durable by then.
    pub fn set_tearing(&self, tears: bool) {
        self.state.borrow_mut().troubles.tears = tears;
    }

    /// Whether the next crash tears everything.
    #[must_use]
    pub fn tears(&self) -> bool {
        self.state.borrow().troubles.tears
    }

    /// A lying disk calls a sync done and keeps nothing of it through a crash. Honest again, its next
    /// sync makes durable what is still in the cache.
    pub fn set_lying(&self, lies: bool) {
        self.state.borrow_mut().troubles.lies = lies;
    }

    /// Whether it lies.
    #[must_use]
    pub fn lies(&self) -> bool {
        self.state.borrow().troubles.lies
    }

    /// Operations asked for from now on take so many times as long.
    pub fn set_slow_factor(&self, factor: u32) {
        self.state.borrow_mut().troubles.slow_factor = factor;
    }

    /// How many times as long operations take.
    #[must_use]
    pub fn slow_factor(&self) -> u32 {
        self.state.borrow().troubles.slow_factor
    }

    /// Power is lost: operations under way never complete, what was not synced is gone, and where a
    /// write is torn its sector can no longer be read.
    pub fn crash(&self) -> Outage<B> {
        let mut state = self.state.borrow_mut();
        state.troubles.crashes += 1;
        let under_way = std::mem::take(&mut state.in_flight);
        let cached = std::mem::take(&mut state.volatile);
        let under_way = under_way.iter().filter_map(|(&number, operation)| {
            let Operation::Write { address, .. } = operation else {
                return None;
            };
            Some((number, *address))
        });
        let mut exposed: Vec<(u64, u64)> = under_way.collect();
        let mut unkept = Vec::new();
        let mut writes_lost = count(exposed.len());
        for entry in cached {
            writes_lost += 1;
            if entry.reported {
                unkept.push((entry.address, entry.block.content));
            } else {
                exposed.push((entry.block.write, entry.address));
            }
        }
        exposed.retain(|&(write, _)| state.is_torn(write));
        let mut torn: Vec<u64> = exposed.into_iter().map(|(_, address)| address).collect();
        torn.sort_unstable();
        torn.dedup();
        state.damaged.extend(&torn);
        state.troubles.tears = false;
        Outage {
            writes_lost,
            torn,
            unkept,
        }
    }
}

impl<B> State<B> {
    fn is_torn(&self, write: u64) -> bool {
        let troubles = &self.troubles;
        let chance = troubles.dice.tear_per_million;
        if troubles.tears || chance == 0 {
            return troubles.tears;
        }
        let key = [u64::from(self.replica) << 48 | troubles.crashes, write];
        Rng::keyed(self.seed, Purpose::Tear, key).chance(chance)
    }

    /// Rolls what becomes of a write that is durable now.
    pub(super) fn roll_whims(&mut self, address: u64, write: u64) {
        let dice = self.troubles.dice;
        let key = [u64::from(self.replica), write];
        if dice.rot_per_million > 0
            && Rng::keyed(self.seed, Purpose::Rot, key).chance(dice.rot_per_million)
        {
            self.troubles.whims.push(Whim::Rot { address });
        }
        if dice.misdirect_per_million > 0 {
            let mut rng = Rng::keyed(self.seed, Purpose::Misdirect, key);
            if rng.chance(dice.misdirect_per_million) {
                self.troubles.whims.push(Whim::Misdirect { address, rng });
            }
        }
    }
}

impl<B> Outage<B> {
    /// Whether a block that was called durable is gone.
    pub fn broke_promises(&self) -> bool {
        !self.unkept.is_empty()
    }
}

#[cfg(test)]
#[path = "disk_faults_tests.rs"]
mod tests;
