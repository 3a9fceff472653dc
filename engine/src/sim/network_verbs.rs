//! What a person may do to the network. Each verb changes the user's own layer or a single packet,
//! draws nothing but the delay of a copy, and says why where it cannot be done now. Must never
//! touch what the fault profile does, except to heal it.

use thiserror::Error;

use crate::ids::{GroupId, Process};
use crate::sim::link::{FOR_EVER, Link, ProfileLayer, TypeLayer, UserLayer};
use crate::sim::network::{Network, link_index};
use crate::sim::packet::{Packet, Payload, SubmitReport};
use crate::sim::sets::{GroupKinds, KindSet, ProcessSet};
use crate::trace::Fate;

/// Why something cannot be done to the network now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkRefusal {
    /// There is no such link in this cluster.
    #[error("there is no link {from}to{to}")]
    NoLink {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
    },
    /// No link leads from one side to the other.
    #[error("no link leads from {from} to {to}")]
    NothingBetween {
        /// One side.
        from: ProcessSet,
        /// The other.
        to: ProcessSet,
    },
    /// A process stands on both sides.
    #[error("{0} is on both sides")]
    BothSides(ProcessSet),
    /// It is cut already.
    #[error("that is cut already")]
    CutAlready,
    /// The user cut nothing there.
    #[error("nothing there is cut")]
    NotCut,
    /// No type is held there.
    #[error("nothing is held on {from}to{to}")]
    NothingHeld {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
    },
    /// The packet has left the link, or never was on it.
    #[error("packet {from}to{to}.{number} is not on its way")]
    NoPacket {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
        /// Its number there.
        number: u64,
    },
    /// Something would stop the packet, and it would be gone.
    #[error("packet {from}to{to}.{number} would not get through: {}", stopped_by(*.fate))]
    WouldBeStopped {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
        /// Its number there.
        number: u64,
        /// What would become of it.
        fate: Fate,
    },
}

fn stopped_by(fate: Fate) -> &'static str {
    match fate {
        Fate::Cut => "the link is cut",
        Fate::Partitioned => "a partition stands across the link",
        Fate::Filtered => "its type is filtered",
        Fate::Delivered
        | Fate::Lost
        | Fate::Evicted
        | Fate::TargetDown
        | Fate::Dropped
        | Fate::InboxFull => "it cannot be handed on",
    }
}

impl<P: Payload> Network<P> {
    /// Cuts every link between two sides, both ways.
    ///
    /// # Errors
    /// Where the sides overlap, no link is between them, or all are cut.
    pub fn cut(&mut self, a: ProcessSet, b: ProcessSet) -> Result<(), NetworkRefusal> {
        let mut links = self.between(a, b)?;
        links.extend(self.between(b, a)?);
        self.set_cut(&links, true)
    }

    /// Cuts every link from one side to the other; the way back stays.
    ///
    /// # Errors
    /// Where the sides overlap, no link leads there, or all are cut.
    pub fn mute(&mut self, from: ProcessSet, to: ProcessSet) -> Result<(), NetworkRefusal> {
        let links = self.between(from, to)?;
        self.set_cut(&links, true)
    }

    /// Takes back cuts between two sides, both ways.
    ///
    /// # Errors
    /// Where the sides overlap, no link is between them, or none is cut.
    pub fn join(&mut self, a: ProcessSet, b: ProcessSet) -> Result<(), NetworkRefusal> {
        let mut links = self.between(a, b)?;
        links.extend(self.between(b, a)?);
        self.set_cut(&links, false)
    }

    fn set_cut(&mut self, links: &[usize], cut: bool) -> Result<(), NetworkRefusal> {
        let mut changed = false;
        for &index in links {
            let user = &mut self.links[index].user;
            changed |= user.cut != cut;
            user.cut = cut;
        }
        match (changed, cut) {
            (true, _) => Ok(()),
            (false, true) => Err(NetworkRefusal::CutAlready),
            (false, false) => Err(NetworkRefusal::NotCut),
        }
    }

    fn between(&self, from: ProcessSet, to: ProcessSet) -> Result<Vec<usize>, NetworkRefusal> {
        let both = from.intersection(to);
        if !both.is_empty() {
            return Err(NetworkRefusal::BothSides(both));
        }
        let pairs = from.iter().flat_map(|a| to.iter().map(move |b| (a, b)));
        let links: Vec<usize> = pairs
            .map(|(a, b)| link_index(a, b))
            .filter(|index| self.live.binary_search(index).is_ok())
            .collect();
        if links.is_empty() {
            return Err(NetworkRefusal::NothingBetween { from, to });
        }
        Ok(links)
    }

    /// Clogs a link for so many ticks, this one being the first; zero ticks until it is healed. In
    /// place of what the user clogged there before.
    ///
    /// # Errors
    /// Where there is no such link.
    pub fn clog(
        &mut self,
        now: u64,
        from: Process,
        to: Process,
        ticks: u64,
    ) -> Result<(), NetworkRefusal> {
        let link = self.link_mut(from, to)?;
        link.user.clogged_until = match ticks {
            0 => FOR_EVER,
            _ => now.saturating_add(ticks),
        };
        Ok(())
    }

    /// Makes packets that are sent from now on slower; zero takes it back.
    ///
    /// # Errors
    /// Where there is no such link.
    pub fn delay(
        &mut self,
        from: Process,
        to: Process,
        extra_ticks: u32,
    ) -> Result<(), NetworkRefusal> {
        self.link_mut(from, to)?.user.extra_delay_ticks = extra_ticks;
        Ok(())
    }

