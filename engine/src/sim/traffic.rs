//! Frames on their way: from outboxes into the network, from the network into inboxes and clients,
//! each recorded with its fate. Must never look into a frame but for its type.

use std::rc::Rc;

use crate::ids::{
    ClientId, GROUP_METADATA, GroupId, Incarnation, Process, ReplicaId, ShardId, Tick, View,
};
use crate::prng::{Purpose, Rng};
use crate::sim::lane::LaneEffect;
use crate::sim::packet::{Arrival, Packet, Payload, SubmitReport};
use crate::sim::simulator::{Parcel, Simulator, StopAt};
use crate::sim::world::Outgoing;
use crate::trace::{EventKind, Fate};
use crate::vsr::message::Frame;
use crate::workload::Drawn;

impl Simulator {
    /// Delivers packets due now; whether there are no more.
    pub(super) fn deliver(&mut self, stop: StopAt, steps: u64) -> bool {
        while let Some(arrival) = self.network.next_due(self.tick.0) {
            self.arrive(arrival);
            if stop == StopAt::Event && self.world.steps() > steps {
                return false;
            }
        }
        true
    }

    fn arrive(&mut self, arrival: Arrival<Parcel>) {
        let Arrival {
            from,
            to,
            packet,
            fate,
            copy,
        } = arrival;
        let frame = Rc::clone(&packet.payload.frame);
        let fate = match (fate, to) {
            (Fate::Delivered, Process::Replica(replica)) => self.hand_over(replica, from, &packet),
            (fate, _) => fate,
        };
        self.push_ended(from, to, &packet, fate);
        if let Some(copy) = copy {
            self.push_sent(Rc::clone(&frame), &copy, packet.cause, true);
            if let Some(evicted) = copy.evicted {
                self.push_ended(from, to, &evicted, Fate::Evicted);
            }
        }
        if fate != Fate::Delivered {
            return;
        }
        self.world.record.borrow_mut().fold(packet.payload.checksum);
        if let Process::Client(client) = to {
            self.give_to_client(client, &frame);
            self.world.count_step();
        }
    }

    fn hand_over(&self, replica: ReplicaId, from: Process, packet: &Packet<Parcel>) -> Fate {
        let place = &self.places[usize::from(replica.0)];
        if !place.up || !place.host.hosts(GROUP_METADATA) {
            return Fate::TargetDown;
        }
        let entry = self.entry_shard(replica, from, packet.draw_key);
        let frame = packet.payload.frame.as_ref().clone();
        if place.mesh.mailbox(entry).push_frame(frame) {
            Fate::Delivered
        } else {
            Fate::InboxFull
        }
    }

    /// Where a packet lands: drawn by its link and the name of its other draws there, so that a copy
    /// made by hand moves no other packet. Where there is no choice nothing is drawn.
    fn entry_shard(&self, to: ReplicaId, from: Process, draw_key: u64) -> ShardId {
        let count = self.run.shards.count;
        if count <= 1 {
            return ShardId(0);
        }
        let link = u64::from(from.index()) << 8 | u64::from(to.0);
        let mut rng = Rng::keyed(
            self.seeds.entry_shard,
            Purpose::EntryShard,
            [link, draw_key],
        );
        ShardId(u8::try_from(rng.below(u32::from(count))).unwrap_or(0))
    }

    pub(super) fn push_dropped(&self, from: Process, to: Process, packet: &Packet<Parcel>) {
        self.push_ended(from, to, packet, Fate::Dropped);
    }

    pub(super) fn push_copy(&self, from: Process, to: Process, report: SubmitReport<Parcel>) {
        // The copy carries the same frame; the network knows it by the number it gave.
        let copied = self
            .network
            .packets()
            .find(|view| view.from == from && view.to == to && view.packet.number == report.number)
            .map(|view| (Rc::clone(&view.packet.payload.frame), view.packet.cause));
        if let Some((frame, cause)) = copied {
            self.push_sent(frame, &report, cause, true);
        }
        if let Some(evicted) = report.evicted {
            self.push_ended(from, to, &evicted, Fate::Evicted);
        }
    }

    fn push_ended(&self, from: Process, to: Process, packet: &Packet<Parcel>, fate: Fate) {
        self.world.push(EventKind::Ended {
            from,
            to,
            packet: packet.number,
            group: packet.payload.group(),
            kind: packet.payload.kind(),
            fate,
        });
    }

    fn push_sent(&self, frame: Rc<Frame>, sent: &SubmitReport<Parcel>, cause: u64, copy: bool) {
        self.world.push(EventKind::Sent {
            frame,
            packet: sent.number,
            due: Tick(sent.due_tick),
            cause,
            copy,
        });
    }

    pub(super) fn let_clients_act(&mut self) {
        self.warm_clients();
        for place in 0..self.clients.len() {
            let client = ClientId(u8::try_from(place).unwrap_or(u8::MAX));
            let mut effects = std::mem::take(&mut self.client_effects);
            self.clients[place].tick(self.tick, &mut effects);
            if self.generator.wants(self.tick, client) {
                let drawn = self.draw_request(client);
                if let Some(Drawn { group, body, .. }) = drawn {
                    // It is ready, so that nothing can stand against it.
                    let _ = self.clients[place].submit(self.tick, group, body, None, &mut effects);
                }
            }
            self.perform_client(client, &mut effects);
            self.client_effects = effects;
        }
    }

    /// What the load makes a client ask now: of a group where nothing of its own is under way.
    fn draw_request(&mut self, client: ClientId) -> Option<Drawn> {
        let asker = &self.clients[usize::from(client.0)];
        // Those there are now: the list follows the catalogue at the end of each tick.
        let groups = self.groups.iter().copied();
        let free: Vec<GroupId> = groups.filter(|group| asker.is_ready(*group)).collect();
        let record = self.world.record.borrow();
        self.generator.next(client, &free, &record.auditors)
    }

    fn give_to_client(&mut self, client: ClientId, frame: &Frame) {
        let mut effects = std::mem::take(&mut self.client_effects);
        if let Some(client) = self.clients.get_mut(usize::from(client.0)) {
            client.on_frame(self.tick, frame, &mut effects);
        }
        self.perform_client(client, &mut effects);
        self.client_effects = effects;
    }

    pub(super) fn perform_client(&mut self, client: ClientId, effects: &mut Vec<LaneEffect>) {
        for effect in effects.drain(..) {
            match effect {
                LaneEffect::Event(kind) => {
                    self.world.push(kind);
                }
                LaneEffect::Send { to, group, message } => {
                    let frame = Frame {
                        group,
                        from: Process::Client(client),
                        to: Process::Replica(to),
                        view: View(0),
                        incarnation: Incarnation(0),
                        message,
                    };
                    let cause = self.world.record.borrow().last_number();
                    self.client_outbox.push(Outgoing {
                        frame: Rc::new(frame),
                        cause,
                    });
                }
            }
        }
    }

    pub(super) fn submit(&mut self, outgoing: Outgoing) {
        let frame = outgoing.frame;
        let parcel = Parcel {
            checksum: frame.checksum().0,
            frame: Rc::clone(&frame),
        };
        let (from, to) = (frame.from, frame.to);
        let report = self
            .network
            .submit(self.tick.0, from, to, parcel, outgoing.cause);
        self.push_sent(frame, &report, outgoing.cause, false);
        if let Some(evicted) = report.evicted {
            self.push_ended(from, to, &evicted, Fate::Evicted);
        }
    }
}
