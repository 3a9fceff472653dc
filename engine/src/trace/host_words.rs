//! What the host of a replica's groups says, in words. Must never know how a group is hosted.

use crate::ids::ReplicaId;
use crate::vsr::host_note::HostNote;
use crate::vsr::message::MessageKind;

/// A note, as the replica itself would say it.
pub(super) fn told(note: HostNote) -> String {
    match note {
        HostNote::Founded => {
            "executed the creation of this group: it begins here in view 0, with an empty log"
                .to_string()
        }
        HostNote::Removed => {
            "executed the deletion of this group, and hosts it no more".to_string()
        }
        HostNote::Parked { kind, from } => {
            format!(
                "{} waits: this group is still to be created here",
                whose(from, kind)
            )
        }
        HostNote::ParkingFull { kind, from } => format!(
            "dropped {}: too much waits for this group, which is still to be created here",
            whose(from, kind)
        ),
        HostNote::Overflow {
            kind,
            from,
            entry,
            owner,
            room,
        } => format!(
            "dropped {} on shard {entry}: {room} frames wait for shard {owner}, whose channel is full",
            whose(from, kind)
        ),
        HostNote::Gone { kind, from } => {
            format!("dropped {}: this group was deleted", whose(from, kind))
        }
    }
}

fn whose(from: Option<ReplicaId>, kind: MessageKind) -> String {
    let whose = from.map_or("a client's".to_string(), |from| format!("{from}'s"));
    format!("{whose} {}", kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ShardId;

    #[test]
    fn each_note_is_told_in_a_sentence_of_its_own() {
        let (kind, from) = (MessageKind::Prepare, Some(ReplicaId(2)));
        let told = [
            HostNote::Founded,
            HostNote::Removed,
            HostNote::Parked { kind, from },
            HostNote::ParkingFull { kind, from: None },
            HostNote::Overflow {
                kind,
                from,
                entry: ShardId(2),
                owner: ShardId(1),
                room: 8,
            },
            HostNote::Gone { kind, from },
        ]
        .map(told);
        assert_eq!(
            told,
            [
                "executed the creation of this group: it begins here in view 0, with an empty log",
                "executed the deletion of this group, and hosts it no more",
                "2's Prepare waits: this group is still to be created here",
                "dropped a client's Prepare: too much waits for this group, which is still to be created here",
                "dropped 2's Prepare on shard 2: 8 frames wait for shard 1, whose channel is full",
                "dropped 2's Prepare: this group was deleted",
            ]
        );
    }
}
