//! Finds what a source text refers to: Rust paths with their groups unfolded, and the addresses of JavaScript imports.
//!
//! It reads text, not syntax: enough for our own style, and it must never be given anybody else's code.

/// A reference and the line, counted from 1, on which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) line: usize,
    pub(super) path: String,
}

/// Rust quotes strings with this one alone; its single quote also opens lifetimes.
pub(super) const RUST_QUOTES: &[char] = &['"'];
pub(super) const SCRIPT_QUOTES: &[char] = &['"', '\'', '`'];

/// The text with every comment replaced by blanks, so that lines and columns stay.
pub(super) fn without_comments(text: &str, quotes: &[char]) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_comment) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if let Some(body) = rest.strip_prefix("/*") {
            (body.find("*/").map_or(rest.len(), |at| at + 4), true)
        } else if rest.starts_with("'\"'") {
            (3, false)
        } else if quotes.contains(&first) {
            (literal_length(rest, first), false)
        } else {
            (first.len_utf8(), false)
        };
        let (piece, after) = rest.split_at(length);
        if is_comment {
            plain.extend(
                piece
                    .chars()
                    .map(|letter| if letter == '\n' { '\n' } else { ' ' }),
            );
        } else {
            plain.push_str(piece);
        }
        rest = after;
    }
    plain
}

/// The length of the literal that `rest` opens with; of its quote alone where it does not close.
fn literal_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' {
            is_escaped = true;
        } else if letter == quote {
            return at + 1;
        }
    }
    1
}

/// Every path in Rust `code` that starts with `root` (`crate::`, `std::`), with `{...}` groups unfolded.
pub(super) fn rust_paths(code: &str, root: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(root) {
        let is_inside_word = code[..at]
            .chars()
            .next_back()
            .is_some_and(|letter| is_word(letter) || letter == ':');
        if !is_inside_word {
            let line = line_of(code, at);
            for path in unfolded(&code[at + root.len()..]) {
                let path = format!("{root}{path}");
                found.push(Reference { line, path });
            }
        }
    }
    found
}

/// The paths that stand behind a `::`, in `a::b`, `{a, b::{c, d}}` or `*`.
fn unfolded(rest: &str) -> Vec<String> {
    let rest = rest.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        return members(group).into_iter().flat_map(unfolded).collect();
    }
    let name: String = rest
        .chars()
        .take_while(|&letter| is_word(letter) || letter == '*')
        .collect();
    match rest[name.len()..].strip_prefix("::") {
        Some(deeper)
            if deeper
                .starts_with(|letter: char| is_word(letter) || letter == '{' || letter == '*') =>
        {
            unfolded(deeper)
                .into_iter()
                .map(|tail| format!("{name}::{tail}"))
                .collect()
        }
        _ => vec![name],
    }
}

/// Splits what follows an opening brace at its own commas, up to its closing brace.
fn members(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut start = 0;
    let mut found = Vec::new();
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|member| !member.trim().is_empty());
    found
}

/// Every address that JavaScript `code` imports from, statically or by a literal in `import(...)`.
pub(super) fn script_imports(code: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    for opening in ["from", "import"] {
        for (at, _) in code.match_indices(opening) {
            if code[..at].chars().next_back().is_some_and(is_word) {
                continue;
            }
            let rest = code[at + opening.len()..].trim_start();
            let rest = if opening == "import" {
                rest.strip_prefix('(').map_or(rest, str::trim_start)
            } else {
                rest
            };
            let Some(quote) = rest
                .chars()
                .next()
                .filter(|letter| matches!(letter, '"' | '\''))
            else {
                continue;
            };
            if let Some(path) = rest[1..].split(quote).next() {
                let line = line_of(code, at);
                let path = path.to_owned();
                found.push(Reference { line, path });
            }
        }
    }
    found.sort_by_key(|reference| reference.line);
    found
}

/// The lines on which `word` stands as a whole word, counted from 1.
pub(super) fn lines_with_word(code: &str, word: &str) -> Vec<usize> {
    let stands_alone = |at: usize| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let opens_with_word = word.starts_with(is_word);
        let ends_with_word = word.ends_with(is_word);
        !(opens_with_word && before.is_some_and(is_word)
            || ends_with_word && after.is_some_and(is_word))
    };
    code.match_indices(word)
        .filter(|&(at, _)| stands_alone(at))
        .map(|(at, _)| line_of(code, at))
        .collect()
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
