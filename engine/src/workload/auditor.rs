//! Checks every answer that a client accepts against a reference that executes the committed entries
//! on its own: exactly once (I5), in an order that respects real time (I6), nothing acknowledged is
//! lost (I4). Keeps records only of requests under way; the rest is folded into the reference. Must
//! never look into a replica: it knows entries, answers and what clients asked.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;

use super::aim::Known;
use super::model_metadata::MetadataModel;
use super::model_partition::PartitionModel;
use super::model_sessions::{Sessions, Standing};
use super::outcome::{Coverage, Outcome};
use super::reference::{Expected, Reference};
use crate::digest::checksum_bytes;
use crate::ids::{Checksum, ClientId, Op, RequestNumber};
use crate::machine::Genesis;
use crate::trace::EventKind;
use crate::vsr::message::{Header, Operation, Prepare, Reply};
use crate::vsr::note::{MergeOutcome, Note};

/// Most findings kept between two calls of [`Auditor::take_findings`]: one fault often shows in every
/// answer after it.
const FINDINGS_MAX: usize = 64;
/// Registers remembered for each client. Answers to registers cannot be told apart by number, so an
/// old one may be accepted late.
const REGISTERS_MAX: usize = 16;

/// Which property of the catalogue does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum AuditProperty {
    /// Durability: what a client was told is there.
    I4,
    /// Exactly once.
    I5,
    /// Linearizability.
    I6,
    /// Digest equality: a replica's messages are those of the log it executed.
    I9,
    /// Contiguity: ops are executed one after the other.
    I10,
}

/// A wrong answer, or a wrong entry behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFinding {
    /// What does not hold.
    pub property: AuditProperty,
    /// The op it is about.
    pub op: Op,
    /// The client it is about, where it is about one.
    pub client: Option<ClientId>,
    /// One sentence in plain words.
    pub text: String,
}

/// The auditor of one group.
#[derive(Debug)]
pub struct Auditor {
    pub(super) reference: Reference,
    sessions: Sessions,
    /// The last op the reference executed.
    pub(super) executed: Op,
    /// An op was skipped: the reference is no longer the group's and answers are not compared.
    pub(super) lost_track: bool,
    /// The group may have lost ops and said so: it is audited no more.
    has_lost_ops: bool,
    /// The highest op whose answer a client accepted.
    pub(super) acknowledged: Op,
    /// Messages from offset 0 on that some client was told of.
    pub(super) acknowledged_messages: u64,
    under_way: BTreeMap<(ClientId, Op, RequestNumber), UnderWay>,
    registers: BTreeMap<ClientId, Registers>,
    findings: Vec<AuditFinding>,
    answers_compared: u64,
    coverage: Coverage,
}

/// A machine request that has no accepted answer yet.
#[derive(Debug)]
struct UnderWay {
    body_checksum: Checksum,
    /// The highest acknowledged op when it was first sent; its own must be higher.
    after: Op,
    executed: Option<Executed>,
    /// No further answer will be looked at: the session was lost, and the outcome is unknown.
    abandoned: bool,
}

#[derive(Clone, Debug)]
struct Executed {
    op: Op,
    checksum: Checksum,
    body: Rc<[u8]>,
    expected: Expected,
}

/// The last registers of a client that were executed.
#[derive(Debug, Default)]
struct Registers {
    recent: Vec<(Op, Checksum)>,
    forgot: bool,
}

impl Auditor {
    /// Of a partition that keeps `retention` messages. `sessions_max` is the group's limit of open
    /// sessions.
    #[must_use]
    pub fn of_partition(sessions_max: u32, retention: u32) -> Self {
        let model = PartitionModel::new(retention);
        Self::new(sessions_max, Reference::Partition(model))
    }

    /// Of the metadata group.
    #[must_use]
    pub fn of_metadata(sessions_max: u32, genesis: &Genesis) -> Self {
        let model = MetadataModel::new(genesis);
        Self::new(sessions_max, Reference::Metadata(model))
    }

