//! Adopting a StartView, driven by hand (protocol section 5).

use std::rc::Rc;

use crate::ids::{Incarnation, Op, View};
use crate::vsr::io::Status;
use crate::vsr::log::SlotState;
use crate::vsr::message::{Header, Message, StartView};
use crate::vsr::note::Ignored;
use crate::vsr::testing::{Cluster, chain_after, entry_after, request};

const WAIT: u64 = 500;

/// Three replicas with ops 1 to 1 + `writes` committed everywhere.
fn three(writes: u64) -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.warm(writes);
    cluster
}

fn start_view(commit_max: u64, suffix: &[Rc<Header>]) -> Message {
    Message::StartView(Rc::new(StartView {
        commit_max: Op(commit_max),
        suffix: suffix.to_vec(),
        answers: Incarnation(0),
        checkpoint: Op(0),
    }))
}

fn header_at(cluster: &Cluster, r: u8, op: u64) -> Rc<Header> {
    Rc::clone(cluster.at(r).log().header(Op(op)).expect("is known"))
}

/// Headers of new ops after a replica's head, prepared in `view`.
fn headers_after(cluster: &Cluster, r: u8, op: u64, view: u32, length: u64) -> Vec<Rc<Header>> {
    let chain = chain_after(&header_at(cluster, r, op), view, length);
    chain
        .iter()
        .map(|prepare| Rc::clone(&prepare.header))
        .collect()
}

fn is_led_by(r: u8) -> impl Fn(&Cluster) -> bool {
    move |cluster| cluster.leader() == Some(r)
}

#[test]
fn adopting_keeps_what_the_suffix_names_and_makes_holes_of_what_it_contradicts() {
    let mut cluster = three(2);
    cluster.isolate(2);
    let ours = headers_after(&cluster, 2, 3, 0, 2);
    for prepare in chain_after(&header_at(&cluster, 2, 3), 0, 2) {
        let commit_max = Op(3);
        cluster.inject(
            0,
            2,
            0,
            Message::Prepare {
                prepare,
                commit_max,
            },
        );
    }
    cluster.settle();
    let other = entry_after(&ours[0], 1, "other");
    let suffix = [
        header_at(&cluster, 2, 3),
        Rc::clone(&ours[0]),
        Rc::clone(&other.header),
    ];
    cluster.inject(1, 2, 1, start_view(3, &suffix));
    let log = cluster.at(2).log();
    assert_eq!(log.state(Op(4)), SlotState::Held { synced: true });
    assert_eq!(log.state(Op(5)), SlotState::Known);
    assert_eq!(log.identity(Op(5)), Some(other.header.checksum));
    cluster.settle();
    let disk = cluster.disk_superblock(2);
    assert_eq!((disk.view, disk.log_view), (View(1), View(1)));
    assert_eq!(disk.suffix.as_ref(), suffix);
    assert_eq!(
        cluster.acks_sent(2).last(),
        Some(&4),
        "what it holds synced"
    );
}

#[test]
fn adopting_drops_older_leftovers_above_the_head() {
    let mut cluster = three(1);
    for prepare in chain_after(&header_at(&cluster, 2, 2), 0, 3) {
        let commit_max = Op(2);
        cluster.inject(
            0,
            2,
            0,
            Message::Prepare {
                prepare,
                commit_max,
            },
        );
    }
    assert_eq!(cluster.at(2).log().head(), Op(5));
    let suffix = [header_at(&cluster, 2, 2)];
    cluster.inject(1, 2, 1, start_view(2, &suffix));
    assert_eq!(cluster.at(2).log().head(), Op(2));
}

#[test]
fn what_is_not_proven_is_never_executed() {
    // A15: the old primary's private prepare lies below the suffix it adopts.
    let mut cluster = three(1);
    cluster.isolate(0);
    let stale = cluster.write(0, 0);
    assert!(cluster.run_until(3 * WAIT, is_led_by(1)));
    cluster.open(1, 4);
    for number in 1..=3 {
        cluster.ask(1, &request(4, Op(3), number, "new"));
        cluster.settle();
    }
    cluster.run(50);
    assert_eq!(cluster.at(1).commit_max(), Op(6));
    let suffix = [header_at(&cluster, 1, 6)];
    cluster.inject(1, 0, 1, start_view(6, &suffix));
    cluster.settle();
    let held = cluster.at(0).log().prepare(Op(3)).is_some();
    assert!(held, "still there, but nothing vouches for it");
    assert_eq!(cluster.at(0).commit_max(), Op(6));
    assert_eq!(cluster.at(0).commit_min(), Op(2));
    cluster.heal();
    cluster.run(300);
    assert_eq!(cluster.at(0).commit_min(), Op(6));
    assert_eq!(cluster.replies(&stale), 0);
    cluster.assert_one_log();
}

