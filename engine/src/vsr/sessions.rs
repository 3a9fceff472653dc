//! Client sessions of one group, kept from the log alone, so that every replica answers alike
//! (protocol section 8). Must never know a request that is not committed.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::digest::{checksum_bytes, mix};
use crate::ids::{Checksum, ClientId, Op, RequestNumber};
use crate::vsr::io::StateMachine;
use crate::vsr::message::{Header, Operation, Prepare, Rejection, Reply, Request};

#[path = "sessions_codec.rs"]
mod codec;

/// Replies kept for each session.
pub const REPLIES_KEPT: usize = 5;

#[derive(Debug)]
struct Session {
    epoch: Op,
    watermark: RequestNumber,
    commit_last: Op,
    replies: VecDeque<(Checksum, Rc<Reply>)>,
}

/// What the session table says of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// To be prepared.
    New,
    /// Executed before; this is the answer.
    Duplicate(Rc<Reply>),
    /// Refused for good.
    Rejected(Rejection),
    /// Its epoch is not executed here yet.
    Ahead,
}

/// What executing an entry came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The answer, or the eviction that every replica gives alike.
    pub answer: Result<Rc<Reply>, Rejection>,
    /// Whether it had an effect.
    pub effect: bool,
    /// The session that had to go for a new one.
    pub evicted: Option<(ClientId, Op)>,
}

/// The table.
#[derive(Debug)]
pub struct Sessions {
    sessions: BTreeMap<ClientId, Session>,
    sessions_max: u32,
    digest: u64,
}

impl Sessions {
    /// An empty table for at most `sessions_max` clients.
    #[must_use]
    pub fn new(sessions_max: u32) -> Self {
        Self {
            sessions: BTreeMap::new(),
            sessions_max,
            digest: 0,
        }
    }

    /// Judges a request before it is prepared, by what is executed up to `executed`.
    #[must_use]
    pub fn judge(&self, request: &Request, executed: Op) -> Verdict {
        if request.operation == Operation::Register {
            return Verdict::New;
        }
        // Its register may stand uncommitted in the log of a view that has just started.
        if request.session > executed {
            return Verdict::Ahead;
        }
        let Some(session) = self.sessions.get(&request.client) else {
            return Verdict::Rejected(Rejection::NoSession);
        };
        if request.session < session.epoch {
            return Verdict::Rejected(Rejection::SessionTooOld);
        }
        if request.session > session.epoch {
            return Verdict::Rejected(Rejection::NoSession);
        }
        if request.request > session.watermark {
            return Verdict::New;
        }
        let kept = session
            .replies
            .iter()
            .find(|(_, reply)| reply.request == request.request);
        match kept {
            None => Verdict::Rejected(Rejection::RequestTooOld),
            Some((body, _)) if *body != request.body_checksum => {
                Verdict::Rejected(Rejection::NumberReused)
            }
            Some((_, reply)) => Verdict::Duplicate(Rc::clone(reply)),
        }
    }

    /// Whether a committed entry is a request that took effect before, or is older than one that did.
    #[must_use]
    pub fn has_executed(&self, header: &Header) -> bool {
        header.operation == Operation::Machine
            && self.sessions.get(&header.client).is_some_and(|session| {
                session.epoch == header.session && header.request <= session.watermark
            })
    }

    /// Executes a committed entry: the session is checked again, since it may have gone or moved on
    /// between prepare and commit. `repeats`: a request takes effect even if it did before.
    pub fn execute(
        &mut self,
        prepare: &Prepare,
        repeats: bool,
        machine: &mut dyn StateMachine,
    ) -> Executed {
        let executed = match prepare.header.operation {
            Operation::Root => Executed {
                answer: Err(Rejection::NoSession),
                effect: false,
                evicted: None,
            },
            Operation::Register => self.register(prepare),
            Operation::Machine => self.run(prepare, repeats, machine),
        };
        let answer = match &executed.answer {
            Ok(reply) => checksum_bytes(&reply.result).0,
            Err(rejection) => *rejection as u64,
        };
        self.digest = mix(mix(self.digest, prepare.header.checksum.0), answer);
        executed
    }

    fn register(&mut self, prepare: &Prepare) -> Executed {
        let client = prepare.header.client;
        let is_known = self.sessions.contains_key(&client);
        let is_full = self.sessions.len() as u64 >= u64::from(self.sessions_max);
        let evicted = (is_full && !is_known).then(|| self.evict()).flatten();
        let epoch = prepare.header.op;
        let session = Session {
            epoch,
            watermark: RequestNumber(0),
            commit_last: epoch,
            replies: VecDeque::new(),
        };
        self.sessions.insert(client, session);
        Executed {
            answer: Ok(Rc::new(Reply {
                client,
                session: epoch,
                request: RequestNumber(0),
                op: epoch,
                checksum: prepare.header.checksum,
                result: Rc::from([]),
            })),
            effect: true,
            evicted,
        }
    }

    /// Drops the session whose last commit is lowest; ties cannot be, since an op has one client.
    fn evict(&mut self) -> Option<(ClientId, Op)> {
        let (&client, session) = self
            .sessions
            .iter()
            .min_by_key(|(_, session)| session.commit_last)?;
        let epoch = session.epoch;
        self.sessions.remove(&client);
        Some((client, epoch))
    }

    fn run(
        &mut self,
        prepare: &Prepare,
        repeats: bool,
        machine: &mut dyn StateMachine,
    ) -> Executed {
        let header = &prepare.header;
        let no_effect = |rejection| Executed {
            answer: Err(rejection),
            effect: false,
            evicted: None,
        };
        let Some(session) = self.sessions.get_mut(&header.client) else {
            return no_effect(Rejection::NoSession);
        };
        if session.epoch != header.session {
            return no_effect(Rejection::SessionTooOld);
        }
        if header.request <= session.watermark && !repeats {
            return no_effect(Rejection::RequestTooOld);
        }
        let reply = Rc::new(Reply {
            client: header.client,
            session: header.session,
            request: header.request,
            op: header.op,
            checksum: header.checksum,
            result: machine.apply(prepare),
        });
        session.watermark = session.watermark.max(header.request);
        session.commit_last = header.op;
        if session.replies.len() == REPLIES_KEPT {
            session.replies.pop_front();
        }
        session
            .replies
            .push_back((header.body_checksum, Rc::clone(&reply)));
        Executed {
            answer: Ok(reply),
            effect: true,
            evicted: None,
        }
    }

    /// A digest of everything executed through the table.
    #[must_use]
    pub fn digest(&self) -> Checksum {
        Checksum(self.digest)
    }

    /// Sessions as (client, epoch, watermark), by client.
    pub fn iter(&self) -> impl Iterator<Item = (ClientId, Op, RequestNumber)> + '_ {
        self.sessions
            .iter()
            .map(|(&client, session)| (client, session.epoch, session.watermark))
    }

    /// How many sessions are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
