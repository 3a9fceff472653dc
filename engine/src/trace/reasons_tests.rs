//! One example of every note and reason, and how it reads. Blessed by `UPDATE_EXPECT=1`.

use std::rc::Rc;

use expect_test::expect;

use super::super::event::EventKind;
use super::super::text::tests::{CHECKSUM, check, noted, prepare};
use super::*;
use crate::ids::{ClientId, Op, RequestNumber};
use crate::vsr::io::Timer;
use crate::vsr::message::{MessageKind, Rejection};
use crate::vsr::mutation::Mutation;

fn notes(notes: impl IntoIterator<Item = Note>) -> Vec<EventKind> {
    notes.into_iter().map(|note| noted(1, note)).collect()
}

#[test]
fn every_refusal_reads_well() {
    let (view, ours) = (View(0), View(1));
    let life = Incarnation;
    let op = Op(9);
    let reasons = [
        Ignored::OlderView { view, ours },
        Ignored::NewerView {
            view: View(2),
            ours,
        },
        Ignored::NotFromPrimary,
        Ignored::NotPrimary {
            primary: ReplicaId(2),
        },
        Ignored::WrongStatus {
            status: Status::Normal,
        },
        Ignored::WrongStatus {
            status: Status::ViewChange,
        },
        Ignored::WrongStatus {
            status: Status::Recovering,
        },
        Ignored::Foreign,
        Ignored::Gap { op, head: Op(7) },
        Ignored::BrokenChain { op },
        Ignored::OtherIdentity { op },
        Ignored::Duplicate { op },
        Ignored::StaleAck { op },
        Ignored::NothingNew {
            head: Op(4),
            ours: Op(6),
        },
        Ignored::OtherIncarnation {
            answers: life(0),
            ours: life(3),
        },
        Ignored::OtherIncarnation {
            answers: life(2),
            ours: life(3),
        },
        Ignored::RecoveringNotPulled,
        Ignored::NotDurableYet,
        Ignored::AlreadyChosen,
        Ignored::NothingToServe,
    ];
    let mut list: Vec<Note> = reasons
        .into_iter()
        .map(|reason| Note::MessageIgnored {
            kind: MessageKind::StartView,
            from: Some(ReplicaId(0)),
            reason,
        })
        .collect();
    list.push(Note::MessageIgnored {
        kind: MessageKind::Request,
        from: None,
        reason: Ignored::Foreign,
    });
    let not_primary = |status| RequestDropped::NotPrimary {
        primary: ReplicaId(2),
        status,
    };
    let dropped = [
        not_primary(Status::Normal),
        not_primary(Status::ViewChange),
        not_primary(Status::Recovering),
        RequestDropped::PipelineFull { waiting: 8 },
        RequestDropped::PipelineFull { waiting: 1 },
        RequestDropped::JournalFull { slots: 32 },
        RequestDropped::InFlight { op: Op(7) },
        RequestDropped::SessionAhead,
    ];
    let (client, request) = (ClientId(0), RequestNumber(3));
    list.extend(dropped.map(|reason| Note::RequestDropped {
        client,
        request,
        reason,
    }));
    let rejections = [
        Rejection::NoSession,
        Rejection::SessionTooOld,
        Rejection::RequestTooOld,
        Rejection::NumberReused,
    ];
    list.extend(rejections.map(|rejection| Note::RequestRejected {
        client,
        request,
        rejection,
    }));
    check(
        notes(list),
        &expect![[r#"
            Decision | 1 ignored 0's StartView: its view 0 is below my view 1
            Decision | 1 ignored 0's StartView: its view 2 is above my view 1, so I ask for that view's log first
            Decision | 1 ignored 0's StartView: only the primary of its view may say this
            Decision | 1 ignored 0's StartView: only the primary may act on it, and that is 2
            Decision | 1 ignored 0's StartView: I take part in my view as usual
            Decision | 1 ignored 0's StartView: I am in a view change
            Decision | 1 ignored 0's StartView: I restarted and still ask who leads
            Decision | 1 ignored 0's StartView: it is not of this cluster or group
            Decision | 1 ignored 0's StartView: its op 9 does not follow my head 7
            Decision | 1 ignored 0's StartView: its op 9 names another parent than the entry I have there
            Decision | 1 ignored 0's StartView: I know another entry at op 9
            Decision | 1 ignored 0's StartView: I hold op 9 already
            Decision | 1 ignored 0's StartView: op 9 does not wait for that ack
            Decision | 1 ignored 0's StartView: its head 4 is not above my head 6, and I have that view's log
            Decision | 1 ignored 0's StartView: it answers no question of mine, and I restarted: this is my life 3
            Decision | 1 ignored 0's StartView: it answers my life 2, and this is my life 3
            Decision | 1 ignored 0's StartView: I restarted and still ask who leads, so nobody pulls me into a view
            Decision | 1 ignored 0's StartView: what I would say to it is not on my disk yet
            Decision | 1 ignored 0's StartView: the log of this view is chosen already
            Decision | 1 ignored 0's StartView: I hold nothing of what it asks for
            Decision | 1 ignored a client's Request: it is not of this cluster or group
            Client | 1 did not take request 3 of client 0: 2 leads
            Client | 1 did not take request 3 of client 0: the view that 2 leads has not started
            Client | 1 did not take request 3 of client 0: I restarted and still ask who leads
            Client | 1 did not take request 3 of client 0: the pipeline is full, 8 prepares wait for a quorum
            Client | 1 did not take request 3 of client 0: the pipeline is full, 1 prepare waits for a quorum
            Client | 1 did not take request 3 of client 0: all 32 journal slots are taken, and none is free before a checkpoint
            Client | 1 did not take request 3 of client 0: it is prepared as op 7 already and waits for a quorum
            Client | 1 did not take request 3 of client 0: the op that opened its session is not executed here yet
            Client | 1 refused request 3 of client 0: it has no session here
            Client | 1 refused request 3 of client 0: a newer session of the same client exists
            Client | 1 refused request 3 of client 0: it is older than the replies that are kept
            Client | 1 refused request 3 of client 0: its number was used before, for another body
        "#]],
    );
}

#[test]
fn replication_reads_well() {
    let (op, checksum, client) = (Op(7), CHECKSUM, ClientId(0));
    let counted = |from, have| Note::AckCounted {
        op,
        from: ReplicaId(from),
        have,
        need: 2,
    };
    let filled = |repair| Note::Filled {
        op,
        checksum,
        repair,
    };
    let executed = |operation, effect| Note::Executed {
        prepare: prepare(operation),
        effect,
        digest: CHECKSUM,
    };
    let session = Op(1);
    check(
        notes([
            Note::CommitAdvanced { commit_max: op },
            Note::Prepared {
                op,
                checksum,
                client,
            },
            Note::Appended { op, checksum },
            filled(true),
            filled(false),
            Note::Journaled { op, checksum },
            Note::Acked {
                op,
                checksum,
                to: ReplicaId(0),
            },
            counted(1, 1),
            Note::CommitAdvanced { commit_max: op },
            counted(2, 2),
            Note::CommitAdvanced { commit_max: op },
            executed(Operation::Machine, true),
            executed(Operation::Machine, false),
            executed(Operation::Register, true),
            executed(Operation::Root, true),
            Note::ReplyRepeated {
                client,
                request: RequestNumber(3),
                op,
            },
            Note::SessionOpened { client, session },
            Note::SessionEvicted { client, session },
        ]),
        &expect![[r#"
            Replication | 1 committed op 7: two of three is a quorum
            Replication | 1 gave client 0's request its place in the log: op 7
            Replication | 1 appended op 7 to its log
            Repair | 1 has the body of op 7 now, by repair
            Replication | 1 has the body of op 7 now, by a Prepare
            Replication | 1 has op 7 on disk, prepare and header
            Replication | 1 acknowledged op 7 to 0: it is on disk, and the disk knows every op before it
            Replication | 1 counted its own copy of op 7: 1 of 2 hold it
            Replication | 1 committed op 7: two of three is a quorum
            Replication | 1 counted 2's ack of op 7: 2 of 2 hold it
            Replication | 1 committed op 7: replicas 1 and 2 hold it, two of three is a quorum
            Replication | 1 executed op 7: request 3 of client 0
            Replication | 1 executed op 7 without effect: request 3 of client 0 came a second time or under a dead session
            Replication | 1 executed op 7: client 0 registers
            Replication | 1 executed op 7: the root
            Client | 1 sent client 0 the reply to request 3 again: it was executed as op 7 and is not executed twice
            Client | 1 opened session 1 of client 0
            Client | 1 dropped session 1 of client 0: the table is full and it committed longest ago
        "#]],
    );
}

#[test]
fn view_changes_read_well() {
    let (view, op, head) = (View(1), Op(7), Op(7));
    let leave = |cause| Note::LeaveVoted {
        view: View(0),
        cause,
    };
    let enter = |cause| Note::ViewEntered {
        from: View(0),
        view,
        cause,
    };
    let merged = |outcome| Note::Merged { view, outcome };
    let decided = |kept, own| Note::OpDecided {
        op,
        kept,
        copies: 1,
        nacks: if kept { 1 } else { 2 },
        own,
    };
    let normal = |primary| Note::BecameNormal {
        view,
        head,
        primary,
    };
    check(
        notes([
            leave(LeaveCause::PrimarySilent { ticks: 500 }),
            leave(LeaveCause::ViewChangeTooLong { ticks: 500 }),
            leave(LeaveCause::PrimaryRestarted),
            leave(LeaveCause::NothingCommits { ticks: 1_000 }),
            leave(LeaveCause::ProbesUnanswered { attempts: 5 }),
            Note::VoteWithdrawn { view: View(0) },
            Note::LeaveCounted {
                view: View(0),
                from: ReplicaId(2),
                have: 2,
                need: 2,
            },
            enter(EnterCause::Votes { have: 2, need: 2 }),
            enter(EnterCause::Pulled {
                by: ReplicaId(2),
                kind: MessageKind::DoViewChange,
            }),
            merged(MergeOutcome::AwaitingVotes { have: 1, need: 2 }),
            merged(MergeOutcome::AwaitingCopy {
                op,
                nacks: 1,
                need: 2,
            }),
            merged(MergeOutcome::Undecidable { op }),
            merged(MergeOutcome::Chosen {
                head,
                commit_max: Op(5),
            }),
            merged(MergeOutcome::AwaitingTrust {
                trusted: 1,
                need: 2,
            }),
            merged(MergeOutcome::ChosenAtRisk {
                head,
                commit_max: Op(5),
            }),
            Note::TrustRegained { head },
            decided(true, Vote::Present),
            decided(false, Vote::Nack),
            decided(true, Vote::Abstain),
            Note::ViewStarted {
                view,
                head,
                commit_max: Op(5),
                suffix: Rc::from([]),
            },
            normal(true),
            normal(false),
            Note::LogAdopted {
                view,
                head_before: Op(9),
                head,
            },
            Note::EntryDropped {
                op,
                checksum: CHECKSUM,
                view: View(0),
            },
            Note::Abdicated { view, op },
        ]),
        &expect![[r#"
            ViewChange | 1 voted to leave view 0: heard nothing from 0 for 500 ticks
            ViewChange | 1 voted to leave view 0: it has not started for 500 ticks
            ViewChange | 1 voted to leave view 0: its primary 0 restarted and asks who leads
            ViewChange | 1 voted to leave view 0: what it prepared has found no quorum for 1000 ticks
            ViewChange | 1 voted to leave view 0: nobody answered 5 probes
            ViewChange | 1 took back its vote to leave view 0: 0 was heard
            ViewChange | 1 counted 2's vote to leave view 0: 2 of 2
            ViewChange (big) | 1 left view 0 for view 1: 2 votes to leave, 2 make a quorum
            ViewChange (big) | 1 left view 0 for view 1: 2 is there already, says its DoViewChange
            ViewChange | 1 has 1 of the 2 logs that view 1 needs
            ViewChange | 1 cannot choose the log of view 1 yet: of op 7 no log brought has a copy, and 1 of the 2 that it takes say they never had it
            ViewChange | 1 cannot choose the log of view 1: all have answered, op 7 may have been committed, and nobody has a copy
            ViewChange | 1 chose the log of view 1: head 7, committed up to op 5
            ViewChange | 1 cannot choose the log of view 1 yet: 1 of those who answered lost nothing at a restart, it takes 2 of them or the answers of all
            ViewChange | 1 chose the longest log of view 1 since too few lost nothing: head 7, committed up to op 5; what was acknowledged above op 7 is lost
            ViewChange | 1 has the whole log of a started view up to op 7: what it lacks it never acknowledged
            ViewChange | 1 keeps op 7: 1 copy among the logs brought, 1 replica never journaled it; holds it itself
            ViewChange | 1 lets the log end before op 7: 2 replicas never journaled it, so no quorum acknowledged it; never had it itself
            ViewChange | 1 keeps op 7: 1 copy among the logs brought, 1 replica never journaled it; cannot tell itself
            ViewChange (big) | 1 started view 1, because 1 = view 1 mod 3: head 7, committed up to op 5
            ViewChange | 1 leads view 1, because 1 = view 1 mod 3; head 7
            ViewChange | 1 follows 1 in view 1; head 7
            ViewChange | 1 adopted 1's log of view 1: its head was 9 and is 7
            ViewChange | 1 dropped its op 7 of view 0: the new log has another entry there or ends before it
            ViewChange | 1 stopped its heartbeats in view 1: op 7 finds no quorum, so another should lead
        "#]],
    );
}

#[test]
fn recovery_and_repair_read_well() {
    let view = View(1);
    let to = ReplicaId(0);
    let (from, through) = (Op(3), Op(9));
    let booted = |unproven| Note::Booted {
        incarnation: Incarnation(2),
        view,
        log_view: View(0),
        head: Op(7),
        unproven,
    };
    let timers = [
        Timer::Heartbeat,
        Timer::HeartbeatWait,
        Timer::ViewChangeWait,
        Timer::StartViewChangeResend,
        Timer::DoViewChangeResend,
        Timer::PrepareResend,
        Timer::Abdicate,
        Timer::Probe,
        Timer::RepairRetry,
    ];
    let broken = |op| Note::RuleBroken {
        rule: "the head follows the commit point",
        op: Op(op),
    };
    let mut list = vec![
        booted(0),
        booted(1),
        booted(2),
        Note::Probed { view, attempts: 0 },
        Note::Probed { view, attempts: 2 },
        Note::ProbeAnswered { to, head: Op(7) },
        Note::Proven { from },
        Note::RepairRequested { to, from, through },
        Note::RepairServed {
            to,
            from,
            through,
            held: 6,
        },
        Note::SuperblockDurable {
            view,
            log_view: View(0),
            commit_max: Op(5),
            head: Op(7),
        },
        broken(7),
        broken(0),
    ];
    list.extend(timers.map(|timer| Note::TimerFired { timer }));
    list.push(Note::Mutated {
        mutation: Mutation::M03,
    });
    check(
        notes(list),
        &expect![[r#"
            Fault | 1 read its disk for life 2: view 1, the log of view 0, head 7
            Fault | 1 read its disk for life 2: view 1, the log of view 0, head 7; nothing vouches yet for one entry more
            Fault | 1 read its disk for life 2: view 1, the log of view 0, head 7; nothing vouches yet for 2 entries more
            ViewChange | 1 asked who leads; it knows view 1
            ViewChange | 1 asked who leads; it knows view 1, and 2 probes went unanswered
            ViewChange | 1 told 0 who leads and sent the log's head 7
            Repair | 1 proved its log from the head down to op 3: each names its parent
            Repair | 1 asked 0 for the bodies of ops 3 to 9
            Repair | 1 sends 0 the bodies it holds of ops 3 to 9: 6
            Decision | 1 has its superblock on disk: view 1, the log of view 0, head 7, committed up to op 5
            Violation (big) | 1 found its own rule broken at op 7 and halts: the head follows the commit point
            Violation (big) | 1 found its own rule broken and halts: the head follows the commit point
            Timer | 1 tells the others it is there: its heartbeat timer ran out
            Timer | 1 waits no longer for its primary: the heartbeat wait ran out
            Timer | 1 waits no longer for the view to start: the view-change wait ran out
            Timer | 1 sends its vote to leave again
            Timer | 1 sends its log again to whoever will lead
            Timer | 1 sends prepares again that lack acks
            Timer | 1 waits no longer for a commit: the abdication wait ran out
            Timer | 1 asks again who leads
            Timer | 1 asks again for bodies that did not come
            Fault | 1 followed mutation M03: One replica that never journaled it is enough
        "#]],
    );
}
