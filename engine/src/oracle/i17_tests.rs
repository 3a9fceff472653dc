//! Tests of the first half of I17 on synthetic votes.

use super::super::testing::{World, chain, fork};
use super::*;
use crate::vsr::message::Message;

/// A vote with one testimony for each of the first ops.
fn vote(log_view: u32, votes: &[Vote], forked: bool) -> Rc<DoViewChange> {
    let headers = chain(votes.len() as u64);
    let entries: Vec<DvcEntry> = headers
        .into_iter()
        .zip(votes)
        .map(|(header, &vote)| DvcEntry {
            op: header.op,
            header: Some(if forked {
                fork(&header).into()
            } else {
                header.into()
            }),
            vote,
        })
        .collect();
    Rc::new(DoViewChange {
        log_view: View(log_view),
        commit_max: Op(0),
        head: Op(entries.len() as u64),
        entries,
        uncertain: false,
        trusted: true,
        checkpoint: Op(0),
    })
}

fn bring(world: &mut World, replica: u8, vote: &Rc<DoViewChange>) {
    world.send(replica, 1, Message::DoViewChange(Rc::clone(vote)));
}

#[test]
fn cutting_an_op_that_nobody_can_read_is_a_violation() {
    let mut world = World::new(3);
    bring(
        &mut world,
        1,
        &vote(0, &[Vote::Present, Vote::Abstain], false),
    );
    bring(&mut world, 2, &vote(0, &[Vote::Present], false));
    world.start_view(1, &chain(1), 0);
    assert_eq!(world.found(Property::I17), 1);
    assert_eq!(
        world.kept()[0].text,
        "1 started view 1 without op 2, though only 1 of 2 that it takes can say it was never acknowledged: 2"
    );
}

#[test]
fn cutting_an_op_that_a_quorum_never_had_is_right() {
    let mut world = World::new(3);
    bring(&mut world, 1, &vote(0, &[Vote::Present, Vote::Nack], false));
    bring(&mut world, 2, &vote(0, &[Vote::Present], false));
    world.start_view(1, &chain(1), 0);
    assert_eq!(world.found(Property::I17), 0);
    assert_eq!(world.compared(Property::I17), 1);
}

#[test]
fn a_set_of_votes_without_the_damaged_log_may_decide_alone() {
    let mut world = World::new(3);
    bring(
        &mut world,
        0,
        &vote(1, &[Vote::Present, Vote::Abstain], true),
    );
    bring(&mut world, 1, &vote(0, &[Vote::Present], false));
    bring(&mut world, 2, &vote(0, &[Vote::Present], false));
    world.start_view(1, &chain(1), 0);
    assert_eq!(world.found(Property::I17), 0);
}

#[test]
fn a_later_vote_that_denies_counts() {
    let mut world = World::new(3);
    bring(
        &mut world,
        1,
        &vote(0, &[Vote::Present, Vote::Abstain], false),
    );
    bring(&mut world, 1, &vote(0, &[Vote::Present, Vote::Nack], false));
    bring(&mut world, 2, &vote(0, &[Vote::Present], false));
    world.start_view(1, &chain(1), 0);
    assert_eq!(world.found(Property::I17), 0);
}

#[test]
fn losing_a_copy_is_not_this_propertys_business() {
    let mut world = World::new(3);
    bring(
        &mut world,
        1,
        &vote(0, &[Vote::Present, Vote::Present], false),
    );
    bring(&mut world, 2, &vote(0, &[Vote::Present], false));
    world.start_view(1, &chain(1), 0);
    assert_eq!(world.found(Property::I17), 0);
}

#[test]
fn a_primary_that_nobody_heard_is_not_judged() {
    let mut world = World::new(3);
    bring(
        &mut world,
        0,
        &vote(0, &[Vote::Present, Vote::Abstain], false),
    );
    bring(&mut world, 2, &vote(0, &[Vote::Present], false));
    world.start_view(1, &chain(1), 0);
    assert_eq!(world.compared(Property::I17), 0);
}

#[test]
fn votes_of_an_older_view_are_forgotten() {
    let mut world = World::new(3);
    let abstains = vote(0, &[Vote::Present, Vote::Abstain], false);
    bring(&mut world, 1, &abstains);
    world.send(
        1,
        4,
        Message::DoViewChange(vote(0, &[Vote::Present], false)),
    );
    world.send(
        2,
        4,
        Message::DoViewChange(vote(0, &[Vote::Present], false)),
    );
    world.start_view(4, &chain(1), 0);
    assert_eq!(world.found(Property::I17), 0);
}
