//! The packets on all links, as one array of numbers. Must never know who draws them.

use crate::ids::Process;
use crate::run::Session;
use crate::sim::packet::Place;

/// Numbers of one packet in [`packets`].
pub const PACKET_STRIDE: usize = 11;

/// Every packet on a link, [`PACKET_STRIDE`] numbers each: from, to (dense indices), number, type,
/// view, op (−1 for none), sent tick, due tick, flags (1 kept back),
/// one to spare, and the id of its group.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "ticks and counts stay far below 2^53, which JavaScript's numbers hold exactly"
)]
pub fn packets(session: &Session) -> Vec<f64> {
    let mut numbers = Vec::new();
    for view in session.simulator().network().packets() {
        let frame = &view.packet.payload.frame;
        let op = frame.message.op().map_or(-1.0, |op| op.0 as f64);
        let index = |process: Process| f64::from(process.index());
        numbers.extend([
            index(view.from),
            index(view.to),
            view.packet.number as f64,
            f64::from(frame.message.kind() as u8),
            f64::from(frame.view.0),
            op,
            view.packet.send_tick as f64,
            view.packet.due_tick as f64,
            f64::from(u8::from(view.place == Place::Waiting)),
            0.0,
            frame.group.0 as f64,
        ]);
    }
    numbers
}
