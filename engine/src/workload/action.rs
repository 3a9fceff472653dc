//! What clients do, by name: every command of both planes. Must never know how one is drawn.

use serde::Serialize;

use crate::machine::codec::Command as PartitionCommand;
use crate::machine::metadata::Command as MetadataCommand;

/// An action. Append only: presets and the draw order go by the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
#[expect(
    missing_docs,
    reason = "each is documented at the command of the same name"
)]
pub enum Action {
    SendMessages = 0,
    Poll = 1,
    StoreOffset = 2,
    DeleteOffset = 3,
    GetOffset = 4,
    CreateStream = 5,
    UpdateStream = 6,
    DeleteStream = 7,
    CreateTopic = 8,
    UpdateTopic = 9,
    DeleteTopic = 10,
    CreatePartitions = 11,
    DeletePartitions = 12,
    CreateUser = 13,
    UpdateUser = 14,
    ChangePassword = 15,
    DeleteUser = 16,
    CreateToken = 17,
    DeleteToken = 18,
    CreateConsumerGroup = 19,
    DeleteConsumerGroup = 20,
    JoinConsumerGroup = 21,
    LeaveConsumerGroup = 22,
    GetStream = 23,
    GetTopic = 24,
    GetUser = 25,
    GetCatalogue = 26,
}

impl Action {
    /// All, in order of their numbers.
    pub const ALL: [Self; 27] = [
        Self::SendMessages,
        Self::Poll,
        Self::StoreOffset,
        Self::DeleteOffset,
        Self::GetOffset,
        Self::CreateStream,
        Self::UpdateStream,
        Self::DeleteStream,
        Self::CreateTopic,
        Self::UpdateTopic,
        Self::DeleteTopic,
        Self::CreatePartitions,
        Self::DeletePartitions,
        Self::CreateUser,
        Self::UpdateUser,
        Self::ChangePassword,
        Self::DeleteUser,
        Self::CreateToken,
        Self::DeleteToken,
        Self::CreateConsumerGroup,
        Self::DeleteConsumerGroup,
        Self::JoinConsumerGroup,
        Self::LeaveConsumerGroup,
        Self::GetStream,
        Self::GetTopic,
        Self::GetUser,
        Self::GetCatalogue,
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its place in [`Action::ALL`].
    #[must_use]
    pub const fn place(self) -> usize {
        self as usize
    }

    /// Whether it goes to a partition, and not to the metadata group.
    #[must_use]
    pub const fn is_of_partition(self) -> bool {
        self.place() <= Self::GetOffset.place()
    }

    /// What a request's body does; nothing, where it is no command.
    #[must_use]
    pub fn of(body: &[u8]) -> Option<Self> {
        match PartitionCommand::decode(body) {
            Ok(command) => Some(Self::of_partition(command)),
            Err(_) => MetadataCommand::decode(body).ok().map(Self::of_metadata),
        }
    }

    fn of_partition(command: PartitionCommand<'_>) -> Self {
        match command {
            PartitionCommand::SendMessages { .. } => Self::SendMessages,
            PartitionCommand::StoreOffset { .. } => Self::StoreOffset,
            PartitionCommand::DeleteOffset { .. } => Self::DeleteOffset,
            PartitionCommand::Poll { .. } => Self::Poll,
            PartitionCommand::GetOffset { .. } => Self::GetOffset,
        }
    }

    fn of_metadata(command: MetadataCommand<'_>) -> Self {
        match command {
            MetadataCommand::CreateStream { .. } => Self::CreateStream,
            MetadataCommand::UpdateStream { .. } => Self::UpdateStream,
            MetadataCommand::DeleteStream { .. } => Self::DeleteStream,
            MetadataCommand::CreateTopic { .. } => Self::CreateTopic,
            MetadataCommand::UpdateTopic { .. } => Self::UpdateTopic,
            MetadataCommand::DeleteTopic { .. } => Self::DeleteTopic,
            MetadataCommand::CreatePartitions { .. } => Self::CreatePartitions,
            MetadataCommand::DeletePartitions { .. } => Self::DeletePartitions,
            MetadataCommand::CreateUser { .. } => Self::CreateUser,
            MetadataCommand::UpdateUser { .. } => Self::UpdateUser,
            MetadataCommand::ChangePassword { .. } => Self::ChangePassword,
            MetadataCommand::DeleteUser { .. } => Self::DeleteUser,
            MetadataCommand::CreateToken { .. } => Self::CreateToken,
            MetadataCommand::DeleteToken { .. } => Self::DeleteToken,
            MetadataCommand::CreateConsumerGroup { .. } => Self::CreateConsumerGroup,
            MetadataCommand::DeleteConsumerGroup { .. } => Self::DeleteConsumerGroup,
            MetadataCommand::JoinConsumerGroup { .. } => Self::JoinConsumerGroup,
            MetadataCommand::LeaveConsumerGroup { .. } => Self::LeaveConsumerGroup,
            MetadataCommand::GetStream { .. } => Self::GetStream,
            MetadataCommand::GetTopic { .. } => Self::GetTopic,
            MetadataCommand::GetUser { .. } => Self::GetUser,
            MetadataCommand::GetCatalogue => Self::GetCatalogue,
        }
    }
}

/// Actions are drawn by their numbers: inserting one would move every seed.
const _: () = {
    assert!(Action::COUNT == 27, "append to the list, and to this count");
    let mut place = 0;
    while place < Action::COUNT {
        assert!(Action::ALL[place].place() == place, "append only");
        place += 1;
    }
    assert!(Action::SendMessages.place() == 0, "append only");
    assert!(Action::CreateStream.place() == 5, "append only");
    assert!(Action::CreateUser.place() == 13, "append only");
    assert!(Action::GetCatalogue.place() == 26, "append only");
};
