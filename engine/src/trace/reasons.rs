//! Words for what replicas note of themselves, and for their reasons. Must never know events.

use super::host_words;
use super::state_words;
use super::words::{self, count, ops};
use crate::ids::{Incarnation, ReplicaId, View};
use crate::vsr::io::Status;
use crate::vsr::message::{Operation, Prepare, Vote};
use crate::vsr::note::{EnterCause, Ignored, LeaveCause, MergeOutcome, Note, RequestDropped};

/// What a replica noted, as the rest of a sentence that begins with it. One arm a note: a table.
pub(super) fn note(replica: ReplicaId, note: &Note, replica_count: u8) -> String {
    match note {
        Note::MessageIgnored { kind, from, reason } => {
            let whose = from.map_or("a client's".to_string(), |from| format!("{from}'s"));
            format!("ignored {whose} {}: {}", kind.name(), ignored(reason))
        }
        Note::RequestDropped {
            client,
            request,
            reason,
        } => format!(
            "did not take {} of client {client}: {}",
            words::request(*request),
            dropped(reason)
        ),
        Note::RequestRejected {
            client,
            request,
            rejection,
        } => format!(
            "refused {} of client {client}: {}",
            words::request(*request),
            words::rejection(*rejection)
        ),
        Note::ReplyRepeated {
            client,
            request,
            op,
        } => format!(
            "sent client {client} the reply to {} again: it was executed as op {op} and is not executed twice",
            words::request(*request)
        ),
        Note::Prepared { op, client, .. } => {
            format!("gave client {client}'s request its place in the log: op {op}")
        }
        Note::Appended { op, .. } => format!("appended op {op} to its log"),
        Note::Filled { op, repair, .. } => {
            let by = if *repair { "repair" } else { "a Prepare" };
            format!("has the body of op {op} now, by {by}")
        }
        Note::Journaled { op, .. } => format!("has op {op} on disk, prepare and header"),
        Note::Acked { op, to, .. } => {
            format!(
                "acknowledged op {op} to {to}: it is on disk, and the disk knows every op before it"
            )
        }
        Note::AckCounted {
            op,
            from,
            have,
            need,
        } if *from == replica => {
            format!("counted its own copy of op {op}: {have} of {need} hold it")
        }
        Note::AckCounted {
            op,
            from,
            have,
            need,
        } => format!("counted {from}'s ack of op {op}: {have} of {need} hold it"),
        Note::Executed {
            prepare, effect, ..
        } => executed(prepare, *effect),
        Note::CommitAdvanced { commit_max } => format!("committed op {commit_max}"),
        Note::SessionOpened { client, session } => {
            format!("opened session {session} of client {client}")
        }
        Note::SessionEvicted { client, session } => {
            format!(
                "dropped session {session} of client {client}: the table is full and it committed longest ago"
            )
        }
        Note::LeaveVoted { view, cause } => format!(
            "voted to leave view {view}: {}",
            leave_cause(*view, *cause, replica_count)
        ),
        Note::VoteWithdrawn { view } => format!(
            "took back its vote to leave view {view}: {} was heard",
            view.primary(replica_count)
        ),
        Note::LeaveCounted {
            view,
            from,
            have,
            need,
        } => format!("counted {from}'s vote to leave view {view}: {have} of {need}"),
        Note::ViewEntered { from, view, cause } => {
            format!("left view {from} for view {view}: {}", enter_cause(*cause))
        }
        Note::Merged { view, outcome } => merged(*view, *outcome),
        Note::OpDecided {
            op,
            kept,
            copies,
            nacks,
            own,
        } => decided(op.0, *kept, (*copies, *nacks), *own),
        Note::ViewStarted {
            view,
            head,
            commit_max,
            ..
        } => format!(
            "started view {view}, because {}: head {head}, committed up to op {commit_max}",
            ring(*view, replica_count)
        ),
        Note::BecameNormal {
            view,
            head,
            primary: true,
        } => format!(
            "leads view {view}, because {}; head {head}",
            ring(*view, replica_count)
        ),
        Note::BecameNormal {
            view,
            head,
            primary: false,
        } => format!(
            "follows {} in view {view}; head {head}",
            view.primary(replica_count)
        ),
        Note::LogAdopted {
            view,
            head_before,
            head,
        } => format!(
            "adopted {}'s log of view {view}: its head was {head_before} and is {head}",
            view.primary(replica_count)
        ),
        Note::EntryDropped { op, view, .. } => format!(
            "dropped its op {op} of view {view}: the new log has another entry there or ends before it"
        ),
        Note::Abdicated { view, op } => format!(
            "stopped its heartbeats in view {view}: op {op} finds no quorum, so another should lead"
        ),
        Note::Proven { from } => {
            format!("proved its log from the head down to op {from}: each names its parent")
        }
        Note::Probed { view, attempts } => match attempts {
            0 => format!("asked who leads; it knows view {view}"),
            unanswered => format!(
                "asked who leads; it knows view {view}, and {} went unanswered",
                count(u64::from(*unanswered), "probe")
            ),
        },
        Note::ProbeAnswered { to, head } => {
            format!("told {to} who leads and sent the log's head {head}")
        }
        Note::RepairRequested { to, from, through } => {
            format!("asked {to} for the bodies of {}", ops(*from, *through))
        }
        Note::RepairServed {
            to,
            from,
            through,
            held,
        } => format!(
            "sends {to} the bodies it holds of {}: {held}",
            ops(*from, *through)
        ),
        Note::SuperblockDurable {
            view,
            log_view,
            commit_max,
            head,
        } => format!(
            "has its superblock on disk: view {view}, the log of view {log_view}, head {head}, committed up to op {commit_max}"
        ),
        Note::Booted {
            incarnation,
            view,
            log_view,
            head,
            unproven,
        } => {
            let found = match unproven {
                0 => String::new(),
                1 => "; nothing vouches yet for one entry more".to_string(),
                more => format!("; nothing vouches yet for {more} entries more"),
            };
            format!(
                "read its disk for life {incarnation}: view {view}, the log of view {log_view}, head {head}{found}"
            )
        }
        Note::State(note) => state_words::note(note),
        Note::Forfeited {
            view,
            ours,
            theirs,
            by,
        } => format!(
            "passes its turn to lead view {view}: {by} has checkpoint {theirs}, and it has nothing past op {ours}"
        ),
        Note::TrustRegained { head } => format!(
            "has the whole log of a started view up to op {head}: what it lacks it never acknowledged"
        ),
        Note::TimerFired { timer } => words::timer(*timer).to_string(),
        Note::RuleBroken { rule, op } => match op.0 {
            0 => format!("found its own rule broken and halts: {rule}"),
            op => format!("found its own rule broken at op {op} and halts: {rule}"),
        },
        Note::Hosting(note) => host_words::told(*note),
        Note::Mutated { mutation } => format!(
            "followed mutation {}: {}",
            mutation.name(),
            mutation.instead().trim_end_matches('.')
        ),
    }
}

