//! The part of an input error that a piece of text knows about itself; who reads the piece adds
//! where it stood. Must never know keys or verbs.

use crate::error::InputError;

/// What stood there and what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What stood there.
    pub(crate) found: String,
    /// What would have been right.
    pub(crate) expected: String,
}

impl Problem {
    pub(crate) fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// The whole error, once it is known where the text stood.
    pub(crate) fn at(self, what: impl Into<String>) -> InputError {
        InputError::new(what, self.found, self.expected)
    }
}

/// Text as it is shown in a message: short, and never empty.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 40;
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let mut short: String = text.chars().take(SHOWN_MAX).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// A decimal number from `low..=high`: digits only, so that there is one way to write it.
pub(crate) fn number(text: &str, low: u64, high: u64) -> Result<u64, Problem> {
    let wrong = || Problem::new(shown(text), format!("a whole number from {low} to {high}"));
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let value: u64 = text.parse().map_err(|_| wrong())?;
    if value < low || value > high {
        return Err(wrong());
    }
    Ok(value)
}

/// [`number`] for 32-bit values.
pub(crate) fn number_u32(text: &str, low: u32, high: u32) -> Result<u32, Problem> {
    let value = number(text, u64::from(low), u64::from(high))?;
    Ok(u32::try_from(value).expect("a number not above a u32 fits one"))
}
