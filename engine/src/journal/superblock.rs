//! Opening the superblock: four copies, of which a write needs three and an open two (protocol
//! section 2). Must never know how copies are read.

use std::rc::Rc;

use crate::journal::Sector;
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
/// Where there is none. A copy that cannot be read was written once: such a disk was not wiped.
pub fn open_superblock(copies: &[Sector<Rc<Superblock>>]) -> Result<Rc<Superblock>, Unopenable> {
    if copies.iter().all(|copy| *copy == Sector::Empty) {
        return Err(Unopenable::NotFound);
    }
    let readable = copies.iter().filter_map(|copy| copy.as_ref().block());
    readable
        .filter(|candidate| equal_copies(copies, candidate) >= OPEN_QUORUM)
        .max_by_key(|candidate| candidate.sequence)
        .cloned()
        .ok_or(Unopenable::QuorumLost)
}

fn equal_copies(copies: &[Sector<Rc<Superblock>>], superblock: &Superblock) -> usize {
    let readable = copies.iter().filter_map(|copy| copy.as_ref().block());
    readable.filter(|copy| copy.as_ref() == superblock).count()
}

/// The order in which copies are written next to such a disk: those that do not hold the superblock
/// it opened with come first. The first half is synced before the second is touched, so that two
/// copies agree whenever a crash tears what is being written.
#[must_use]
pub fn write_order(
    copies: &[Sector<Rc<Superblock>>],
    opened: &Superblock,
) -> [u32; COPIES as usize] {
    let holds = |copy: u32| {
        let place = usize::try_from(copy).ok();
        let found = place.and_then(|place| copies.get(place)?.as_ref().block());
        found.is_some_and(|found| found.as_ref() == opened)
    };
    let mut order: [u32; COPIES as usize] =
        std::array::from_fn(|place| u32::try_from(place).unwrap_or(u32::MAX));
    order.sort_by_key(|&copy| holds(copy));
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ids::{GROUP_PARTITION_0, ReplicaId};
    use crate::vsr::{Replica, Roster};

    fn copy(sequence: u64) -> Sector<Rc<Superblock>> {
        let roster = Roster {
            replica: ReplicaId(0),
            replica_count: 3,
            group: GROUP_PARTITION_0,
        };
        Sector::Block(Rc::new(Superblock {
            sequence,
            ..Replica::format(roster)
        }))
    }

    fn opened(copies: &[Sector<Rc<Superblock>>]) -> Result<u64, Unopenable> {
        open_superblock(copies).map(|superblock| superblock.sequence)
    }

    #[test]
    fn the_newest_sequence_with_two_copies_opens() {
        assert_eq!(opened(&[copy(2), copy(2), copy(2), copy(2)]), Ok(2));
        assert_eq!(opened(&[copy(3), copy(3), copy(2), copy(2)]), Ok(3));
        assert_eq!(opened(&[copy(3), copy(2), copy(2), copy(2)]), Ok(2));
        let torn = [copy(3), Sector::Damaged, Sector::Damaged, copy(3)];
        assert_eq!(opened(&torn), Ok(3));
    }

    #[test]
    fn without_two_equal_copies_nothing_opens() {
        assert_eq!(
            opened(&[copy(1), copy(2), copy(3), copy(4)]),
            Err(Unopenable::QuorumLost)
        );
        assert_eq!(
            opened(&[copy(3), Sector::Damaged, Sector::Damaged, Sector::Damaged]),
            Err(Unopenable::QuorumLost)
        );
    }

    #[test]
    fn only_a_disk_without_any_trace_of_a_copy_was_wiped() {
        assert_eq!(opened(&[]), Err(Unopenable::NotFound));
        let empty = || Sector::Empty;
        assert_eq!(
            opened(&[empty(), empty(), empty(), empty()]),
            Err(Unopenable::NotFound)
        );
        assert_eq!(
            opened(&[empty(), Sector::Damaged, empty(), empty()]),
            Err(Unopenable::QuorumLost)
        );
    }

    #[test]
    fn two_copies_agree_wherever_a_write_is_torn_and_however_often() {
        // Every disk that four writes in a row can leave, each cut short somewhere: a copy that was
        // under way is new, torn or as before.
        let mut disks = BTreeSet::from([[1, 1, 1, 1]]);
        for sequence in 2..6 {
            let before = std::mem::take(&mut disks);
            for disk in before {
                let copies = disk.map(|found| match found {
                    TORN => Sector::Damaged,
                    found => copy(found),
                });
                let opened = open_superblock(&copies).unwrap();
                let order = write_order(&copies, &opened).map(|copy| copy as usize);
                for (half, outcome) in (0..2).flat_map(|half| (0..9).map(move |nth| (half, nth))) {
                    let mut left = disk;
                    for &copy in &order[..2 * half] {
                        left[copy] = sequence;
                    }
                    for (nth, &copy) in order[2 * half..][..2].iter().enumerate() {
                        let outcomes = [sequence, TORN, disk[copy]];
                        left[copy] = outcomes[outcome / [1, 3][nth] % 3];
                    }
                    disks.insert(left);
                }
            }
        }
        assert!(disks.len() > 50, "{}", disks.len());
    }

    const TORN: u64 = 0;
}
