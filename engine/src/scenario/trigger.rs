//! When an action of a story is due. Must never know what the action is.

use std::fmt;

use super::awaited::Awaited;
use super::problem::{Problem, number, number_u32, shown};
use super::run::{Cluster, TICK_MAX};
use crate::ids::Tick;

/// When an action of a story is due, once the one before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// `120`: at this tick; at once if it has passed.
    At(Tick),
    /// `a10`: so many ticks after the action before; `a0` follows in the same tick.
    After(u32),
    /// `when-reply`, `when-primary.meta`: as soon as the condition holds.
    When(Awaited),
}

impl Trigger {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        if let Some(condition) = text.strip_prefix("when-") {
            return Awaited::parse(condition).map(Self::When);
        }
        let parsed = match text.strip_prefix('a') {
            Some(ticks) => number_u32(ticks, 0, 10_000_000).map(Self::After),
            None => number(text, 0, TICK_MAX).map(|tick| Self::At(Tick(tick))),
        };
        parsed.map_err(|_| {
            Problem::new(
                shown(text),
                "a trigger: a tick (120), a delay after the action before (a10), or a condition \
                 (when-primary)",
            )
        })
    }

    pub(crate) fn check(&self, cluster: Cluster) -> Result<(), Problem> {
        match self {
            Self::At(_) | Self::After(_) => Ok(()),
            Self::When(condition) => condition.check(cluster),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(tick) => tick.fmt(f),
            Self::After(ticks) => write!(f, "a{ticks}"),
            Self::When(condition) => write!(f, "when-{condition}"),
        }
    }
}
