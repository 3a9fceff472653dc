//! The packet network: directed links between all processes, each with its own dice. Every draw is
//! keyed by link and packet or by tick and link, so what happens on one link moves no other's luck.
//! Must never know what packets say, nor whether their targets are up.
//!
//! A tick of the caller: acts (`network_verbs`), [`Network::next_due`] until it has nothing more,
//! [`Network::submit`] of what was sent, [`Network::tick_faults`].

use crate::digest::mix;
use crate::ids::{ClientId, Process, ReplicaId};
use crate::prng::{Purpose, Rng};
use crate::sim::link::Link;
use crate::sim::network_options::{NetworkOptions, PartitionMode};
use crate::sim::packet::{Arrival, Packet, PacketView, Payload, Place, SubmitReport};
use crate::sim::partition::{self, Partition};
use crate::sim::sets::{KindSet, LinkSet, PROCESSES_MAX, ProcessSet};
use crate::trace::Fate;

/// The network between the processes of a cluster.
#[derive(Debug)]
pub struct Network<P> {
    seed: u64,
    replica_count: u8,
    pub(crate) options: NetworkOptions,
    /// A table over all processes: row sends, column receives.
    pub(crate) links: Vec<Link<P>>,
    /// Indices of the links that this cluster has, ascending.
    pub(crate) live: Vec<usize>,
    /// Links with packets on them.
    pub(crate) busy: LinkSet,
    pub(crate) cursor: Cursor,
    pub(crate) partition: Option<Partition>,
    /// The first tick that may change whether there is a partition.
    pub(crate) stable_until: u64,
    /// Links that the profile clogs.
    pub(crate) clogs: Vec<usize>,
}

/// How far the deliveries of a tick have come, so that a caller may stop between any two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    tick: u64,
    pub(crate) link: usize,
}

/// A change that the fault profile makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFault {
    /// The replicas part.
    PartitionBegan(Partition),
    /// They meet again.
    PartitionEnded(Partition),
    /// A link clogs.
    ClogBegan {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
        /// For so many ticks, the next being the first.
        ticks: u64,
    },
    /// A link flows again, from the next tick.
    ClogEnded {
        /// Sender.
        from: Process,
        /// Receiver.
        to: Process,
    },
}

/// A link, to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// Sender.
    pub from: Process,
    /// Receiver.
    pub to: Process,
    /// The user cut it.
    pub cut: bool,
    /// A partition of the profile stands across it.
    pub partitioned: bool,
    /// Types that are dropped, of every group or of some.
    pub filtered: KindSet,
    /// Types that are held, of every group or of some.
    pub held_kinds: KindSet,
    /// The first tick it flows again, where it is clogged now; [`crate::sim::link::FOR_EVER`] until
    /// healed.
    pub clogged_until: Option<u64>,
    /// Delay that the user added.
    pub extra_delay_ticks: u32,
    /// Loss that the user set in place of the profile's.
    pub loss_per_million: Option<u32>,
    /// Packets on their way.
    pub travelling: u32,
    /// Packets that are due and kept back.
    pub waiting: u32,
}

impl<P: Payload> Network<P> {
    /// A network without packets or trouble.
    #[must_use]
    pub fn new(seed: u64, replica_count: u8, client_count: u8, options: NetworkOptions) -> Self {
        let replicas = (0..replica_count).map(|replica| Process::Replica(ReplicaId(replica)));
        let clients = (0..client_count).map(|client| Process::Client(ClientId(client)));
        let processes: Vec<Process> = replicas.chain(clients).collect();
        let mut live = Vec::new();
        for &from in &processes {
            let talks = processes.iter().filter(|&&to| have_link(from, to));
            live.extend(talks.map(|&to| link_index(from, to)));
        }
        let places = usize::from(PROCESSES_MAX) * usize::from(PROCESSES_MAX);
        Self {
            seed,
            replica_count,
            stable_until: u64::from(options.unpartition_stability_ticks),
            options,
            links: (0..places).map(|_| Link::default()).collect(),
            live,
            busy: LinkSet::default(),
            cursor: Cursor { tick: 0, link: 0 },
            partition: None,
            clogs: Vec::new(),
        }
    }

    /// The dice as they stand.
    #[must_use]
    pub fn options(&self) -> &NetworkOptions {
        &self.options
    }

    /// Changes the dice from now on. What they did already stands.
    pub fn set_options(&mut self, options: NetworkOptions) {
        self.options = options;
    }

