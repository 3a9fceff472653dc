//! The session table as bytes and back, replies included: it is part of every snapshot, so that a
//! replica that was handed a state answers a repeated request as all others do (protocol section 8).
//! Must never write anything that differs between replicas that executed the same ops.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::{REPLIES_KEPT, Session, Sessions};
use crate::ids::{Checksum, ClientId, Op, RequestNumber};
use crate::vsr::io::Malformed;
use crate::vsr::message::Reply;

impl Sessions {
    /// The table as bytes.
    #[must_use]
    pub fn encode(&self) -> Rc<[u8]> {
        let mut out = Vec::new();
        put(&mut out, self.digest);
        for (client, session) in &self.sessions {
            put(&mut out, u64::from(client.0));
            put(&mut out, session.epoch.0);
            put(&mut out, session.watermark.0);
            put(&mut out, session.commit_last.0);
            put(&mut out, session.replies.len() as u64);
            for (body, reply) in &session.replies {
                put(&mut out, body.0);
                put(&mut out, reply.request.0);
                put(&mut out, reply.op.0);
                put(&mut out, reply.checksum.0);
                put(&mut out, reply.result.len() as u64);
                out.extend_from_slice(&reply.result);
            }
        }
        out.into()
    }

    /// The table that was written; of how many clients it may be stays as it is here.
    ///
    /// # Errors
    /// If the bytes are not exactly what [`Sessions::encode`] writes.
    pub fn decode(&self, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Input(bytes);
        let digest = input.word()?;
        let mut sessions = BTreeMap::new();
        while !input.0.is_empty() {
            let (client, session) = input.session()?;
            let ascends = sessions
                .last_key_value()
                .is_none_or(|(&last, _)| last < client);
            if !ascends {
                return Err(Malformed);
            }
            sessions.insert(client, session);
        }
        Ok(Self {
            sessions,
            sessions_max: self.sessions_max,
            digest,
        })
    }
}

fn put(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn word(&mut self) -> Result<u64, Malformed> {
        let (word, rest) = self.0.split_first_chunk::<8>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }

    fn bytes(&mut self) -> Result<Rc<[u8]>, Malformed> {
        let length = usize::try_from(self.word()?).map_err(|_| Malformed)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(Rc::from(bytes))
    }

    fn session(&mut self) -> Result<(ClientId, Session), Malformed> {
        let client = ClientId(u8::try_from(self.word()?).map_err(|_| Malformed)?);
        let mut session = Session {
            epoch: Op(self.word()?),
            watermark: RequestNumber(self.word()?),
            commit_last: Op(self.word()?),
            replies: VecDeque::new(),
        };
        let replies = usize::try_from(self.word()?).unwrap_or(usize::MAX);
        if replies > REPLIES_KEPT {
            return Err(Malformed);
        }
        for _ in 0..replies {
            let body = Checksum(self.word()?);
            let reply = Reply {
                client,
                session: session.epoch,
                request: RequestNumber(self.word()?),
                op: Op(self.word()?),
                checksum: Checksum(self.word()?),
                result: self.bytes()?,
            };
            session.replies.push_back((body, Rc::new(reply)));
        }
        Ok((client, session))
    }
}

#[cfg(test)]
#[path = "sessions_codec_tests.rs"]
mod tests;
