//! What replaces the world: time, tasks, network, disks and the dice that break them, and the
//! simulator that assembles them around the replicas. Must never reach into the protocol's rules.

pub mod client;
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
