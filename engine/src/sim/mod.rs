//! What replaces the world: time, tasks, network, disks and the dice that break them, and the
//! simulator that assembles them around the replicas. Must never reach into the protocol's rules.

mod acts;
pub mod client;
mod damage;
pub mod disk;
pub mod disk_faults;
pub mod executor;
pub mod lane;
pub mod link;
pub mod nemesis;
pub mod network;
pub mod network_options;
pub mod network_verbs;
mod observe;
pub mod packet;
pub mod partition;
mod power;
pub mod promise;
pub mod record;
pub mod sets;
mod settle;
pub mod simulator;
mod story;
pub mod timer;
mod traffic;
mod weather;
pub mod world;

pub use acts::Warming;
pub use settle::{Outcome, Settle};
pub use simulator::{Place, Simulator, StopAt};
