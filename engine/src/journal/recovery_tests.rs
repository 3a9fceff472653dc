//! The recovery table: every combination of what two blocks can look like has one case and one
//! decision, and none of them loses what may have been acked.

use super::*;
use crate::ids::{Checksum, GROUP_PARTITION_0};

const WINDOW: Window = Window {
    checkpoint: Op(8),
    slots: 8,
};
/// The slot of ops 2, 10 and 18: behind the checkpoint, within the window, beyond it.
const PLACE: u32 = 2;

fn entry(op: u64, timestamp_micros: u64) -> Rc<Prepare> {
    let mut header = Header::root(GROUP_PARTITION_0);
    header.op = Op(op);
    header.timestamp_micros = timestamp_micros;
    Rc::new(Prepare {
        header: Rc::new(header.sealed()),
        body: Rc::from([]),
    })
}

fn rotten(op: u64) -> Rc<Prepare> {
    let mut header = entry(op, 1).header.as_ref().clone();
    header.checksum = Checksum(header.checksum.0 ^ 1);
    Rc::new(Prepare {
        header: Rc::new(header),
        body: Rc::from([]),
    })
}

/// Everything a block of the slot can be: unreadable in three ways, empty, and real entries of three
/// wraps, one of them with two identities.
fn looks() -> Vec<(&'static str, Sector<Rc<Prepare>>)> {
    vec![
        ("damaged", Sector::Damaged),
        ("rotten", Sector::Block(rotten(10))),
        ("misplaced", Sector::Block(entry(11, 1))),
        ("empty", Sector::Empty),
        ("old", Sector::Block(entry(2, 1))),
        ("now", Sector::Block(entry(10, 1))),
        ("now, other view", Sector::Block(entry(10, 2))),
        ("beyond", Sector::Block(entry(18, 1))),
    ]
}

fn header_of(sector: &Sector<Rc<Prepare>>) -> Sector<Rc<Header>> {
    match sector {
        Sector::Empty => Sector::Empty,
        Sector::Damaged => Sector::Damaged,
        Sector::Block(prepare) => Sector::Block(Rc::clone(&prepare.header)),
    }
}

#[test]
fn the_whole_space_of_looks_falls_into_sixteen_cases_as_the_table_says() {
    use Case::{A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P};
    // Rows: header; columns: prepare; in the order of `looks`, `E` and `F` by the highest op.
    let table: [[Case; 8]; 8] = [
        [A, A, A, D, E, F, F, H],
        [A, A, A, D, E, F, F, H],
        [A, A, A, D, E, F, F, H],
        [B, B, B, L, G, G, G, H],
        [C, C, C, K, P, M, M, H],
        [C, C, C, K, N, P, O, H],
        [C, C, C, K, N, O, P, H],
        [C, C, C, J, I, I, I, H],
    ];
    let mut seen = Vec::new();
    for (row, (header_name, header)) in looks().into_iter().enumerate() {
        for (column, (prepare_name, prepare)) in looks().into_iter().enumerate() {
            let found = case(&header_of(&header), &prepare, PLACE, WINDOW, Op(10));
            assert_eq!(
                found, table[row][column],
                "header {header_name}, prepare {prepare_name}"
            );
            seen.push(found);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 16, "every case was met: {seen:?}");
}

#[test]
fn a_slot_that_may_have_been_acked_is_never_cut_nor_said_to_be_empty() {
    // Acked means: both rings held this very entry, within the window. Rot may have hit either.
    let acked = entry(10, 1);
    let rings_then = [
        Sector::Block(Rc::clone(&acked)),
        Sector::Damaged,
        Sector::Block(rotten(10)),
    ];
    for header in &rings_then {
        for prepare in &rings_then {
            let case = case(&header_of(header), prepare, PLACE, WINDOW, Op(10));
            let header_op =
                matches!(header, Sector::Block(block) if *block == acked).then_some(Op(10));
            let decision = decide(case, header_op, WINDOW.checkpoint);
            assert!(
                matches!(decision, Decision::Keep | Decision::Heal | Decision::Fetch),
                "{case:?} is {decision:?}"
            );
        }
    }
}

#[test]
fn a_torn_append_is_cut_whether_its_slot_was_new_or_used_before() {
    let used = Sector::Block(Rc::clone(&entry(2, 1).header));
    for header in [Sector::Empty, used] {
        let case = case(&header, &Sector::Damaged, PLACE, WINDOW, Op(9));
        let header_op = header.block().map(|header| header.op);
        assert_eq!(decide(case, header_op, WINDOW.checkpoint), Decision::Cut);
    }
}

#[test]
fn the_window_knows_the_op_of_every_slot() {
    for place in 0..WINDOW.slots {
        let op = WINDOW.op_at(place);
        assert!(op > WINDOW.checkpoint && op <= WINDOW.limit());
        assert_eq!(slot(op, WINDOW.slots), place);
    }
}

#[test]
fn rings_come_back_sorted_with_what_to_heal_and_what_to_abstain_from() {
    let prepares: BTreeMap<u32, Sector<Rc<Prepare>>> = [
        (1, Sector::Block(entry(9, 1))),
        (2, Sector::Block(entry(10, 2))),
        (3, Sector::Damaged),
        (4, Sector::Damaged),
        (5, Sector::Damaged),
    ]
    .into();
    let headers: BTreeMap<u32, Sector<Rc<Header>>> = [
        (1, Sector::Block(Rc::clone(&entry(9, 1).header))),
        (2, Sector::Block(Rc::clone(&entry(10, 1).header))),
        (3, Sector::Block(Rc::clone(&entry(11, 1).header))),
        (4, Sector::Damaged),
    ]
    .into();
    let rings = recover_rings(&headers, &prepares, WINDOW);
    let ops = |found: &[Rc<Prepare>]| -> Vec<u64> {
        found.iter().map(|prepare| prepare.header.op.0).collect()
    };
    assert_eq!(ops(&rings.prepares), [9, 10]);
    assert_eq!(ops(&rings.to_heal), [10], "case O");
    let unreadable: Vec<(u64, bool)> = rings
        .unreadable
        .iter()
        .map(|slot| (slot.op.0, slot.header.is_some()))
        .collect();
    assert_eq!(unreadable, [(10, true), (11, true), (12, false)]);
    assert_eq!(rings.cut, 1, "slot 5 never had a header");
}
