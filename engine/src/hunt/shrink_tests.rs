//! Shrinking towards something that heavy faults bring about: few acts are left, none of which can
//! be spared, and the link says where.

use crate::hunt::{Goal, Hunt, Limit, NotFound, Reaches, Shrunk, play, shrink};
use crate::ids::Tick;
use crate::run::Session;
use crate::scenario::{Awaited, Run, decode, encode};
use crate::sim::record::Totals;

fn shrunk(link: &str, goal: &dyn Goal, ticks: u64) -> Shrunk {
    let hunt = Hunt {
        run: &decode(link).unwrap(),
        goal,
        limit: Limit::At(Tick(ticks)),
    };
    shrink(&hunt, &mut |_| ()).unwrap()
}

/// Not one act can go, and the place and hash are where the goal is met.
fn assert_minimal(shrunk: &Shrunk, goal: &dyn Goal) {
    let run = decode(&encode(&shrunk.run)).unwrap();
    assert_eq!(run, shrunk.run, "the link carries it whole");
    let at = run.at.unwrap().tick;
    let found = play(&run, None, goal, Limit::At(at))
        .unwrap()
        .found
        .unwrap();
    assert_eq!((found.tick, Some(found.hash)), (at, run.expected_hash));
    for place in 0..run.acts.len() {
        let mut fewer = run.clone();
        fewer.acts.remove(place);
        let probe = play(&fewer, None, goal, Limit::At(at)).unwrap();
        assert_eq!(probe.found, None, "act {place} of {}", encode(&run));
    }
}

const HEAVY: &str = "faults=heavy&crash=0.01&restart=0.02&crash-primary=yes&clients=4&replicas=5";

#[test]
fn a_heavy_run_shrinks_to_the_few_acts_that_matter() {
    for (seed, condition) in [
        (1, "r2-primary-v2"),
        (2, "r1-primary-v1"),
        (3, "r0-voted-v4"),
    ] {
        let goal = Reaches(Awaited::from_text(condition).unwrap());
        let shrunk = shrunk(&format!("v=1&seed={seed}&{HEAVY}"), &goal, 10_000);
        assert!(shrunk.faults > 20, "{}", shrunk.faults);
        assert!(shrunk.is_exact);
        assert!(shrunk.run.acts.len() <= 10, "{}", encode(&shrunk.run));
        assert!(shrunk.runs < 3_000, "{}", shrunk.runs);
        assert_eq!(shrunk.run.faults.crash_per_million, 0);
        assert_minimal(&shrunk, &goal);
    }
}

/// A planted violation: a replica was crashed twice while a link of another was clogged.
struct Planted;

impl Goal for Planted {
    fn name(&self) -> String {
        "planted".into()
    }

    fn is_met(&self, session: &Session) -> bool {
        let Totals {
            crashes, restarts, ..
        } = session.totals();
        let network = session.simulator().network();
        let mut links = network.links(session.cursor().tick.0);
        crashes >= 3 && restarts >= 1 && links.any(|link| link.clogged_until.is_some())
    }
}

#[test]
fn a_planted_goal_keeps_just_what_it_asks_for() {
    let shrunk = shrunk(&format!("v=1&seed=7&{HEAVY}"), &Planted, 10_000);
    let acts: Vec<String> = shrunk.run.acts.iter().map(ToString::to_string).collect();
    let count = |verb: &str| acts.iter().filter(|act| act.contains(verb)).count();
    assert_eq!(
        (count(".crash."), count(".restart."), count(".clog.")),
        (3, 1, 1),
        "{acts:?}"
    );
    assert_eq!(acts.len(), 5, "{acts:?}");
    assert_eq!(shrunk.run.workload.load_per_million, 0);
    assert_eq!(shrunk.run.cluster.clients, 1);
    assert_minimal(&shrunk, &Planted);
}

#[test]
fn what_never_happens_is_not_shrunk() {
    let goal = Reaches(Awaited::from_text("r1-primary-v9").unwrap());
    let run = Run::default();
    let limit = Limit::At(Tick(200));
    let hunt = Hunt {
        run: &run,
        goal: &goal,
        limit,
    };
    assert_eq!(shrink(&hunt, &mut |_| ()), Err(NotFound::Never));
}
