//! I5, exactly once: a request (client, session epoch, number) takes effect at most once in the log,
//! and an op that commits under a dead session takes none (protocol section 8; scenarios section C).
//! Numbers rise within a session, so a watermark decides. Registers are excluded: each opens a
//! session of its own. Checked once an op, when it is first executed. Exception: a group that lost
//! ops with the memory of a quorum is judged no more. Must never know the session table; it follows the log alone, and takes from the replicas only whom a full table evicted.

use super::violation::{Property, Replicas, Report};
use crate::ids::{ClientId, Op, ReplicaId, RequestNumber};
use crate::vsr::message::{Header, Operation};

/// A client's newest session.
#[derive(Clone, Copy, Debug, Default)]
struct Session {
    /// Its epoch; zero where there was never one.
    epoch: Op,
    /// The highest number that took effect.
    request: RequestNumber,
    evicted: bool,
}

/// Sessions by client.
#[derive(Debug, Default)]
pub(super) struct ExactlyOnce {
    sessions: Vec<Session>,
    /// The group lost ops, as it may: their requests may take effect again, and nobody knows which.
    lost_track: bool,
}

impl ExactlyOnce {
    /// The group lost executed ops, as one may that acknowledges from memory, and said so.
    pub(super) fn lose_track(&mut self) {
        self.lost_track = true;
    }

    fn session(&mut self, client: ClientId) -> &mut Session {
        let place = usize::from(client.0);
        if self.sessions.len() <= place {
            self.sessions.resize(place + 1, Session::default());
        }
        &mut self.sessions[place]
    }

    /// A full table evicted a session.
    pub(super) fn evicted(&mut self, client: ClientId, epoch: Op) {
        let session = self.session(client);
        session.evicted |= session.epoch == epoch;
    }

    /// An op was executed for the first time.
    pub(super) fn appended(
        &mut self,
        header: &Header,
        effect: bool,
        replica: ReplicaId,
        report: &mut Report,
    ) {
        if !effect || self.lost_track {
            return;
        }
        let session = self.session(header.client);
        match header.operation {
            Operation::Root => return,
            Operation::Register => {
                *session = Session {
                    epoch: header.op,
                    ..Session::default()
                };
                return;
            }
            Operation::Machine => report.compared(Property::I5),
        }
        let (client, request, op) = (header.client, header.request, header.op);
        let text = if session.epoch != header.session || session.evicted {
            let state = match session.epoch {
                Op(0) => "never registered".to_string(),
                epoch if epoch == header.session => "was evicted".to_string(),
                epoch => format!("has session {epoch} by now"),
            };
            format!(
                "request {request} of client {client} took effect at op {op} under session {}, though the client {state}",
                header.session
            )
        } else if request <= session.request {
            format!(
                "request {request} of client {client} took effect at op {op}, after request {} of the same session had",
                session.request
            )
        } else {
            session.request = request;
            return;
        };
        report.violated(Property::I5, Some(op), Replicas::one(replica), text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, next};
    use super::*;
    use crate::vsr::note::Note;

    fn ask(world: &mut World, session: u64, request: u64, effect: bool) {
        let header = next(world.last.as_ref(), session, request);
        world.execute_with(0, &header, 0, effect);
        world.last = Some(header);
    }

    #[test]
    fn rising_numbers_with_gaps_hold() {
        let mut world = World::new(3);
        ask(&mut world, 0, 0, true);
        for request in [1, 2, 5] {
            ask(&mut world, 1, request, true);
        }
        ask(&mut world, 1, 5, false);
        assert_eq!(world.found(Property::I5), 0);
        assert_eq!(world.compared(Property::I5), 3);
    }

    #[test]
    fn a_request_that_takes_effect_twice_is_a_violation() {
        let mut world = World::new(3);
        ask(&mut world, 0, 0, true);
        ask(&mut world, 1, 1, true);
        ask(&mut world, 1, 1, true);
        assert_eq!(world.found(Property::I5), 1);
        assert!(world.kept()[0].text.contains("after request 1 of the same"));
    }

    #[test]
    fn an_effect_under_an_older_session_is_a_violation() {
        let mut world = World::new(3);
        ask(&mut world, 0, 0, true);
        ask(&mut world, 0, 0, true);
        ask(&mut world, 1, 1, true);
        assert!(world.kept()[0].text.contains("has session 2 by now"));
    }

    #[test]
    fn an_effect_under_an_evicted_session_is_a_violation_and_none_is_fine() {
        let mut world = World::new(3);
        ask(&mut world, 0, 0, true);
        world.note(
            0,
            Note::SessionEvicted {
                client: ClientId(0),
                session: Op(1),
            },
        );
        ask(&mut world, 1, 1, false);
        assert_eq!(world.found(Property::I5), 0);
        ask(&mut world, 1, 1, true);
        assert!(world.kept()[0].text.contains("was evicted"));
    }
}
