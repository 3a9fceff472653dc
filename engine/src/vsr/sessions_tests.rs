//! What the session table says and does (protocol section 8).

use std::rc::Rc;

use super::{Executed, REPLIES_KEPT, Sessions, Verdict};
use crate::digest::checksum_bytes;
use crate::ids::{Checksum, ClientId, GROUP_PARTITION_0, Op, RequestNumber};
use crate::vsr::message::{Header, Prepare, Rejection};
use crate::vsr::testing::{Echo, request};

/// A table with its machine, and the op that comes next.
struct Table {
    sessions: Sessions,
    machine: Echo,
    op: u64,
}

impl Table {
    fn new(sessions_max: u32) -> Self {
        Self {
            sessions: Sessions::new(sessions_max),
            machine: Echo::default(),
            op: 0,
        }
    }

    /// Executes the next op: a register where the session is zero.
    fn execute(&mut self, client: u8, session: Op, number: u64, body: &str) -> Executed {
        self.op += 1;
        let asked = request(client, session, number, body);
        let header = Header {
            op: Op(self.op),
            client: asked.client,
            session,
            request: asked.request,
            operation: asked.operation,
            body_checksum: asked.body_checksum,
            ..Header::root(GROUP_PARTITION_0)
        };
        let prepare = Prepare {
            header: Rc::new(header.sealed()),
            body: Rc::clone(&asked.body),
        };
        self.sessions.execute(&prepare, false, &mut self.machine)
    }

    fn register(&mut self, client: u8) -> Op {
        let executed = self.execute(client, Op(0), 0, "");
        executed.answer.expect("a register is answered").session
    }

    fn judge(&self, client: u8, session: Op, number: u64, body: &str) -> Verdict {
        let asked = request(client, session, number, body);
        self.sessions.judge(&asked, Op(self.op))
    }

    fn clients(&self) -> Vec<u8> {
        self.sessions.iter().map(|(client, ..)| client.0).collect()
    }
}

#[test]
fn the_op_of_the_register_is_the_session_epoch() {
    let mut table = Table::new(8);
    table.register(3);
    let epoch = table.register(5);
    assert_eq!(epoch, Op(2));
    let open: Vec<_> = table.sessions.iter().collect();
    assert_eq!(open[1], (ClientId(5), Op(2), RequestNumber(0)));
}

#[test]
fn a_duplicate_gets_its_cached_reply_and_is_not_executed_again() {
    let mut table = Table::new(8);
    let session = table.register(0);
    let first = table.execute(0, session, 1, "pay").answer.unwrap();
    assert_eq!(table.judge(0, session, 1, "pay"), Verdict::Duplicate(first));
    let again = table.execute(0, session, 1, "pay");
    assert_eq!(again.answer, Err(Rejection::RequestTooOld));
    assert!(!again.effect);
    assert_eq!(table.machine.applied, [Op(2)], "paid once");
}

#[test]
fn request_numbers_may_leave_gaps() {
    // A47: contiguity would wedge a client whose primary crashed.
    let mut table = Table::new(8);
    let session = table.register(0);
    assert_eq!(table.judge(0, session, 7, "b"), Verdict::New);
    assert!(table.execute(0, session, 7, "b").effect);
    assert_eq!(table.judge(0, session, 9, "c"), Verdict::New);
    let skipped = table.judge(0, session, 5, "a");
    assert_eq!(skipped, Verdict::Rejected(Rejection::RequestTooOld));
}

#[test]
fn a_number_used_again_for_another_body_is_refused() {
    let mut table = Table::new(8);
    let session = table.register(0);
    table.execute(0, session, 1, "pay ten");
    let reused = table.judge(0, session, 1, "pay twenty");
    assert_eq!(reused, Verdict::Rejected(Rejection::NumberReused));
}

#[test]
fn only_the_last_replies_are_kept_and_older_requests_are_refused() {
    let mut table = Table::new(8);
    let session = table.register(0);
    let last = REPLIES_KEPT as u64 + 1;
    for number in 1..=last {
        table.execute(0, session, number, "x");
    }
    let oldest = table.judge(0, session, 1, "x");
    assert_eq!(oldest, Verdict::Rejected(Rejection::RequestTooOld));
    for number in 2..=last {
        let Verdict::Duplicate(reply) = table.judge(0, session, number, "x") else {
            panic!("request {number} is still answered");
        };
        assert_eq!(reply.request, RequestNumber(number));
    }
}

