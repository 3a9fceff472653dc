//! What clients ask for, and whether the answers they get are right. Must never know a replica's
//! inside: the generator sees only what an onlooker knows of the partition, the auditor only committed
//! entries and accepted answers, histories only what clients sent and were told.

mod auditor;
mod generator;
mod history;
mod model;
mod sequential;

pub use auditor::{AuditFinding, AuditProperty, Auditor};
pub use generator::{Generator, Known};
pub use history::{HISTORY_MAX, Histories, HistoryFinding};
