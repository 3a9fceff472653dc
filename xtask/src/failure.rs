//! How a command of this tool fails: by being called wrongly, or by something that went wrong while it ran.
//!
//! It must never know which commands there are.

use std::fmt;

/// Why a command stopped. The text is for a person and says what to do where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line cannot be understood; exit code 2.
    Usage(String),
    /// The work itself failed; exit code 1.
    Work(String),
}

impl Failure {
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    pub(crate) fn work(text: impl Into<String>) -> Self {
        Self::Work(text.into())
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Work(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Work(text) => formatter.write_str(text),
        }
    }
}
