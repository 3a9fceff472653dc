//! Mutations as text both ways: `M03` in the script, `M03-M09` in links. Must never know what a
//! mutation does.

use super::problem::{Problem, shown};
use crate::error::InputError;
use crate::vsr::mutation::{Mutation, Mutations};

pub(super) fn parse_mutation(name: &str) -> Result<Mutation, Problem> {
    Mutation::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Mutation::ALL.into_iter().map(Mutation::name).collect();
        let expected = format!("a mutation: {}", names.join(", "));
        Problem::new(shown(name), expected)
    })
}

pub(super) fn parse_mutations(text: &str) -> Result<Mutations, Problem> {
    let mut mutations = Mutations::NONE;
    for name in text.split('-') {
        let mutation = parse_mutation(name)?;
        if mutations.contains(mutation) {
            return Err(Problem::new(format!("{name} twice"), "each mutation once"));
        }
        mutations = mutations.with(mutation, true);
    }
    Ok(mutations)
}

/// Writes a set of mutations, as links do; nothing for none.
#[must_use]
pub fn write_mutations(mutations: Mutations) -> String {
    let names: Vec<_> = mutations.iter().map(Mutation::name).collect();
    names.join("-")
}

/// Reads mutations that somebody gave as `what`: a flag, a field of the page.
///
/// # Errors
/// If it is no list of mutations, each once.
pub fn mutations_from_text(what: &str, text: &str) -> Result<Mutations, InputError> {
    parse_mutations(text).map_err(|problem| problem.at(what))
}
