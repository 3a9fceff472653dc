//! How wrong a clock is, as text both ways: `500`, `m500`, `500.d20`, `m500.dm20`. The script's
//! alphabet has a minus, but it separates names there: `m` stands for it. Must never know a clock.

use std::fmt;

use super::problem::{Problem, number_u32, shown};

/// A day.
pub const OFFSET_MS_MAX: u32 = 86_400_000;
/// A tenth.
pub const DRIFT_PPM_MAX: u32 = 100_000;

/// How far a clock is off when it is set, and how fast it goes wrong from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skew {
    /// Milliseconds ahead, or behind where negative.
    pub offset_ms: i32,
    /// Millionths that it gains, or loses where negative.
    pub drift_ppm: i32,
}

impl Skew {
    pub(super) fn parse(words: &[&str]) -> Result<Self, Problem> {
        match words {
            [offset] => Ok(Self {
                offset_ms: signed(offset, OFFSET_MS_MAX)?,
                drift_ppm: 0,
            }),
            [offset, drift] => {
                let wrong = || Problem::new(shown(drift), "a drift in millionths: d20 or dm20");
                let drift_ppm = signed(drift.strip_prefix('d').ok_or_else(wrong)?, DRIFT_PPM_MAX)?;
                // There is one way to write a skew.
                if drift_ppm == 0 {
                    return Err(wrong());
                }
                Ok(Self {
                    offset_ms: signed(offset, OFFSET_MS_MAX)?,
                    drift_ppm,
                })
            }
            _ => Err(Problem::new(
                shown(&words.join(".")),
                "milliseconds and a drift: 500.d20",
            )),
        }
    }
}

/// A whole number, `m` before it where it is negative.
fn signed(text: &str, high: u32) -> Result<i32, Problem> {
    let wrong = || {
        let expected = format!("a whole number up to {high}, with m before it if negative");
        Problem::new(shown(text), expected)
    };
    let (sign, low, digits) = match text.strip_prefix('m') {
        Some(digits) => (-1, 1, digits),
        None => (1, 0, text),
    };
    let value = number_u32(digits, low, high).map_err(|_| wrong())?;
    i32::try_from(value)
        .map(|value| sign * value)
        .map_err(|_| wrong())
}

fn write_signed(f: &mut fmt::Formatter<'_>, value: i32) -> fmt::Result {
    let minus = if value < 0 { "m" } else { "" };
    write!(f, "{minus}{}", value.unsigned_abs())
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_signed(f, self.offset_ms)?;
        if self.drift_ppm != 0 {
            f.write_str(".d")?;
            write_signed(f, self.drift_ppm)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Skew, Problem> {
        Skew::parse(&text.split('.').collect::<Vec<_>>())
    }

    #[test]
    fn a_skew_reads_both_ways() {
        for (text, offset_ms, drift_ppm) in [
            ("0", 0, 0),
            ("500", 500, 0),
            ("m10000", -10_000, 0),
            ("86400000.d20", 86_400_000, 20),
            ("m1.dm100000", -1, -100_000),
            ("0.d1", 0, 1),
        ] {
            let skew = Skew {
                offset_ms,
                drift_ppm,
            };
            assert_eq!(read(text), Ok(skew), "{text}");
            assert_eq!(skew.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_skew_is_refused() {
        for text in [
            "",
            "m",
            "m0",
            "-5",
            "+5",
            "5ms",
            "86400001",
            "5.20",
            "5.d",
            "5.d0",
            "5.dm0",
            "5.d100001",
            "5.d20.1",
            "05x",
            "d20",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
