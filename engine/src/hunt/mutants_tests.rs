//! Each mutation is caught by its schedule, and the protocol as it is is not.

use super::*;
use crate::scenario::parse_acts;

#[test]
fn every_mutation_is_caught_by_its_schedule_which_is_clean_without_it() {
    for mutant in MUTANTS {
        let trial = mutant.try_schedule();
        assert!(trial.passed, "{mutant:?}: {trial:#?}");
    }
}

#[test]
fn the_table_has_the_first_twelve_in_order() {
    let table: Vec<&str> = MUTANTS
        .iter()
        .map(|mutant| mutant.mutation.name())
        .collect();
    let twelve = [
        "M02", "M03", "M05", "M06", "M08", "M09", "M15", "M16", "M17", "M22", "M23", "M52",
    ];
    assert_eq!(table, twelve);
    for mutant in MUTANTS {
        for property in mutant.breaks {
            assert!(
                mutant.mutation.oracles().contains(&property.id()),
                "{mutant:?}"
            );
        }
    }
}

/// The two guards hide each other: either alone keeps what was acknowledged.
#[test]
fn of_a_pair_either_alone_is_harmless() {
    for mutant in MUTANTS.iter().filter(|mutant| !mutant.beside.is_empty()) {
        for alone in mutant.mutations().iter() {
            let run = mutant.schedule([alone].into_iter().collect());
            let mut session = start(run);
            session.advance_ticks(SCHEDULE_TICKS);
            session.settle();
            let verdict = session.verdict();
            assert_eq!(
                verdict.kind,
                VerdictKind::Converged,
                "{alone:?}: {verdict:?}"
            );
            assert!(
                session.mutations()[alone.place()].hits > 0,
                "{alone:?} mattered"
            );
        }
    }
}

/// A rule that is off must end in a violation at most, never in a panic or a task that spins.
#[test]
fn random_runs_with_any_mutation_end_without_an_engine_fault() {
    let all: Mutations = Mutation::ALL.into_iter().collect();
    let each = Mutation::ALL
        .into_iter()
        .map(|one| [one].into_iter().collect());
    for (place, mutations) in (0..).zip(each.chain([all, all])) {
        for seed in [2 * place, 2 * place + 1] {
            let mut run = Run {
                seed,
                ..Run::default()
            };
            run.set_profile(Profile::Swarm);
            run.mutations = mutations;
            let mut session = start(run);
            session.advance_ticks(1_500);
            session.settle();
            assert!(!session.has_failed(), "{mutations:?}, seed {seed}");
        }
    }
}

/// The only place where a run takes up a mutation is its values, whoever writes them.
#[test]
fn an_act_switches_a_rule_off_at_every_replica_and_on_again() {
    let mutant = MUTANTS
        .iter()
        .find(|mutant| mutant.mutation == Mutation::M15)
        .unwrap();
    let played = |acts: &str| {
        let mut run = mutant.schedule(Mutations::NONE);
        run.acts = parse_acts("act", acts).unwrap();
        let mut session = start(run);
        session.advance_ticks(2_000);
        session
    };
    let on = played("1.mutate.M15");
    assert!(on.mutations()[Mutation::M15.place()].on);
    let broken = firsts(on.violations());
    assert!(broken.iter().any(|found| found.property == Property::I7));
    let off = played("1.mutate.M15_2.mutate.M15.off_3.mutate.M15.off");
    assert!(!off.mutations()[Mutation::M15.place()].on);
    assert_eq!(off.violations(), []);
    assert_eq!(off.totals().mutated, 0);
}

/// 0 and 2 are told of a log that lacks what they executed: they halt as crashed, and the run goes
/// on to its end.
#[test]
fn a_rule_that_breaks_because_of_a_mutation_halts_its_replica_alone() {
    let mutant = MUTANTS
        .iter()
        .find(|mutant| mutant.mutation == Mutation::M15)
        .unwrap();
    let mut session = start(mutant.schedule(mutant.mutations()));
    session.advance_ticks(2_000);
    let broken = firsts(session.violations());
    let halted = broken.iter().find(|found| found.property == Property::I0);
    let halted = halted.expect("a replica cannot take back what it executed");
    let replica = halted.replicas.iter().next().unwrap();
    assert!(!session.simulator().places()[usize::from(replica.0)].up);
    assert!(session.simulator().places()[1].up);
    assert!(!session.has_failed());
}
