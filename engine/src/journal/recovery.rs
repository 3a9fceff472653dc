//! What boot makes of the two rings: sixteen cases of what a slot's header and prepare look like, and
//! one decision for each (protocol section 6; TigerBeetle's recovery table, with the changes that
//! follow from acking nothing before both rings are synced). Must never know the log.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::Op;
use crate::journal::{Sector, slot};
use crate::vsr::message::{Header, Prepare};

/// The cases, by the letters of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is described at `case`")]
pub enum Case {
    A,
    B,
    C,
    D,
    E,
    F,
    G,
    H,
    I,
    J,
    K,
    L,
    M,
    N,
    O,
    P,
}

/// What is done with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The prepare is good.
    Keep,
    /// The prepare is good, its header is written again.
    Heal,
    /// The same, and nothing is said of the entry that the old header names.
    HealAndAbstain,
    /// Something that was acked may have stood here: it is fetched, and nothing is said of it.
    Fetch,
    /// An append that was never acked: as if it had never been.
    Cut,
    /// Nothing was ever here.
    Empty,
}

/// The ops that the rings may hold: those after the checkpoint that have a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The durable checkpoint.
    pub checkpoint: Op,
    /// Slots of the rings.
    pub slots: u32,
}

impl Window {
    /// The highest op that may be journaled.
    #[must_use]
    pub fn limit(self) -> Op {
        Op(self.checkpoint.0 + u64::from(self.slots))
    }

    /// The one op of the window that belongs into a slot.
    #[must_use]
    pub fn op_at(self, place: u32) -> Op {
        let first = self.checkpoint.0 + 1;
        let slots = u64::from(self.slots);
        let ahead = (u64::from(place) + slots - first % slots) % slots;
        Op(first + ahead)
    }
}

/// What one ring shows for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Bad,
    Empty,
    Real(Op),
}

/// The case of a slot. Blocks that stand in a foreign slot are bad ones.
#[must_use]
pub fn case(
    header: &Sector<Rc<Header>>,
    prepare: &Sector<Rc<Prepare>>,
    place: u32,
    window: Window,
    op_max: Op,
) -> Case {
    let limit = window.limit();
    let header_look = look_at_header(header, place, window.slots);
    let prepare_look = look_at_prepare(prepare, place, window.slots);
    match (header_look, prepare_look) {
        // A prepare that this checkpoint could not have taken.
        (_, Look::Real(op)) if op > limit => Case::H,
        (Look::Real(op), Look::Real(_)) if op > limit => Case::I,
        (Look::Real(op), Look::Empty) if op > limit => Case::J,
        // Nothing can be read.
        (Look::Bad, Look::Bad) => Case::A,
        // The prepare of an append was torn before its first header.
        (Look::Empty, Look::Bad) => Case::B,
        (Look::Real(_), Look::Bad) => Case::C,
        (Look::Bad, Look::Empty) => Case::D,
        (Look::Bad, Look::Real(op)) if op < op_max => Case::E,
        (Look::Bad, Look::Real(_)) => Case::F,
        // The crash came between prepare and header.
        (Look::Empty, Look::Real(_)) => Case::G,
        (Look::Real(_), Look::Empty) => Case::K,
        (Look::Empty, Look::Empty) => Case::L,
        // The same, over an entry of an earlier wrap.
        (Look::Real(old), Look::Real(new)) if old < new => Case::M,
        (Look::Real(new), Look::Real(old)) if old < new => Case::N,
        (Look::Real(_), Look::Real(_)) if differ(header, prepare) => Case::O,
        (Look::Real(_), Look::Real(_)) => Case::P,
    }
}

/// The decision for a case; `header_op` where a header is readable.
#[must_use]
pub fn decide(case: Case, header_op: Option<Op>, checkpoint: Op) -> Decision {
    match case {
        Case::A | Case::D | Case::K | Case::N => Decision::Fetch,
        // Since nothing is acked before both rings are synced, a torn prepare over what the
        // checkpoint contains was an append that nobody counts on, wherever it stands.
        Case::C if header_op.is_some_and(|op| op <= checkpoint) => Decision::Cut,
        Case::C => Decision::Fetch,
        Case::B | Case::H | Case::I | Case::J => Decision::Cut,
        Case::E | Case::F | Case::G | Case::M => Decision::Heal,
        Case::O => Decision::HealAndAbstain,
        Case::L => Decision::Empty,
        Case::P => Decision::Keep,
    }
}

