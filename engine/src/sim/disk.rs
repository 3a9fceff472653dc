//! One replica's disk: blocks by address, operations that take drawn time, and a cache that a crash
//! empties. What goes wrong with it is in `disk_faults`. Must never know what a block holds, nor whose
//! turn it is: the clock's alarms complete it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

use crate::journal::Sector;
use crate::prng::{Purpose, Rng};
use crate::sim::disk_faults::Troubles;
use crate::sim::promise::{Promise, Resolver, promise};
use crate::sim::timer::{Alarm, Clock};

/// How long operations take: an exponential draw of the mean, the minimum being a floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each name says the operation and the figure")]
pub struct DiskOptions {
    pub read_min_micros: u32,
    pub read_mean_micros: u32,
    pub write_min_micros: u32,
    pub write_mean_micros: u32,
    pub sync_min_micros: u32,
    pub sync_mean_micros: u32,
}

/// A handle on one disk. Clones are the same disk.
#[derive(Clone)]
pub struct Disk<B> {
    clock: Clock,
    pub(super) state: Rc<RefCell<State<B>>>,
}

/// An operation that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The disk's number for it, from 1.
    pub number: u64,
    /// What it was.
    pub kind: CompletionKind,
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A block can be read, and is lost with a crash.
    Wrote {
        /// Where.
        address: u64,
    },
    /// Blocks became durable, or so the disk says.
    Synced {
        /// How many writes.
        writes: u32,
    },
    /// Blocks were read.
    Read {
        /// How many addresses.
        blocks: u32,
    },
}

pub(super) struct State<B> {
    pub(super) seed: u64,
    pub(super) replica: u16,
    options: DiskOptions,
    operations: u64,
    writes_completed: u64,
    pub(super) in_flight: BTreeMap<u64, Operation<B>>,
    /// Written and not synced, in order of completion. Old versions stay: a sync under way may
    /// cover one whose address has been written again since.
    pub(super) volatile: Vec<Volatile<B>>,
    pub(super) durable: BTreeMap<u64, Stored<B>>,
    /// Addresses that cannot be read: an overlay, so that what was written is still known and costs
    /// nothing. Writing there again mends it.
    pub(super) damaged: BTreeSet<u64>,
    pub(super) troubles: Troubles,
}

pub(super) enum Operation<B> {
    Write {
        address: u64,
        content: B,
        resolver: Resolver<()>,
    },
    Sync {
        /// It covers the writes that were complete when it was asked for.
        covers: u64,
        resolver: Resolver<()>,
    },
    Read {
        addresses: Vec<u64>,
        resolver: Resolver<Vec<Sector<B>>>,
    },
}

pub(super) struct Volatile<B> {
    pub(super) address: u64,
    completed: u64,
    /// A lying sync said that it is durable.
    pub(super) reported: bool,
    pub(super) block: Block<B>,
}

#[derive(Clone)]
pub(super) struct Block<B> {
    /// The write it comes from: of two to one address the later asked for wins, whichever is done
    /// first.
    pub(super) write: u64,
    pub(super) content: B,
}

/// What stands at an address, and what stood there before: that is what a write that lands elsewhere
/// leaves behind.
pub(super) struct Stored<B> {
    pub(super) block: Block<B>,
    pub(super) before: Option<Block<B>>,
}

impl<B: Clone> Disk<B> {
    /// An empty disk.
    #[must_use]
    pub fn new(clock: Clock, seed: u64, replica: u16, options: DiskOptions) -> Self {
        Self {
            clock,
            state: Rc::new(RefCell::new(State {
                seed,
                replica,
                options,
                operations: 0,
                writes_completed: 0,
                in_flight: BTreeMap::new(),
                volatile: Vec::new(),
                durable: BTreeMap::new(),
                damaged: BTreeSet::new(),
                troubles: Troubles::default(),
            })),
        }
    }

    /// Changes latencies of operations asked for from now on.
    pub fn set_options(&self, options: DiskOptions) {
        self.state.borrow_mut().options = options;
    }

    /// Writes a block. Done, it can be read; durable it is after a sync asked for after that.
    #[must_use]
    pub fn write(&self, address: u64, content: B) -> Promise<()> {
        let (resolver, done) = promise();
        let write = Operation::Write {
            address,
            content,
            resolver,
        };
        self.start(write);
        done
    }

    /// Makes durable what was written before it.
    #[must_use]
    pub fn sync(&self) -> Promise<()> {
        let (resolver, done) = promise();
        let covers = self.state.borrow().writes_completed;
        self.start(Operation::Sync { covers, resolver });
        done
    }

    /// Reads what stands at some addresses when the read is done.
    #[must_use]
    pub fn read(&self, addresses: Vec<u64>) -> Promise<Vec<Sector<B>>> {
        let (resolver, done) = promise();
        let read = Operation::Read {
            addresses,
            resolver,
        };
        self.start(read);
        done
    }

    fn start(&self, operation: Operation<B>) {
        let mut state = self.state.borrow_mut();
        state.operations += 1;
        let number = state.operations;
        let micros = state.latency_micros(&operation);
        state.in_flight.insert(number, operation);
        let owner = state.replica;
        self.clock.set_alarm(micros, Alarm { owner, number });
    }

    /// Completes the operation whose alarm went off and wakes who waits for it. Nothing where a
    /// crash was faster.
    pub fn complete(&self, number: u64) -> Option<Completion> {
        let mut state = self.state.borrow_mut();
        let operation = state.in_flight.remove(&number)?;
        let kind = match operation {
            Operation::Write {
                address,
                content,
                resolver,
            } => {
                state.put_volatile(number, address, content);
                resolver.resolve(());
                CompletionKind::Wrote { address }
            }
            Operation::Sync { covers, resolver } => {
                let writes = state.make_durable(covers);
                resolver.resolve(());
                CompletionKind::Synced { writes }
            }
            Operation::Read {
                addresses,
                resolver,
            } => {
                let sectors = addresses.iter().map(|&address| state.sector(address));
                let sectors: Vec<Sector<B>> = sectors.collect();
                let count = count(sectors.len());
                resolver.resolve(sectors);
                CompletionKind::Read { blocks: count }
            }
        };
        Some(Completion { number, kind })
    }

