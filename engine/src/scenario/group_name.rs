//! How scripts name groups. Must never know which groups there are.

use std::fmt;

use super::problem::number_u32;

/// A group by its place: `meta` for metadata, `g0` for the first partition there is, in order of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// `meta`.
    Metadata,
    /// `g0`.
    Partition(u16),
}

impl GroupName {
    /// Reads a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "meta" {
            return Some(Self::Metadata);
        }
        let place = number_u32(text.strip_prefix('g')?, 0, 999).ok()?;
        u16::try_from(place).ok().map(Self::Partition)
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metadata => f.write_str("meta"),
            Self::Partition(place) => write!(f, "g{place}"),
        }
    }
}
