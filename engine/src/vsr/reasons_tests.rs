//! Every reason that the core can give is given somewhere. The names below match exhaustively, so
//! that a new reason does not compile until a test shows what produces it.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::ids::{Checksum, Incarnation, Op, Process, ReplicaId, View};
use crate::vsr::io::Input;
use crate::vsr::message::{
    DoViewChange, Frame, Header, Message, MessageKind, Rejection, StartView,
};
use crate::vsr::note::{Ignored, MergeOutcome, Note, RequestDropped};
use crate::vsr::testing::{Cluster, SMALL, chain_after, entry_after, laggard, request};

const IGNORED: [&str; 22] = [
    "older-view",
    "newer-view",
    "not-from-primary",
    "not-primary",
    "wrong-status",
    "foreign",
    "gap",
    "broken-chain",
    "other-identity",
    "duplicate",
    "stale-ack",
    "nothing-new",
    "other-incarnation",
    "recovering-not-pulled",
    "not-durable-yet",
    "already-chosen",
    "nothing-to-serve",
    "journal-full",
    "contained",
    "state-unasked",
    "other-part",
    "target-gone",
];

fn ignored(reason: Ignored) -> &'static str {
    match reason {
        Ignored::OlderView { .. } => IGNORED[0],
        Ignored::NewerView { .. } => IGNORED[1],
        Ignored::NotFromPrimary => IGNORED[2],
        Ignored::NotPrimary { .. } => IGNORED[3],
        Ignored::WrongStatus { .. } => IGNORED[4],
        Ignored::Foreign => IGNORED[5],
        Ignored::Gap { .. } => IGNORED[6],
        Ignored::BrokenChain { .. } => IGNORED[7],
        Ignored::OtherIdentity { .. } => IGNORED[8],
        Ignored::Duplicate { .. } => IGNORED[9],
        Ignored::StaleAck { .. } => IGNORED[10],
        Ignored::NothingNew { .. } => IGNORED[11],
        Ignored::OtherIncarnation { .. } => IGNORED[12],
        Ignored::RecoveringNotPulled => IGNORED[13],
        Ignored::NotDurableYet => IGNORED[14],
        Ignored::AlreadyChosen => IGNORED[15],
        Ignored::NothingToServe => IGNORED[16],
        Ignored::JournalFull { .. } => IGNORED[17],
        Ignored::Contained { .. } => IGNORED[18],
        Ignored::StateUnasked => IGNORED[19],
        Ignored::OtherPart { .. } => IGNORED[20],
        Ignored::TargetGone => IGNORED[21],
    }
}

const DROPPED: [&str; 6] = [
    "not-primary",
    "pipeline-full",
    "journal-full",
    "in-flight",
    "session-ahead",
    "pipeline-halved",
];

fn dropped(reason: RequestDropped) -> &'static str {
    match reason {
        RequestDropped::NotPrimary { .. } => DROPPED[0],
        RequestDropped::PipelineFull { .. } => DROPPED[1],
        RequestDropped::JournalFull { .. } => DROPPED[2],
        RequestDropped::InFlight { .. } => DROPPED[3],
        RequestDropped::SessionAhead => DROPPED[4],
        RequestDropped::PipelineHalved { .. } => DROPPED[5],
    }
}

const REJECTED: [&str; 4] = [
    "no-session",
    "session-too-old",
    "request-too-old",
    "number-reused",
];

fn rejected(reason: Rejection) -> &'static str {
    match reason {
        Rejection::NoSession => REJECTED[0],
        Rejection::SessionTooOld => REJECTED[1],
        Rejection::RequestTooOld => REJECTED[2],
        Rejection::NumberReused => REJECTED[3],
    }
}

const MERGED: [&str; 6] = [
    "awaiting-votes",
    "awaiting-copy",
    "undecidable",
    "chosen",
    "awaiting-trust",
    "chosen-at-risk",
];

fn merged(outcome: MergeOutcome) -> &'static str {
    match outcome {
        MergeOutcome::AwaitingVotes { .. } => MERGED[0],
        MergeOutcome::AwaitingCopy { .. } => MERGED[1],
        MergeOutcome::Undecidable { .. } => MERGED[2],
        MergeOutcome::Chosen { .. } => MERGED[3],
        MergeOutcome::AwaitingTrust { .. } => MERGED[4],
        MergeOutcome::ChosenAtRisk { .. } => MERGED[5],
    }
}

