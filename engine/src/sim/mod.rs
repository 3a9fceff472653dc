//! What replaces the world: time, tasks, network, disks and the dice that break them. Each part
//! stands alone and must never know replicas, shards or the protocol.

pub mod client;
pub mod executor;
pub mod network_options;
pub mod promise;
pub mod timer;
