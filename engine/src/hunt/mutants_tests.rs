//! Each mutation is caught by its schedule, and the protocol as it is is not.

use super::*;

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
