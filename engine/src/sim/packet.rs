//! A packet on a link, and the reports about it. Must never know what a payload says beyond its
//! type, its group and its checksum.

use crate::ids::{GroupId, Process};
use crate::trace::Fate;
use crate::vsr::message::MessageKind;

/// What the network needs to know of what it carries. A clone must be cheap.
pub trait Payload: Clone {
    /// Its type, for filters and holds.
    fn kind(&self) -> MessageKind;
    /// Its checksum, for the run hash.
    fn checksum(&self) -> u64;
    /// Its group, for filters and holds of one.
    fn group(&self) -> GroupId;
}

/// A packet. With its link, the number names it: `0to1.57`.
#[derive(Clone, Debug)]
pub struct Packet<P> {
    /// From 1 on each link, copies included.
    pub number: u64,
    /// Names its draws: the count of originals on the link, or for a copy what its original and the
    /// number of the copy mix to. Not the number, so that a copy made by hand moves no other
    /// packet's luck.
    pub draw_key: u64,
    /// The tick it was sent in.
    pub send_tick: u64,
    /// The tick it is due in.
    pub due_tick: u64,
    /// The event that caused it, as the sender says.
    pub cause: u64,
    /// What it carries.
    pub payload: P,
    /// Place among packets that are ready together, drawn: reordering needs no draw of its own.
    pub(crate) order: u64,
    /// Copies made of it.
    pub(crate) copies: u64,
    /// Whether it is a copy; the dice copy no copy, so that a link always drains.
    pub(crate) is_copy: bool,
    /// Handed on by the user: no clog, hold or dice stop it.
    pub(crate) express: bool,
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On its way, not due yet.
    Travelling,
    /// Due, and kept back by a clog or a hold.
    Waiting,
}

/// What became of a submission.
#[derive(Clone, Debug)]
pub struct SubmitReport<P> {
    /// The packet's number on its link.
    pub number: u64,
    /// The tick it is due in.
    pub due_tick: u64,
    /// The packet that a full link pushed out for it.
    pub evicted: Option<Packet<P>>,
}

/// A packet that left its link.
#[derive(Clone, Debug)]
pub struct Arrival<P> {
    /// Sender.
    pub from: Process,
    /// Receiver.
    pub to: Process,
    /// The packet.
    pub packet: Packet<P>,
    /// `Delivered`, as far as the network is concerned, or why not.
    pub fate: Fate,
    /// The copy that the dice sent after it.
    pub copy: Option<SubmitReport<P>>,
}

/// A packet on a link, to look at.
#[derive(Debug)]
pub struct PacketView<'a, P> {
    /// Sender.
    pub from: Process,
    /// Receiver.
    pub to: Process,
    /// Where it is.
    pub place: Place,
    /// The packet.
    pub packet: &'a Packet<P>,
}
