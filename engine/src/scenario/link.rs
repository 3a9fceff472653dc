//! The link: a whole Run as the text behind the `#` of the page's address, which a person can read
//! and write by hand. Decoding is strict, and needs no simulator.
//!
//! Keys stand in the order of [`keys`]; what equals the default, or the setup of the story named,
//! is left out.

use std::fmt::Write as _;

use super::faults::Profile;
use super::mutations::{parse_mutations, write_mutations};
use super::problem::{Problem, number, number_u32, shown};
use super::run::{Cursor, EPOCH, Run, Story, TICK_MAX};
use super::script::{parse_acts, parse_story, write_acts, write_story};
use super::setting::Setting;
use super::stories;
use crate::error::InputError;
use crate::ids::{CLIENTS_MAX, PARTITIONS_MAX, REPLICAS_MAX, Tick};

/// Longest link that is read at all.
pub const LINK_BYTES_MAX: usize = 16 * 1024;

/// The form of links that this build reads and writes. Decoders of released forms stay for ever.
const FORM: &str = "1";

/// Keys before those of the settings, and after.
const KEYS_BEFORE: [&str; 6] = ["v", "seed", "replicas", "clients", "partitions", "faults"];
const KEYS_AFTER: [&str; 7] = ["mutations", "story", "do", "act", "at", "epoch", "hash"];

fn keys() -> impl Iterator<Item = &'static str> {
    let settings = Setting::ALL.into_iter().map(Setting::name);
    KEYS_BEFORE.into_iter().chain(settings).chain(KEYS_AFTER)
}

/// Reads a link; one `#` before it is tolerated.
///
/// # Errors
/// The first thing that is wrong: the key, what stood there, what was expected.
pub fn decode(text: &str) -> Result<Run, InputError> {
    if text.len() > LINK_BYTES_MAX {
        let found = format!("{} bytes", text.len());
        let expected = format!("at most {LINK_BYTES_MAX}");
        return Err(InputError::new("link", found, expected));
    }
    let text = text.strip_prefix('#').unwrap_or(text);
    check_alphabet(text)?;
    let pairs = Pairs::split(text)?;
    check_form(&pairs)?;
    let run = read_run(&pairs)?;
    run.validate()?;
    Ok(run)
}

/// Reads the setup of a built-in story: keys and values without `v`, on top of the default Run.
pub(super) fn read_setup(setup: &str) -> Result<Run, InputError> {
    read_run(&Pairs::split(setup)?)
}

/// Writes a Run. Equal Runs give equal links; `decode` gives the Run back.
#[must_use]
pub fn encode(run: &Run) -> String {
    let (base, story_profile) = base_of(run);
    let mut link = format!("v={FORM}&seed={}", run.seed);
    let mut pair = |key: &str, value: &str| {
        write!(link, "&{key}={value}").expect("writing to a String cannot fail");
    };
    if run.cluster.replicas != base.cluster.replicas {
        pair("replicas", &run.cluster.replicas.to_string());
    }
    if run.cluster.clients != base.cluster.clients {
        pair("clients", &run.cluster.clients.to_string());
    }
    if run.cluster.partitions != base.cluster.partitions {
        pair("partitions", &run.cluster.partitions.to_string());
    }
    if run.faults.profile != story_profile {
        pair("faults", run.faults.profile.name());
    }
    for setting in Setting::ALL {
        let value = setting.read(run);
        if value != setting.read(&base) {
            pair(setting.name(), &setting.text_for_link(value));
        }
    }
    if !run.mutations.is_empty() {
        pair("mutations", &write_mutations(run.mutations));
    }
    match run.story.name() {
        Some(name) => pair("story", name),
        None if run.story.actions().is_empty() => {}
        None => pair("do", &write_story(run.story.actions())),
    }
    if !run.acts.is_empty() {
        pair("act", &write_acts(&run.acts));
    }
    match run.at {
        Some(Cursor { tick, step: 0 }) => pair("at", &tick.to_string()),
        Some(Cursor { tick, step }) => pair("at", &format!("{tick}.{step}")),
        None => {}
    }
    pair("epoch", &run.epoch.to_string());
    if let Some(hash) = run.expected_hash {
        pair("hash", &format!("{hash:016x}"));
    }
    link
}

/// The Run that a Run is written relative to, and the profile that its story sets.
fn base_of(run: &Run) -> (Run, Profile) {
    let mut base = run
        .story
        .name()
        .and_then(stories::find)
        .map_or_else(Run::default, stories::BuiltIn::run);
    let story_profile = base.faults.profile;
    base.seed = run.seed;
    base.story = run.story.clone();
    if run.faults.profile != story_profile {
        base.set_profile(run.faults.profile);
    }
    (base, story_profile)
}

fn check_alphabet(text: &str) -> Result<(), InputError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-&=".contains(&byte);
    let wrong = text
        .char_indices()
        .find(|&(_, character)| !u8::try_from(character).is_ok_and(allowed));
    if let Some((place, character)) = wrong {
        let found = format!("the character {character:?} at place {}", place + 1);
        return Err(InputError::new(
            "link",
            found,
            "letters, digits, and . _ - & = only",
        ));
    }
    match text.chars().last() {
        Some(last) if !last.is_ascii_alphanumeric() => Err(InputError::new(
            "link",
            format!("{last:?} at its end"),
            "a letter or digit there; it may have been cut off",
        )),
        _ => Ok(()),
    }
}