    /// Puts a payload on its way. `cause` is the event that made the sender send it.
    pub fn submit(
        &mut self,
        now: u64,
        from: Process,
        to: Process,
        payload: P,
        cause: u64,
    ) -> SubmitReport<P> {
        let index = link_index(from, to);
        let link = &mut self.links[index];
        link.originals += 1;
        let draw_key = link.originals;
        self.enqueue(now, index, draw_key, payload, cause, false)
    }

    fn enqueue(
        &mut self,
        now: u64,
        index: usize,
        draw_key: u64,
        payload: P,
        cause: u64,
        is_copy: bool,
    ) -> SubmitReport<P> {
        let (seed, options) = (self.seed, &self.options);
        let link = &mut self.links[index];
        link.numbered += 1;
        let key = [index as u64, draw_key];
        let mut rng = Rng::keyed(seed, Purpose::Delay, key);
        let drawn = rng.exponential(options.delay_mean_ticks);
        let delay = drawn.max(u64::from(options.delay_min_ticks.max(1)));
        let packet = Packet {
            number: link.numbered,
            draw_key,
            send_tick: now,
            due_tick: now + delay + u64::from(link.user.extra_delay_ticks),
            cause,
            payload,
            order: rng.next_u64(),
            copies: 0,
            is_copy,
            express: false,
        };
        let (number, due_tick) = (packet.number, packet.due_tick);
        let evicted = link.push(packet, options.link_capacity, |queued| {
            Rng::keyed(seed, Purpose::Evict, key).below(queued)
        });
        self.busy.insert(index);
        SubmitReport {
            number,
            due_tick,
            evicted,
        }
    }

    /// Sends a copy of a packet: a packet of its own, with a fresh delay.
    pub(crate) fn send_copy(
        &mut self,
        now: u64,
        index: usize,
        original: &mut Packet<P>,
        cause: u64,
    ) -> SubmitReport<P> {
        original.copies += 1;
        let draw_key = mix(original.draw_key, original.copies);
        self.enqueue(now, index, draw_key, original.payload.clone(), cause, true)
    }

    /// The next packet that leaves its link at `now`, with its fate: links in fixed order, and on a
    /// link in drawn order. Nothing once the tick has no more.
    pub fn next_due(&mut self, now: u64) -> Option<Arrival<P>> {
        if self.cursor.tick != now {
            self.cursor = Cursor { tick: now, link: 0 };
        }
        while let Some(index) = self.busy.next_from(self.cursor.link) {
            self.cursor.link = index;
            if let Some(taken) = self.links[index].take_ready(now) {
                if self.links[index].is_empty() {
                    self.busy.remove(index);
                }
                return Some(match taken.overflow {
                    Some(fate) => arrival(index, taken.packet, fate, None),
                    None => self.decide(now, index, taken.packet),
                });
            }
            self.cursor.link = index + 1;
        }
        None
    }

    fn decide(&mut self, now: u64, index: usize, mut packet: Packet<P>) -> Arrival<P> {
        let link = &self.links[index];
        let loss = link.user.loss_per_million;
        let loss = loss.unwrap_or(self.options.loss_per_million);
        if let Some(fate) = link.stops(&packet) {
            return arrival(index, packet, fate, None);
        }
        if !packet.express && self.happens(Purpose::Loss, index, &packet, loss) {
            return arrival(index, packet, Fate::Lost, None);
        }
        let replay = self.options.replay_per_million;
        let copied = !packet.express
            && !packet.is_copy
            && self.happens(Purpose::Duplicate, index, &packet, replay);
        let cause = packet.cause;
        let copy = copied.then(|| self.send_copy(now, index, &mut packet, cause));
        arrival(index, packet, Fate::Delivered, copy)
    }

    fn happens(
        &self,
        purpose: Purpose,
        index: usize,
        packet: &Packet<P>,
        per_million: u32,
    ) -> bool {
        let key = [index as u64, packet.draw_key];
        per_million > 0 && Rng::keyed(self.seed, purpose, key).chance(per_million)
    }

    /// Rolls the profile's partitions and clogs at the end of a tick and lets them happen. What
    /// comes back is what changed, for the record.
    pub fn tick_faults(&mut self, now: u64) -> Vec<NetworkFault> {
        let mut faults = self.end_clogs(now);
        let rolled = self.roll_faults(now);
        for fault in &rolled {
            self.apply_fault(now, fault);
        }
        faults.extend(rolled);
        faults
    }

