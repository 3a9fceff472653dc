//! What clients sent and were told, group by group, for a search for linearizability at the end of a
//! run. Keeps the first operations of a group up to a limit, so that its memory does not grow with
//! ticks. Must never know an op's number, nor what a replica did.
//!
//! Where the limit is reached the history ends: what has no answer by then counts as unknown, since
//! later operations, which are not kept, may have come before it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::sequential::PartitionModel;
use crate::ids::{ClientId, GROUP_METADATA, GroupId, Op, Process, RequestNumber};
use crate::machine;
use crate::oracle::{Operation, Searched, search};
use crate::trace::{Event, EventKind};
use crate::vsr::message::Message;

/// Operations kept of one group.
pub const HISTORY_MAX: usize = 4_096;
/// Steps of one search: some hundred times what a right history of the greatest length takes.
const STEPS_MAX: u64 = 2_000_000;

/// The histories of all groups.
#[derive(Debug)]
pub struct Histories {
    /// What a partition keeps.
    retention: u32,
    groups: BTreeMap<GroupId, History>,
}

/// The history of one group.
#[derive(Debug, Default)]
struct History {
    operations: Vec<Kept>,
    /// Those without an answer so far, by client, session and number.
    open: BTreeMap<(ClientId, Op, RequestNumber), usize>,
    /// No more is kept.
    is_over: bool,
}

#[derive(Debug)]
struct Kept {
    client: ClientId,
    invoked: u64,
    /// Nothing until its first packet leaves, in the same tick.
    body: Option<Rc<[u8]>>,
    answered: Option<(u64, Rc<[u8]>)>,
}

/// What came of searching one history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFinding {
    /// Whose.
    pub group: GroupId,
    /// Operations in it, without reads that nobody heard of.
    pub operations: usize,
    /// What was found.
    pub searched: Searched,
    /// What is wrong, in one sentence, where no order fits.
    pub text: Option<String>,
}

impl Histories {
    /// Nothing so far, of partitions that keep so many messages.
    #[must_use]
    pub fn new(retention: u32) -> Self {
        Self {
            retention,
            groups: BTreeMap::new(),
        }
    }

    /// Takes an event; those that clients know nothing of are ignored.
    pub fn observe(&mut self, event: &Event) {
        // The model that a history is searched with is a partition's.
        if event.kind.group() == Some(GROUP_METADATA) {
            return;
        }
        match &event.kind {
            EventKind::Requested {
                group,
                client,
                session,
                request,
                attempts: 0,
                ..
            } if *request > RequestNumber(0) => {
                let key = (*client, *session, *request);
                self.of(*group).invoked(key, event.number);
            }
            EventKind::Sent { frame, .. } => {
                if let (Process::Client(_), Message::Request(request)) =
                    (frame.from, &frame.message)
                {
                    let key = (request.client, request.session, request.request);
                    self.of(frame.group).sent(key, &request.body);
                }
            }
            EventKind::Replied {
                group,
                client,
                reply,
                ..
            } => {
                let key = (*client, reply.session, reply.request);
                self.of(*group).answered(key, event.number, &reply.result);
            }
            EventKind::Requested { .. }
            | EventKind::Ended { .. }
            | EventKind::Noted { .. }
            | EventKind::Acted(_)
            | EventKind::Skipped(_)
            | EventKind::Crashed { .. }
            | EventKind::Restarted { .. }
            | EventKind::SessionLost { .. }
            | EventKind::Violated(_) => {}
        }
    }

    fn of(&mut self, group: GroupId) -> &mut History {
        self.groups.entry(group).or_default()
    }

    /// Leaves a group out; whether it had a history.
    pub fn excuse(&mut self, group: GroupId) -> bool {
        self.groups.remove(&group).is_some()
    }

    /// The groups that have a history.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupId> {
        self.groups.keys().copied().collect()
    }

    /// Searches each history.
    #[must_use]
    pub fn search(&self) -> Vec<HistoryFinding> {
        let groups = self.groups.iter();
        groups
            .filter_map(|(&group, history)| {
                let operations = history.operations();
                (!operations.is_empty()).then(|| judge(group, &operations, self.retention))
            })
            .collect()
    }
}

impl History {
    fn invoked(&mut self, key: (ClientId, Op, RequestNumber), number: u64) {
        if self.operations.len() == HISTORY_MAX {
            self.is_over = true;
        }
        if self.is_over {
            return;
        }
        self.open.insert(key, self.operations.len());
        self.operations.push(Kept {
            client: key.0,
            invoked: number,
            body: None,
            answered: None,
        });
    }

    fn sent(&mut self, key: (ClientId, Op, RequestNumber), body: &Rc<[u8]>) {
        if let Some(&place) = self.open.get(&key) {
            let kept = &mut self.operations[place];
            kept.body.get_or_insert_with(|| Rc::clone(body));
        }
    }

    fn answered(&mut self, key: (ClientId, Op, RequestNumber), number: u64, answer: &Rc<[u8]>) {
        if self.is_over {
            return;
        }
        if let Some(place) = self.open.remove(&key) {
            self.operations[place].answered = Some((number, Rc::clone(answer)));
        }
    }

    /// A read without an answer changes nothing and says nothing.
    fn operations(&self) -> Vec<Operation> {
        let kept = self.operations.iter();
        kept.filter_map(|kept| {
            Some(Operation {
                client: kept.client,
                invoked: kept.invoked,
                body: Rc::clone(kept.body.as_ref()?),
                answered: kept.answered.clone(),
            })
        })
        .filter(|operation| {
            operation.answered.is_some() || PartitionModel::changes(&operation.body)
        })
        .collect()
    }
}

fn judge(group: GroupId, operations: &[Operation], retention: u32) -> HistoryFinding {
    let mut model = PartitionModel::new(retention);
    let searched = search(operations, &mut model, STEPS_MAX);
    let text = match searched {
        Searched::FitsNot { longest, blocked } => Some(words(operations, longest, blocked)),
        Searched::Fits | Searched::GaveUp { .. } => None,
    };
    HistoryFinding {
        group,
        operations: operations.len(),
        searched,
        text,
    }
}

fn words(operations: &[Operation], longest: usize, blocked: usize) -> String {
    let asked = operations.get(blocked);
    let what = asked.map_or_else(String::new, |asked| {
        let body = machine::describe(&asked.body);
        format!(
            "the answer that client {} accepted to \"{body}\"",
            asked.client
        )
    });
    format!(
        "no order of the {} operations that clients saw gives them their answers: {longest} can be \
         put in order, and then nothing explains {what}",
        operations.len()
    )
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