#[test]
fn an_old_start_view_does_not_rewind_a_replica() {
    // A41.
    let mut cluster = three(1);
    cluster.inject(1, 2, 3, Message::StartViewChange);
    cluster.settle();
    let view = cluster.at(2).view();
    let suffix = [header_at(&cluster, 2, 1)];
    cluster.inject(1, 2, 1, start_view(1, &suffix));
    assert_eq!(cluster.at(2).view(), view);
    assert_eq!(cluster.at(2).log().head(), Op(2));
    let older = Ignored::OlderView {
        view: View(1),
        ours: view,
    };
    assert_eq!(cluster.ignored(2).last(), Some(&older));
}

#[test]
fn a_start_view_comes_from_the_primary_of_its_view_alone() {
    let mut cluster = three(1);
    let suffix = [header_at(&cluster, 2, 2)];
    cluster.inject(0, 2, 1, start_view(2, &suffix));
    assert_eq!(cluster.at(2).view(), View(0));
    assert_eq!(cluster.ignored(2), [Ignored::NotFromPrimary]);
}

#[test]
fn a_start_view_of_a_view_followed_already_is_taken_only_if_its_head_is_higher() {
    let mut cluster = three(2);
    let suffix = [header_at(&cluster, 2, 1), header_at(&cluster, 2, 2)];
    cluster.inject(0, 2, 0, start_view(1, &suffix));
    assert_eq!(cluster.at(2).log().head(), Op(3));
    let nothing = Ignored::NothingNew {
        head: Op(2),
        ours: Op(3),
    };
    assert_eq!(cluster.ignored(2), [nothing]);
    let mut longer = vec![header_at(&cluster, 2, 3)];
    longer.extend(headers_after(&cluster, 2, 3, 0, 1));
    cluster.inject(0, 2, 0, start_view(3, &longer));
    assert_eq!(cluster.at(2).log().head(), Op(4));
    assert_eq!(cluster.at(2).status(), Status::Normal);
}

#[test]
fn a_late_start_view_below_a_commit_point_heard_since_breaks_no_rule() {
    // The backup lags at op 2, asks, hears that op 5 is committed, and only then gets an answer that
    // was sent when the head was 3.
    let mut cluster = three(1);
    cluster.isolate(2);
    for _ in 0..3 {
        cluster.write(0, 0);
        cluster.settle();
    }
    let suffix = [header_at(&cluster, 0, 2), header_at(&cluster, 0, 3)];
    cluster.inject(0, 2, 0, Message::Commit { commit_max: Op(5) });
    assert_eq!(cluster.at(2).commit_max(), Op(5));
    cluster.inject(0, 2, 0, start_view(2, &suffix));
    assert!(!cluster.at(2).is_halted());
    cluster.heal();
    cluster.run(300);
    assert_eq!(cluster.at(2).commit_min(), Op(5));
}

#[test]
fn an_adopter_acks_every_op_of_the_suffix_that_it_holds_synced() {
    // M54: it knows more committed than the new primary, which needs those acks to get there.
    let mut cluster = three(0);
    for _ in 0..4 {
        cluster.write(0, 0);
        cluster.settle();
    }
    assert_eq!(cluster.at(0).commit_max(), Op(5));
    assert_eq!(
        cluster.at(1).commit_max(),
        Op(4),
        "its heartbeat is still to come"
    );
    cluster.isolate(0);
    assert!(cluster.run_until(3 * WAIT, |cluster| cluster.at(1).log_view() == View(1)));
    let suffix: Vec<_> = (1..=5).map(|op| header_at(&cluster, 1, op)).collect();
    let before = cluster.acks_sent(0).len();
    cluster.inject(1, 0, 1, start_view(1, &suffix));
    cluster.settle();
    assert!(cluster.acks_sent(0)[before..].ends_with(&[2, 3, 4, 5]));
}
