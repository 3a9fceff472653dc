//! Words for checkpoints, and for states on their way from one replica to another. Must never know
//! events.

use super::words::{count, parts};
use crate::vsr::note::{StateNote, TransferCause, TransferEnd};

/// What a replica noted of states, as the rest of a sentence that begins with it.
pub(super) fn note(note: &StateNote) -> String {
    match note {
        StateNote::SnapshotTaken { op, bytes, .. } => {
            format!(
                "took a snapshot of its state after op {op}: {}",
                count(*bytes, "byte")
            )
        }
        StateNote::SnapshotWritten { op, .. } => {
            format!("has its snapshot of op {op} on disk, and names it in the superblock next")
        }
        StateNote::Checkpointed { op, limit } => format!(
            "has checkpoint {op} on disk: what it contains needs no slot, so that there is room up to op {limit}"
        ),
        StateNote::AckWithheld { op, until } => format!(
            "keeps back its ack of op {op} until checkpoint {until} is on disk, so that a commit proves that a quorum has it"
        ),
        StateNote::StateUnreadable { checkpoint } => format!(
            "cannot read its snapshot of op {checkpoint}: it has the log above and needs the state from others"
        ),
        StateNote::TransferStarted { wanted, cause } => format!(
            "needs a state from others, of op {wanted} or later: {}",
            transfer_cause(*cause)
        ),
        StateNote::TransferPinned {
            op,
            from,
            chunks,
            kept: 0,
        } => format!(
            "fetches checkpoint {op} from {from}: {}",
            count(u64::from(*chunks), "part")
        ),
        StateNote::TransferPinned {
            op,
            from,
            chunks,
            kept,
        } => format!(
            "fetches checkpoint {op} from {from}: {}, {kept} of which it has already",
            count(u64::from(*chunks), "part")
        ),
        StateNote::TransferChunk {
            op,
            index,
            have,
            of,
        } => format!("got part {index} of checkpoint {op}: {have} of {of}"),
        StateNote::TransferServed {
            to, op, count: 0, ..
        } => format!("offers {to} its checkpoint {op}, and keeps it for it"),
        StateNote::TransferServed {
            to,
            op,
            first,
            count,
        } => format!("sends {to} {} of checkpoint {op}", parts(*first, *count)),
        StateNote::TransferAbandoned { op, because } => {
            let because = match because {
                TransferEnd::TargetGone => "nobody has it any more",
                TransferEnd::OtherContent => "its parts do not make what was offered",
                TransferEnd::Unneeded => "it got there without",
            };
            format!("gave up fetching checkpoint {op}: {because}")
        }
        StateNote::TransferFinished { op, executed } => format!(
            "has the state of checkpoint {op} from others and goes on after it; it had executed op {executed}"
        ),
    }
}

fn transfer_cause(cause: TransferCause) -> String {
    match cause {
        TransferCause::Evicted { by, op } => {
            format!("op {op} is missing here and has left the ring of {by}")
        }
        TransferCause::LogAhead { head, .. } => {
            format!("the log ends at op {head}, further ahead than rings reach back")
        }
        TransferCause::Unreadable => "its own snapshot cannot be read".to_string(),
    }
}
