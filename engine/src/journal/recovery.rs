//! What boot makes of the two rings. A prepare is written first and its redundant header after it,
//! each synced before the next, so that on an honest, undamaged disk the prepare is never older than
//! its header. Must never know the log.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::Op;
use crate::journal::slot;
use crate::vsr::message::{Header, Prepare};

/// What a slot's two blocks come to, by the letters of the recovery table. The lettered cases of
/// damaged blocks join with the damage itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFound {
    /// L: both empty.
    Empty,
    /// G, M, O: the prepare is newer than its header, whose write the crash took: kept.
    PrepareAhead,
    /// P: identical: kept.
    Identical,
    /// K: a header without its prepare cannot be, the prepare being synced first.
    HeaderAlone,
}

/// Decides one slot.
#[must_use]
pub fn decide_slot(header: Option<&Header>, prepare: Option<&Prepare>) -> SlotFound {
    match (header, prepare) {
        (None, None) => SlotFound::Empty,
        (Some(_), None) => SlotFound::HeaderAlone,
        (None, Some(_)) => SlotFound::PrepareAhead,
        (Some(header), Some(prepare)) if header.checksum == prepare.header.checksum => {
            SlotFound::Identical
        }
        (Some(_), Some(_)) => SlotFound::PrepareAhead,
    }
}

/// What the rings gave back.
#[derive(Debug, Default)]
pub struct Rings {
    /// Every readable prepare, ascending by op.
    pub prepares: Vec<Rc<Prepare>>,
    /// Those whose header must be written again before they may be acknowledged.
    pub to_heal: Vec<Rc<Prepare>>,
}

/// Reads the rings. A prepare in another op's slot, or whose header does not match its identity, is
/// not readable.
#[must_use]
pub fn recover_rings(
    prepares: &BTreeMap<u32, Rc<Prepare>>,
    headers: &BTreeMap<u32, Rc<Header>>,
    journal_slots: u32,
) -> Rings {
    let mut rings = Rings::default();
    for (&place, prepare) in prepares {
        let header = headers.get(&place).map(Rc::as_ref);
        let is_in_place = slot(prepare.header.op, journal_slots) == place
            && prepare.header.op > Op(0)
            && prepare.header.identity() == prepare.header.checksum;
        match decide_slot(header, Some(prepare)) {
            SlotFound::PrepareAhead if is_in_place => {
                rings.prepares.push(Rc::clone(prepare));
                rings.to_heal.push(Rc::clone(prepare));
            }
            SlotFound::Identical if is_in_place => rings.prepares.push(Rc::clone(prepare)),
            SlotFound::PrepareAhead
            | SlotFound::Identical
            | SlotFound::Empty
            | SlotFound::HeaderAlone => {}
        }
    }
    rings.prepares.sort_by_key(|prepare| prepare.header.op);
    rings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::GROUP_PARTITION_0;

    fn prepare(op: u64, timestamp_micros: u64) -> Rc<Prepare> {
        let mut header = Header::root(GROUP_PARTITION_0);
        header.op = Op(op);
        header.timestamp_micros = timestamp_micros;
        Rc::new(Prepare {
            header: Rc::new(header.sealed()),
            body: Rc::from([]),
        })
    }

    #[test]
    fn every_pair_of_blocks_has_one_decision() {
        let old = prepare(3, 1);
        let new = prepare(3, 2);
        let headers = [None, Some(old.header.as_ref()), Some(new.header.as_ref())];
        let prepares = [None, Some(new.as_ref())];
        let decided: Vec<SlotFound> = headers
            .iter()
            .flat_map(|&header| prepares.map(|prepare| decide_slot(header, prepare)))
            .collect();
        assert_eq!(
            decided,
            [
                SlotFound::Empty,
                SlotFound::PrepareAhead,
                SlotFound::HeaderAlone,
                SlotFound::PrepareAhead,
                SlotFound::HeaderAlone,
                SlotFound::Identical,
            ]
        );
    }

    #[test]
    fn readable_prepares_come_back_in_order_and_strays_do_not() {
        let ring: BTreeMap<u32, Rc<Prepare>> =
            [(1, prepare(9, 1)), (2, prepare(2, 1)), (3, prepare(4, 1))].into();
        let headers: BTreeMap<u32, Rc<Header>> = [(2, Rc::clone(&ring[&2].header))].into();
        let rings = recover_rings(&ring, &headers, 8);
        let ops = |found: &[Rc<Prepare>]| -> Vec<u64> {
            found.iter().map(|prepare| prepare.header.op.0).collect()
        };
        assert_eq!(ops(&rings.prepares), [2, 9], "op 4 is in a foreign slot");
        assert_eq!(ops(&rings.to_heal), [9], "op 2 has its header");
    }
}
