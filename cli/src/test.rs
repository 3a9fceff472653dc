//! A Rust test that asserts that a run does not break the property that it broke. Must never depend on
//! how the run is simulated: only on the engine's one door.

use engine::error::InputError;
use engine::hunt::{Limit, Reaches};
use engine::ids::Tick;
use engine::oracle::Property;
use engine::scenario::{Run, encode};

use crate::args_hunt::TestArgs;
use crate::out;
use crate::target::{Shown, Target, nothing_shown};

/// Widest line of the link.
const LINK_COLUMNS: usize = 84;

/// Prints the test.
pub(crate) fn run(arguments: &TestArgs) -> Result<u8, InputError> {
    let target = Target::read(&arguments.link)?;
    let property = match target.property(arguments.goal.property.as_deref())? {
        Shown::Broken(property) => property,
        Shown::EngineFault => {
            let expected = "a run that breaks a property";
            let found = "a run in which the engine fails";
            return Err(InputError::new("--link", found, expected));
        }
        Shown::Nothing => return Err(nothing_shown("a violation; --property names one to assert")),
    };
    let name = match &arguments.name {
        Some(name) => check_name(name)?.to_owned(),
        None => {
            let id = property.id().to_lowercase();
            format!("{id}_holds_with_seed_{}", target.run.seed)
        }
    };
    let ticks = length(&target, property)?;
    out::text(&source(&target.run, property, &name, ticks));
    Ok(0)
}

fn check_name(name: &str) -> Result<&str, InputError> {
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_name = name.bytes().all(letters) && name.starts_with(|c: char| c.is_ascii_lowercase());
    is_name.then_some(name).ok_or_else(|| {
        let expected = "a function's name: small letters, digits and _, a letter first";
        InputError::new("--name", name, expected)
    })
}

/// How long to play: to where the property breaks, else as far as the link goes.
fn length(target: &Target, property: Property) -> Result<u64, InputError> {
    let goal = Reaches::violation_of(property);
    let probe = engine::hunt::play(&target.run, None, &goal, target.limit)?;
    let end = match target.limit {
        Limit::At(Tick(tick)) | Limit::Settled(Tick(tick)) => tick,
    };
    Ok(probe.found.map_or(end, |found| found.tick.0))
}

fn source(run: &Run, property: Property, name: &str, ticks: u64) -> String {
    let plain = Run {
        at: None,
        expected_hash: None,
        ..run.clone()
    };
    let link = wrapped(&encode(&plain));
    let (id, title, meaning) = (property.id(), property.name(), property.meaning());
    // What clients saw is searched for this one alone.
    let (keep, search) = match property {
        Property::I6 => (
            "\n    session.keep_histories();",
            "\n    session.search_histories();",
        ),
        _ => ("", ""),
    };
    format!(
        r#"//! Printed by `workload-fuzz test`: a run that broke a property and must not break it again.

use engine::oracle::Property;
use engine::run::Session;
use engine::scenario::decode;
use engine::trace::{{Recorder, Recording}};

/// {id}, {title}: {meaning}
#[test]
fn {name}() {{
    let link = "{link}";
    let run = decode(link).expect("a link that this build reads");
    let recorder = Recorder::new(Recording::Nothing, 0);
    let mut session = Session::new(run, recorder).expect("a run that its cluster can play");{keep}
    session.advance_ticks({ticks});{search}
    let mut violations = session.violations();
    violations.retain(|violation| violation.property == Property::{id});
    assert!(violations.is_empty(), "{{violations:#?}}");
}}
"#
    )
}

/// The link over several lines of a string, parted before a key or an act.
fn wrapped(link: &str) -> String {
    let mut lines = vec![String::new()];
    for part in link.split_inclusive(['&', '_']) {
        let line = lines.last_mut().expect("one at least");
        if !line.is_empty() && line.len() + part.len() > LINK_COLUMNS {
            lines.push(part.to_owned());
        } else {
            line.push_str(part);
        }
    }
    lines.join("\\\n        ")
}
