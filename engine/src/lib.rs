//! The whole system: a Viewstamped Replication cluster and the simulated world it runs in.
//!
//! Everything here is a pure function of a [`scenario`] Run and the tick. It must never know a
//! browser, a wall clock, a file, a thread or the operating system's randomness.

pub mod digest;
pub mod disk_view;
pub mod error;
pub mod frame;
pub mod ids;
pub mod prng;

pub mod hunt;
pub mod journal;
pub mod machine;
pub mod oracle;
pub mod run;
pub mod scenario;
pub mod shard;
pub mod sim;
pub mod trace;
pub mod vsr;
pub mod why;
pub mod workload;
