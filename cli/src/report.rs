//! What came of a run, in words and as JSON. Must never decide anything but wording.

use engine::ids::Tick;
use engine::run::{MutationState, VerdictKind};
use engine::scenario::{Action, Run, Setting, TimedAct, Verb, encode};
use engine::sim::record::Totals;
use serde_json::{Map, Value, json};

use crate::play::{Outcome, Storm};

/// Every value of a Run, printed before the result, so that nothing drawn or defaulted is hidden.
pub(crate) fn header(run: &Run, ticks: u32) -> String {
    let mut text = format!(
        "seed {}   replicas {}   clients {}   partitions {}   ticks {ticks}   epoch {}   faults {}\n",
        run.seed,
        run.cluster.replicas,
        run.cluster.clients,
        run.cluster.partitions,
        run.epoch,
        run.faults.profile.name(),
    );
    if let Some(name) = run.story.name() {
        text += &format!("story {name}\n");
    }
    for mutation in run.mutations.iter() {
        text += &format!("mutation {}: {}\n", mutation.name(), mutation.instead());
    }
    for (place, setting) in Setting::ALL.into_iter().enumerate() {
        text += if place % 5 == 0 { "\n  " } else { "   " };
        text += &format!(
            "{} {}",
            setting.name(),
            setting.text_for_link(setting.read(run))
        );
    }
    text + "\n"
}

/// The result in words.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    let mut text = totals(&outcome.totals);
    text += &list("delivered by type", &outcome.delivered);
    text += &list("compared", &outcome.checks);
    for mutation in &outcome.mutations {
        let MutationState { id, hits, .. } = mutation;
        text += &format!("{:<17} {hits}\n", format!("{id} hits"));
    }
    text += &format!(
        "run hash          {}\nschedule hash     {}\n",
        hex(outcome.hash),
        hex(outcome.schedule_hash)
    );
    for violation in &outcome.violations {
        text += &format!("violation         {violation}\n");
    }
    text += &format!("verdict           {}\n", verdict_name(outcome.verdict));
    if !outcome.explanation.is_empty() {
        text += &format!("                  {}\n", outcome.explanation);
    }
    let seconds = outcome.wall.as_secs_f64();
    text += &format!(
        "wall time         {seconds:.3} s, {:.0} ticks/s\nlink              {}\n",
        per_second(outcome.tick, seconds),
        outcome.link
    );
    text
}

