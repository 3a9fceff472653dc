//! Passing one's turn (protocol section 4): a next primary that knows itself a checkpoint behind
//! leaves the view to the next one, since it could lead nobody before it was handed a state. It is
//! the only one that raises a number alone. Must never pass for good: after a round of views in
//! which nobody led it takes its turn, and fetches the state as the primary that it is.

use crate::ids::{Op, ReplicaId};
use crate::vsr::io::Status;
use crate::vsr::note::{EnterCause, Note};
use crate::vsr::replica::{Context, Replica};

impl Replica {
    /// Passes the turn if `by` has a checkpoint that we cannot reach with what we hold; whether it
    /// did.
    pub(super) fn forfeits_to(
        &mut self,
        by: ReplicaId,
        checkpoint: Op,
        ctx: &mut Context<'_>,
    ) -> bool {
        let is_next = self.status == Status::ViewChange && self.is_primary();
        let has_had_a_round = self.failed_views >= u32::from(self.roster.replica_count);
        let ours = self.reach();
        if !is_next || has_had_a_round || checkpoint <= ours {
            return false;
        }
        ctx.note(Note::Forfeited {
            view: self.view,
            ours,
            theirs: checkpoint,
            by,
        });
        let next = self.view.next();
        self.enter_view(next, EnterCause::Forfeit, ctx);
        true
    }
}
