//! What happened, as a closed set of events: the one stream that oracles check, the page shows and
//! exports write. `event` has the facts, `recorder` keeps them, `class`, `text`, `words` and `reasons`
//! say them in words. Must never know who reads it.

mod class;
mod event;
mod reasons;
mod recorder;
mod text;
mod words;

pub use class::{Class, class_of, is_big};
pub use event::{Act, Actor, Event, EventKind, Fate, Skipped};
pub use recorder::{EVENTS_KEPT_DEFAULT, Recorder, Recording};
pub use text::{Context, Row, describe};
