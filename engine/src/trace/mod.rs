//! What happened, as a closed set of events: the one stream that oracles check, the page shows and
//! exports write. Must never know who reads it.

mod event;

pub use event::{Act, Actor, Event, EventKind, Fate, Skipped};
