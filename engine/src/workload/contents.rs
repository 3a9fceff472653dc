//! What replicas hold at the end of a run, against the reference of their group. Takes work by the size
//! of the state. Must never look into a replica: it is told what one holds.

use super::auditor::{AuditFinding, AuditProperty, Auditor};
use crate::digest::checksum_bytes;
use crate::ids::{Op, ReplicaId};
use crate::machine::Machine;
use crate::machine::metadata::Catalogue;

impl Auditor {
    /// Compares what a replica holds after its `executed` op.
    pub fn check_machine(&mut self, replica: ReplicaId, executed: Op, machine: &Machine) {
        match machine {
            Machine::Metadata(metadata) => {
                self.check_catalogue(replica, executed, &metadata.catalogue());
            }
            Machine::Partition(partition) => {
                self.check_contents(replica, executed, partition.messages());
            }
        }
    }

    /// Compares what a replica knows of streams and users. One that lags cannot be compared: what it
    /// knows has changed since.
    pub fn check_catalogue(&mut self, replica: ReplicaId, executed: Op, catalogue: &Catalogue) {
        let Some(model) = self.reference.metadata() else {
            return;
        };
        if self.lost_track || executed != self.executed || *catalogue == model.catalogue() {
            return;
        }
        let text = format!("replica {replica} knows other streams or users than the log made");
        self.find_contents(AuditProperty::I9, executed, text);
    }

    /// Compares a replica's messages, in order and with their offsets, with those that the log up to
    /// its `executed` op holds. Takes work by the size of the partition: for the end of a run.
    pub fn check_contents<'a>(
        &mut self,
        replica: ReplicaId,
        executed: Op,
        messages: impl Iterator<Item = (u64, &'a [u8])>,
    ) {
        let Some(model) = self.reference.partition() else {
            return;
        };
        if self.lost_track || model.keeps_nothing() {
            return;
        }
        let (mut first, mut next) = (None, 0);
        for (offset, payload) in messages {
            let is_known = !model.has_forgotten(offset);
            if is_known && model.message(offset) != Some(checksum_bytes(payload)) {
                let text = format!("replica {replica} holds another message at offset {offset}");
                self.find_contents(AuditProperty::I9, executed, text);
                return;
            }
            first.get_or_insert(offset);
            next = offset.saturating_add(1);
        }
        let oldest = model.oldest_readable_of(next);
        if let Some(first) = first.filter(|first| *first != oldest) {
            let text =
                format!("replica {replica} keeps messages from offset {first}, not {oldest}");
            self.find_contents(AuditProperty::I9, executed, text);
            return;
        }
        let whole = model.next_offset();
        if executed >= self.acknowledged && next < self.acknowledged_messages {
            let text = format!(
                "replica {replica} holds messages up to offset {next}, but clients were told of {}",
                self.acknowledged_messages
            );
            self.find_contents(AuditProperty::I4, executed, text);
        } else if executed == self.executed && next != whole {
            let text = format!("replica {replica} holds {next} messages of {whole}");
            self.find_contents(AuditProperty::I9, executed, text);
        }
    }

    fn find_contents(&mut self, property: AuditProperty, op: Op, text: String) {
        let client = None;
        self.keep(AuditFinding {
            property,
            op,
            client,
            text,
        });
    }
}
