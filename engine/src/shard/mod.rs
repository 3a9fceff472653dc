//! The asynchronous shell around the protocol: a message pump beside short-lived tasks. It performs
//! effects and decides nothing. Must never know the world behind the bus.

pub mod boot;
pub mod bus;
mod group;
mod host;
mod mailbox;
mod mesh;
mod parked;
mod pump;

pub use group::{Group, GroupHandle, Lease};
pub use host::Host;
pub use mailbox::{Completion, Mailbox};
pub use mesh::{METADATA_SHARD, Mesh, Overflow, Room, owner};
pub use parked::PARKED_FRAMES_MAX;
pub use pump::Shard;
