//! Printed by `workload-fuzz test`: a run that broke a property and must not break it again.

use engine::oracle::Property;
use engine::run::Session;
use engine::scenario::decode;
use engine::trace::{Recorder, Recording};

/// I4, Durability: Once a client has its reply, every later view that starts holds that op.
#[test]
fn i4_holds_with_seed_211() {
    let link = "v=1&seed=211&replicas=5&clients=2&faults=heavy&crash=0.01&restart=0.05&load=0.1&\
        act=100.crash.0_700.cut.1-2_800.restart.0_1400.heal&epoch=1";
    let run = decode(link).expect("a link that this build reads");
    let recorder = Recorder::new(Recording::Nothing, 0);
    let mut session = Session::new(run, recorder).expect("a run that its cluster can play");
    session.advance_ticks(3000);
    let mut violations = session.violations();
    violations.retain(|violation| violation.property == Property::I4);
    assert!(violations.is_empty(), "{violations:#?}");
}
