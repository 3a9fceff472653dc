//! What clients ask for, and whether the answers they get are right. Must never know a replica's
//! inside: the generator sees only what an onlooker knows of the groups, the auditors only committed
//! entries and accepted answers, histories only what clients sent and were told.

mod action;
mod aim;
mod auditor;
mod auditors;
mod contents;
mod generator;
mod history;
mod model_metadata;
mod model_partition;
mod model_sessions;
mod outcome;
mod plane;
mod reference;
mod sequential;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod whole_run_tests;

pub use action::Action;
pub use aim::Known;
pub use auditor::{AuditFinding, AuditProperty, Auditor};
pub use auditors::{AuditorOptions, Auditors};
pub use generator::{Drawn, Generator, Load};
pub use history::{HISTORY_MAX, Histories, HistoryFinding};
pub use outcome::{Coverage, Outcome};
pub use plane::Plane;