    /// Puts a durable block there at once: how a disk comes out of the factory.
    pub fn format(&self, address: u64, content: B) {
        let mut state = self.state.borrow_mut();
        let write = state.operations;
        state.store(address, Block { write, content });
    }

    /// What is durable in a range of addresses, ascending, empty places left out: what a boot finds.
    #[must_use]
    pub fn scan(&self, addresses: Range<u64>) -> Vec<(u64, Sector<B>)> {
        let state = self.state.borrow();
        let blocks = state.durable.range(addresses.clone());
        let mut places: Vec<u64> = blocks.map(|(&address, _)| address).collect();
        let torn = state.damaged.range(addresses);
        places.extend(torn.filter(|address| !state.durable.contains_key(address)));
        places.sort_unstable();
        let sectors = places
            .into_iter()
            .map(|address| (address, state.durable_sector(address)));
        sectors.collect()
    }

    /// What is durable at an address.
    #[must_use]
    pub fn durable(&self, address: u64) -> Sector<B> {
        self.state.borrow().durable_sector(address)
    }

    /// What a read would find at an address now: what is written and not durable, too.
    #[must_use]
    pub fn readable(&self, address: u64) -> Sector<B> {
        self.state.borrow().sector(address)
    }

    /// Operations under way.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state.borrow().in_flight.len()
    }

    /// Writes that are done and not durable.
    #[must_use]
    pub fn unsynced(&self) -> usize {
        self.state.borrow().volatile.len()
    }
}

impl<B: Clone> State<B> {
    fn latency_micros(&self, operation: &Operation<B>) -> u64 {
        let options = &self.options;
        let (min, mean) = match operation {
            Operation::Write { .. } => (options.write_min_micros, options.write_mean_micros),
            Operation::Sync { .. } => (options.sync_min_micros, options.sync_mean_micros),
            Operation::Read { .. } => (options.read_min_micros, options.read_mean_micros),
        };
        let key = [u64::from(self.replica), self.operations];
        let mut rng = Rng::keyed(self.seed, Purpose::Disk, key);
        let micros = rng.exponential(mean).max(u64::from(min));
        micros * u64::from(self.troubles.slow_factor)
    }

    fn put_volatile(&mut self, write: u64, address: u64, content: B) {
        self.writes_completed += 1;
        let completed = self.writes_completed;
        let block = Block { write, content };
        self.volatile.push(Volatile {
            address,
            completed,
            reported: false,
            block,
        });
    }

    fn make_durable(&mut self, covers: u64) -> u32 {
        if self.troubles.lies {
            return self.report_durable(covers);
        }
        let covered = self
            .volatile
            .extract_if(.., |entry| entry.completed <= covers);
        let covered: Vec<_> = covered.collect();
        for entry in &covered {
            self.roll_whims(entry.address, entry.block.write);
        }
        let writes = count(covered.len());
        for entry in covered {
            self.store(entry.address, entry.block);
        }
        writes
    }

    /// A lie: nothing moves. What a later write of the same lie replaced is let go.
    fn report_durable(&mut self, covers: u64) -> u32 {
        let mut writes = 0;
        for entry in &mut self.volatile {
            if entry.completed <= covers && !entry.reported {
                entry.reported = true;
                writes += 1;
            }
        }
        let mut newest: BTreeMap<u64, u64> = BTreeMap::new();
        for entry in self.volatile.iter().filter(|entry| entry.reported) {
            let write = newest.entry(entry.address).or_default();
            *write = entry.block.write.max(*write);
        }
        self.volatile.retain(|entry| {
            !entry.reported || newest.get(&entry.address) == Some(&entry.block.write)
        });
        writes
    }

    /// Puts a block in its place, unless a later write was faster. It mends what was damaged there.
    fn store(&mut self, address: u64, block: Block<B>) {
        let before = self.durable.remove(&address).map(|older| older.block);
        let stored = match before {
            Some(newer) if newer.write > block.write => Stored {
                block: newer,
                before: Some(block),
            },
            before => {
                self.damaged.remove(&address);
                Stored { block, before }
            }
        };
        self.durable.insert(address, stored);
    }

    fn sector(&self, address: u64) -> Sector<B> {
        let written = self
            .volatile
            .iter()
            .filter(|entry| entry.address == address)
            .map(|entry| &entry.block)
            .max_by_key(|block| block.write);
        let durable = self.durable.get(&address).map(|stored| stored.block.write);
        match written {
            Some(block) if durable.is_none_or(|write| write <= block.write) => {
                Sector::Block(block.content.clone())
            }
            Some(_) | None => self.durable_sector(address),
        }
    }

    fn durable_sector(&self, address: u64) -> Sector<B> {
        if self.damaged.contains(&address) {
            return Sector::Damaged;
        }
        self.durable.get(&address).map_or(Sector::Empty, |stored| {
            Sector::Block(stored.block.content.clone())
        })
    }
}

pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Default for DiskOptions {
    /// A write and its sync take about a tick together.
    fn default() -> Self {
        Self {
            read_min_micros: 500,
            read_mean_micros: 2_000,
            write_min_micros: 1_000,
            write_mean_micros: 3_000,
            sync_min_micros: 2_000,
            sync_mean_micros: 5_000,
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
pub(super) mod tests;
