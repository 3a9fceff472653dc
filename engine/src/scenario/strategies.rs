//! Arbitrary Runs for property tests.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::ids::{ClientId, Op, PARTITIONS_MAX, Process, ReplicaId, RequestNumber, Tick, View};
use crate::sim::sets::{KindSet, ProcessSet};
use crate::vsr::message::MessageKind;
use crate::vsr::mutation::Mutation;

/// All strategies draw within this cluster, so that every Run is valid.
const REPLICAS: u8 = 5;
const CLIENTS: u8 = 3;

fn replica() -> impl Strategy<Value = ReplicaId> {
    (0..REPLICAS).prop_map(ReplicaId)
}

fn client() -> impl Strategy<Value = ClientId> {
    (0..CLIENTS).prop_map(ClientId)
}

fn process() -> impl Strategy<Value = Process> {
    prop_oneof![
        replica().prop_map(Process::Replica),
        client().prop_map(Process::Client),
    ]
}

fn processes() -> impl Strategy<Value = ProcessSet> {
    vec(process(), 1..4).prop_map(|members| members.into_iter().collect())
}

fn links() -> impl Strategy<Value = Links> {
    (processes(), processes())
        .prop_map(|(from, to)| Links { from, to })
        .prop_filter("a link", |links| links.iter().next().is_some())
}

fn sides() -> impl Strategy<Value = Links> {
    links().prop_filter("disjoint", |links| {
        !links.from.iter().any(|process| links.to.contains(process))
    })
}

fn packet() -> impl Strategy<Value = PacketName> {
    let two = (process(), process(), 1..=u64::from(u32::MAX));
    two.prop_map(|(from, to, number)| PacketName { from, to, number })
        .prop_filter("a link", |packet| {
            packet.from != packet.to
                && !matches!(
                    (packet.from, packet.to),
                    (Process::Client(_), Process::Client(_))
                )
        })
}

fn kinds() -> impl Strategy<Value = KindSet> {
    vec(0..MessageKind::ALL.len(), 1..14)
        .prop_map(|places| places.into_iter().map(|at| MessageKind::ALL[at]).collect())
}

fn request() -> impl Strategy<Value = (ClientId, RequestNumber)> {
    (client(), 1..=u64::from(u32::MAX)).prop_map(|(client, n)| (client, RequestNumber(n)))
}

fn view() -> impl Strategy<Value = View> {
    any::<u32>().prop_map(View)
}

fn op() -> impl Strategy<Value = Op> {
    (1..=u64::from(u32::MAX)).prop_map(Op)
}

