//! A random run as a script: the dice that injected faults are stilled, and the faults stand as acts
//! at their ticks. Delays, torn writes, and at first loss and duplication, stay dice: their draws are
//! keyed by packet and by write, so they fall the same. Must never play a run.
//!
//! The script's run hashes are those of the random run at every tick, unless a person worked on the
//! same links: the script's faults lie in the person's own layer of a link, since that is all that a
//! script can reach.

use crate::error::InputError;
use crate::ids::{Process, Tick};
use crate::run::Session;
use crate::scenario::{
    Action, ClockFaults, DiskFaults, PacketName, Profile, Run, Setting, Story, StoryAction,
    TimedAct, Trigger, Verb,
};
use crate::sim::network_options::NetworkOptions;
use crate::trace::{EventKind, Fate, Recorder, Recording};

/// The dice that inject faults: what a script has acts for.
const INJECTORS: [Setting; 8] = [
    Setting::Crash,
    Setting::Restart,
    Setting::Partition,
    Setting::Clog,
    Setting::Rot,
    Setting::Misdirect,
    Setting::Lie,
    Setting::Slow,
];

/// Writes a random run as a script: `injected` are the faults that its dice injected.
#[must_use]
pub fn rewrite(run: &Run, injected: &[TimedAct]) -> Run {
    let mut script = run.clone();
    script.at = None;
    script.expected_hash = None;
    still_dice(&mut script);
    keep_stilled(&mut script);
    for &act in injected {
        script.add_act(act);
    }
    script
}

fn still_dice(run: &mut Run) {
    let faults = &mut run.faults;
    let quiet = NetworkOptions::none();
    faults.profile = Profile::None;
    faults.crash_per_million = 0;
    faults.restart_per_million = 0;
    faults.crash_primary = false;
    faults.min_survivors = None;
    faults.clock = ClockFaults::default();
    faults.disk = DiskFaults {
        tear_per_million: faults.disk.tear_per_million,
        ..DiskFaults::default()
    };
    faults.network = NetworkOptions {
        delay_min_ticks: faults.network.delay_min_ticks,
        delay_mean_ticks: faults.network.delay_mean_ticks,
        loss_per_million: faults.network.loss_per_million,
        replay_per_million: faults.network.replay_per_million,
        link_capacity: faults.network.link_capacity,
        ..quiet
    };
}

/// What wakes the dice while the run goes on is followed by what stills them again.
fn keep_stilled(run: &mut Run) {
    let acts = std::mem::take(&mut run.acts);
    for act in acts {
        run.acts.push(act);
        let tick = act.tick;
        let stills = stills(act.action.verb);
        run.acts
            .extend(stills.map(|action| TimedAct { tick, action }));
    }
    let actions = run.story.actions();
    if !actions
        .iter()
        .any(|action| stills(action.action.verb).next().is_some())
    {
        return;
    }
    let mut stilled = Vec::new();
    for &action in actions {
        stilled.push(action);
        let trigger = Trigger::After(0);
        let stills = stills(action.action.verb);
        stilled.extend(stills.map(|action| StoryAction { trigger, action }));
    }
    run.story = Story::own(stilled);
}

fn stills(verb: Verb) -> impl Iterator<Item = Action> {
    INJECTORS
        .into_iter()
        .filter(move |&injector| match verb {
            Verb::Profile(_) => matches!(injector, Setting::Partition | Setting::Clog),
            Verb::Set(setting, value) => setting == injector && value > 0,
            _ => false,
        })
        .map(|injector| Action {
            verb: Verb::Set(injector, 0),
            group: None,
        })
}

/// Writes loss and duplication as acts on single packets, too, up to a tick: the run that comes of it
/// delivers the same, at the same ticks.
///
/// # Errors
/// If the Run contradicts itself.
pub fn spell_out_packets(script: &Run, until: Tick) -> Result<Run, InputError> {
    let recorder = Recorder::new(Recording::Everything, 1 << 16);
    let mut session = Session::new(script.clone(), recorder)?;
    let mut acts = Vec::new();
    let mut next = 0;
    while session.cursor().tick < until && !session.has_failed() {
        session.advance_ticks(1);
        let record = session.simulator().world().record.borrow();
        let recorder = record.recorder();
        acts.extend(packet_acts(recorder, next));
        next = recorder.next_number();
    }
    let mut spelt = script.clone();
    spelt.faults.network.loss_per_million = 0;
    spelt.faults.network.replay_per_million = 0;
    for act in acts {
        spelt.add_act(act);
    }
    Ok(spelt)
}

/// The acts that lose and copy the packets that dice lost and copied, from an event on.
fn packet_acts(recorder: &Recorder, from: u64) -> Vec<TimedAct> {
    let events = recorder.events();
    let first = events.partition_point(|event| event.number < from);
    let mut acts = Vec::new();
    // The copy of a packet is recorded right behind the packet's own end.
    let mut ended: Option<(Process, Process, u64)> = None;
    for event in events.range(first..) {
        let verb = match &event.kind {
            EventKind::Ended {
                from,
                to,
                packet,
                fate,
                ..
            } => {
                ended = Some((*from, *to, *packet));
                (*fate == Fate::Lost).then(|| Verb::Drop(name(*from, *to, *packet)))
            }
            EventKind::Sent {
                frame, copy: true, ..
            } => ended
                .filter(|&(from, to, _)| (from, to) == (frame.from, frame.to))
                .map(|(from, to, packet)| Verb::Dup(name(from, to, packet))),
            _ => None,
        };
        acts.extend(verb.map(|verb| TimedAct {
            tick: event.tick,
            action: Action { verb, group: None },
        }));
    }
    acts
}

fn name(from: Process, to: Process, number: u64) -> PacketName {
    PacketName { from, to, number }
}