/// Named counts under a heading, some a line.
pub(crate) fn list(heading: &str, counts: &[(&'static str, u64)]) -> String {
    let mut text = format!("{heading}\n");
    for line in counts.chunks(5) {
        let line: Vec<String> = line
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        text += &format!("  {}\n", line.join("   "));
    }
    text
}

/// Named counts as JSON.
pub(crate) fn counts_json(counts: &[(&'static str, u64)]) -> Value {
    let named = counts
        .iter()
        .map(|&(name, count)| (name.to_owned(), json!(count)));
    Value::Object(named.collect())
}

/// Counters in words, one a line. Of a protocol without mutations nobody wants to hear that it has
/// none.
pub(crate) fn totals(totals: &Totals) -> String {
    rows(totals)
        .into_iter()
        .filter(|&(name, count)| name != "mutated" || count > 0)
        .map(|(name, count)| format!("{name:<17} {count}\n"))
        .collect()
}

fn rows(totals: &Totals) -> [(&'static str, u64); 24] {
    [
        ("crashes", totals.crashes),
        ("restarts", totals.restarts),
        ("views started", totals.view_changes),
        ("commits", totals.commits),
        ("repairs", totals.repairs),
        ("replies", totals.replies),
        ("delivered", totals.delivered),
        ("lost", totals.lost),
        ("lost by dice", totals.dice_lost),
        ("ops compared", totals.ops_compared),
        ("replicas compared", totals.replicas_compared),
        ("faults injected", totals.injected),
        ("disk faults", totals.disk_faults),
        ("torn writes", totals.torn_writes),
        ("checkpoints", totals.checkpoints),
        ("transfers", totals.transfers),
        ("histories", totals.histories),
        ("history ops", totals.history_ops),
        ("longest history", totals.history_longest),
        ("searches given up", totals.histories_given_up),
        ("histories excused", totals.histories_excused),
        ("hops", totals.hops),
        ("overflows", totals.overflows),
        ("mutated", totals.mutated),
    ]
}

/// The sum of the counters of many runs.
pub(crate) fn sum<'a>(all: impl Iterator<Item = &'a Totals>) -> Totals {
    all.fold(Totals::default(), |sum, run| Totals {
        commits: sum.commits + run.commits,
        view_changes: sum.view_changes + run.view_changes,
        crashes: sum.crashes + run.crashes,
        restarts: sum.restarts + run.restarts,
        repairs: sum.repairs + run.repairs,
        replies: sum.replies + run.replies,
        delivered: sum.delivered + run.delivered,
        hops: sum.hops + run.hops,
        overflows: sum.overflows + run.overflows,
        lost: sum.lost + run.lost,
        acts: sum.acts + run.acts,
        ops_compared: sum.ops_compared + run.ops_compared,
        disk_faults: sum.disk_faults + run.disk_faults,
        torn_writes: sum.torn_writes + run.torn_writes,
        checkpoints: sum.checkpoints + run.checkpoints,
        transfers: sum.transfers + run.transfers,
        injected: sum.injected + run.injected,
        dice_lost: sum.dice_lost + run.dice_lost,
        replicas_compared: sum.replicas_compared + run.replicas_compared,
        histories: sum.histories + run.histories,
        history_ops: sum.history_ops + run.history_ops,
        history_longest: sum.history_longest.max(run.history_longest),
        histories_given_up: sum.histories_given_up + run.histories_given_up,
        histories_excused: sum.histories_excused + run.histories_excused,
        mutated: sum.mutated + run.mutated,
    })
}

/// A verdict in one word.
pub(crate) fn verdict_name(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Running => "running",
        VerdictKind::Converged => "converged",
        VerdictKind::Violation => "violation",
        VerdictKind::Stuck => "stuck",
        VerdictKind::Excused => "excused",
        VerdictKind::Vacuous => "vacuous",
        VerdictKind::StoryStuck => "story-stuck",
        VerdictKind::EngineFault => "engine-fault",
    }
}

/// The result as JSON, for programs.
pub(crate) fn outcome_json(run: &Run, ticks: u32, outcome: &Outcome) -> Value {
    let settings: Map<String, Value> = Setting::ALL
        .into_iter()
        .map(|setting| {
            let text = setting.text_for_link(setting.read(run));
            (setting.name().to_owned(), Value::String(text))
        })
        .collect();
    json!({
        // A seed can be larger than what JSON readers hold exactly.
        "seed": run.seed.to_string(),
        "epoch": run.epoch,
        "replicas": run.cluster.replicas,
        "clients": run.cluster.clients,
        "partitions": run.cluster.partitions,
        "faults": run.faults.profile.name(),
        "story": run.story.name(),
        "settings": settings,
        "ticks": ticks,
        "end_tick": outcome.tick,
        "totals": totals_json(&outcome.totals),
        "delivered_by_type": counts_json(&outcome.delivered),
        "checks": counts_json(&outcome.checks),
        "mutations": outcome.mutations,
        "hash": hex(outcome.hash),
        "schedule_hash": hex(outcome.schedule_hash),
        "verdict": verdict_name(outcome.verdict),
        "explanation": outcome.explanation,
        "violations": outcome.violations,
        "seconds": outcome.wall.as_secs_f64(),
        "ticks_per_second": per_second(outcome.tick, outcome.wall.as_secs_f64()),
        "link": outcome.link,
    })
}

/// Counters as JSON.
pub(crate) fn totals_json(totals: &Totals) -> Value {
    let rows = rows(totals).into_iter();
    Value::Object(
        rows.map(|(name, count)| (name.replace(' ', "_"), json!(count)))
            .collect(),
    )
}

/// What is said of a Run that the engine could not finish; `storm` is how it was played.
pub(crate) fn fault(run: &Run, storm: Storm, message: &str) -> String {
    format!(
        "engine fault: {message}\nlink              {}\n",
        fault_link(run, storm)
    )
}

/// The link of a Run that the engine could not finish. It has no place and no hash to compare, but
/// the same acts, so that `replay` runs into the same fault.
pub(crate) fn fault_link(run: &Run, storm: Storm) -> String {
    let mut run = run.clone();
    let settles = run.acts.iter().any(|act| act.action.verb == Verb::Settle);
    if storm.settle && !settles {
        run.add_act(TimedAct {
            tick: Tick(u64::from(storm.ticks) + 1),
            action: Action {
                verb: Verb::Settle,
                group: None,
            },
        });
    }
    encode(&run)
}

/// A hash as links write it.
pub(crate) fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

fn per_second(ticks: u64, seconds: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a rate for people, and ticks stay far below 2^53"
    )]
    let ticks = ticks as f64;
    ticks / seconds.max(1e-9)
}