    fn new(sessions_max: u32, reference: Reference) -> Self {
        Self {
            reference,
            sessions: Sessions::new(sessions_max),
            executed: Op(0),
            lost_track: false,
            has_lost_ops: false,
            acknowledged: Op(0),
            acknowledged_messages: 0,
            under_way: BTreeMap::new(),
            registers: BTreeMap::new(),
            findings: Vec::new(),
            answers_compared: 0,
            coverage: Coverage::default(),
        }
    }

    /// Whether an event tells an auditor anything.
    #[must_use]
    pub fn is_told_by(event: &EventKind) -> bool {
        match event {
            EventKind::Requested { attempts, .. } => *attempts == 0,
            EventKind::Replied { .. } | EventKind::SessionLost { .. } => true,
            EventKind::Noted { note, .. } => {
                matches!(note, Note::Executed { .. }) || cut_at_risk(note).is_some()
            }
            EventKind::Sent { .. }
            | EventKind::Ended { .. }
            | EventKind::Acted(_)
            | EventKind::Skipped(_)
            | EventKind::Violated(_)
            | EventKind::Crashed { .. }
            | EventKind::Restarted { .. } => false,
        }
    }

    /// Takes an event of this group or of its clients; those that tell it nothing are ignored.
    pub fn observe(&mut self, event: &EventKind) {
        if self.has_lost_ops {
            return;
        }
        match event {
            EventKind::Requested {
                client,
                session,
                request,
                attempts: 0,
                body_checksum,
                ..
            } => self.on_requested(*client, *session, *request, *body_checksum),
            EventKind::Replied { client, reply, .. } => self.on_replied(*client, reply),
            EventKind::SessionLost { client, .. } => self.on_session_lost(*client),
            EventKind::Noted {
                note: Note::Executed {
                    prepare, effect, ..
                },
                ..
            } => self.on_committed(prepare, *effect),
            EventKind::Noted { note, .. }
                if cut_at_risk(note).is_some_and(|op| op < self.executed) =>
            {
                self.lost_track = true;
                self.has_lost_ops = true;
            }
            EventKind::Requested { .. }
            | EventKind::Noted { .. }
            | EventKind::Sent { .. }
            | EventKind::Ended { .. }
            | EventKind::Acted(_)
            | EventKind::Skipped(_)
            | EventKind::Crashed { .. }
            | EventKind::Restarted { .. }
            | EventKind::Violated(_) => {}
        }
    }

    /// A client sends a request for the first time.
    pub fn on_requested(
        &mut self,
        client: ClientId,
        session: Op,
        request: RequestNumber,
        body_checksum: Checksum,
    ) {
        if request == RequestNumber(0) {
            return;
        }
        let under_way = UnderWay {
            body_checksum,
            after: self.acknowledged,
            executed: None,
            abandoned: false,
        };
        self.under_way.insert((client, session, request), under_way);
    }

    /// A replica executed an entry, with an effect or without. Only the first replica to execute an
    /// op teaches the auditor something.
    pub fn on_committed(&mut self, prepare: &Prepare, effect: bool) {
        let header = &prepare.header;
        if header.op <= self.executed {
            return;
        }
        if header.op != self.executed.next() {
            self.lost_track = true;
            let text = format!(
                "op {} was executed right after op {}",
                header.op, self.executed
            );
            self.find(AuditProperty::I10, header, text);
        }
        self.executed = header.op;
        match header.operation {
            Operation::Root => {}
            Operation::Register => self.register(header),
            Operation::Machine => self.execute(prepare, effect),
        }
    }

    fn register(&mut self, header: &Header) {
        let client = header.client;
        self.sessions.register(client, header.op);
        let registers = self.registers.entry(client).or_default();
        if registers.recent.len() == REGISTERS_MAX {
            registers.recent.remove(0);
            registers.forgot = true;
        }
        registers.recent.push((header.op, header.checksum));
        // What was sent under an older session can no longer have an effect.
        let of_client = (client, Op(0), RequestNumber(0))..(client, header.op, RequestNumber(0));
        let dead: Vec<_> = self
            .under_way
            .range(of_client)
            .map(|(key, _)| *key)
            .collect();
        for key in dead {
            if self.under_way.get(&key).is_some_and(|sent| sent.abandoned) {
                self.under_way.remove(&key);
            }
        }
    }

