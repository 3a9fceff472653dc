//! I2, hash chain: the parent of every executed entry is the entry executed before it, an entry's
//! identity is the checksum of its header, and its timestamp is above its parent's, however wrong the
//! clock of its primary was (protocol sections 1 and 3; TigerBeetle's state checker; scenario A44).
//! Checked once an op, when it is first executed. No exceptions: where an op was jumped over by a state
//! transfer nobody executed it, and there is nothing to compare. Must never know the log.

use super::canon::Canon;
use super::violation::{Property, Replicas, Report};
use crate::ids::ReplicaId;
use crate::vsr::message::Header;

/// An op was executed for the first time.
pub(super) fn appended(header: &Header, replica: ReplicaId, canon: &Canon, report: &mut Report) {
    let op = header.op;
    if header.identity() != header.checksum {
        report.violated(
            Property::I2,
            Some(op),
            Replicas::one(replica),
            format!(
                "{replica} executed op {op} under the identity {}, but its header sums to {}",
                header.checksum,
                header.identity()
            ),
        );
    }
    let Some(before) = canon.checksum(op.previous()) else {
        return;
    };
    report.compared(Property::I2);
    if header.parent != before {
        report.violated(
            Property::I2,
            Some(op),
            Replicas::one(replica),
            format!(
                "{replica} executed an op {op} whose parent is {}, but op {} is {before}",
                header.parent,
                op.previous()
            ),
        );
    }
    let stamped = canon
        .get(op.previous())
        .map(|record| record.timestamp_micros);
    if stamped.is_some_and(|stamped| header.timestamp_micros <= stamped) {
        report.violated(
            Property::I2,
            Some(op),
            Replicas::one(replica),
            format!(
                "op {op} is stamped {}, and op {} before it {}",
                header.timestamp_micros,
                op.previous(),
                stamped.unwrap_or_default()
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, chain, fork};
    use super::*;

    #[test]
    fn a_linked_history_holds() {
        let mut world = World::new(3);
        world.execute_everywhere(4);
        assert_eq!(world.found(Property::I2), 0);
        assert_eq!(world.compared(Property::I2), 4);
    }

    #[test]
    fn a_parent_that_was_not_executed_is_a_violation() {
        let mut world = World::new(3);
        let headers = chain(2);
        world.execute(0, &fork(&headers[0]), 1);
        world.execute(0, &headers[1], 2);
        assert_eq!(world.kept()[0].property, Property::I2);
        assert!(world.kept()[0].text.contains("whose parent is"));
    }

    #[test]
    fn a_timestamp_that_does_not_rise_is_a_violation() {
        let mut world = World::new(3);
        let mut headers = chain(2);
        headers[1].timestamp_micros = headers[0].timestamp_micros;
        let second = headers[1].clone().sealed();
        world.execute(0, &headers[0], 1);
        world.execute(0, &second, 2);
        assert_eq!(world.found(Property::I2), 1);
        assert!(world.kept()[0].text.starts_with("op 2 is stamped 1, "));
    }

    #[test]
    fn an_identity_that_is_not_the_headers_checksum_is_a_violation() {
        let mut world = World::new(3);
        let mut header = chain(1)[0].clone();
        header.timestamp_micros += 1;
        world.execute(0, &header, 1);
        assert!(world.kept()[0].text.contains("sums to"));
    }
}
