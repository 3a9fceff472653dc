//! What a run is, as data and as text: the Run, its faults, the script of verbs, the link that
//! carries all of it, and the built-in stories. Must never know a simulator: a link decodes without
//! one.

mod awaited;
mod condition;
mod faults;
mod golden;
mod group_name;
mod link;
mod mutations;
mod places;
mod problem;
mod run;
mod script;
mod setting;
mod skew;
mod stories;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod strategies;
mod swarm;
mod trigger;
mod verb;

pub use awaited::{Awaited, Baseline};
pub use condition::{
    ClientFacts, Condition, Observed, ReplicaCondition, ReplicaFacts, ReplicaWhat, Since,
};
pub use faults::{
    ClockFaults, DiskFaults, Faults, MILLION, Profile, millionths_from_text, millionths_to_text,
};
pub use golden::{GOLDEN, GoldenRun};
pub use group_name::GroupName;
pub use link::{LINK_BYTES_MAX, decode, encode, seed_from_text};
pub use mutations::{mutations_from_text, write_mutations};
pub use places::{Links, PacketName, Part};
pub use run::{Cluster, Cursor, EPOCH, Run, Shards, Story, TICK_MAX, Workload};
pub use script::{StoryAction, TimedAct, parse_acts, parse_story, write_acts, write_story};
pub use setting::Setting;
pub use skew::{DRIFT_PPM_MAX, OFFSET_MS_MAX, Skew};
pub use stories::{BUILT_IN, BuiltIn};
pub use trigger::Trigger;
pub use verb::{Action, Verb};