/// Keys and values as they stand, each key once.
struct Pairs<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Pairs<'a> {
    fn split(text: &'a str) -> Result<Self, InputError> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in text.split('&').filter(|_| !text.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                let expected = "a key, =, and a value: seed=211 for instance";
                return Err(InputError::new("link", shown(part), expected));
            };
            let Some(known) = keys().find(|&known| known == key) else {
                let all: Vec<_> = keys().collect();
                let expected = format!("one of {}", all.join(", "));
                return Err(InputError::new(shown(key), "no key of a link", expected));
            };
            if pairs.iter().any(|&(other, _)| other == key) {
                return Err(InputError::new(known, "given twice", "each key once"));
            }
            pairs.push((key, value));
        }
        Ok(Self(pairs))
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        let pair = self.0.iter().find(|&&(other, _)| other == key);
        pair.map(|&(_, value)| value)
    }

    /// Reads the value of a key where it is given.
    fn read<T>(
        &self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Result<Option<T>, InputError> {
        self.get(key)
            .map(|value| parse(value).map_err(|problem| problem.at(key)))
            .transpose()
    }
}

fn check_form(pairs: &Pairs<'_>) -> Result<(), InputError> {
    let expected = format!("v={FORM}, the form of links that this build reads");
    match pairs.get("v") {
        Some(FORM) => Ok(()),
        Some(other) => Err(InputError::new("v", shown(other), expected)),
        None => Err(InputError::new("v", "missing", expected)),
    }
}

fn read_run(pairs: &Pairs<'_>) -> Result<Run, InputError> {
    let mut run = match pairs.read("story", stories::parse_name)? {
        Some(story) => story.run(),
        None => Run::default(),
    };
    if let Some(seed) = pairs.read("seed", parse_seed)? {
        run.seed = seed;
    }
    if let Some(text) = pairs.get("do") {
        if pairs.get("story").is_some() {
            let expected = "one of them: a story by its name, or one of your own";
            return Err(InputError::new("do", "given beside story", expected));
        }
        run.story = Story::own(parse_story("do", text)?);
    }
    if let Some(profile) = pairs.read("faults", Profile::parse)? {
        run.set_profile(profile);
    }
    if let Some(replicas) = pairs.read("replicas", |text| parse_size(text, REPLICAS_MAX))? {
        run.cluster.replicas = replicas;
    }
    if let Some(clients) = pairs.read("clients", |text| parse_size(text, CLIENTS_MAX))? {
        run.cluster.clients = clients;
    }
    if let Some(partitions) = pairs.read("partitions", |text| parse_size(text, PARTITIONS_MAX))? {
        run.cluster.partitions = partitions;
    }
    for setting in Setting::ALL {
        let value = pairs.read(setting.name(), |text| setting.parse_for_link(text))?;
        if let Some(value) = value {
            setting.write(value, &mut run);
        }
    }
    run.reconcile();
    run.mutations = pairs
        .read("mutations", parse_mutations)?
        .unwrap_or_default();
    if let Some(text) = pairs.get("act") {
        run.acts = parse_acts("act", text)?;
    }
    run.at = pairs.read("at", parse_cursor)?;
    run.epoch = pairs
        .read("epoch", |text| number_u32(text, 1, u32::MAX))?
        .unwrap_or(EPOCH);
    run.expected_hash = pairs.read("hash", parse_hash)?;
    Ok(run)
}

/// Reads a seed.
fn parse_seed(text: &str) -> Result<u64, Problem> {
    number(text, 0, u64::MAX).map_err(|problem| {
        Problem::new(
            problem.found,
            "a whole number from 0 to 18446744073709551615, which is 2^64 - 1",
        )
    })
}

/// Reads a seed that somebody gave as `what`: a flag, a field of the page.
///
/// # Errors
/// If it is no whole number below 2^64.
pub fn seed_from_text(what: &str, text: &str) -> Result<u64, InputError> {
    parse_seed(text).map_err(|problem| problem.at(what))
}

fn parse_size(text: &str, high: u8) -> Result<u8, Problem> {
    let value = number(text, 1, u64::from(high))?;
    u8::try_from(value).map_err(|_| Problem::new(shown(text), format!("at most {high}")))
}

fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    let wrong = || {
        Problem::new(
            shown(text),
            format!("a tick up to {TICK_MAX}, and a step if wanted: 1234 or 1234.7"),
        )
    };
    let (tick, step) = text.split_once('.').unwrap_or((text, "0"));
    Ok(Cursor {
        tick: Tick(number(tick, 0, TICK_MAX).map_err(|_| wrong())?),
        step: number_u32(step, 0, u32::MAX).map_err(|_| wrong())?,
    })
}

fn parse_hash(text: &str) -> Result<u64, Problem> {
    let wrong = || Problem::new(shown(text), "16 hex digits, 0 to 9 and a to f");
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 16 || !text.bytes().all(digit) {
        return Err(wrong());
    }
    u64::from_str_radix(text, 16).map_err(|_| wrong())
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