    /// Sets a link's loss in place of the profile's; nothing takes it back.
    ///
    /// # Errors
    /// Where there is no such link.
    pub fn set_loss(
        &mut self,
        from: Process,
        to: Process,
        loss_per_million: Option<u32>,
    ) -> Result<(), NetworkRefusal> {
        self.link_mut(from, to)?.user.loss_per_million = loss_per_million;
        Ok(())
    }

    /// Drops packets of these types, and these alone, when they are due; no types, no filter. In one
    /// group, or in all.
    ///
    /// # Errors
    /// Where there is no such link.
    pub fn filter(
        &mut self,
        from: Process,
        to: Process,
        kinds: KindSet,
        group: Option<GroupId>,
    ) -> Result<(), NetworkRefusal> {
        self.link_mut(from, to)?.types.filtered.set(kinds, group);
        Ok(())
    }

    /// Keeps packets of these types back, too, until they are released. In one group, or in all.
    ///
    /// # Errors
    /// Where there is no such link.
    pub fn hold(
        &mut self,
        from: Process,
        to: Process,
        kinds: KindSet,
        group: Option<GroupId>,
    ) -> Result<(), NetworkRefusal> {
        self.link_mut(from, to)?.types.held.add(kinds, group);
        Ok(())
    }

    /// Lets go what is held.
    ///
    /// # Errors
    /// Where there is no such link, or nothing is held on it.
    pub fn release(&mut self, from: Process, to: Process) -> Result<(), NetworkRefusal> {
        let types = &mut self.link_mut(from, to)?.types;
        if types.held.is_empty() {
            return Err(NetworkRefusal::NothingHeld { from, to });
        }
        types.held = GroupKinds::default();
        Ok(())
    }

    /// Takes a packet off its link.
    ///
    /// # Errors
    /// Where it is not on it.
    pub fn drop_packet(
        &mut self,
        from: Process,
        to: Process,
        number: u64,
    ) -> Result<Packet<P>, NetworkRefusal> {
        let link = self.link_mut(from, to)?;
        let missing = NetworkRefusal::NoPacket { from, to, number };
        let packet = link.take(number).ok_or(missing)?;
        if link.is_empty() {
            self.busy.remove(link_index(from, to));
        }
        Ok(packet)
    }

    /// Sends a copy of a packet after it, with a number and a delay of its own.
    ///
    /// # Errors
    /// Where the packet is not on its link.
    pub fn duplicate_packet(
        &mut self,
        now: u64,
        from: Process,
        to: Process,
        number: u64,
        cause: u64,
    ) -> Result<SubmitReport<P>, NetworkRefusal> {
        let link = self.link_mut(from, to)?;
        let missing = NetworkRefusal::NoPacket { from, to, number };
        let packet = link.find(number).ok_or(missing)?;
        let mut original = packet.clone();
        packet.copies += 1;
        Ok(self.send_copy(now, link_index(from, to), &mut original, cause))
    }

    /// Hands a packet on with this tick's deliveries, past clogs, holds and dice.
    ///
    /// # Errors
    /// Where it is not on its link, or a cut, a partition or a filter would stop it: better kept
    /// than lost.
    pub fn deliver_packet(
        &mut self,
        now: u64,
        from: Process,
        to: Process,
        number: u64,
    ) -> Result<(), NetworkRefusal> {
        let link = self.link_mut(from, to)?;
        let missing = NetworkRefusal::NoPacket { from, to, number };
        let packet = link.find(number).cloned().ok_or(missing)?;
        if let Some(fate) = link.stops(&packet) {
            return Err(NetworkRefusal::WouldBeStopped {
                from,
                to,
                number,
                fate,
            });
        }
        link.take(number);
        link.hand_on(now, packet);
        self.cursor.link = self.cursor.link.min(link_index(from, to));
        Ok(())
    }

    /// Lifts everything a user set, and the partition and clogs of the profile that stand. Answers
    /// how many links that changed.
    pub fn heal(&mut self, now: u64) -> u32 {
        let all = self.processes();
        self.heal_among(now, all)
    }

    /// The same for the links between some processes alone; the rest stays as it is.
    pub fn heal_among(&mut self, now: u64, core: ProcessSet) -> u32 {
        let mut healed = 0;
        for a in core.iter() {
            for b in core.iter() {
                let index = link_index(a, b);
                healed += u32::from(self.links[index].heal(now));
            }
        }
        let Self { clogs, links, .. } = self;
        clogs.retain(|&index| links[index].profile.clogged_until > 0);
        let mut live = self.live.iter();
        let stands = live.any(|&index| self.links[index].profile.partitioned);
        if self.partition.is_some() && !stands {
            self.end_partition(now);
        }
        healed
    }

    fn link_mut(&mut self, from: Process, to: Process) -> Result<&mut Link<P>, NetworkRefusal> {
        let index = link_index(from, to);
        match self.live.binary_search(&index) {
            Ok(_) => Ok(&mut self.links[index]),
            Err(_) => Err(NetworkRefusal::NoLink { from, to }),
        }
    }
}

impl<P: Payload> Link<P> {
    /// Whether there was anything to heal; a clog that is over is nothing.
    fn heal(&mut self, now: u64) -> bool {
        let user = UserLayer {
            clogged_until: 0,
            ..self.user
        };
        let healthy = user == UserLayer::default()
            && !self.profile.partitioned
            && !self.is_clogged(now)
            && self.types == TypeLayer::default();
        self.user = UserLayer::default();
        self.profile = ProfileLayer::default();
        self.types = TypeLayer::default();
        !healthy
    }
}

#[cfg(test)]
#[path = "network_verbs_tests.rs"]
mod tests;
