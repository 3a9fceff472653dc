//! The flags of the commands that take a run apart: `shrink`, `trace`, `test`, and of `mutants`. Must
//! never run anything.

use clap::{Args, ValueEnum};
use engine::error::InputError;
use engine::oracle::Property;

/// A link, and how far it is played.
#[derive(Args)]
pub(crate) struct LinkArgs {
    /// The link: its text, the whole address, or the name of a file that holds one
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) link: String,
    /// How far to play a link that names no place (`at`), before the end phase
    #[arg(
        long,
        value_name = "TICKS",
        default_value = "10000",
        allow_hyphen_values = true
    )]
    pub(crate) ticks: String,
}

/// What is looked for in a run.
#[derive(Args)]
pub(crate) struct GoalArgs {
    /// The property whose violation is looked for, I4 for instance [default: the first that breaks]
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) property: Option<String>,
}

/// `shrink`.
#[derive(Args)]
pub(crate) struct ShrinkArgs {
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    /// Look for a condition instead, as stories write it: r1-primary-v1 for instance
    #[arg(long, value_name = "CONDITION", conflicts_with = "property")]
    pub(crate) until: Option<String>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `trace`.
#[derive(Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// The first tick to print
    #[arg(
        long,
        value_name = "TICK",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub(crate) from: String,
    /// The last tick to print [default: the link's place, or the end of --ticks]
    #[arg(long, value_name = "TICK", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
}

/// The forms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A line for each event, for people
    Text,
    /// A JSON object a line, for programs
    Jsonl,
    /// For ui.perfetto.dev and chrome://tracing
    Perfetto,
    /// For bestchai.bitbucket.io/shiviz: vector clocks
    Shiviz,
}

/// `test`.
#[derive(Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    /// The test's name [default: made of the property and the seed]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// `mutants`.
#[derive(Args)]
pub(crate) struct MutantsArgs {
    /// Also play this many random runs of `swarm` with each mutation, from seed 1 on, until one
    /// shows it
    #[arg(long, value_name = "SEEDS", allow_hyphen_values = true)]
    pub(crate) sweep: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a tick.
pub(crate) fn tick(flag: &str, text: &str) -> Result<u64, InputError> {
    const TICK_MAX: u64 = 100_000_000;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = Some(text)
        .filter(|_| digits)
        .and_then(|text| text.parse().ok());
    value.filter(|&tick| tick <= TICK_MAX).ok_or_else(|| {
        let expected = format!("a tick from 0 to {TICK_MAX}");
        InputError::new(flag, text, expected)
    })
}

/// Reads a property by its id.
pub(crate) fn property(text: &str) -> Result<Property, InputError> {
    let found = Property::CHECKED
        .into_iter()
        .find(|property| property.id() == text);
    found.ok_or_else(|| {
        let ids: Vec<_> = Property::CHECKED.iter().map(|known| known.id()).collect();
        InputError::new("--property", text, format!("one of {}", ids.join(", ")))
    })
}
