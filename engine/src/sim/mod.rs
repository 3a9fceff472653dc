//! What replaces the world: time, tasks, network, disks and the dice that break them. Each part
//! stands alone and must never know replicas, shards or the protocol.

pub mod disk;
pub mod executor;
pub mod link;
pub mod nemesis;
pub mod network;
pub mod network_options;
pub mod network_verbs;
pub mod packet;
pub mod partition;
pub mod promise;
pub mod sets;
pub mod timer;