    fn execute(&mut self, prepare: &Prepare, effect: bool) {
        let header = &prepare.header;
        let (client, session, request) = (header.client, header.session, header.request);
        let standing = self.sessions.standing(client, session, request);
        self.check_effect(header, standing, effect);
        if !effect {
            return;
        }
        // The replica's word is followed even where it is wrong, so that one fault is told once.
        self.sessions.executed(client, session, request, header.op);
        let expected = self.reference.apply(prepare);
        self.match_request(prepare, standing, expected);
    }

    fn check_effect(&mut self, header: &Header, standing: Standing, effect: bool) {
        if self.lost_track {
            return;
        }
        let (client, request) = (header.client, header.request);
        let wrong = match (standing, effect) {
            (Standing::Good, true) | (Standing::Dead | Standing::Repeated, false) => return,
            (Standing::Good, false) => "had no effect, though its session was open",
            (Standing::Dead, true) => "had an effect, though its session was over",
            (Standing::Repeated, true) => "had an effect a second time",
        };
        let text = format!("request {request} of client {client} at op {}", header.op);
        self.find(AuditProperty::I5, header, format!("{text} {wrong}"));
    }

    /// Every entry with an effect is a request that its client sent, with the body it sent.
    fn match_request(&mut self, prepare: &Prepare, standing: Standing, expected: Expected) {
        let header = &prepare.header;
        let key = (header.client, header.session, header.request);
        let Some(sent) = self.under_way.get_mut(&key) else {
            // A repeated or dead one was told of already, and may well have had its answer.
            if standing == Standing::Good && !self.lost_track {
                let text = format!("op {} is a request its client never made", header.op);
                self.find(AuditProperty::I6, header, text);
            }
            return;
        };
        if sent.executed.is_some() {
            return;
        }
        let altered = sent.body_checksum != checksum_bytes(&prepare.body);
        sent.executed = Some(Executed {
            op: header.op,
            checksum: header.checksum,
            body: Rc::clone(&prepare.body),
            expected,
        });
        if sent.abandoned {
            self.under_way.remove(&key);
        }
        if altered {
            let text = format!("op {} has another body than its client sent", header.op);
            self.find(AuditProperty::I6, header, text);
        }
    }

    /// A client accepted an answer.
    pub fn on_replied(&mut self, client: ClientId, reply: &Reply) {
        if reply.op > self.executed {
            self.find_unfounded(client, reply);
        } else if reply.request == RequestNumber(0) {
            self.check_register(client, reply);
        } else {
            self.check_answer(client, reply);
            let key = (client, reply.session, reply.request);
            self.under_way.remove(&key);
        }
        self.acknowledged = self.acknowledged.max(reply.op);
        self.answers_compared += 1;
    }

    /// An answer before anybody executed the op: whatever it promises may yet be lost.
    fn find_unfounded(&mut self, client: ClientId, reply: &Reply) {
        let text = format!(
            "client {client} was answered for op {}, which no replica has executed",
            reply.op
        );
        self.find_answer(AuditProperty::I4, client, reply, text);
        let key = (client, reply.session, reply.request);
        if let Some(sent) = self.under_way.get_mut(&key) {
            sent.abandoned = true;
        }
    }

    fn check_register(&mut self, client: ClientId, reply: &Reply) {
        let known = self.registers.get(&client);
        let is_known =
            known.is_some_and(|known| known.recent.contains(&(reply.op, reply.checksum)));
        let may_be_older = known.is_some_and(|known| {
            known.forgot && known.recent.first().is_some_and(|(op, _)| reply.op < *op)
        });
        if reply.session != reply.op || !(is_known || may_be_older) {
            let text = format!(
                "client {client} was given session {} at op {}, which did not open it",
                reply.session, reply.op
            );
            self.find_answer(AuditProperty::I6, client, reply, text);
        }
    }

