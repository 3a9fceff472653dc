//! The simulated world around the replicas. Must never reach into the protocol's rules.

pub mod client;
