//! The story lane: actions in order, each waiting for the one before and then for its trigger.
//! Expectations are conditions that must come to hold in time. Must never wait for a person.

use crate::ids::Tick;
use crate::scenario::{Awaited, Baseline, StoryAction, Trigger, Verb};
use crate::sim::simulator::Simulator;
use crate::trace::Actor;

/// Limits of waits, in view-change waits.
const WAITS_MAX: u64 = 5;

/// Where a story stands.
#[derive(Debug, Default)]
pub struct StoryLane {
    next: usize,
    /// When the action before was done.
    since: Tick,
    baseline: Baseline,
    stuck: Option<String>,
}

impl StoryLane {
    /// What stood when the waiting began.
    #[must_use]
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// How many actions are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.next
    }

    /// The action that waited too long, where one did.
    #[must_use]
    pub fn stuck(&self) -> Option<&str> {
        self.stuck.as_deref()
    }
}

/// What the lane has to do now.
enum Turn {
    Wait,
    Do,
    Stuck(u64),
}

impl Simulator {
    /// Does the story's next action if it is due; whether it was.
    pub(super) fn story_next(&mut self) -> bool {
        let Some(&action) = self.run.story.actions().get(self.story.next) else {
            return false;
        };
        if self.warming.is_some() || self.story.stuck.is_some() {
            return false;
        }
        match self.story_turn(&action) {
            Turn::Wait => false,
            Turn::Do => {
                self.act(action.action, Actor::Story);
                self.story.next += 1;
                self.story.since = self.tick;
                self.story.baseline = Baseline::of(self);
                true
            }
            Turn::Stuck(limit) => {
                self.story.stuck = Some(format!(
                    "{action} waited {limit} ticks from tick {} on",
                    self.story.since
                ));
                false
            }
        }
    }

    fn story_turn(&self, action: &StoryAction) -> Turn {
        let waited = self.tick.0 - self.story.since.0;
        let limit = WAITS_MAX * u64::from(self.run.knobs.view_change_wait_ticks);
        let (is_due, due_in) = match action.trigger {
            Trigger::At(tick) => (self.tick >= tick, tick.0.saturating_sub(self.story.since.0)),
            Trigger::After(ticks) => (waited >= u64::from(ticks), u64::from(ticks)),
            Trigger::When(awaited) => (awaited.holds(self, &self.story.baseline), 0),
        };
        if !is_due {
            let over = matches!(action.trigger, Trigger::When(_)) && waited > limit;
            return if over { Turn::Stuck(limit) } else { Turn::Wait };
        }
        let Verb::Expect(condition, ticks) = action.action.verb else {
            return Turn::Do;
        };
        let awaited = Awaited {
            condition,
            group: action.action.group,
        };
        if awaited.holds(self, &self.story.baseline) {
            return Turn::Do;
        }
        let limit = ticks.map_or(limit, u64::from);
        if waited >= due_in + limit {
            Turn::Stuck(limit)
        } else {
            Turn::Wait
        }
    }
}
