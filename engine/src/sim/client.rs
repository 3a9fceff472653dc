//! A simulated client: one lane a group, each with a session, request numbers and one request under way
//! of its own. A lane is opened when it is first used. Must never know the simulator, the network, or
//! what a request's body says.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::{ClientId, GroupId, ReplicaId, Tick};
use crate::sim::lane::{First, Lane, LaneEffect, NotSubmitted};
use crate::vsr::message::Frame;

/// One client.
#[derive(Clone, Debug)]
pub struct Client {
    id: ClientId,
    replica_count: u8,
    request_timeout_ticks: u32,
    lanes: BTreeMap<GroupId, Lane>,
}

impl Client {
    /// A client that has dealt with no group yet.
    #[must_use]
    pub fn new(id: ClientId, replica_count: u8, request_timeout_ticks: u32) -> Self {
        Self {
            id,
            replica_count,
            request_timeout_ticks,
            lanes: BTreeMap::new(),
        }
    }

    /// Opens the lane of a group: the next tick asks for a session there.
    pub fn open(&mut self, group: GroupId) -> &mut Lane {
        let (id, count) = (self.id, self.replica_count);
        let timeout = self.request_timeout_ticks;
        self.lanes
            .entry(group)
            .or_insert_with(|| Lane::new(id, group, count, timeout))
    }

    /// Closes the lanes of groups that are no more: nobody is left to answer there.
    pub fn keep(&mut self, groups: &[GroupId]) {
        self.lanes.retain(|group, _| groups.contains(group));
    }

    /// Lets a tick pass in every lane.
    pub fn tick(&mut self, now: Tick, out: &mut Vec<LaneEffect>) {
        for lane in self.lanes.values_mut() {
            lane.tick(now, out);
        }
    }

    /// Asks a group for `body` to be executed, at `target` or else at the replica taken for its
    /// primary. A lane that was not open yet asks for its session first.
    ///
    /// # Errors
    /// If the lane has no session, waits for another answer, or the cluster has no such replica.
    pub fn submit(
        &mut self,
        now: Tick,
        group: GroupId,
        body: Rc<[u8]>,
        target: Option<ReplicaId>,
        out: &mut Vec<LaneEffect>,
    ) -> Result<(), NotSubmitted> {
        if let Some(lane) = self.lanes.get_mut(&group) {
            return lane.submit(now, body, target, out);
        }
        if let Some(replica) = target.filter(|replica| replica.0 >= self.replica_count) {
            return Err(NotSubmitted::NoSuchReplica { replica });
        }
        let lane = self.open(group);
        lane.begin_with(First { body, target });
        lane.tick(now, out);
        Ok(())
    }

    /// Takes a frame.
    pub fn on_frame(&mut self, now: Tick, frame: &Frame, out: &mut Vec<LaneEffect>) {
        if let Some(lane) = self.lanes.get_mut(&frame.group) {
            lane.on_frame(now, frame, out);
        }
    }

    /// Changes the knob; it counts from the last send.
    pub fn set_request_timeout_ticks(&mut self, ticks: u32) {
        self.request_timeout_ticks = ticks;
        for lane in self.lanes.values_mut() {
            lane.set_request_timeout_ticks(ticks);
        }
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.id
    }

    /// Its lane in a group, where it has used one.
    #[must_use]
    pub fn lane(&self, group: GroupId) -> Option<&Lane> {
        self.lanes.get(&group)
    }

    /// Whether [`Client::submit`] would be taken in a group.
    #[must_use]
    pub fn is_ready(&self, group: GroupId) -> bool {
        self.lane(group).is_none_or(Lane::is_ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{
        Checksum, GROUP_METADATA, GROUP_PARTITION_0, Incarnation, Op, Process, RequestNumber, View,
    };
    use crate::vsr::message::{Message, Operation, Reply};

    fn answer(group: GroupId, session: u64, request: u64) -> Frame {
        Frame {
            group,
            from: Process::Replica(ReplicaId(0)),
            to: Process::Client(ClientId(0)),
            view: View(0),
            incarnation: Incarnation(1),
            message: Message::Reply(Rc::new(Reply {
                client: ClientId(0),
                session: Op(session),
                request: RequestNumber(request),
                op: Op(session + request),
                checksum: Checksum(1),
                result: Rc::from([]),
            })),
        }
    }

    /// Group and operation of what was sent.
    fn sent(out: &mut Vec<LaneEffect>) -> Vec<(GroupId, Operation)> {
        let sent = out.drain(..).filter_map(|effect| match effect {
            LaneEffect::Send {
                group,
                message: Message::Request(request),
                ..
            } => Some((group, request.operation)),
            _ => None,
        });
        sent.collect()
    }

    #[test]
    fn a_lane_opens_on_first_use_and_then_makes_its_first_request() {
        let mut client = Client::new(ClientId(0), 3, 200);
        let mut out = Vec::new();
        client.tick(Tick(1), &mut out);
        assert!(out.is_empty(), "no lane, no session");
        let group = GROUP_METADATA;
        assert!(client.is_ready(group));
        let body: Rc<[u8]> = Rc::from([7]);
        client.submit(Tick(2), group, body, None, &mut out).unwrap();
        assert_eq!(sent(&mut out), [(group, Operation::Register)]);
        assert!(!client.is_ready(group));
        client.on_frame(Tick(3), &answer(group, 5, 0), &mut out);
        assert_eq!(sent(&mut out), [(group, Operation::Machine)]);
        client.on_frame(Tick(4), &answer(group, 5, 1), &mut out);
        assert!(client.is_ready(group));
    }

    #[test]
    fn lanes_know_nothing_of_each_other() {
        let mut client = Client::new(ClientId(0), 3, 200);
        let mut out = Vec::new();
        client.open(GROUP_METADATA);
        client.open(GROUP_PARTITION_0);
        client.tick(Tick(1), &mut out);
        assert_eq!(sent(&mut out).len(), 2);
        client.on_frame(Tick(2), &answer(GROUP_PARTITION_0, 5, 0), &mut out);
        assert!(client.is_ready(GROUP_PARTITION_0));
        assert!(!client.is_ready(GROUP_METADATA));
        assert_eq!(client.lane(GROUP_PARTITION_0).unwrap().session(), Op(5));
        assert_eq!(client.lane(GROUP_METADATA).unwrap().session(), Op(0));
    }

    #[test]
    fn a_lane_that_is_not_open_refuses_a_replica_that_is_not_there() {
        let mut client = Client::new(ClientId(0), 3, 200);
        let replica = ReplicaId(3);
        let refused = client.submit(
            Tick(1),
            GROUP_METADATA,
            Rc::from([]),
            Some(replica),
            &mut Vec::new(),
        );
        assert_eq!(refused, Err(NotSubmitted::NoSuchReplica { replica }));
        assert!(client.lane(GROUP_METADATA).is_none());
    }
}
