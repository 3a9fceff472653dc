//! The replicated state machines: what a group's log means. A partition keeps messages and consumer
//! offsets. Must never know a view, a quorum, a session or which replica it runs on: equal entries
//! in equal order give equal answers and digests everywhere.

pub mod codec;
mod partition;
mod wire;

pub use codec::{Answer, Command, Refusal, describe, describe_answer};
pub use partition::{Partition, RETENTION_DEFAULT};
