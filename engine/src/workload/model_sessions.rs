//! Who has a session and how far its requests have come, written again in the plainest way (protocol
//! section 8). Must never share code with the protocol's session table.

use crate::ids::{ClientId, Op, RequestNumber};

/// Who has a session, and how far its requests have come (protocol section 8).
#[derive(Debug)]
pub(super) struct Sessions {
    max: u32,
    open: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    client: ClientId,
    epoch: Op,
    highest: RequestNumber,
    last_commit: Op,
}

/// Whether a committed request may have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Good,
    /// The client has no session, or the request names an older one.
    Dead,
    /// A request of this number, or a higher one, had its effect.
    Repeated,
}

impl Sessions {
    pub(super) fn new(max: u32) -> Self {
        let open = Vec::new();
        Self { max, open }
    }

    /// Opens a session. In a full table the one that committed nothing for longest makes room.
    pub(super) fn register(&mut self, client: ClientId, epoch: Op) {
        self.open.retain(|session| session.client != client);
        let full = self.open.len() as u64 >= u64::from(self.max.max(1));
        if full && let Some(oldest) = self.open.iter().map(|s| s.last_commit).min() {
            self.open.retain(|session| session.last_commit != oldest);
        }
        self.open.push(Session {
            client,
            epoch,
            highest: RequestNumber(0),
            last_commit: epoch,
        });
    }

    pub(super) fn standing(&self, client: ClientId, of: Op, request: RequestNumber) -> Standing {
        match self.open.iter().find(|session| session.client == client) {
            Some(session) if session.epoch == of && request > session.highest => Standing::Good,
            Some(session) if session.epoch == of => Standing::Repeated,
            Some(_) | None => Standing::Dead,
        }
    }

    /// Notes that a request had its effect.
    pub(super) fn executed(&mut self, client: ClientId, of: Op, request: RequestNumber, op: Op) {
        let is_its = |session: &&mut Session| session.client == client && session.epoch == of;
        if let Some(session) = self.open.iter_mut().find(is_its) {
            session.highest = session.highest.max(request);
            session.last_commit = op;
        }
    }
}
