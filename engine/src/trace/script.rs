//! Scripts in words: what a story waits for, does and expects. Must never know where a story stands.

use super::words::{self, list, numeral, ticks};
use crate::ids::{Process, ReplicaId};
use crate::scenario::{
    Action, Awaited, Condition, GroupName, ReplicaCondition, ReplicaWhat, StoryAction, Trigger,
    Verb,
};
use crate::sim::sets::ProcessSet;

/// One action of a story, with what it waits for: `Once 1 leads view 1: c3 writes, to 1`.
#[must_use]
pub fn step(action: &StoryAction) -> String {
    let what = words::act(&action.action.to_string());
    match action.trigger {
        Trigger::At(tick) if tick.0 == 0 => format!("At the start: {what}"),
        Trigger::At(tick) => format!("At tick {tick}: {what}"),
        Trigger::After(0) => format!("Then: {what}"),
        Trigger::After(wait) => format!("{} later: {what}", sentence(&ticks(u64::from(wait)))),
        Trigger::When(awaited) => format!("Once {}: {what}", self::awaited(awaited)),
    }
}

/// An act that has no words of its own without its grammar; as it stands, where it has none either.
pub(super) fn act(text: &str) -> String {
    let Ok(Action { verb, group }) = Action::from_text(text) else {
        return text.to_string();
    };
    let what = match verb {
        Verb::Expect(expected, within) => expectation(expected, within),
        Verb::Warm(writes) => format!(
            "every client registers and writes {}",
            match writes {
                1 => "once".to_string(),
                writes => format!("{writes} times"),
            }
        ),
        Verb::Write(client, Some(to)) => format!("c{client} writes, to {to}"),
        Verb::Read(client, Some(to)) => format!("c{client} reads, from {to}"),
        Verb::Load(rate) => {
            let chance = crate::scenario::millionths_to_text(rate);
            format!("idle clients ask with a chance of {chance} a tick")
        }
        Verb::Set(setting, value) => {
            format!(
                "set {} to {}",
                setting.name(),
                setting.text_for_action(value)
            )
        }
        verb if group.is_some() => words::act(&verb.to_string()),
        _ => text.to_string(),
    };
    in_group(what, group)
}

fn expectation(expected: Condition, within: Option<u32>) -> String {
    let expected = condition(expected);
    match within {
        None => format!("expects that {expected}"),
        Some(0) => format!("expects that now {expected}"),
        Some(wait) => {
            format!("expects within {} that {expected}", ticks(u64::from(wait)))
        }
    }
}

fn awaited(awaited: Awaited) -> String {
    let what = condition(awaited.condition);
    in_group(what, awaited.group)
}

fn in_group(what: String, group: Option<GroupName>) -> String {
    match group {
        None => what,
        Some(GroupName::Metadata) => format!("{what}, in metadata"),
        Some(GroupName::Partition(place)) => format!("{what}, in partition {place}"),
    }
}

/// A condition, as a sentence that may be true.
fn condition(condition: Condition) -> String {
    match condition {
        Condition::Primary => "a replica leads".to_string(),
        Condition::NoPrimary => "nobody leads".to_string(),
        Condition::View(view) => format!("all are in view {view}"),
        Condition::NewView => "another view starts".to_string(),
        Condition::Reply => "a client has its reply".to_string(),
        Condition::Replies(replies) => format!("replies so far are {replies}"),
        Condition::Replied(client, request) => {
            format!("c{client} has the reply to its {}", words::request(request))
        }
        Condition::Executed(client, request) => {
            format!("all have executed c{client}'s {}", words::request(request))
        }
        Condition::Acks(acks) => format!("a primary has counted {}", others(acks)),
        Condition::Commit => "something is committed".to_string(),
        Condition::CommitAt(op) => format!("op {op} is committed"),
        Condition::SameLog(replicas) if replicas.is_empty() => {
            "all have the same log, executed to its end".to_string()
        }
        Condition::SameLog(replicas) => format!(
            "{} have the same log, executed to its end",
            members(replicas)
        ),
        Condition::Violation(None) => "a property is violated".to_string(),
        Condition::Violation(Some(property)) => format!("I{property} is violated"),
        Condition::Replica(replica, asked) => about(replica, asked),
    }
}

