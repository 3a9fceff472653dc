//! Scripts as text both ways: actions with their triggers, joined by `_`. Two lanes: the story, in
//! order, and the person's acts, by tick. Must never know links.

use std::fmt;

use super::group_name::GroupName;
use super::problem::{Problem, number, shown};
use super::run::{Cluster, TICK_MAX};
use super::trigger::Trigger;
use super::verb::Action;
use crate::error::InputError;
use crate::ids::Tick;

/// An action of a story: it waits for the one before, then for its trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryAction {
    /// When.
    pub trigger: Trigger,
    /// What.
    pub action: Action,
}

/// An act of a person: at a tick, whatever else is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedAct {
    /// When; from 1, since the first tick is 1.
    pub tick: Tick,
    /// What.
    pub action: Action,
}

impl StoryAction {
    pub(crate) fn check(&self, cluster: Cluster) -> Result<(), Problem> {
        self.trigger.check(cluster)?;
        self.action.check(cluster)
    }
}

impl fmt::Display for StoryAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.trigger, self.action)
    }
}

impl fmt::Display for TimedAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.tick, self.action)
    }
}

/// Reads a story. `what` is the key or file to name in the error.
///
/// # Errors
/// The first action that cannot be read.
pub fn parse_story(what: &str, text: &str) -> Result<Vec<StoryAction>, InputError> {
    parse_each(what, text, |trigger, action| {
        Ok(StoryAction {
            trigger: Trigger::parse(trigger)?,
            action: Action::parse(action)?,
        })
    })
}

/// Reads acts and puts them in order of their ticks; those of one tick keep theirs.
///
/// # Errors
/// The first act that cannot be read.
pub fn parse_acts(what: &str, text: &str) -> Result<Vec<TimedAct>, InputError> {
    let mut acts = parse_each(what, text, |trigger, action| {
        let tick = number(trigger, 1, TICK_MAX)
            .map_err(|_| Problem::new(shown(trigger), format!("a tick from 1 to {TICK_MAX}")))?;
        Ok(TimedAct {
            tick: Tick(tick),
            action: Action::parse(action)?,
        })
    })?;
    acts.sort_by_key(|act| act.tick);
    Ok(acts)
}

/// Writes a story.
#[must_use]
pub fn write_story(actions: &[StoryAction]) -> String {
    joined(actions)
}

/// Writes acts.
#[must_use]
pub fn write_acts(acts: &[TimedAct]) -> String {
    joined(acts)
}

fn joined<T: fmt::Display>(parts: &[T]) -> String {
    let parts: Vec<String> = parts.iter().map(T::to_string).collect();
    parts.join("_")
}

/// A trigger's condition may name a group, which no verb is called: `when-primary.meta.crash.0`.
fn split_trigger(part: &str) -> Option<(&str, &str)> {
    let (trigger, action) = part.split_once('.')?;
    let (word, rest) = action.split_once('.').unwrap_or((action, ""));
    if trigger.starts_with("when-") && GroupName::parse(word).is_some() {
        let both = trigger.len() + 1 + word.len();
        return (!rest.is_empty()).then_some((&part[..both], rest));
    }
    Some((trigger, action))
}

fn parse_each<T>(
    what: &str,
    text: &str,
    parse: impl Fn(&str, &str) -> Result<T, Problem>,
) -> Result<Vec<T>, InputError> {
    let read = |part: &str| {
        let (trigger, action) = split_trigger(part).ok_or_else(|| {
            Problem::new(
                shown(part),
                "a trigger, a dot, a verb: 120.crash.2 for instance",
            )
        })?;
        parse(trigger, action)
    };
    text.split('_')
        .enumerate()
        .map(|(place, part)| {
            read(part).map_err(|problem| {
                problem.at(format!("{what}, action {} ({})", place + 1, shown(part)))
            })
        })
        .collect()
}
