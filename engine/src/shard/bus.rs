//! The one seam between a shard and the world: time, tasks, frames, disk. Must never know which
//! world is behind it.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;

use crate::ids::GroupId;
use crate::journal::{Block, Sector};
use crate::vsr::message::Frame;
use crate::vsr::note::Note;

/// A task that runs beside the pump.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Something the shard did that a person can step to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It handled a frame.
    Frame,
    /// It handled the end of a disk operation.
    Disk {
        /// Of which group.
        group: GroupId,
        /// The op of a prepare, or the sequence of a superblock.
        number: u64,
    },
    /// A timer ran out and had an effect.
    Timer,
}

/// What a shard asks of the world. Every wait goes through here.
pub trait MessageBus: Clone + 'static {
    /// A wait.
    type Sleep: Future<Output = ()> + Unpin + 'static;
    /// A write or sync under way.
    type Done: Future<Output = ()> + 'static;
    /// A read under way; it answers what stands at each address.
    type Read: Future<Output = Vec<Sector<Block>>> + 'static;

    /// Waits for a time; the deadline is fixed now.
    fn sleep(&self, duration_micros: u64) -> Self::Sleep;
    /// Runs a task beside the pump, until it ends or the replica crashes.
    fn spawn(&self, task: Task);
    /// The time of day as this replica believes, in microseconds since 1970.
    fn realtime_micros(&self) -> u64;
    /// Sends a frame to a replica.
    fn send_to_replica(&self, frame: Frame);
    /// Sends a frame to a client.
    fn send_to_client(&self, frame: Frame);
    /// Begins a write; volatile until synced.
    fn write(&self, address: u64, block: Block) -> Self::Done;
    /// Begins a sync: what was written before it is durable after it.
    fn sync(&self) -> Self::Done;
    /// Reads the blocks at some addresses.
    fn read(&self, addresses: Vec<u64>) -> Self::Read;
    /// The addresses in a range where something durable stands, readable or not.
    fn addresses(&self, range: Range<u64>) -> Vec<u64>;
    /// Tells what was decided, refused or done.
    fn note(&self, group: GroupId, note: Note);
    /// Tells that a shard forwarded a frame to another.
    fn hopped(&self);
    /// Tells that something was done to its end.
    fn step(&self, step: Step);
}
