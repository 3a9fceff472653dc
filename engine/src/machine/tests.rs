//! Which machine a group has, and whose words are taken for which bytes.

use super::*;
use crate::ids::GROUP_PARTITION_0;

#[test]
fn a_group_has_the_machine_of_its_plane() {
    let genesis = Genesis::default();
    let mut metadata = Machine::new(GROUP_METADATA, &genesis, 9);
    let mut partition = Machine::new(GROUP_PARTITION_0, &genesis, 9);
    assert!(metadata.metadata().is_some() && metadata.partition().is_none());
    assert!(partition.partition().is_some() && partition.metadata().is_none());
    let (of_metadata, of_partition) = (metadata.snapshot(), partition.snapshot());
    assert_eq!(metadata.restore(&of_metadata), Ok(()));
    assert_eq!(metadata.restore(&of_partition), Err(Malformed));
    assert_eq!(partition.restore(&of_partition), Ok(()));
    assert_eq!(partition.restore(&of_metadata), Err(Malformed));
    assert_eq!(partition.take_changes(), []);
}

#[test]
fn words_go_by_the_first_byte() {
    let poll = codec::Command::GetOffset { consumer: 1 }.encode();
    assert_eq!(describe(&poll), "get the offset of consumer 1");
    let create = metadata::Command::CreateStream { name: "s" }.encode();
    assert_eq!(describe(&create), "create stream s");
    assert_eq!(describe(b""), "0 bytes that are no command");
    assert_eq!(describe_answer(&codec::Answer::Stored.encode()), "stored");
    assert_eq!(describe_answer(&metadata::Answer::Done.encode()), "done");
}
