//! Standard output. A reader that left, `| head` for instance, is no reason to stop or to panic: the
//! exit code still says how the run ended.

use std::io::Write as _;

/// Prints text as it is.
pub(crate) fn text(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints a line.
pub(crate) fn line(line: impl std::fmt::Display) {
    text(&format!("{line}\n"));
}
