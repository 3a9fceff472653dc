//! The asynchronous shell around the protocol: a message pump beside short-lived tasks. It performs
//! effects and decides nothing. Must never know the world behind the bus.

pub mod boot;
pub mod bus;
mod group;
mod host;
mod mailbox;
mod parked;
mod pump;

pub use group::{Group, GroupHandle, Lease};
pub use host::Host;
pub use mailbox::{Completion, Mailbox};
pub use parked::PARKED_FRAMES_MAX;
pub use pump::Shard;