fn ignored(reason: &Ignored) -> String {
    match reason {
        Ignored::OlderView { view, ours } => format!("its view {view} is below my view {ours}"),
        Ignored::NewerView { view, ours } => {
            format!("its view {view} is above my view {ours}, so I ask for that view's log first")
        }
        Ignored::NotFromPrimary => "only the primary of its view may say this".to_string(),
        Ignored::NotPrimary { primary } => {
            format!("only the primary may act on it, and that is {primary}")
        }
        Ignored::WrongStatus { status } => words::status(*status).to_string(),
        Ignored::Foreign => "it is not of this cluster or group".to_string(),
        Ignored::Gap { op, head } => format!("its op {op} does not follow my head {head}"),
        Ignored::BrokenChain { op } => {
            format!("its op {op} names another parent than the entry I have there")
        }
        Ignored::OtherIdentity { op } => format!("I know another entry at op {op}"),
        Ignored::Duplicate { op } => format!("I hold op {op} already"),
        Ignored::StaleAck { op } => format!("op {op} does not wait for that ack"),
        Ignored::NothingNew { head, ours } => {
            format!("its head {head} is not above my head {ours}, and I have that view's log")
        }
        Ignored::OtherIncarnation {
            answers: Incarnation(0),
            ours,
        } => format!("it answers no question of mine, and I restarted: this is my life {ours}"),
        Ignored::OtherIncarnation { answers, ours } => {
            format!("it answers my life {answers}, and this is my life {ours}")
        }
        Ignored::RecoveringNotPulled => {
            "I restarted and still ask who leads, so nobody pulls me into a view".to_string()
        }
        Ignored::NotDurableYet => "what I would say to it is not on my disk yet".to_string(),
        Ignored::AlreadyChosen => "the log of this view is chosen already".to_string(),
        Ignored::NothingToServe => "I hold nothing of what it asks for".to_string(),
        Ignored::JournalFull { slots } => {
            format!("all {slots} slots of my journal are taken until the next checkpoint")
        }
        Ignored::Contained { op, checkpoint } => {
            format!("op {op} is in my checkpoint {checkpoint} already")
        }
        Ignored::StateUnasked => "I asked for no such state, or have it already".to_string(),
        Ignored::OtherPart { index } => format!("part {index} is not what was offered"),
        Ignored::TargetGone => "I do not have that state any more".to_string(),
    }
}

