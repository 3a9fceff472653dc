//! Links that were handed out must open for ever. Each file of `links/` holds one link, then what it
//! means, value by value; a file is never changed once released. A failure here means that links in
//! chats, papers and bug reports would open wrongly.

#![expect(
    clippy::unwrap_used,
    reason = "a test says more by failing where it stands"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use engine::scenario::{Run, Setting, decode, encode, write_acts, write_story};

/// Every value of a Run, defaults too, so that a changed default is noticed.
fn meaning(run: &Run) -> String {
    let mut text = format!(
        "epoch {}\nseed {}\nreplicas {}\nclients {}\nfaults {}\n",
        run.epoch,
        run.seed,
        run.cluster.replicas,
        run.cluster.clients,
        run.faults.profile.name(),
    );
    let mut line = |key: &str, value: &str| writeln!(text, "{key} {value}").unwrap();
    for setting in Setting::ALL {
        line(setting.name(), &setting.text_for_link(setting.read(run)));
    }
    match run.story.name() {
        Some(name) => line("story", name),
        None if run.story.actions().is_empty() => {}
        None => line("do", &write_story(run.story.actions())),
    }
    if !run.acts.is_empty() {
        line("act", &write_acts(&run.acts));
    }
    if let Some(place) = run.at {
        line("at", &format!("{}.{}", place.tick, place.step));
    }
    if let Some(hash) = run.expected_hash {
        line("hash", &format!("{hash:016x}"));
    }
    text
}

fn check(path: &Path) {
    let name = path.display();
    let file = fs::read_to_string(path).unwrap();
    let (link, expected) = file.split_once('\n').unwrap();
    let run = decode(link).unwrap_or_else(|error| panic!("{name}: {error}"));
    let meaning = meaning(&run);
    for line in expected.lines() {
        assert!(
            meaning.lines().any(|meant| meant == line),
            "{name} no longer means {line:?}, but:\n{link}\n{meaning}"
        );
    }
    assert!(expected.lines().count() >= 38, "{name} says too little");
    assert_eq!(decode(&encode(&run)), Ok(run), "{name}");
}

#[test]
fn links_of_the_museum_open_and_mean_what_they_meant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 6, "the museum has lost pieces: {paths:?}");
    paths.iter().for_each(|path| check(path));
}

/// Prints the file of a new piece: `LINK='v=1…' cargo test -p engine --test link_museum -- --ignored
/// --nocapture`.
#[test]
#[ignore = "a tool for whoever adds a link to the museum"]
fn print_a_piece() {
    let link = std::env::var("LINK").expect("LINK=v=1…");
    let run = decode(&link).unwrap_or_else(|error| panic!("{error}"));
    print!("{link}\n{}", meaning(&run));
}
