//! The protocol: Viewstamped Replication Revisited with durable views, flexible quorums, nacks and a
//! hash-chained log. A pure, synchronous core: (state, input) -> effects. Must never know a network,
//! a disk, a clock or a task; it imports leaves alone.

mod commit;
pub mod dvc_merge;
pub mod io;
pub mod knobs;
pub mod log;
pub mod message;
pub mod mutation;
mod normal;
pub mod note;
pub mod quorum;
mod recovery;
mod repair;
mod replica;
pub mod sessions;
pub mod timeout;
mod view_change;

#[cfg(test)]
mod reasons_tests;
#[cfg(test)]
mod testing;

pub use recovery::{DamagedSlot, Recovered};
pub use replica::{Context, Replica, Roster};
