//! What an engine hands over while messages are decoded: requests and replies, in the order of the events.

use std::collections::VecDeque;
use tercet_megaco::List;
use tercet_megaco::json;
use tercet_megaco::model::{
    ActionReply, ActionRequest, CommandReply, IntoOwned, Lenient, MId, MegacoMessage, Message, MessageBody,
    ServiceChangeResult, Transaction, TransactionReply, TransactionRequest, TransactionResult,
};
use tercet_megaco::parts::{Form, Part, write};
use tercet_megaco::text::Layout;
use tercet_megaco_engine::{Asked, ConnId, Engine, Event, Handler, Replied, Token};

/// The queue of what happened.
pub(super) struct Inbox {
    pub(super) max_version: u8,
    pub(super) happened: VecDeque<Happened>,
}

pub(super) enum Happened {
    Event(Event),
    Asked(Request),
    Replied { connection: ConnId, transaction: u32, actions: Shown },
}

/// A request that is to be answered.
pub(super) struct Request {
    pub(super) token: Token,
    pub(super) connection: ConnId,
    pub(super) transaction: u32,
    pub(super) version: u8,
    pub(super) actions: List<ActionRequest<'static>>,
}

/// Actions for users: the message of their transaction as JSON, and the actions alone as compact text.
pub(super) type Shown = (String, String);

impl Handler for Inbox {
    fn request(&mut self, _: &mut Engine, asked: Asked<'_, '_>) {
        self.happened.push_back(Happened::Asked(Request {
            token: asked.token,
            connection: asked.conn,
            transaction: asked.transaction,
            version: asked.version,
            actions: asked.actions.iter().cloned().map(IntoOwned::into_owned).collect(),
        }));
    }

    fn reply(&mut self, engine: &mut Engine, replied: Replied<'_, '_>) -> bool {
        if let Some(version) = replied.actions.iter().find_map(registered) {
            // The connection may have ended since.
            _ = engine.set_version(replied.conn, version.clamp(1, self.max_version));
        }
        self.happened.push_back(Happened::Replied {
            connection: replied.conn,
            transaction: replied.transaction,
            actions: replies(replied.actions, replied.version),
        });
        true
    }

    fn event(&mut self, _: &mut Engine, event: Event) {
        self.happened.push_back(Happened::Event(event));
    }
}

/// The actions of a request.
pub(super) fn requests(actions: &[ActionRequest<'_>], version: u8) -> Shown {
    let text = joined(actions.iter().map(Part::ActionRequest), version);
    let actions = actions.iter().cloned().collect();
    let request = TransactionRequest { transaction_id: Lenient(None), actions };
    (as_json(Transaction::TransactionRequest(request), version), text)
}

/// The actions of a reply.
pub(super) fn replies(actions: &[ActionReply<'_>], version: u8) -> Shown {
    let text = joined(actions.iter().map(Part::ActionReply), version);
    let reply = TransactionReply {
        transaction_id: Lenient(None),
        imm_ack_required: None,
        transaction_result: TransactionResult::ActionReplies(actions.iter().cloned().collect()),
        segment_number: None,
        segmentation_complete: None,
    };
    (as_json(Transaction::TransactionReply(reply), version), text)
}

fn joined<'p, 'a: 'p>(parts: impl Iterator<Item = Part<'p, 'a>>, version: u8) -> String {
    let text = |part| {
        let mut text = Vec::new();
        match write(part, Form::Text(Layout::Compact), version, &mut text) {
            Ok(()) => text.into_iter().map(char::from).collect(),
            Err(fault) => format!("not text: {}", fault.what),
        }
    };
    parts.map(text).collect::<Vec<String>>().join(",")
}

fn as_json(transaction: Transaction<'_>, version: u8) -> String {
    let message_body = MessageBody::Transactions(List::One(transaction));
    let mess = Message { version, m_id: MId::DeviceName("x".into()), message_body };
    let mut out = Vec::new();
    match json::write_message(&MegacoMessage { auth_header: None, mess }, &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        // A message that was decoded has nothing that its version does not.
        Err(_) => "null".to_owned(),
    }
}

/// Returns the version of a reply to a registration.
pub(super) fn registered(action: &ActionReply<'_>) -> Option<u8> {
    action.command_reply.iter().find_map(|reply| match reply {
        CommandReply::ServiceChangeReply(change) => match &change.service_change_result {
            ServiceChangeResult::ServiceChangeResParms(parms) => parms.service_change_version,
            ServiceChangeResult::ErrorDescriptor(_) => None,
        },
        _ => None,
    })
}
