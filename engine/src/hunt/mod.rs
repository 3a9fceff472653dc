//! Hunting: what a random run did wrong, written down as the shortest script that does it too. `goal`
//! says what is looked for, `probe` plays a Run until it is found, `rewrite` turns dice into acts,
//! `shrink` makes the script small with the moves of `moves` and `weaken`; `mutants` says which
//! schedule shows which mutation. Must never know how a property is checked, nor who watches.

mod goal;
mod minimise;
mod moves;
mod mutants;
mod probe;
mod rewrite;
mod shrink;
mod weaken;

pub use goal::{EngineFails, Goal, Reaches};
pub use mutants::{MUTANTS, Mutant, Trial};
pub use probe::{Found, Limit, Probe, play};
pub use rewrite::{rewrite, spell_out_packets};
pub use shrink::{Hunt, NotFound, Progress, Shrunk, shrink};

#[cfg(test)]
#[path = "rewrite_tests.rs"]
mod rewrite_tests;
#[cfg(test)]
#[path = "shrink_tests.rs"]
mod shrink_tests;
