//! Milder forms of an act: a shorter clog, a cut one way alone, one between fewer. Must never know
//! whether they will do.

use crate::ids::Process;
use crate::scenario::{Action, Links, Part, Skew, Verb};
use crate::sim::sets::ProcessSet;

/// Milder forms, the mildest first where there is an order.
pub(super) fn milder(action: Action) -> Vec<Action> {
    let verbs = match action.verb {
        Verb::Clog(links, ticks) => {
            let shorter = shorter(ticks).into_iter();
            let fewer = fewer(links).into_iter().map(move |links| (links, ticks));
            let clogs = shorter.map(|ticks| (links, ticks)).chain(fewer);
            clogs
                .map(|(links, ticks)| Verb::Clog(links, ticks))
                .collect()
        }
        Verb::Delay(links, ticks) => {
            let shorter = shorter(ticks).into_iter();
            shorter.map(|ticks| Verb::Delay(links, ticks)).collect()
        }
        Verb::Cut(sides) => {
            let back = Links {
                from: sides.to,
                to: sides.from,
            };
            let one_way = [Verb::Mute(sides), Verb::Mute(back)].into_iter();
            one_way
                .chain(fewer(sides).into_iter().map(Verb::Cut))
                .collect()
        }
        Verb::Mute(sides) => fewer(sides).into_iter().map(Verb::Mute).collect(),
        Verb::Corrupt(replica, op, Part::Both) => [Part::Prepare, Part::Header]
            .into_iter()
            .map(|part| Verb::Corrupt(replica, op, part))
            .collect(),
        Verb::Slow(replica, factor) => {
            let quicker = shorter(factor).into_iter();
            quicker.map(|factor| Verb::Slow(replica, factor)).collect()
        }
        Verb::Skew(replica, skew) => milder_skews(skew)
            .map(|skew| Verb::Skew(replica, skew))
            .collect(),
        Verb::Warm(writes) => shorter(writes).into_iter().map(Verb::Warm).collect(),
        _ => Vec::new(),
    };
    let group = action.group;
    let verbs: Vec<Verb> = verbs;
    verbs
        .into_iter()
        .map(|verb| Action { verb, group })
        .collect()
}

/// Without one half of it, then nearer to the right time.
fn milder_skews(skew: Skew) -> impl Iterator<Item = Skew> {
    let Skew {
        offset_ms,
        drift_ppm,
    } = skew;
    [
        (offset_ms, 0),
        (0, drift_ppm),
        (offset_ms / 10, drift_ppm / 10),
    ]
    .map(|(offset_ms, drift_ppm)| Skew {
        offset_ms,
        drift_ppm,
    })
    .into_iter()
    .filter(move |&milder| milder != skew && milder != Skew::default())
}

/// 1, then ever larger parts of a number.
fn shorter(ticks: u32) -> Vec<u32> {
    let mut shorter: Vec<u32> = [1, ticks / 8, ticks / 4, ticks / 2, ticks - ticks / 4]
        .into_iter()
        .filter(|&less| less > 0 && less < ticks)
        .collect();
    shorter.dedup();
    shorter
}

/// The same with one process fewer on either side.
fn fewer(links: Links) -> Vec<Links> {
    let without = |set: ProcessSet, one: Process| -> ProcessSet {
        set.iter().filter(|&process| process != one).collect()
    };
    let from = links.from.iter().map(|one| Links {
        from: without(links.from, one),
        to: links.to,
    });
    let to = links.to.iter().map(|one| Links {
        from: links.from,
        to: without(links.to, one),
    });
    from.chain(to)
        .filter(|links| !links.from.is_empty() && !links.to.is_empty())
        .filter(|links| links.iter().next().is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let action = Action::from_text(text).unwrap();
        milder(action).iter().map(Action::to_string).collect()
    }

    #[test]
    fn milder_forms_are_valid_and_smaller() {
        assert_eq!(
            of("clog.0to1.40"),
            [
                "clog.0to1.1",
                "clog.0to1.5",
                "clog.0to1.10",
                "clog.0to1.20",
                "clog.0to1.30"
            ]
        );
        assert_eq!(of("cut.0-1"), ["mute.0-1", "mute.1-0"]);
        assert_eq!(of("mute.01-2"), ["mute.1-2", "mute.0-2"]);
        assert_eq!(
            of("skew.1.m500.d20"),
            ["skew.1.m500", "skew.1.0.d20", "skew.1.m50.d2"]
        );
        assert_eq!(of("skew.1.5"), [""; 0]);
        assert_eq!(of("clog.0to1.1"), [""; 0]);
        assert_eq!(of("crash.1"), [""; 0]);
    }
}