    /// Clogs of the profile that are over with this tick.
    pub fn end_clogs(&mut self, now: u64) -> Vec<NetworkFault> {
        let Self { clogs, links, .. } = self;
        let ended = clogs.extract_if(.., |&mut index| {
            links[index].profile.clogged_until <= now + 1
        });
        let faults = ended.map(|index| {
            let (from, to) = ends(index);
            NetworkFault::ClogEnded { from, to }
        });
        faults.collect()
    }

    /// Rolls without letting anything happen: for a caller that leaves some faults out.
    #[must_use]
    pub fn roll_faults(&self, now: u64) -> Vec<NetworkFault> {
        let partition = self.roll_partition(now);
        let mut faults: Vec<NetworkFault> = partition.into_iter().collect();
        if self.options.clog_per_million > 0 {
            faults.extend(
                self.live
                    .iter()
                    .filter_map(|&link| self.roll_clog(now, link)),
            );
        }
        faults
    }

    fn roll_partition(&self, now: u64) -> Option<NetworkFault> {
        let options = &self.options;
        let per_million = match self.partition {
            Some(_) => options.unpartition_per_million,
            None if options.partition_mode == PartitionMode::None => 0,
            None => options.partition_per_million,
        };
        if per_million == 0 || now < self.stable_until {
            return None;
        }
        let mut rng = Rng::keyed(self.seed, Purpose::Partition, [now, 0]);
        if !rng.chance(per_million) {
            return None;
        }
        if let Some(standing) = self.partition {
            return Some(NetworkFault::PartitionEnded(standing));
        }
        let (mode, symmetry) = (options.partition_mode, options.partition_symmetry);
        partition::draw(&mut rng, self.replica_count, mode, symmetry)
            .map(NetworkFault::PartitionBegan)
    }

    /// No roll while the link is clogged already: a clog cuts no earlier clog short.
    fn roll_clog(&self, now: u64, index: usize) -> Option<NetworkFault> {
        if self.links[index].profile.clogged_until > now + 1 {
            return None;
        }
        let mut rng = Rng::keyed(self.seed, Purpose::Clog, [now, index as u64]);
        if !rng.chance(self.options.clog_per_million) {
            return None;
        }
        let (from, to) = ends(index);
        let ticks = rng.exponential(self.options.clog_mean_ticks).max(1);
        Some(NetworkFault::ClogBegan { from, to, ticks })
    }

    /// Lets a rolled fault happen.
    pub fn apply_fault(&mut self, now: u64, fault: &NetworkFault) {
        match *fault {
            NetworkFault::PartitionBegan(partition) => {
                for &index in &self.live {
                    let (from, to) = ends(index);
                    self.links[index].profile.partitioned = partition.parts(from, to);
                }
                self.partition = Some(partition);
                let stable = u64::from(self.options.partition_stability_ticks);
                self.stable_until = now + 1 + stable;
            }
            NetworkFault::PartitionEnded(_) => self.end_partition(now),
            NetworkFault::ClogBegan { from, to, ticks } => {
                let index = link_index(from, to);
                self.links[index].profile.clogged_until = now + 1 + ticks;
                if !self.clogs.contains(&index) {
                    self.clogs.push(index);
                }
            }
            NetworkFault::ClogEnded { from, to } => {
                let index = link_index(from, to);
                self.links[index].profile.clogged_until = 0;
                self.clogs.retain(|&clogged| clogged != index);
            }
        }
    }

    pub(crate) fn end_partition(&mut self, now: u64) {
        for &index in &self.live {
            self.links[index].profile.partitioned = false;
        }
        self.partition = None;
        let stable = u64::from(self.options.unpartition_stability_ticks);
        self.stable_until = now + 1 + stable;
    }

    /// The partition of the profile that stands.
    #[must_use]
    pub fn partition(&self) -> Option<&Partition> {
        self.partition.as_ref()
    }

