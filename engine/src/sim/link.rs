//! One directed link: what is on it, and three layers of trouble that never reset each other.
//! Must never draw, nor know another link.

use crate::sim::packet::{Packet, Payload};
use crate::sim::sets::{GroupKinds, KindSet};
use crate::trace::Fate;

/// A clog until somebody heals it.
pub const FOR_EVER: u64 = u64::MAX;

/// Most packets that wait behind a clog or a hold. They lie outside the link's capacity, and yet
/// memory must not grow with the length of a run.
pub const WAITING_MAX: usize = 1_024;

/// A directed link.
#[derive(Debug)]
pub(crate) struct Link<P> {
    pub(crate) user: UserLayer,
    pub(crate) profile: ProfileLayer,
    pub(crate) types: TypeLayer,
    /// Packets numbered so far.
    pub(crate) numbered: u64,
    /// Originals submitted so far.
    pub(crate) originals: u64,
    /// On their way, by number.
    travelling: Vec<Packet<P>>,
    /// Due and kept back, in the order they came to be.
    waiting: Vec<Packet<P>>,
    /// Earliest due tick among those that travel: an idle link is passed over for one comparison.
    due_tick: u64,
    /// Types among those that wait, for the same reason.
    waiting_kinds: KindSet,
}

/// What the user set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserLayer {
    pub(crate) cut: bool,
    /// The first tick it flows again.
    pub(crate) clogged_until: u64,
    pub(crate) extra_delay_ticks: u32,
    pub(crate) loss_per_million: Option<u32>,
}

/// What the fault profile does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProfileLayer {
    pub(crate) partitioned: bool,
    /// The first tick it flows again.
    pub(crate) clogged_until: u64,
}

/// What happens to types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeLayer {
    pub(crate) filtered: GroupKinds,
    pub(crate) held: GroupKinds,
}

/// A packet off the link, and why where it was not its turn.
pub(crate) struct Taken<P> {
    pub(crate) packet: Packet<P>,
    /// Nothing, or `Evicted` where too many wait.
    pub(crate) overflow: Option<Fate>,
}

impl<P> Default for Link<P> {
    fn default() -> Self {
        Self {
            user: UserLayer::default(),
            profile: ProfileLayer::default(),
            types: TypeLayer::default(),
            numbered: 0,
            originals: 0,
            travelling: Vec::new(),
            waiting: Vec::new(),
            due_tick: u64::MAX,
            waiting_kinds: KindSet::default(),
        }
    }
}

impl<P: Payload> Link<P> {
    /// Puts a packet on its way. Where that exceeds the capacity, `victim` picks the one to go.
    pub(crate) fn push(
        &mut self,
        packet: Packet<P>,
        capacity: u32,
        victim: impl FnOnce(u32) -> u32,
    ) -> Option<Packet<P>> {
        let travelling = u32::try_from(self.travelling.len()).unwrap_or(u32::MAX);
        let evicted = if travelling > 0 && travelling >= capacity {
            Some(self.travelling.remove(victim(travelling) as usize))
        } else {
            None
        };
        self.due_tick = self.due_tick.min(packet.due_tick);
        self.travelling.push(packet);
        if evicted.is_some() {
            self.note_due();
        }
        evicted
    }

    /// Whether the link has nothing to hand over at `now`.
    pub(crate) fn is_quiet(&self, now: u64) -> bool {
        let free = self.waiting_kinds.without(self.types.held.everywhere());
        self.due_tick > now && (free.is_empty() || self.is_clogged(now))
    }

    /// Takes one packet that is ready at `now`; the others stay for the next call.
    pub(crate) fn take_ready(&mut self, now: u64) -> Option<Taken<P>> {
        if self.is_quiet(now) {
            return None;
        }
        let clogged = self.is_clogged(now);
        if (clogged || !self.types.held.is_empty())
            && let Some(packet) = self.keep_back(now, clogged)
        {
            return Some(Taken {
                packet,
                overflow: Some(Fate::Evicted),
            });
        }
        let due = |packet: &Packet<P>| packet.due_tick <= now;
        let travelling = first(&self.travelling, due);
        let waiting = if clogged {
            None
        } else {
            first(&self.waiting, |packet| !self.holds(packet))
        };
        let packet = match (travelling, waiting) {
            (Some((order, place)), other) if other.is_none_or(|(later, _)| order < later) => {
                let packet = self.travelling.remove(place);
                self.note_due();
                packet
            }
            (_, Some((_, place))) => self.take_waiting(place),
            (_, None) => return None,
        };
        Some(Taken {
            packet,
            overflow: None,
        })
    }