fn look_at_header(header: &Sector<Rc<Header>>, place: u32, slots: u32) -> Look {
    match header {
        Sector::Empty => Look::Empty,
        Sector::Damaged => Look::Bad,
        Sector::Block(header) => look(header, place, slots),
    }
}

fn look_at_prepare(prepare: &Sector<Rc<Prepare>>, place: u32, slots: u32) -> Look {
    match prepare {
        Sector::Empty => Look::Empty,
        Sector::Damaged => Look::Bad,
        Sector::Block(prepare) => look(&prepare.header, place, slots),
    }
}

/// Identity is slot, op and checksum together (A27).
fn look(header: &Header, place: u32, slots: u32) -> Look {
    let is_in_place = header.op > Op(0) && slot(header.op, slots) == place;
    if is_in_place && header.identity() == header.checksum {
        Look::Real(header.op)
    } else {
        Look::Bad
    }
}

fn differ(header: &Sector<Rc<Header>>, prepare: &Sector<Rc<Prepare>>) -> bool {
    match (header, prepare) {
        (Sector::Block(header), Sector::Block(prepare)) => {
            header.checksum != prepare.header.checksum
        }
        _ => false,
    }
}

/// A slot whose prepare cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The op that belongs there.
    pub op: Op,
    /// The header of what was there, where the header ring still tells.
    pub header: Option<Rc<Header>>,
}

/// What the rings gave back.
#[derive(Debug, Default)]
pub struct Rings {
    /// Every readable prepare, ascending by op.
    pub prepares: Vec<Rc<Prepare>>,
    /// Those whose header must be written again before they may be acknowledged.
    pub to_heal: Vec<Rc<Prepare>>,
    /// Slots of which nothing may be said, ascending by op.
    pub unreadable: Vec<Unreadable>,
    /// How many appends were cut.
    pub cut: u32,
}

/// Reads the rings, slot by slot.
#[must_use]
pub fn recover_rings(
    headers: &BTreeMap<u32, Sector<Rc<Header>>>,
    prepares: &BTreeMap<u32, Sector<Rc<Prepare>>>,
    window: Window,
) -> Rings {
    let mut rings = Rings::default();
    let op_max = highest(prepares, window);
    let mut places: Vec<u32> = headers.keys().chain(prepares.keys()).copied().collect();
    places.sort_unstable();
    places.dedup();
    for place in places {
        let header = headers.get(&place).unwrap_or(&Sector::Empty);
        let prepare = prepares.get(&place).unwrap_or(&Sector::Empty);
        rings.take(header, prepare, place, window, op_max);
    }
    rings.prepares.sort_by_key(|prepare| prepare.header.op);
    rings.unreadable.sort_by_key(|slot| slot.op);
    rings
}

fn highest(prepares: &BTreeMap<u32, Sector<Rc<Prepare>>>, window: Window) -> Op {
    let ops = prepares.iter().filter_map(|(&place, prepare)| {
        match look_at_prepare(prepare, place, window.slots) {
            Look::Real(op) => Some(op),
            Look::Bad | Look::Empty => None,
        }
    });
    ops.max().unwrap_or_default()
}

impl Rings {
    fn take(
        &mut self,
        header: &Sector<Rc<Header>>,
        prepare: &Sector<Rc<Prepare>>,
        place: u32,
        window: Window,
        op_max: Op,
    ) {
        let case = case(header, prepare, place, window, op_max);
        let known = match look_at_header(header, place, window.slots) {
            Look::Real(_) => header.clone().block(),
            Look::Bad | Look::Empty => None,
        };
        let header_op = known.as_ref().map(|header| header.op);
        let readable = prepare.clone().block();
        match (decide(case, header_op, window.checkpoint), readable) {
            (Decision::Keep, Some(prepare)) => self.prepares.push(prepare),
            (Decision::Heal, Some(prepare)) => self.heal(prepare),
            (Decision::HealAndAbstain, Some(prepare)) => {
                self.heal(prepare);
                self.abstain(known, place, window);
            }
            (Decision::Fetch, _) => self.abstain(known, place, window),
            (Decision::Cut, _) => self.cut += 1,
            (Decision::Empty | Decision::Keep | Decision::Heal | Decision::HealAndAbstain, _) => {}
        }
    }

    fn heal(&mut self, prepare: Rc<Prepare>) {
        self.to_heal.push(Rc::clone(&prepare));
        self.prepares.push(prepare);
    }

    fn abstain(&mut self, header: Option<Rc<Header>>, place: u32, window: Window) {
        let op = header
            .as_ref()
            .map_or(window.op_at(place), |header| header.op);
        self.unreadable.push(Unreadable { op, header });
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
