//! The protocol: Viewstamped Replication Revisited with durable views, flexible quorums, nacks and a
//! hash-chained log. A pure, synchronous core: (state, input) -> effects. Must never know a network,
//! a disk, a clock or a task; it imports leaves alone.

pub mod io;
pub mod knobs;
pub mod message;
pub mod quorum;
