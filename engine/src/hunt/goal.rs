//! What a hunt looks for in a run. Must never know how the run came about.

use crate::oracle::Property;
use crate::run::Session;
use crate::scenario::{Awaited, Baseline, Condition};

/// Something that a run may show. It is asked at the end of every tick.
pub trait Goal {
    /// What is looked for, as a person reads it.
    fn name(&self) -> String;
    /// Whether the run shows it now.
    fn is_met(&self, session: &Session) -> bool;
    /// Whether it may show in what clients saw alone, which is searched once the run is over.
    fn needs_histories(&self) -> bool {
        false
    }
}

/// The run reaches a condition: a violation of one property, or anything else that conditions say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaches(pub Awaited);

impl Reaches {
    /// The property is violated.
    #[must_use]
    pub fn violation_of(property: Property) -> Self {
        Self(Condition::Violation(Some(property as u8)).into())
    }
}

impl Goal for Reaches {
    fn name(&self) -> String {
        self.0.to_string()
    }

    fn is_met(&self, session: &Session) -> bool {
        let simulator = session.simulator();
        // A smaller cluster may lack what the condition names.
        self.0.check(simulator.values().cluster).is_ok()
            && self.0.holds(simulator, &Baseline::default())
    }

    fn needs_histories(&self) -> bool {
        let linearizability = Property::I6 as u8;
        matches!(self.0.condition, Condition::Violation(property)
            if property.is_none_or(|number| number == linearizability))
    }
}

/// The engine itself fails: tasks that never come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineFails;

impl Goal for EngineFails {
    fn name(&self) -> String {
        "engine fault".into()
    }

    fn is_met(&self, session: &Session) -> bool {
        session.has_failed()
    }
}
