//! The shards of one life of a replica, joined by bounded channels: which shard owns a group, and the
//! way there for a frame that landed elsewhere. A send never waits: a full channel drops the frame,
//! as a network might have. Must never know what is in a frame but its group.

use std::rc::Rc;

use crate::digest::mix;
use crate::ids::{GROUP_METADATA, GroupId, ShardId};
use crate::shard::mailbox::Mailbox;
use crate::vsr::message::Frame;

/// The shard that owns the metadata group.
pub const METADATA_SHARD: ShardId = ShardId(0);

/// Makes owners differ from other uses of the same mix.
const OWNER_SALT: u64 = 0x5AAD;

/// How much fits each shard's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Frames from the network.
    pub inbox_frames: usize,
    /// Frames from the other shards.
    pub channel_frames: usize,
}

/// The channel to a shard is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Whose channel.
    pub owner: ShardId,
    /// The most frames that may wait in it.
    pub room: usize,
}

/// The shards of a replica. A crash takes them along.
#[derive(Debug)]
pub struct Mesh {
    /// One mailbox a shard; its channel takes what the others forward.
    mailboxes: Vec<Rc<Mailbox>>,
}

/// The shard that owns a group: the metadata group is always on shard 0, and a partition's is its id,
/// mixed, modulo the number of shards. So it is the same on every replica and in every life, and a
/// group's place depends on no other group.
#[must_use]
pub fn owner(group: GroupId, shards: u8) -> ShardId {
    if group == GROUP_METADATA {
        return METADATA_SHARD;
    }
    let shard = mix(OWNER_SALT, group.0) % u64::from(shards.max(1));
    ShardId(u8::try_from(shard).unwrap_or(0))
}

impl Mesh {
    /// Shards whose lanes are empty.
    #[must_use]
    pub fn new(shards: u8, room: Room) -> Self {
        let mailboxes = (0..shards.max(1)).map(|_| Rc::new(Mailbox::new(room)));
        Self {
            mailboxes: mailboxes.collect(),
        }
    }

    /// The shards, ascending.
    pub fn shards(&self) -> impl Iterator<Item = ShardId> + use<> {
        (0..self.count()).map(ShardId)
    }

    /// How many shards.
    #[must_use]
    pub fn count(&self) -> u8 {
        u8::try_from(self.mailboxes.len()).unwrap_or(u8::MAX)
    }

    /// The shard that owns a group.
    #[must_use]
    pub fn owner(&self, group: GroupId) -> ShardId {
        owner(group, self.count())
    }

    /// The lanes into a shard.
    #[must_use]
    pub fn mailbox(&self, shard: ShardId) -> &Rc<Mailbox> {
        let last = self.mailboxes.len() - 1;
        &self.mailboxes[usize::from(shard.0).min(last)]
    }

    /// The lanes into the shard that owns a group.
    #[must_use]
    pub fn mailbox_of(&self, group: GroupId) -> &Rc<Mailbox> {
        self.mailbox(self.owner(group))
    }

    /// Forwards a frame to the shard that owns its group.
    ///
    /// # Errors
    /// Where the channel is full: the frame is gone.
    pub fn forward(&self, frame: Frame) -> Result<(), Overflow> {
        let owner = self.owner(frame.group);
        let mailbox = self.mailbox(owner);
        if mailbox.push_forwarded(frame) {
            return Ok(());
        }
        let room = mailbox.room().channel_frames;
        Err(Overflow { owner, room })
    }

    /// Frames and ends of disk operations that wait in all mailboxes, channels aside.
    #[must_use]
    pub fn inbox_len(&self) -> usize {
        self.mailboxes
            .iter()
            .map(|mailbox| mailbox.inbox_len())
            .sum()
    }

    /// Frames that wait in all channels.
    #[must_use]
    pub fn channel_len(&self) -> usize {
        self.mailboxes
            .iter()
            .map(|mailbox| mailbox.channel_len())
            .sum()
    }

    /// The most frames that waited at once in any inbox, and in any channel, since the last call.
    pub fn take_highs(&self) -> (usize, usize) {
        let highs = self.mailboxes.iter().map(|mailbox| mailbox.take_highs());
        highs.fold((0, 0), |(inbox, channel), (other, another)| {
            (inbox.max(other), channel.max(another))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Incarnation, Process, ReplicaId, View};
    use crate::vsr::message::Message;

    const ROOM: Room = Room {
        inbox_frames: 8,
        channel_frames: 2,
    };

    fn frame(group: GroupId) -> Frame {
        Frame {
            group,
            from: Process::Replica(ReplicaId(1)),
            to: Process::Replica(ReplicaId(0)),
            view: View(0),
            incarnation: Incarnation(1),
            message: Message::StartViewChange,
        }
    }

    #[test]
    fn metadata_is_on_shard_0_and_partitions_are_spread() {
        for shards in 1..=4 {
            assert_eq!(owner(GROUP_METADATA, shards), METADATA_SHARD);
            let mut owned = [0; 4];
            for group in (1..=8).chain((1..=64).map(|op| op << 8)).map(GroupId) {
                owned[usize::from(owner(group, shards).0)] += 1;
            }
            let (used, unused) = owned.split_at(usize::from(shards));
            assert!(used.iter().all(|&count| count >= 8), "{shards}: {owned:?}");
            assert!(unused.iter().all(|&count| count == 0), "{shards}");
        }
    }

    #[test]
    fn owners_are_pinned() {
        // Where a group lives decides what a seed does: a change here moves every run with shards.
        let owners = (0..=8).map(|group| owner(GroupId(group), 4).0);
        assert_eq!(owners.collect::<Vec<u8>>(), PINNED);
    }

    const PINNED: [u8; 9] = [0, 2, 1, 1, 3, 0, 3, 0, 0];

    #[test]
    fn a_full_channel_drops_the_frame_and_leaves_the_inbox_alone() {
        let mesh = Mesh::new(4, ROOM);
        let group = (1..).map(GroupId).find(|&group| mesh.owner(group).0 == 3);
        let group = group.unwrap();
        assert_eq!(mesh.forward(frame(group)), Ok(()));
        assert_eq!(mesh.forward(frame(group)), Ok(()));
        let overflow = Overflow {
            owner: ShardId(3),
            room: 2,
        };
        assert_eq!(mesh.forward(frame(group)), Err(overflow));
        assert_eq!((mesh.inbox_len(), mesh.channel_len()), (0, 2));
        assert!(mesh.mailbox(ShardId(3)).push_frame(frame(group)));
        assert_eq!(mesh.take_highs(), (1, 2));
        assert!(mesh.forward(frame(GROUP_METADATA)).is_ok());
        assert_eq!(mesh.mailbox(METADATA_SHARD).channel_len(), 1);
    }
}