    /// Moves what is due and may not pass to those that wait; gives back one for which no room is.
    fn keep_back(&mut self, now: u64, clogged: bool) -> Option<Packet<P>> {
        if self.due_tick > now {
            return None;
        }
        let mut place = 0;
        let mut overflow = None;
        while let Some(packet) = self.travelling.get(place) {
            let passes = packet.express || !(clogged || self.holds(packet));
            if packet.due_tick > now || passes {
                place += 1;
                continue;
            }
            let packet = self.travelling.remove(place);
            if self.waiting.len() >= WAITING_MAX {
                overflow = Some(packet);
                break;
            }
            self.waiting_kinds.insert(packet.payload.kind());
            self.waiting.push(packet);
        }
        self.note_due();
        overflow
    }

    /// What stops a packet that is handed over now.
    pub(crate) fn stops(&self, packet: &Packet<P>) -> Option<Fate> {
        let (kind, group) = (packet.payload.kind(), packet.payload.group());
        if self.user.cut {
            Some(Fate::Cut)
        } else if self.profile.partitioned {
            Some(Fate::Partitioned)
        } else if self.types.filtered.contains(kind, group) {
            Some(Fate::Filtered)
        } else {
            None
        }
    }

    fn holds(&self, packet: &Packet<P>) -> bool {
        let (kind, group) = (packet.payload.kind(), packet.payload.group());
        self.types.held.contains(kind, group)
    }

    pub(crate) fn is_clogged(&self, now: u64) -> bool {
        self.clogged_until() > now
    }

    /// The first tick at which no clog is on the link.
    pub(crate) fn clogged_until(&self) -> u64 {
        self.user.clogged_until.max(self.profile.clogged_until)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.travelling.is_empty() && self.waiting.is_empty()
    }

    pub(crate) fn travelling(&self) -> &[Packet<P>] {
        &self.travelling
    }

    pub(crate) fn waiting(&self) -> &[Packet<P>] {
        &self.waiting
    }

    pub(crate) fn find(&mut self, number: u64) -> Option<&mut Packet<P>> {
        let travelling = self.travelling.iter_mut();
        let mut all = travelling.chain(&mut self.waiting);
        all.find(|packet| packet.number == number)
    }

    /// Takes a packet off the link wherever it is.
    pub(crate) fn take(&mut self, number: u64) -> Option<Packet<P>> {
        let named = |packet: &Packet<P>| packet.number == number;
        if let Some(place) = self.travelling.iter().position(named) {
            let packet = self.travelling.remove(place);
            self.note_due();
            return Some(packet);
        }
        let place = self.waiting.iter().position(named)?;
        Some(self.take_waiting(place))
    }

    /// Puts a packet that was taken before everything else at `now`.
    pub(crate) fn hand_on(&mut self, now: u64, mut packet: Packet<P>) {
        packet.due_tick = now;
        packet.express = true;
        let number = packet.number;
        let place = self
            .travelling
            .partition_point(|other| other.number < number);
        self.travelling.insert(place, packet);
        self.note_due();
    }

    fn take_waiting(&mut self, place: usize) -> Packet<P> {
        let packet = self.waiting.remove(place);
        let kinds = self.waiting.iter().map(|packet| packet.payload.kind());
        self.waiting_kinds = kinds.collect();
        packet
    }

    fn note_due(&mut self) {
        let due = self.travelling.iter().map(|packet| packet.due_tick);
        self.due_tick = due.min().unwrap_or(u64::MAX);
    }
}

/// The first by drawn order among those that may go: its order and its place.
fn first<P>(
    packets: &[Packet<P>],
    may_go: impl Fn(&Packet<P>) -> bool,
) -> Option<((u64, u64), usize)> {
    let places = packets.iter().enumerate();
    let ready = places.filter(|(_, packet)| may_go(packet));
    ready
        .map(|(place, packet)| ((packet.order, packet.number), place))
        .min()
}
