//! The protocol: Viewstamped Replication Revisited with durable views, flexible quorums, nacks and a
//! hash-chained log. A pure, synchronous core: (state, input) -> effects. Must never know a network,
//! a disk, a clock or a task; it imports leaves alone.

mod checkpoint;
mod commit;
pub mod dvc_merge;
mod forfeit;
pub mod host_note;
pub mod io;
mod kind;
pub mod knobs;
pub mod log;
pub mod message;
pub mod mutation;
mod normal;
pub mod note;
pub mod quorum;
pub mod reason;
mod recovery;
mod repair;
mod replica;
mod replica_set;
pub mod sessions;
pub mod snapshot;
pub mod state_note;
mod state_server;
mod state_transfer;
pub mod timeout;
mod view_change;

#[cfg(test)]
mod reasons_tests;
#[cfg(test)]
mod replicated_tests;
#[cfg(test)]
mod storm_tests;
#[cfg(test)]
mod testing;

pub use recovery::{DamagedSlot, Recovered};
pub use replica::{Context, Replica, Roster};
