//! `dist`: the site as any static host can serve it, under any path.
//!
//! It must never publish anything.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::project::Project;
use crate::setup::{self, Needs};
use crate::site::{self, Profile};
use std::fs;

pub(crate) const HELP: &str = "\
cargo xtask dist

Builds the release of the page into dist/. All its addresses are relative, so the folder can be
copied to any static host as it is.";

pub(crate) fn run(project: &Project, arguments: Arguments) -> Result<(), Failure> {
    arguments.finish()?;
    let ready = setup::prepare(project, Needs::PAGE)?;
    site::build(project, &ready, Profile::Release)?;
    let index = project.dist().join("index.html");
    let html = fs::read_to_string(&index)
        .map_err(|error| Failure::work(format!("cannot read {}: {error}", index.display())))?;
    if let Some(address) = rooted_address(&html) {
        return Err(Failure::work(format!(
            "dist/index.html refers to `{address}`, which a host that serves the page under a path does not have"
        )));
    }
    println!("the site is in {}", project.dist().display());
    Ok(())
}

/// The first address in `html` that starts at the host's root.
fn rooted_address(html: &str) -> Option<&str> {
    ["href=\"/", "src=\"/"].iter().find_map(|opening| {
        let at = html.find(opening)? + opening.len() - 1;
        html[at..].split('"').next()
    })
}

#[cfg(test)]
mod tests {
    use super::rooted_address;

    #[test]
    fn an_address_at_the_root_is_found() {
        assert_eq!(
            rooted_address("<script src=\"/app.js\"></script>"),
            Some("/app.js")
        );
        assert_eq!(
            rooted_address("<link href=\"./style.css\"><a href=\"#v=1\">"),
            None
        );
    }
}
