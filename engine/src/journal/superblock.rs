//! Opening the superblock: four copies, of which a write needs three and an open two (protocol
//! section 2). Must never know how copies are read.

use std::rc::Rc;

use crate::vsr::io::Superblock;

/// Copies on disk.
pub const COPIES: u32 = 4;

/// Copies of one sequence that an open needs.
const OPEN_QUORUM: usize = 2;

/// Why a superblock cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unopenable {
    /// No copy at all: the disk was never formatted, or was wiped.
    NotFound,
    /// No sequence has two copies.
    QuorumLost,
}

/// The superblock of the highest sequence of which two copies agree.
///
/// # Errors
/// Where there is none.
pub fn open_superblock(copies: &[Option<Rc<Superblock>>]) -> Result<Rc<Superblock>, Unopenable> {
    let readable: Vec<&Rc<Superblock>> = copies.iter().flatten().collect();
    if readable.is_empty() {
        return Err(Unopenable::NotFound);
    }
    readable
        .iter()
        .filter(|candidate| {
            let equal = readable.iter().filter(|other| other == candidate);
            equal.count() >= OPEN_QUORUM
        })
        .max_by_key(|candidate| candidate.sequence)
        .map(|&found| Rc::clone(found))
        .ok_or(Unopenable::QuorumLost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{GROUP_PARTITION_0, ReplicaId};
    use crate::vsr::{Replica, Roster};

    fn copy(sequence: u64) -> Option<Rc<Superblock>> {
        let roster = Roster {
            replica: ReplicaId(0),
            replica_count: 3,
            group: GROUP_PARTITION_0,
        };
        Some(Rc::new(Superblock {
            sequence,
            ..Replica::format(roster)
        }))
    }

    fn opened(copies: [Option<Rc<Superblock>>; 4]) -> Result<u64, Unopenable> {
        open_superblock(&copies).map(|superblock| superblock.sequence)
    }

    #[test]
    fn the_newest_sequence_with_two_copies_opens() {
        assert_eq!(opened([copy(2), copy(2), copy(2), copy(2)]), Ok(2));
        assert_eq!(opened([copy(3), copy(3), copy(2), copy(2)]), Ok(3));
        assert_eq!(opened([copy(3), copy(2), copy(2), copy(2)]), Ok(2));
        assert_eq!(opened([copy(3), None, None, copy(3)]), Ok(3));
    }

    #[test]
    fn without_two_equal_copies_nothing_opens() {
        assert_eq!(opened([None, None, None, None]), Err(Unopenable::NotFound));
        assert_eq!(
            opened([copy(1), copy(2), copy(3), copy(4)]),
            Err(Unopenable::QuorumLost)
        );
        assert_eq!(
            opened([copy(3), None, None, None]),
            Err(Unopenable::QuorumLost)
        );
    }
}
