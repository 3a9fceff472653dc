//! One replica's disk: blocks by address, operations that take drawn time, and a cache that a crash
//! empties. Must never know what a block holds, nor whose turn it is: the clock's alarms complete it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

use crate::prng::{Purpose, Rng};
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
    state: Rc<RefCell<State<B>>>,
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
    /// Blocks became durable.
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

struct State<B> {
    seed: u64,
    replica: u16,
    options: DiskOptions,
    operations: u64,
    writes_completed: u64,
    in_flight: BTreeMap<u64, Operation<B>>,
    /// Written and not synced, in order of completion. Old versions stay: a sync under way may
    /// cover one whose address has been written again since.
    volatile: Vec<Volatile<B>>,
    durable: BTreeMap<u64, Block<B>>,
}

enum Operation<B> {
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
        resolver: Resolver<Vec<Option<B>>>,
    },
}

struct Volatile<B> {
    address: u64,
    completed: u64,
    block: Block<B>,
}

struct Block<B> {
    /// The write it comes from: of two to one address the later asked for wins, whichever is done
    /// first.
    write: u64,
    content: B,
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

    /// Reads blocks, as they are when the read is done; nothing where none was written.
    #[must_use]
    pub fn read(&self, addresses: Vec<u64>) -> Promise<Vec<Option<B>>> {
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
                let blocks = addresses.iter().map(|&address| state.content(address));
                let blocks: Vec<Option<B>> = blocks.collect();
                let count = count(blocks.len());
                resolver.resolve(blocks);
                CompletionKind::Read { blocks: count }
            }
        };
        Some(Completion { number, kind })
    }

    /// Power is lost: operations under way never complete, and what was not synced is gone. Answers
    /// how many writes that were.
    pub fn crash(&self) -> u32 {
        let mut state = self.state.borrow_mut();
        let under_way = std::mem::take(&mut state.in_flight);
        let unsynced = std::mem::take(&mut state.volatile);
        let is_write = |operation: &&Operation<B>| matches!(operation, Operation::Write { .. });
        count(under_way.values().filter(is_write).count() + unsynced.len())
    }

    /// Puts a durable block there at once: how a disk comes out of the factory.
    pub fn format(&self, address: u64, content: B) {
        let mut state = self.state.borrow_mut();
        let write = state.operations;
        state.durable.insert(address, Block { write, content });
    }

    /// The durable blocks in a range of addresses, ascending: what a boot finds.
    #[must_use]
    pub fn scan(&self, addresses: Range<u64>) -> Vec<(u64, B)> {
        let state = self.state.borrow();
        let found = state.durable.range(addresses);
        found
            .map(|(&address, block)| (address, block.content.clone()))
            .collect()
    }

    /// The durable block at an address.
    #[must_use]
    pub fn durable(&self, address: u64) -> Option<B> {
        let state = self.state.borrow();
        state
            .durable
            .get(&address)
            .map(|block| block.content.clone())
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
        rng.exponential(mean).max(u64::from(min))
    }

    fn put_volatile(&mut self, write: u64, address: u64, content: B) {
        self.writes_completed += 1;
        let completed = self.writes_completed;
        let block = Block { write, content };
        self.volatile.push(Volatile {
            address,
            completed,
            block,
        });
    }

    fn make_durable(&mut self, covers: u64) -> u32 {
        let Self {
            volatile, durable, ..
        } = self;
        let mut writes = 0;
        for entry in volatile.extract_if(.., |entry| entry.completed <= covers) {
            writes += 1;
            let older = durable.get(&entry.address);
            if older.is_none_or(|older| older.write <= entry.block.write) {
                durable.insert(entry.address, entry.block);
            }
        }
        writes
    }

    fn content(&self, address: u64) -> Option<B> {
        let here = self
            .volatile
            .iter()
            .filter(|entry| entry.address == address);
        let blocks = here
            .map(|entry| &entry.block)
            .chain(self.durable.get(&address));
        let newest = blocks.max_by_key(|block| block.write);
        newest.map(|block| block.content.clone())
    }
}

fn count(number: usize) -> u32 {
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
mod tests;
