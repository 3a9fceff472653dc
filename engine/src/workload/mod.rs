//! What clients ask for, and whether the answers they get are right. Must never know a replica's
//! inside: the generator sees only what an onlooker knows of the partition, the auditor only committed
//! entries and accepted answers.

mod auditor;
mod generator;
mod model;

pub use auditor::{AuditFinding, AuditProperty, Auditor};
pub use generator::{Generator, Known};