fn about(replica: ReplicaId, ReplicaCondition { what, in_view }: ReplicaCondition) -> String {
    let (is, place) = match what {
        ReplicaWhat::Up => ("runs".to_string(), "in"),
        ReplicaWhat::Down => ("is down".to_string(), "in"),
        ReplicaWhat::Primary => ("leads".to_string(), ""),
        ReplicaWhat::Normal => ("takes part".to_string(), "in"),
        ReplicaWhat::ViewChange => ("is between views".to_string(), "before"),
        ReplicaWhat::Recovering => ("still asks who leads".to_string(), "in"),
        ReplicaWhat::Voted(view) => (format!("has sent its log for view {view}"), "in"),
        ReplicaWhat::View(view) => (format!("has reached view {view}"), "in"),
        ReplicaWhat::Head(op) => (format!("has a log up to op {op}"), "in"),
        ReplicaWhat::Commit(op) => (format!("has executed op {op}"), "in"),
        ReplicaWhat::Acks(acks) => (format!("has counted {}", others(acks)), "in"),
        ReplicaWhat::Executed(client, request) => {
            let request = words::request(request);
            (format!("has executed c{client}'s {request}"), "in")
        }
    };
    match (in_view, place) {
        (None, _) => format!("{replica} {is}"),
        (Some(view), "") => format!("{replica} {is} view {view}"),
        (Some(view), place) => format!("{replica} {is}, {place} view {view}"),
    }
}

/// `the ack of one other`, `the acks of 2 others`.
fn others(acks: u8) -> String {
    match acks {
        1 => "the ack of one other".to_string(),
        acks => format!("the acks of {} others", numeral(acks)),
    }
}

fn members(set: ProcessSet) -> String {
    let replicas: Vec<ReplicaId> = set
        .iter()
        .filter_map(|process| match process {
            Process::Replica(replica) => Some(replica),
            Process::Client(_) => None,
        })
        .collect();
    list(&replicas)
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{BUILT_IN, parse_story};

    #[test]
    fn a_story_reads_as_a_person_would_tell_it() {
        let script = "0.warm.1_a0.cut.0-12_a0.cut.c0c1c2-12_a0.write.c0.to0\
            _when-r1-primary-v1.write.c3.to1_a10.crash.1_a1.heal\
            _when-replied-c3-2.expect-r1-executed-c3-2_a1500.expect-view-0.0\
            _120.set.heartbeat-wait.100_when-r2-acks-1.write.c0.meta\
            _a0.expect-same-log-02.300_a0.corrupt.1.op5.prepare.g1";
        let told: Vec<String> = parse_story("do", script)
            .unwrap()
            .iter()
            .map(step)
            .collect();
        assert_eq!(
            told,
            [
                "At the start: every client registers and writes once",
                "Then: cut 0 off from 1 and 2",
                "Then: cut c0, c1 and c2 off from 1 and 2",
                "Then: c0 writes, to 0",
                "Once 1 leads view 1: c3 writes, to 1",
                "10 ticks later: crash 1",
                "One tick later: heal every link",
                "Once c3 has the reply to its request 2: expects that 1 has executed c3's request 2",
                "1500 ticks later: expects that now all are in view 0",
                "At tick 120: set heartbeat-wait to 100",
                "Once 2 has counted the ack of one other: c0 writes, in metadata",
                "Then: expects within 300 ticks that 0 and 2 have the same log, executed to its end",
                "Then: on the disk of 1 the prepare of op 5 rots, in partition 1",
            ]
        );
    }

    #[test]
    fn no_built_in_story_shows_its_grammar() {
        for story in BUILT_IN {
            for action in story.run().story.actions() {
                let told = step(action);
                let raw = action.action.to_string();
                assert!(
                    !raw.contains('.') || !told.contains(&raw),
                    "{}: {told}",
                    story.name
                );
            }
        }
    }
}