    /// Every packet on a link, by link; on a link first those that travel.
    pub fn packets(&self) -> impl Iterator<Item = PacketView<'_, P>> {
        self.live.iter().flat_map(|&index| {
            let (from, to) = ends(index);
            let link = &self.links[index];
            let travelling = link.travelling().iter().map(|p| (Place::Travelling, p));
            let waiting = link.waiting().iter().map(|p| (Place::Waiting, p));
            travelling
                .chain(waiting)
                .map(move |(place, packet)| PacketView {
                    from,
                    to,
                    place,
                    packet,
                })
        })
    }

    /// How many packets are on links.
    #[must_use]
    pub fn packet_count(&self) -> usize {
        let links = self.live.iter().map(|&index| &self.links[index]);
        links
            .map(|link| link.travelling().len() + link.waiting().len())
            .sum()
    }

    /// The link with the most packets on their way, and how many those are; kept-back ones aside.
    #[must_use]
    pub fn fullest(&self) -> Option<(Process, Process, u32)> {
        let mut fullest: Option<(usize, usize)> = None;
        let mut next = self.busy.next_from(0);
        while let Some(index) = next {
            let count = self.links[index].travelling().len();
            if fullest.is_none_or(|(_, most)| count > most) {
                fullest = Some((index, count));
            }
            next = self.busy.next_from(index + 1);
        }
        let (index, count) = fullest?;
        let (from, to) = ends(index);
        Some((from, to, u32::try_from(count).unwrap_or(u32::MAX)))
    }

    /// Every link of the cluster, in fixed order, as it is in tick `now`.
    pub fn links(&self, now: u64) -> impl Iterator<Item = LinkView> {
        self.live.iter().map(move |&index| self.view(now, index))
    }

    /// One link, or nothing where the cluster has none from here to there.
    #[must_use]
    pub fn link(&self, now: u64, from: Process, to: Process) -> Option<LinkView> {
        let index = link_index(from, to);
        self.live.binary_search(&index).ok()?;
        Some(self.view(now, index))
    }

    fn view(&self, now: u64, index: usize) -> LinkView {
        let (from, to) = ends(index);
        let link = &self.links[index];
        let count = |packets: &[Packet<P>]| u32::try_from(packets.len()).unwrap_or(u32::MAX);
        LinkView {
            from,
            to,
            cut: link.user.cut,
            partitioned: link.profile.partitioned,
            filtered: link.types.filtered.somewhere(),
            held_kinds: link.types.held.somewhere(),
            clogged_until: link.is_clogged(now).then(|| link.clogged_until()),
            extra_delay_ticks: link.user.extra_delay_ticks,
            loss_per_million: link.user.loss_per_million,
            travelling: count(link.travelling()),
            waiting: count(link.waiting()),
        }
    }

    /// The processes of the cluster.
    #[must_use]
    pub fn processes(&self) -> ProcessSet {
        let both = self.live.iter().map(|&index| ends(index));
        both.flat_map(|(from, to)| [from, to]).collect()
    }
}

impl NetworkFault {
    /// The act that would do the same, in the tick after. A clog's end needs none: its beginning
    /// says how long it lasts.
    #[must_use]
    pub fn act_text(&self) -> Option<String> {
        match self {
            Self::PartitionBegan(partition) if partition.both_ways => {
                Some(format!("cut.{}-{}", partition.muted, partition.others))
            }
            Self::PartitionBegan(partition) => {
                Some(format!("mute.{}-{}", partition.muted, partition.others))
            }
            Self::PartitionEnded(partition) => {
                Some(format!("join.{}-{}", partition.muted, partition.others))
            }
            Self::ClogBegan { from, to, ticks } => Some(format!("clog.{from}to{to}.{ticks}")),
            Self::ClogEnded { .. } => None,
        }
    }
}

/// Clients do not talk to each other, and nobody to itself.
fn have_link(from: Process, to: Process) -> bool {
    let both_clients = matches!((from, to), (Process::Client(_), Process::Client(_)));
    from != to && !both_clients
}

pub(crate) fn link_index(from: Process, to: Process) -> usize {
    usize::from(from.index()) * usize::from(PROCESSES_MAX) + usize::from(to.index())
}

fn ends(index: usize) -> (Process, Process) {
    let columns = usize::from(PROCESSES_MAX);
    let process = |place: usize| {
        let place = u8::try_from(place).ok();
        place
            .and_then(Process::from_index)
            .expect("the table has a row and a column for each process, no more")
    };
    (process(index / columns), process(index % columns))
}

fn arrival<P>(
    index: usize,
    packet: Packet<P>,
    fate: Fate,
    copy: Option<SubmitReport<P>>,
) -> Arrival<P> {
    let (from, to) = ends(index);
    Arrival {
        from,
        to,
        packet,
        fate,
        copy,
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
pub(crate) mod tests;
