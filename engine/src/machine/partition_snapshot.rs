//! The whole state of a partition as bytes. Which send brought which message leaves no trace in them,
//! so that a replica that executed the log and one that restored a snapshot write the same. Must never
//! hold a byte that two replicas could write differently.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::{Batch, Partition};
use crate::machine::codec::{BATCH_MAX, Command, Payloads};
use crate::machine::wire::{Reader, within};
use crate::vsr::io::Malformed;

/// Marks the snapshot of a partition, so that no other group takes it for its own.
const PARTITION: u8 = b'P';
/// No log is long enough to reach this offset; below it sums cannot overflow.
const OFFSET_MAX: u64 = u64::MAX / 4;

pub(super) fn write(partition: &Partition) -> Rc<[u8]> {
    let mut out = vec![PARTITION];
    out.extend_from_slice(&partition.digest.to_le_bytes());
    out.extend_from_slice(&partition.next_offset.to_le_bytes());
    for (_, payload) in partition.messages() {
        let length = u8::try_from(payload.len()).expect("a send gives a length one byte");
        out.push(length);
        out.extend_from_slice(payload);
    }
    for (consumer, offset) in &partition.consumers {
        out.push(*consumer);
        out.extend_from_slice(&offset.to_le_bytes());
    }
    out.into()
}

pub(super) fn read(bytes: &[u8], retention: u32) -> Result<Partition, Malformed> {
    let mut reader = Reader::new(bytes);
    within(reader.u8()?, PARTITION, PARTITION)?;
    let digest = reader.u64()?;
    let next_offset = within(reader.u64()?, 0, OFFSET_MAX)?;
    let mut partition = Partition {
        digest,
        next_offset,
        ..Partition::new(retention)
    };
    partition.batches = batches(&mut reader, partition.first_offset(), next_offset)?;
    partition.consumers = consumers(reader, next_offset)?;
    Ok(partition)
}

/// The messages kept, in bodies as full as a send may be.
fn batches(reader: &mut Reader<'_>, first: u64, next: u64) -> Result<VecDeque<Batch>, Malformed> {
    let mut batches = VecDeque::new();
    let mut from = first;
    while from < next {
        let left = u32::try_from(next - from).unwrap_or(u32::MAX);
        let payloads = Payloads::read(reader, left.min(BATCH_MAX))?;
        batches.push_back(Batch {
            first: from,
            body: Command::SendMessages { payloads }.encode(),
        });
        from += u64::from(payloads.count());
    }
    Ok(batches)
}

fn consumers(mut reader: Reader<'_>, next_offset: u64) -> Result<BTreeMap<u8, u64>, Malformed> {
    let mut consumers = BTreeMap::new();
    while !reader.is_empty() {
        let consumer = reader.u8()?;
        let offset = reader.u64()?;
        let is_in_order = consumers
            .last_key_value()
            .is_none_or(|(last, _)| *last < consumer);
        if !is_in_order || offset >= next_offset {
            return Err(Malformed);
        }
        consumers.insert(consumer, offset);
    }
    Ok(consumers)
}