fn all(names: &[&'static str]) -> BTreeSet<&'static str> {
    names.iter().copied().collect()
}

fn three() -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.warm(2);
    cluster
}

fn header_at(cluster: &Cluster, r: u8, op: u64) -> Rc<Header> {
    Rc::clone(cluster.at(r).log().header(Op(op)).expect("is known"))
}

fn start_view(commit_max: u64, suffix: &[Rc<Header>]) -> Message {
    Message::StartView(Rc::new(StartView {
        commit_max: Op(commit_max),
        suffix: suffix.to_vec(),
        answers: Incarnation(0),
        checkpoint: Op(0),
    }))
}

fn offer(prepare: Rc<crate::vsr::message::Prepare>) -> Message {
    let commit_max = Op(0);
    Message::Prepare {
        prepare,
        commit_max,
    }
}

/// A backup is told everything that it must not act on.
fn at_a_backup() -> Vec<Ignored> {
    let mut cluster = three();
    let head = header_at(&cluster, 1, 3);
    let held = Rc::clone(cluster.at(1).log().prepare(Op(3)).unwrap());
    let chain = chain_after(&head, 0, 2);
    let fork = entry_after(&header_at(&cluster, 1, 2), 0, "fork");
    let unlinked = chain_after(&fork.header, 0, 1).remove(0);
    let commit_max = Op(0);
    for (from, view, message) in [
        (0, 3, Message::Commit { commit_max }),
        (2, 0, Message::Commit { commit_max }),
        (0, 0, offer(Rc::clone(&chain[1]))),
        (0, 0, offer(unlinked)),
        (0, 0, offer(fork)),
        (0, 0, offer(held)),
        (0, 0, start_view(3, &[head])),
        (2, 0, Message::RequestStartView { recovering: false }),
        (
            0,
            0,
            Message::RequestPrepares {
                from: Op(9),
                to: Op(9),
            },
        ),
        (1, 0, Message::StartViewChange),
    ] {
        cluster.inject(from, 1, view, message);
    }
    cluster.inject(2, 1, 2, Message::StartViewChange);
    cluster.inject(0, 1, 0, Message::Commit { commit_max });
    cluster.ignored(1)
}

/// A primary, a primary-elect and a recovering replica are told the rest.
fn elsewhere() -> Vec<Ignored> {
    let mut cluster = three();
    let (op, checksum) = (Op(9), Checksum(1));
    cluster.inject(1, 0, 0, Message::PrepareOk { op, checksum });
    cluster.crash(2);
    cluster.isolate(2);
    cluster.restart(2);
    cluster.settle();
    cluster.inject(1, 2, 4, Message::StartViewChange);
    let head = header_at(&cluster, 0, 3);
    cluster.inject(0, 2, 0, start_view(3, &[head]));
    cluster.inject(0, 2, 0, Message::Commit { commit_max: Op(0) });
    cluster.crash(0);
    cluster.heal();
    cluster.slow_disk(1);
    let elected = |cluster: &Cluster| cluster.at(1).view() == View(1);
    assert!(cluster.run_until(3_000, elected));
    cluster.finish_superblock(1);
    cluster.settle();
    cluster.run(200);
    cluster.fast_disk(1);
    let log = Rc::new(DoViewChange {
        log_view: View(0),
        commit_max: Op(0),
        head: Op(0),
        entries: Vec::new(),
        uncertain: false,
        trusted: true,
        checkpoint: Op(0),
    });
    let view = cluster.at(1).view().0;
    cluster.inject(2, 1, view, Message::DoViewChange(log));
    [cluster.ignored(0), cluster.ignored(1), cluster.ignored(2)].concat()
}

/// A backup whose disk is too slow for a checkpoint takes no more than its ring holds.
fn with_a_full_journal() -> Vec<Ignored> {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.slow_disk(1);
    for _ in 0..6 {
        cluster.write(0, 0);
        cluster.settle();
    }
    assert_eq!(cluster.at(1).log().head(), Op(6));
    cluster.ignored(1)
}

/// States and parts of them that nobody asked for, that are not what was offered, or gone.
fn of_states() -> Vec<Ignored> {
    let mut cluster = laggard(SMALL);
    cluster.block(0, 2, MessageKind::StateChunk);
    cluster.block(1, 2, MessageKind::StateChunk);
    assert!(cluster.run_until(200, |cluster| cluster.at(2).transfer_progress().is_some()));
    let snapshot = cluster.at(0).durable().checkpoint.snapshot;
    let bytes: Rc<[u8]> = Rc::from(*b"something else");
    for (snapshot, index) in [(snapshot, 0), (Checksum(7), 0)] {
        let bytes = Rc::clone(&bytes);
        let message = Message::StateChunk {
            snapshot,
            index,
            bytes,
        };
        cluster.inject(0, 2, 0, message);
    }
    let message = Message::RequestStateChunk {
        snapshot: Checksum(7),
        chunk_bytes: 8,
        first: 0,
        count: 1,
    };
    cluster.inject(2, 0, 0, message);
    let old = entry_after(&Header::root(crate::ids::GROUP_PARTITION_0), 0, "old");
    cluster.inject(0, 1, 0, offer(old));
    [cluster.ignored(0), cluster.ignored(1), cluster.ignored(2)].concat()
}

#[test]
fn every_reason_to_ignore_a_message_is_given() {
    let given: BTreeSet<&str> = at_a_backup()
        .into_iter()
        .chain(elsewhere())
        .chain(with_a_full_journal())
        .chain(of_states())
        .map(ignored)
        .collect();
    assert_eq!(given, all(&IGNORED));
}

#[test]
fn every_reason_to_drop_a_request_is_given() {
    let mut cluster = Cluster::with_knobs(3, SMALL);
    cluster.warm(0);
    cluster.ask(1, &request(0, Op(1), 1, "to a backup"));
    cluster.ask(0, &request(0, Op(9), 1, "of a session to come"));
    cluster.isolate(0);
    let first = cluster.write(0, 0);
    cluster.ask(0, &first);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.heal();
    cluster.run(100);
    let wanted = Op(1);
    let pinned = None;
    cluster.inject(2, 0, 0, Message::RequestStateTransfer { wanted, pinned });
    cluster.isolate(0);
    cluster.write(0, 0);
    cluster.write(0, 0);
    cluster.heal();
    cluster.run(500);
    cluster.slow_disk(0);
    for _ in 0..7 {
        cluster.write(0, 0);
        cluster.settle();
    }
    let given: BTreeSet<&str> = cluster.dropped().into_iter().map(dropped).collect();
    assert_eq!(given, all(&DROPPED));
}

#[test]
fn every_rejection_is_given_and_told_to_the_client() {
    let mut cluster = three();
    for _ in 0..6 {
        cluster.write(0, 0);
        cluster.settle();
    }
    let old = Op(1);
    cluster.ask(0, &request(0, old, 8, "another body"));
    cluster.ask(0, &request(0, old, 1, "write 1"));
    cluster.ask(0, &request(5, old, 1, "of nobody"));
    cluster.open(0, 0);
    cluster.ask(0, &request(0, old, 9, "of an older session"));
    let given: BTreeSet<&str> = cluster.rejections().into_iter().map(rejected).collect();
    assert_eq!(given, all(&REJECTED));
    let told = cluster
        .told
        .iter()
        .filter_map(|(_, _, message)| match message {
            Message::Eviction { rejection, .. } => Some(rejected(*rejection)),
            _ => None,
        });
    assert_eq!(told.collect::<BTreeSet<&str>>(), all(&REJECTED));
}

/// Brings replica 1, which leads view 1, logs that name op 4 and do not hold it.
fn merge_of_damaged_logs() -> Cluster {
    use crate::vsr::message::{DvcEntry, Vote};
    let mut cluster = three();
    cluster.isolate(1);
    cluster.inject(2, 1, 1, Message::StartViewChange);
    cluster.settle();
    let lost = chain_after(&header_at(&cluster, 1, 3), 0, 1);
    let entries = [header_at(&cluster, 1, 3), Rc::clone(&lost[0].header)];
    let votes = [Vote::Present, Vote::Abstain];
    let listed = entries.iter().zip(votes).map(|(header, vote)| DvcEntry {
        op: header.op,
        header: Some(Rc::clone(header)),
        vote,
    });
    let damaged = Rc::new(DoViewChange {
        log_view: View(0),
        commit_max: Op(3),
        head: Op(4),
        entries: listed.collect(),
        uncertain: false,
        trusted: true,
        checkpoint: Op(0),
    });
    for from in [2, 0] {
        cluster.inject(from, 1, 1, Message::DoViewChange(Rc::clone(&damaged)));
    }
    cluster
}

#[test]
fn every_outcome_of_a_merge_is_told() {
    let stuck = merge_of_damaged_logs();
    let mut lucky = three();
    lucky.crash(0);
    lucky.run(1_000);
    let mut forgetful = Cluster::replicated(3);
    forgetful.warm(1);
    for r in [0, 1] {
        forgetful.crash(r);
        forgetful.restart(r);
    }
    forgetful.run(1_500);
    let told = [stuck, lucky, forgetful].into_iter();
    let notes = told.flat_map(|cluster| cluster.notes);
    let given: BTreeSet<&str> = notes
        .filter_map(|(_, note)| match note {
            Note::Merged { outcome, .. } => Some(merged(outcome)),
            _ => None,
        })
        .collect();
    assert_eq!(given, all(&MERGED));
}

#[test]
fn a_frame_of_another_group_receiver_or_roster_is_foreign() {
    let mut cluster = three();
    let frame = |from: Process, to: Process, group: u64, message: Message| Frame {
        group: crate::ids::GroupId(group),
        from,
        to,
        view: View(9),
        incarnation: Incarnation(1),
        message,
    };
    let replica = |r: u8| Process::Replica(ReplicaId(r));
    let vote = Message::StartViewChange;
    let client = Process::Client(crate::ids::ClientId(0));
    let asked = Message::Request(request(0, Op(1), 5, "from a replica"));
    for foreign in [
        frame(replica(2), replica(1), 77, vote.clone()),
        frame(replica(2), replica(0), 1, vote.clone()),
        frame(replica(7), replica(1), 1, vote.clone()),
        frame(replica(1), replica(1), 1, vote.clone()),
        frame(client, replica(1), 1, vote),
        frame(replica(2), replica(1), 1, asked),
    ] {
        cluster.input(1, Input::Frame(foreign));
    }
    assert_eq!(cluster.ignored(1), [Ignored::Foreign; 6]);
    assert_eq!(cluster.at(1).view(), View(0));
}

#[test]
fn all_kinds_of_messages_have_a_name_of_their_own() {
    let names: BTreeSet<&str> = MessageKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), MessageKind::ALL.len());
}
