//! Short texts for transactions.

use super::exchange::Seen;
use tercet_megaco::model::{
    ActionReply, ActionRequest, AuditReply, AuditReturnParameter, CONTEXT_ALL, CONTEXT_CHOOSE, CONTEXT_NULL,
    Command, CommandReply, ErrorDescriptor, MId, ServiceChangeResult, TerminationAudit, Transaction,
    TransactionResult,
};
use tercet_megaco::text::write_mid;

/// Returns a message identifier as text.
pub(super) fn mid(mid: &MId<'_>) -> String {
    let mut text = Vec::new();
    match write_mid(mid, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => "?".to_owned(),
    }
}

/// Returns text in quotes after a space, or nothing.
pub(super) fn quoted(text: Option<&str>) -> String {
    text.map(|text| format!(" \"{text}\"")).unwrap_or_default()
}

/// Returns what a transaction has, and what is known of it: whether it was sent before, and how long its reply took.
pub(super) fn transaction(transaction: &Transaction<'_>, seen: &[Seen]) -> String {
    let text = match transaction {
        Transaction::TransactionRequest(request) => {
            let actions: Vec<_> = request.actions.iter().map(action).collect();
            format!("Request {} {}", id(*request.transaction_id), actions.join(", "))
        }
        Transaction::TransactionPending(pending) => format!("Pending {}", pending.transaction_id),
        Transaction::TransactionReply(reply) => {
            let segment = match (reply.segment_number, reply.segmentation_complete) {
                (Some(number), None) => format!(" segment {number}"),
                (Some(number), Some(())) => format!(" segment {number} (last)"),
                (None, _) => String::new(),
            };
            let result = match &reply.transaction_result {
                TransactionResult::TransactionError(error) => fault(error),
                TransactionResult::ActionReplies(replies) => {
                    replies.iter().map(action_reply).collect::<Vec<_>>().join(", ")
                }
            };
            format!("Reply {}{segment} {result}", id(*reply.transaction_id))
        }
        Transaction::TransactionResponseAck(acks) => {
            let ranges: Vec<_> = acks
                .iter()
                .map(|ack| match ack.last_ack {
                    Some(last) => format!("{}-{last}", ack.first_ack),
                    None => ack.first_ack.to_string(),
                })
                .collect();
            format!("Ack {}", ranges.join(", "))
        }
        Transaction::SegmentReply(segment) => {
            let last = if segment.segmentation_complete.is_some() { " (last)" } else { "" };
            format!("Segment ack {} segment {}{last}", segment.transaction_id, segment.segment_number)
        }
    };
    let mut notes: Vec<_> = seen.iter().filter_map(Seen::note).collect();
    notes.dedup();
    if notes.is_empty() { text } else { format!("{text} [{}]", notes.join(", ")) }
}

fn id(id: Option<u32>) -> String {
    id.map_or_else(|| "?".to_owned(), |id| id.to_string())
}

fn context(context: u32) -> String {
    match context {
        CONTEXT_NULL => "-".to_owned(),
        CONTEXT_CHOOSE => "$".to_owned(),
        CONTEXT_ALL => "*".to_owned(),
        number => number.to_string(),
    }
}

fn fault(error: &ErrorDescriptor<'_>) -> String {
    format!(
        "error {}{}",
        error.error_code,
        quoted(error.error_text.as_ref().map(|text| text.to_string()).as_deref())
    )
}

fn action(action: &ActionRequest<'_>) -> String {
    let commands: Vec<_> = commands(action).collect();
    format!("C={} {}", context(action.context_id), commands.join(" ")).trim_end().to_owned()
}

/// Returns the names of the commands of an action.
pub(super) fn commands(action: &ActionRequest<'_>) -> impl Iterator<Item = &'static str> {
    action.command_requests.iter().map(|request| match &request.command {
        Command::AddReq(_) => "Add",
        Command::MoveReq(_) => "Move",
        Command::ModReq(_) => "Modify",
        Command::SubtractReq(_) => "Subtract",
        Command::AuditCapRequest(_) => "AuditCapability",
        Command::AuditValueRequest(_) => "AuditValue",
        Command::NotifyReq(_) => "Notify",
        Command::ServiceChangeReq(_) => "ServiceChange",
    })
}

fn action_reply(reply: &ActionReply<'_>) -> String {
    let mut text = format!("C={}", context(reply.context_id));
    if let Some(error) = &reply.error_descriptor {
        text.push_str(&format!(" {}", fault(error)));
    }
    for reply in &reply.command_reply {
        let (name, error) = match reply {
            CommandReply::AddReply(reply) => ("Add", audited(reply.termination_audit.as_ref())),
            CommandReply::MoveReply(reply) => ("Move", audited(reply.termination_audit.as_ref())),
            CommandReply::ModReply(reply) => ("Modify", audited(reply.termination_audit.as_ref())),
            CommandReply::SubtractReply(reply) => ("Subtract", audited(reply.termination_audit.as_ref())),
            CommandReply::AuditCapReply(reply) => ("AuditCapability", of_audit(reply)),
            CommandReply::AuditValueReply(reply) => ("AuditValue", of_audit(reply)),
            CommandReply::NotifyReply(reply) => ("Notify", reply.error_descriptor.as_deref()),
            CommandReply::ServiceChangeReply(reply) => (
                "ServiceChange",
                match &reply.service_change_result {
                    ServiceChangeResult::ErrorDescriptor(error) => Some(error),
                    ServiceChangeResult::ServiceChangeResParms(_) => None,
                },
            ),
        };
        text.push_str(&format!(" {name}"));
        if let Some(error) = error {
            text.push_str(&format!(" ({})", fault(error)));
        }
    }
    text
}

/// Returns the error of a command on terminations.
fn audited<'r, 'a>(audit: Option<&'r TerminationAudit<'a>>) -> Option<&'r ErrorDescriptor<'a>> {
    audit?.iter().find_map(|one| match one {
        AuditReturnParameter::ErrorDescriptor(error) => Some(error),
        _ => None,
    })
}

fn of_audit<'r, 'a>(reply: &'r AuditReply<'a>) -> Option<&'r ErrorDescriptor<'a>> {
    match reply {
        AuditReply::Error(error) => Some(error),
        AuditReply::AuditResult(result) => audited(Some(&result.termination_audit_result)),
        AuditReply::AuditResultTermList(result) => audited(Some(&result.termination_audit_result)),
        AuditReply::ContextAuditResult(_) => None,
    }
}
