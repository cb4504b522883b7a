//! Parts of messages, each as it stands in a message, and what is around them.

use super::{Layout, Printer};
use crate::Result;
use crate::model::{MId, TerminationId};
use crate::parts::{Around, Part};
use crate::text::token::Token;

/// How far in the parts of a message, of a transaction, of an action and of a command stand.
const TRANSACTION: usize = 0;
const ACTION: usize = 1;
const COMMAND: usize = 2;
const DESCRIPTOR: usize = 3;

/// Writes a part as it stands in a message.
pub(crate) fn write_part(part: Part<'_, '_>, layout: Layout, version: u8, out: &mut Vec<u8>) -> Result<()> {
    let mut printer = Printer::new(out, layout, version);
    let mut begin = |depth| {
        if layout == Layout::Pretty {
            printer.depth = depth
        }
    };
    match part {
        Part::Transaction(transaction) => {
            begin(TRANSACTION);
            printer.transaction(transaction);
        }
        Part::ActionRequest(action) => {
            begin(ACTION);
            printer.action_request(action);
        }
        Part::ActionReply(action) => {
            begin(ACTION);
            printer.action_reply(action);
        }
        Part::CommandRequest(command) => {
            begin(COMMAND);
            printer.command_request(command);
        }
        Part::CommandReply(command) => {
            begin(COMMAND);
            printer.command_reply(command);
        }
        Part::Descriptor(descriptor) => {
            begin(DESCRIPTOR);
            printer.amm_descriptor(descriptor);
        }
    }
    printer.finish()
}

/// Writes what is around parts, and them.
pub(crate) fn join_parts<P: AsRef<[u8]>>(
    around: Around<'_>,
    parts: &[P],
    layout: Layout,
    version: u8,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut printer = Printer::new(out, layout, version);
    match around {
        Around::Message(m_id) => printer.message_of(m_id, parts),
        Around::Request(id) => {
            printer.begin(TRANSACTION, Token::Transaction);
            printer.number(id);
            printer.braces_of(parts);
        }
        Around::Reply { id, immediate_ack } => {
            printer.begin(TRANSACTION, Token::Reply);
            printer.number(id);
            printer.open();
            if immediate_ack {
                printer.token(Token::ImmAckRequired);
                printer.comma();
            }
            printer.list(parts, |p, part| p.raw(part.as_ref()));
            printer.close();
        }
        Around::Context(id) => {
            printer.begin(ACTION, Token::Context);
            printer.context_id(id);
            printer.braces_of(parts);
        }
        Around::Add(termination) => printer.command_of(Token::Add, termination, parts),
        Around::Move(termination) => printer.command_of(Token::Move, termination, parts),
        Around::Modify(termination) => printer.command_of(Token::Modify, termination, parts),
    }
    printer.finish()
}

impl Printer<'_> {
    /// A token, so far in, and the `=` behind it.
    fn begin(&mut self, depth: usize, token: Token) {
        self.depth = if self.pretty { depth } else { 0 };
        self.token(token);
        self.equal();
    }

    fn braces_of<P: AsRef<[u8]>>(&mut self, parts: &[P]) {
        self.open();
        self.list(parts, |p, part| p.raw(part.as_ref()));
        self.close();
    }

    fn message_of<P: AsRef<[u8]>>(&mut self, m_id: &MId<'_>, parts: &[P]) {
        self.head(m_id);
        for (index, part) in parts.iter().enumerate() {
            // Only a segment ends without a brace; then nothing else tells where it ends.
            if index > 0 && self.out.last() != Some(&b'}') {
                self.octet(b'\n');
            }
            self.raw(part.as_ref());
        }
    }

    fn command_of<P: AsRef<[u8]>>(&mut self, token: Token, termination: &TerminationId<'_>, parts: &[P]) {
        self.begin(COMMAND, token);
        self.termination_id(termination);
        if !parts.is_empty() {
            self.braces_of(parts);
        }
    }
}
