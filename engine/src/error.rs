//! What people get wrong: one small error for every text or number that comes from outside.
//! Bugs of ours are assertions, broken properties are violations; neither belongs here.

use thiserror::Error;

/// Input from a person that cannot be used. Reads as one clear sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}: {found}; expected {expected}")]
pub struct InputError {
    /// The key, flag or position that was wrong, in the person's own words.
    pub what: String,
    /// What stood there.
    pub found: String,
    /// What would have been right.
    pub expected: String,
}

impl InputError {
    /// Builds an error out of the three parts of its sentence.
    #[must_use]
    pub fn new(
        what: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }
}
