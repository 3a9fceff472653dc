//! Counts of what passed and failed, read from what test runners print.
//!
//! It must never run anything.

use std::ops::AddAssign;

/// How many tests or checks passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

impl Tally {
    pub(crate) const ONE_PASSED: Self = Self {
        passed: 1,
        failed: 0,
    };
    pub(crate) const ONE_FAILED: Self = Self {
        passed: 0,
        failed: 1,
    };

    /// Reads a line of `cargo test`: `test result: ok. 3 passed; 0 failed; ...`.
    pub(crate) fn of_cargo_line(line: &str) -> Option<Self> {
        let counts = line
            .trim()
            .strip_prefix("test result: ")?
            .split_once(". ")?
            .1;
        Some(Self {
            passed: count_before(counts, " passed")?,
            failed: count_before(counts, " failed")?,
        })
    }

    /// Reads a closing line of Node's test runner in its TAP form: `# pass 3`, `# fail 0` or `# cancelled 0`.
    pub(crate) fn of_node_line(line: &str) -> Option<Self> {
        let (word, count) = line.strip_prefix("# ")?.split_once(' ')?;
        let count = count.trim().parse().ok()?;
        match word {
            "pass" => Some(Self {
                passed: count,
                failed: 0,
            }),
            "fail" | "cancelled" => Some(Self {
                passed: 0,
                failed: count,
            }),
            _ => None,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

fn count_before(counts: &str, word: &str) -> Option<u32> {
    counts.split(';').find_map(|part| {
        part.trim()
            .strip_suffix(word.trim_start())?
            .trim()
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn a_result_line_of_cargo_is_read() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(
            Tally::of_cargo_line(line),
            Some(Tally {
                passed: 12,
                failed: 3
            })
        );
        assert_eq!(Tally::of_cargo_line("test tidy::a ... ok"), None);
    }

    #[test]
    fn the_closing_lines_of_node_are_read() {
        assert_eq!(
            Tally::of_node_line("# pass 7"),
            Some(Tally {
                passed: 7,
                failed: 0
            })
        );
        assert_eq!(
            Tally::of_node_line("# fail 2"),
            Some(Tally {
                passed: 0,
                failed: 2
            })
        );
        assert_eq!(Tally::of_node_line("# duration_ms 7.5"), None);
        assert_eq!(Tally::of_node_line("# Subtest: pass 7"), None);
    }
}
