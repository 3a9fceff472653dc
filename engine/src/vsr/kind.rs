//! The types of messages, by number and by name. Must never know what a message holds.

use serde::{Deserialize, Serialize};

/// The type of a message alone: for filters, counters, colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
#[expect(
    missing_docs,
    reason = "each is documented at the message of the same name"
)]
pub enum MessageKind {
    Request = 0,
    Prepare = 1,
    PrepareOk = 2,
    Reply = 3,
    Eviction = 4,
    Commit = 5,
    StartViewChange = 6,
    DoViewChange = 7,
    StartView = 8,
    RequestStartView = 9,
    RequestPrepares = 10,
    RepairPrepare = 11,
    RepairDone = 12,
    RequestStateTransfer = 13,
    StateTransferTarget = 14,
    RequestStateChunk = 15,
    StateChunk = 16,
}

impl MessageKind {
    /// All kinds, in order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Request,
        Self::Prepare,
        Self::PrepareOk,
        Self::Reply,
        Self::Eviction,
        Self::Commit,
        Self::StartViewChange,
        Self::DoViewChange,
        Self::StartView,
        Self::RequestStartView,
        Self::RequestPrepares,
        Self::RepairPrepare,
        Self::RepairDone,
        Self::RequestStateTransfer,
        Self::StateTransferTarget,
        Self::RequestStateChunk,
        Self::StateChunk,
    ];

    /// The name, as the paper and the links spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "Request",
            Self::Prepare => "Prepare",
            Self::PrepareOk => "PrepareOk",
            Self::Reply => "Reply",
            Self::Eviction => "Eviction",
            Self::Commit => "Commit",
            Self::StartViewChange => "StartViewChange",
            Self::DoViewChange => "DoViewChange",
            Self::StartView => "StartView",
            Self::RequestStartView => "RequestStartView",
            Self::RequestPrepares => "RequestPrepares",
            Self::RepairPrepare => "RepairPrepare",
            Self::RepairDone => "RepairDone",
            Self::RequestStateTransfer => "RequestStateTransfer",
            Self::StateTransferTarget => "StateTransferTarget",
            Self::RequestStateChunk => "RequestStateChunk",
            Self::StateChunk => "StateChunk",
        }
    }

    /// The kind of a name, or nothing.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
