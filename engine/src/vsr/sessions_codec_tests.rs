//! The session table as bytes and back.

use std::rc::Rc;

use crate::ids::{GROUP_PARTITION_0, Op};
use crate::vsr::io::Malformed;
use crate::vsr::message::{Header, Prepare};
use crate::vsr::sessions::{REPLIES_KEPT, Sessions, Verdict};
use crate::vsr::testing::{Echo, request};

/// A table after some registers and more requests than replies are kept.
fn table() -> Sessions {
    let mut sessions = Sessions::new(3);
    let mut machine = Echo::default();
    let mut execute = |op: u64, client: u8, session: u64, number: u64| {
        let asked = request(client, Op(session), number, &"x".repeat(op as usize));
        let header = Header {
            op: Op(op),
            client: asked.client,
            session: asked.session,
            request: asked.request,
            operation: asked.operation,
            body_checksum: asked.body_checksum,
            ..Header::root(GROUP_PARTITION_0)
        };
        let prepare = Prepare {
            header: Rc::new(header.sealed()),
            body: Rc::clone(&asked.body),
        };
        sessions.execute(&prepare, false, &mut machine);
    };
    execute(1, 2, 0, 0);
    execute(2, 0, 0, 0);
    for number in 1..=REPLIES_KEPT as u64 + 2 {
        execute(2 + number, 2, 1, number * 3);
    }
    sessions
}

#[test]
fn what_was_written_comes_back_and_answers_alike() {
    let before = table();
    let bytes = before.encode();
    let after = Sessions::new(3).decode(&bytes).unwrap();
    assert_eq!(after.encode(), bytes);
    assert_eq!(after.digest(), before.digest());
    assert!(after.iter().eq(before.iter()));
    let again = request(2, Op(1), 21, &"x".repeat(9));
    let answer = after.judge(&again, Op(9));
    assert!(matches!(answer, Verdict::Duplicate(_)), "{answer:?}");
    assert_eq!(answer, before.judge(&again, Op(9)));
}

#[test]
fn an_empty_table_comes_back_empty() {
    let empty = Sessions::new(3);
    let after = empty.decode(&empty.encode()).unwrap();
    assert!(after.is_empty());
}

#[test]
fn anything_else_is_refused() {
    let bytes = table().encode();
    let empty = Sessions::new(3);
    for cut in 1..bytes.len() {
        // A cut between two sessions leaves a table of one.
        if let Ok(shorter) = empty.decode(&bytes[..cut]) {
            assert_eq!(*shorter.encode(), bytes[..cut], "{cut}");
        }
    }
    assert!(matches!(empty.decode(&[]), Err(Malformed)));
    assert!(empty.decode(&[&*bytes, &[0]].concat()).is_err());
    let twice = [&bytes[..], &bytes[8..]].concat();
    assert!(empty.decode(&twice).is_err(), "clients ascend");
}

#[cfg(not(target_arch = "wasm32"))]
mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..256), at in 0_usize..512) {
            let empty = Sessions::new(3);
            let _ = empty.decode(&bytes);
            let whole = table().encode();
            bytes.extend_from_slice(&whole[at.min(whole.len())..]);
            if let Ok(table) = empty.decode(&bytes) {
                prop_assert_eq!(&*table.encode(), &bytes[..]);
            }
        }
    }
}