    fn check_answer(&mut self, client: ClientId, reply: &Reply) {
        let key = (client, reply.session, reply.request);
        let Some(sent) = self.under_way.get(&key) else {
            let text = format!("client {client} was answered what it did not ask");
            self.find_answer(AuditProperty::I6, client, reply, text);
            return;
        };
        let (after, executed) = (sent.after, sent.executed.clone());
        if reply.op <= after {
            let text = format!(
                "request {} of client {client} took op {}, though op {after} was acknowledged \
                 before it was sent",
                reply.request, reply.op
            );
            self.find_answer(AuditProperty::I6, client, reply, text);
        }
        if self.lost_track {
            return;
        }
        let Some(executed) = executed
            .filter(|executed| executed.op == reply.op && executed.checksum == reply.checksum)
        else {
            let text = format!(
                "request {} of client {client} was answered for op {}, which is another's",
                reply.request, reply.op
            );
            self.find_answer(AuditProperty::I6, client, reply, text);
            return;
        };
        if let Some(difference) = executed.expected.difference(&reply.result) {
            let text = format!(
                "client {client} was answered at op {}: {difference}",
                reply.op
            );
            self.find_answer(AuditProperty::I6, client, reply, text);
        } else if let Some((action, outcome)) = Outcome::of(&executed.body, &reply.result) {
            self.coverage.count(action, outcome);
        }
        if let Some(end) = executed.expected.messages_sent_up_to() {
            self.acknowledged_messages = self.acknowledged_messages.max(end);
        }
    }

    /// A client gave up on its session: what it had sent may or may not be executed.
    pub fn on_session_lost(&mut self, client: ClientId) {
        let mut settled = Vec::new();
        for (key, sent) in &mut self.under_way {
            if key.0 == client {
                sent.abandoned = true;
                if sent.executed.is_some() {
                    settled.push(*key);
                }
            }
        }
        for key in settled {
            self.under_way.remove(&key);
        }
    }

    fn find(&mut self, property: AuditProperty, header: &Header, text: String) {
        self.keep(AuditFinding {
            property,
            op: header.op,
            client: Some(header.client),
            text,
        });
    }

    fn find_answer(
        &mut self,
        property: AuditProperty,
        client: ClientId,
        reply: &Reply,
        text: String,
    ) {
        self.keep(AuditFinding {
            property,
            op: reply.op,
            client: Some(client),
            text,
        });
    }

    pub(super) fn keep(&mut self, finding: AuditFinding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// The findings since the last call.
    pub fn take_findings(&mut self) -> Vec<AuditFinding> {
        std::mem::take(&mut self.findings)
    }

    /// Whether nothing is kept that grows with what was asked.
    #[cfg(test)]
    pub(super) fn is_small(&self) -> bool {
        let clients = usize::from(crate::ids::CLIENTS_MAX);
        self.under_way.len() <= 2 * clients && self.registers.len() <= clients
    }

    /// What an onlooker knows of the partition, for the generator; nothing of another group.
    #[must_use]
    pub fn known(&self) -> Known {
        let model = self.reference.partition();
        model.map(PartitionModel::known).unwrap_or_default()
    }

    /// The last op the reference executed.
    #[must_use]
    pub fn executed(&self) -> Op {
        self.executed
    }

    /// The highest op whose answer a client accepted.
    #[must_use]
    pub fn acknowledged(&self) -> Op {
        self.acknowledged
    }

    /// What the accepted answers came to.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Answers held against the reference, so that a run in which nobody asked anything shows.
    #[must_use]
    pub fn answers_compared(&self) -> u64 {
        self.answers_compared
    }
}

/// Where a group that acknowledges from memory may have lost all above an op, and says so (protocol
/// section 9): its log goes on as if that had never been, and nobody can tell what clients saw.
fn cut_at_risk(note: &Note) -> Option<Op> {
    match note {
        Note::Merged {
            outcome: MergeOutcome::ChosenAtRisk { head, .. },
            ..
        } => Some(*head),
        _ => None,
    }
}

#[cfg(test)]
#[path = "auditor_tests.rs"]
mod tests;