fn replica_condition() -> impl Strategy<Value = ReplicaCondition> {
    let plain = prop_oneof![
        Just(ReplicaWhat::Up),
        Just(ReplicaWhat::Down),
        view().prop_map(ReplicaWhat::Voted),
        view().prop_map(ReplicaWhat::View),
        op().prop_map(ReplicaWhat::Head),
        op().prop_map(ReplicaWhat::Commit),
        (1..=8_u8).prop_map(ReplicaWhat::Acks),
        request().prop_map(|(client, n)| ReplicaWhat::Executed(client, n)),
    ];
    let status = prop_oneof![
        Just(ReplicaWhat::Primary),
        Just(ReplicaWhat::Normal),
        Just(ReplicaWhat::ViewChange),
        Just(ReplicaWhat::Recovering),
    ];
    prop_oneof![
        plain.prop_map(|what| ReplicaCondition {
            what,
            in_view: None
        }),
        (status, option::of(view())).prop_map(|(what, in_view)| ReplicaCondition { what, in_view }),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let replicas = vec(replica(), 0..3).prop_map(|members| {
        members
            .into_iter()
            .map(Process::Replica)
            .collect::<ProcessSet>()
    });
    prop_oneof![
        Just(Condition::Primary),
        Just(Condition::NoPrimary),
        view().prop_map(Condition::View),
        Just(Condition::NewView),
        Just(Condition::Reply),
        (1..=u64::from(u32::MAX)).prop_map(Condition::Replies),
        request().prop_map(|(client, n)| Condition::Replied(client, n)),
        request().prop_map(|(client, n)| Condition::Executed(client, n)),
        (1..=8_u8).prop_map(Condition::Acks),
        Just(Condition::Commit),
        op().prop_map(Condition::CommitAt),
        replicas.prop_map(Condition::SameLog),
        option::of(0..=18_u8).prop_map(Condition::Violation),
        (replica(), replica_condition())
            .prop_map(|(replica, what)| Condition::Replica(replica, what)),
    ]
}

fn setting_value() -> impl Strategy<Value = (Setting, u32)> {
    (0..Setting::ALL.len(), any::<u32>()).prop_map(|(place, draw)| {
        let setting = Setting::ALL[place];
        let high = (0..21).rev().map(|bit| 1_u32 << bit);
        let value = high
            .map(|size| draw % size)
            .find(|&value| setting.check(value).is_ok());
        (
            setting,
            value.unwrap_or_else(|| setting.read(&Run::default())),
        )
    })
}

fn verb() -> impl Strategy<Value = Verb> {
    let ticks = || 0..=10_000_000_u32;
    let set = setting_value().prop_filter("changes while running", |(setting, _)| {
        setting.changes_while_running()
    });
    prop_oneof![
        replica().prop_map(Verb::Crash),
        replica().prop_map(Verb::Restart),
        replica().prop_map(Verb::Pause),
        replica().prop_map(Verb::Resume),
        sides().prop_map(Verb::Cut),
        sides().prop_map(Verb::Mute),
        sides().prop_map(Verb::Join),
        (links(), ticks()).prop_map(|(links, ticks)| Verb::Clog(links, ticks)),
        (links(), ticks()).prop_map(|(links, ticks)| Verb::Delay(links, ticks)),
        (links(), kinds()).prop_map(|(links, kinds)| Verb::Filter(links, kinds)),
        links().prop_map(|links| Verb::Filter(links, KindSet::default())),
        (links(), kinds()).prop_map(|(links, kinds)| Verb::Hold(links, kinds)),
        links().prop_map(Verb::Release),
        packet().prop_map(Verb::Drop),
        packet().prop_map(Verb::Dup),
        packet().prop_map(Verb::Deliver),
        Just(Verb::Heal),
        (replica(), op(), 0..3_usize).prop_map(|(at, op, part)| Verb::Corrupt(
            at,
            op,
            Part::ALL[part]
        )),
        (replica(), op()).prop_map(|(at, op)| Verb::Punch(at, op)),
        (replica(), op(), op())
            .prop_filter("another op", |(_, op, to)| op != to)
            .prop_map(|(at, op, to)| Verb::Misdirect(at, op, to)),
        replica().prop_map(Verb::Tear),
        (replica(), any::<bool>()).prop_map(|(at, lies)| Verb::Lie(at, lies)),
        (replica(), 1..=1_000_u32).prop_map(|(at, factor)| Verb::Slow(at, factor)),
        (replica(), -86_400_000..=86_400_000, -100_000..=100_000).prop_map(
            |(at, offset_ms, drift_ppm)| {
                let skew = Skew {
                    offset_ms,
                    drift_ppm,
                };
                Verb::Skew(at, skew)
            }
        ),
        (client(), option::of(replica())).prop_map(|(client, to)| Verb::Write(client, to)),
        (client(), option::of(replica())).prop_map(|(client, to)| Verb::Read(client, to)),
        client().prop_map(Verb::Create),
        client().prop_map(Verb::Delete),
        (1..=1_000_u32).prop_map(Verb::Warm),
        (0..=MILLION).prop_map(Verb::Load),
        set.prop_map(|(setting, value)| Verb::Set(setting, value)),
        (0..4_usize).prop_map(|place| Verb::Profile(Profile::ALL[place])),
        Just(Verb::Settle),
        (0..Mutation::ALL.len(), any::<bool>())
            .prop_map(|(place, on)| Verb::Mutate(Mutation::ALL[place], on)),
        (condition(), option::of(ticks())).prop_map(|(what, ticks)| Verb::Expect(what, ticks)),
    ]
}

fn group() -> impl Strategy<Value = Option<GroupName>> {
    let partition = (0..=999_u16).prop_map(GroupName::Partition);
    option::of(prop_oneof![Just(GroupName::Metadata), partition])
}

pub(super) fn awaited() -> impl Strategy<Value = Awaited> {
    (condition(), group()).prop_map(|(condition, group)| Awaited { condition, group })
}

fn action() -> impl Strategy<Value = Action> {
    (verb(), group()).prop_map(|(verb, group)| Action {
        verb,
        group: group.filter(|_| verb.takes_group()),
    })
}

pub(super) fn story_action() -> impl Strategy<Value = StoryAction> {
    let trigger = prop_oneof![
        (0..=TICK_MAX).prop_map(|tick| Trigger::At(Tick(tick))),
        (0..=10_000_000_u32).prop_map(Trigger::After),
        awaited().prop_map(Trigger::When),
    ];
    (trigger, action()).prop_map(|(trigger, action)| StoryAction { trigger, action })
}

pub(super) fn timed_act() -> impl Strategy<Value = TimedAct> {
    (1..=TICK_MAX, action()).prop_map(|(tick, action)| TimedAct {
        tick: Tick(tick),
        action,
    })
}

fn story() -> impl Strategy<Value = Run> {
    prop_oneof![
        Just(Run::default()),
        vec(story_action(), 1..8).prop_map(|actions| Run {
            story: Story::own(actions),
            ..Run::default()
        }),
        (0..BUILT_IN.len()).prop_map(|place| BUILT_IN[place].run()),
    ]
}

/// Any valid Run.
pub(super) fn run() -> impl Strategy<Value = Run> {
    let settings = vec(setting_value(), 0..10);
    let place = option::of((0..=TICK_MAX, any::<u32>(), option::of(any::<u64>())));
    let mutations = vec(0..Mutation::ALL.len(), 0..3);
    let parts = (
        story(),
        (any::<u64>(), 1..=PARTITIONS_MAX),
        1..=u32::MAX,
        option::of(0..4_usize),
        settings,
        vec(timed_act(), 0..8),
        place,
        mutations,
    );
    parts
        .prop_map(
            |(mut run, (seed, partitions), epoch, profile, settings, acts, place, mutations)| {
                run.mutations = mutations.into_iter().map(|at| Mutation::ALL[at]).collect();
                run.seed = seed;
                run.epoch = epoch;
                run.cluster = Cluster {
                    replicas: REPLICAS,
                    clients: CLIENTS.max(run.cluster.clients),
                    partitions,
                };
                if let Some(place) = profile {
                    let cluster = run.cluster;
                    run.set_profile(Profile::ALL[place]);
                    run.cluster = cluster;
                }
                for (setting, value) in settings {
                    setting.write(value, &mut run);
                }
                for act in acts {
                    run.add_act(act);
                }
                if let Some((tick, step, hash)) = place {
                    let tick = Tick(tick);
                    run.at = Some(Cursor { tick, step });
                    run.expected_hash = hash;
                }
                run
            },
        )
        .prop_filter("valid", |run| run.validate().is_ok())
}
