//! What happened, as a closed set of events: the one stream that oracles check, the page shows and
//! exports write. `event` has the facts, `recorder` keeps them, `class`, `text`, `words`, `script` and
//! `reasons` say them in words; `jsonl`, `perfetto` and `shiviz`
//! put them into the forms of other tools. Must never know who reads it.

mod class;
mod event;
mod host_words;
mod jsonl;
mod perfetto;
mod reasons;
mod recorder;
mod script;
mod shiviz;
mod state_words;
mod text;
mod words;

pub use class::{Class, class_of, is_big};
pub use event::{Act, Actor, Event, EventKind, Fate, Skipped, Violated};
pub use jsonl::Line;
pub use perfetto::{Perfetto, TraceEvent};
pub use recorder::{EVENTS_KEPT_DEFAULT, Recorder, Recording};
pub use script::step as story_step;
pub use shiviz::{HEADER as SHIVIZ_HEADER, ShiViz};
pub use text::{Context, Row, describe};

#[cfg(all(test, not(target_arch = "wasm32")))]
#[path = "export_tests.rs"]
mod export_tests;