#[test]
fn a_full_table_evicts_the_session_whose_last_commit_is_lowest() {
    let mut table = Table::new(3);
    let sessions = [0, 1, 2].map(|client| table.register(client));
    table.execute(0, sessions[0], 1, "x");
    let executed = table.execute(9, Op(0), 0, "");
    assert_eq!(executed.evicted, Some((ClientId(1), sessions[1])));
    assert_eq!(table.clients(), [0, 2, 9]);
    let executed = table.execute(8, Op(0), 0, "");
    assert_eq!(executed.evicted, Some((ClientId(2), sessions[2])));
    let executed = table.execute(7, Op(0), 0, "");
    assert_eq!(executed.evicted, Some((ClientId(0), sessions[0])));
    let rejected = table.judge(1, sessions[1], 1, "x");
    assert_eq!(rejected, Verdict::Rejected(Rejection::NoSession));
}

#[test]
fn registering_again_replaces_the_session_and_evicts_nobody() {
    let mut table = Table::new(2);
    let old = table.register(0);
    table.register(1);
    let executed = table.execute(0, Op(0), 0, "");
    assert_eq!(executed.evicted, None);
    let new = executed.answer.unwrap().session;
    let rejected = table.judge(0, old, 1, "x");
    assert_eq!(rejected, Verdict::Rejected(Rejection::SessionTooOld));
    assert_eq!(table.judge(0, new, 1, "x"), Verdict::New);
}

#[test]
fn an_op_without_effect_does_not_save_its_session_from_eviction() {
    let mut table = Table::new(2);
    let sessions = [0, 1].map(|client| table.register(client));
    table.execute(0, sessions[0], 1, "x");
    table.execute(1, sessions[1], 1, "x");
    table.execute(0, sessions[0], 1, "x");
    let executed = table.execute(2, Op(0), 0, "");
    assert_eq!(executed.evicted, Some((ClientId(0), sessions[0])));
}

#[test]
fn the_session_is_checked_again_at_execution() {
    let mut table = Table::new(1);
    let gone = table.register(0);
    assert_eq!(table.judge(0, gone, 1, "x"), Verdict::New);
    let replaced = table.register(1);
    let executed = table.execute(0, gone, 1, "x");
    assert_eq!(executed.answer, Err(Rejection::NoSession));
    assert!(!executed.effect);
    table.register(1);
    let executed = table.execute(1, replaced, 1, "x");
    assert_eq!(executed.answer, Err(Rejection::SessionTooOld));
    assert!(!executed.effect);
    assert_eq!(table.machine.applied, []);
}

#[test]
fn a_session_whose_register_is_not_executed_yet_is_ahead_and_not_refused() {
    let mut table = Table::new(8);
    table.register(0);
    assert_eq!(table.judge(1, Op(2), 1, "x"), Verdict::Ahead);
    let session = table.register(1);
    assert_eq!(table.judge(1, session, 1, "x"), Verdict::New);
}

#[test]
fn an_epoch_that_no_register_of_this_client_opened_is_refused() {
    let mut table = Table::new(8);
    let session = table.register(0);
    table.execute(0, session, 1, "x");
    let made_up = table.judge(0, Op(2), 1, "x");
    assert_eq!(made_up, Verdict::Rejected(Rejection::NoSession));
    let nobody = table.judge(1, Op(1), 1, "x");
    assert_eq!(nobody, Verdict::Rejected(Rejection::NoSession));
}

#[test]
fn equal_entries_give_equal_digests_and_any_difference_shows() {
    let run = |body: &str, again: bool| -> Checksum {
        let mut table = Table::new(1);
        let session = table.register(0);
        table.execute(0, session, 1, body);
        if again {
            table.execute(0, session, 1, body);
        }
        table.sessions.digest()
    };
    assert_eq!(run("x", false), run("x", false));
    assert_ne!(run("x", false), run("y", false));
    assert_ne!(run("x", false), run("x", true), "refusals are part of it");
}

#[test]
fn a_reply_answers_for_the_entry_that_was_executed() {
    let mut table = Table::new(8);
    let session = table.register(0);
    let reply = table.execute(0, session, 4, "echo").answer.unwrap();
    assert_eq!(reply.op, Op(2));
    assert_eq!(reply.session, session);
    assert_eq!(reply.request, RequestNumber(4));
    assert_eq!(checksum_bytes(&reply.result), checksum_bytes(b"echo"));
}
