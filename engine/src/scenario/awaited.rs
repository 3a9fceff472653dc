//! A condition with the group it is asked of, and what stood when the waiting began. Must never know
//! the simulator behind it.

use std::fmt;

use super::condition::{Condition, Observed, Since};
use super::group_name::GroupName;
use super::problem::Problem;
use super::run::Cluster;
use crate::error::InputError;
use crate::ids::GroupId;

/// `primary`, `primary.meta`: a condition, and in which group it is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// What.
    pub condition: Condition,
    /// In which group; where not given, the first partition.
    pub group: Option<GroupName>,
}

/// What stood in each group when the waiting began, for conditions about what is new since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline(Vec<(GroupId, Since)>);

impl Baseline {
    /// Taken when a story's action was done, or when a person starts to run until something.
    #[must_use]
    pub fn of(observed: &impl Observed) -> Self {
        let groups = observed.groups().iter();
        Self(
            groups
                .map(|&group| (group, Since::of(observed, group)))
                .collect(),
        )
    }

    /// What stood in a group; nothing in one that was not there.
    #[must_use]
    pub fn since(&self, group: GroupId) -> Since {
        let known = self.0.iter().find(|&&(known, _)| known == group);
        known.map(|&(_, since)| since).unwrap_or_default()
    }
}

impl Awaited {
    /// Whether it holds now; nothing holds in a group that is not there.
    pub fn holds(&self, now: &impl Observed, baseline: &Baseline) -> bool {
        let name = self.group.unwrap_or(GroupName::Partition(0));
        now.group(name)
            .is_some_and(|group| self.condition.holds(group, now, &baseline.since(group)))
    }

    /// Reads a condition, and behind it a group if wanted.
    ///
    /// # Errors
    /// If it is none; the message lists those there are.
    pub fn from_text(text: &str) -> Result<Self, InputError> {
        Self::parse(text).map_err(|problem| problem.at("condition"))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let named = text
            .rsplit_once('.')
            .and_then(|(condition, name)| Some((condition, GroupName::parse(name)?)));
        Ok(match named {
            Some((condition, group)) => Self {
                condition: Condition::parse(condition)?,
                group: Some(group),
            },
            None => Condition::parse(text)?.into(),
        })
    }

    pub(crate) fn check(&self, cluster: Cluster) -> Result<(), Problem> {
        self.condition.check(cluster)
    }
}

impl From<Condition> for Awaited {
    fn from(condition: Condition) -> Self {
        Self {
            condition,
            group: None,
        }
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)?;
        match self.group {
            Some(group) => write!(f, ".{group}"),
            None => Ok(()),
        }
    }
}
