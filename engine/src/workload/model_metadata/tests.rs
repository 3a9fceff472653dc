//! The reference against the metadata group, on drawn commands: written apart, they must agree on
//! every answer and on everything that is there.

use super::*;
use crate::machine::metadata::testing::{Bench, entry};

#[test]
fn both_begin_alike() {
    for partitions in 1..=8 {
        let genesis = Genesis {
            partitions,
            durability: Durability::Replicated,
            ..Genesis::default()
        };
        let (model, metadata) = (
            MetadataModel::new(&genesis),
            crate::machine::Metadata::new(&genesis),
        );
        assert_eq!(model.catalogue(), metadata.catalogue());
    }
}

#[test]
fn the_time_is_that_of_the_entry() {
    let mut model = MetadataModel::new(&Genesis::default());
    let mut bench = Bench::default();
    for expiry in [1, 2, 3, 4, 9] {
        let name = format!("t{expiry}");
        let body = Command::CreateToken {
            user: ROOT,
            name: &name,
            hash: name.as_bytes(),
            expiry_micros: Some(expiry),
        }
        .encode();
        let result = bench.run(ClientId(0), body.clone());
        let entry = entry(bench.op, ClientId(0), body);
        let expected = model.apply(&entry.header, &entry.body);
        assert_eq!(Answer::decode(&result), Ok(expected.clone()));
        assert_eq!(expected == Answer::Done, expiry == 9);
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod drawn {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::machine::metadata::testing::asked;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn both_give_the_same_answers(asked in vec(asked(), 0..150)) {
            let mut model = MetadataModel::new(&Genesis::default());
            let mut bench = Bench::default();
            for (client, body) in asked {
                let result = bench.run(client, body.clone());
                let entry = entry(bench.op, client, body);
                let expected = model.apply(&entry.header, &entry.body);
                prop_assert_eq!(Answer::decode(&result), Ok(expected));
            }
            prop_assert_eq!(model.catalogue(), bench.metadata.catalogue());
            let alive: Vec<GroupId> = bench.metadata.groups().iter().map(|of| of.group).collect();
            for group in &alive {
                prop_assert!(model.is_alive(*group));
            }
            prop_assert_eq!(model.partitions.len(), alive.len());
        }
    }
}