fn dropped(reason: &RequestDropped) -> String {
    match reason {
        RequestDropped::NotPrimary { primary, status } => match status {
            Status::Normal => format!("{primary} leads"),
            Status::ViewChange => format!("the view that {primary} leads has not started"),
            Status::Recovering | Status::RecoveringHead => words::status(*status).to_string(),
        },
        RequestDropped::PipelineFull { waiting } => {
            format!("the pipeline is full, {} for a quorum", waits(*waiting))
        }
        RequestDropped::JournalFull { slots } => {
            format!("all {slots} journal slots are taken, and none is free before a checkpoint")
        }
        RequestDropped::InFlight { op } => {
            format!("it is prepared as op {op} already and waits for a quorum")
        }
        RequestDropped::SessionAhead => {
            "the op that opened its session is not executed here yet".to_string()
        }
        RequestDropped::PipelineHalved { waiting, peer } => format!(
            "{} for a quorum, and half a pipeline must do while {peer} is being handed a state",
            waits(*waiting)
        ),
    }
}

fn waits(waiting: u32) -> String {
    let verb = if waiting == 1 { "waits" } else { "wait" };
    format!("{} {verb}", count(u64::from(waiting), "prepare"))
}

fn executed(prepare: &Prepare, effect: bool) -> String {
    let header = &prepare.header;
    let what = match header.operation {
        Operation::Root => "the root".to_string(),
        Operation::Register => format!("client {} registers", header.client),
        Operation::Machine => format!("request {} of client {}", header.request, header.client),
    };
    if effect {
        format!("executed op {}: {what}", header.op)
    } else {
        format!(
            "executed op {} without effect: {what} came a second time or under a dead session",
            header.op
        )
    }
}

fn ring(view: View, replica_count: u8) -> String {
    format!(
        "{} = view {view} mod {replica_count}",
        view.primary(replica_count)
    )
}

fn leave_cause(view: View, cause: LeaveCause, replica_count: u8) -> String {
    let primary = view.primary(replica_count);
    match cause {
        LeaveCause::PrimarySilent { ticks } => {
            format!(
                "heard nothing from {primary} for {}",
                words::ticks(u64::from(ticks))
            )
        }
        LeaveCause::ViewChangeTooLong { ticks } => {
            format!("it has not started for {}", words::ticks(u64::from(ticks)))
        }
        LeaveCause::PrimaryRestarted => {
            format!("its primary {primary} restarted and asks who leads")
        }
        LeaveCause::NothingCommits { ticks } => format!(
            "what it prepared has found no quorum for {}",
            words::ticks(u64::from(ticks))
        ),
        LeaveCause::ProbesUnanswered { attempts } => {
            format!("nobody answered {}", count(u64::from(attempts), "probe"))
        }
    }
}

fn enter_cause(cause: EnterCause) -> String {
    match cause {
        EnterCause::Votes { have, need } => format!(
            "{} to leave, {need} make a quorum",
            count(u64::from(have), "vote")
        ),
        EnterCause::Pulled { by, kind } => {
            format!("{by} is there already, says its {}", kind.name())
        }
        EnterCause::Forfeit => "it passed its turn to lead, a checkpoint behind".to_string(),
    }
}

fn merged(view: View, outcome: MergeOutcome) -> String {
    match outcome {
        MergeOutcome::AwaitingVotes { have, need } => {
            format!("has {have} of the {need} logs that view {view} needs")
        }
        MergeOutcome::AwaitingCopy { op, nacks, need } => format!(
            "cannot choose the log of view {view} yet: of op {op} no log brought has a copy, and {nacks} of the {need} that it takes say they never had it"
        ),
        MergeOutcome::Undecidable { op } => format!(
            "cannot choose the log of view {view}: all have answered, op {op} may have been committed, and nobody has a copy"
        ),
        MergeOutcome::Chosen { head, commit_max } => {
            format!("chose the log of view {view}: head {head}, committed up to op {commit_max}")
        }
        MergeOutcome::AwaitingTrust { trusted, need } => format!(
            "cannot choose the log of view {view} yet: {trusted} of those who answered lost nothing at a restart, it takes {need} of them or the answers of all"
        ),
        MergeOutcome::ChosenAtRisk { head, commit_max } => format!(
            "chose the longest log of view {view} since too few lost nothing: head {head}, committed up to op {commit_max}; what was acknowledged above op {head} is lost"
        ),
    }
}

fn decided(op: u64, kept: bool, (copies, nacks): (u8, u8), own: Vote) -> String {
    let copies = match copies {
        1 => "1 copy".to_string(),
        many => format!("{many} copies"),
    };
    let never = match nacks {
        1 => "1 replica never journaled it".to_string(),
        many => format!("{many} replicas never journaled it"),
    };
    let own = match own {
        Vote::Present => "holds it itself",
        Vote::Nack => "never had it itself",
        Vote::Abstain => "cannot tell itself",
    };
    if kept {
        format!("keeps op {op}: {copies} among the logs brought, {never}; {own}")
    } else {
        format!("lets the log end before op {op}: {never}, so no quorum acknowledged it; {own}")
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[path = "reasons_tests.rs"]
mod tests;
