//! Messages in parts: a part that is sent again and again is encoded once.
//!
//! [`write`](fn@write) encodes a transaction, an action, a command or a descriptor as it stands in a message; [`join`] puts what was
//! encoded into an action, a transaction or a message. The whole is octet for octet what encoding the message would be,
//! if the parts belong there: they are not looked at again.
//!
//! Text and BER have parts. In aligned PER a part begins at any bit, so that it is another one everywhere.
//!
//! ```
//! use tercet_megaco::model::{MId, Transaction, MessageBody};
//! use tercet_megaco::parts::{Around, Form, Part, join, write};
//! use tercet_megaco::text::{Layout, read_message};
//!
//! // What every gateway is asked, encoded once.
//! let template = read_message(b"!/2 mgc T=1{C=-{MF=root{E=1{al/*}},AV=root{AT{PG}}}}")?;
//! let MessageBody::Transactions(transactions) = &template.mess.message_body else { unreachable!() };
//! let Transaction::TransactionRequest(request) = &transactions[0] else { unreachable!() };
//! let form = Form::Text(Layout::Compact);
//! let mut action = Vec::new();
//! write(Part::ActionRequest(&request.actions[0]), form, 2, &mut action)?;
//!
//! // Each message is what is around it.
//! let sender = MId::DeviceName("mgc".into());
//! for id in 7..9 {
//!     let (mut transaction, mut message) = (Vec::new(), Vec::new());
//!     join(Around::Request(id), &[&action], form, 2, &mut transaction)?;
//!     join(Around::Message(&sender), &[&transaction], form, 2, &mut message)?;
//!     let expected = format!("!/2 mgc\nT={id}{{C=-{{MF=root{{E=1{{al/*}}}},AV=root{{AT{{PG}}}}}}}}");
//!     assert_eq!(String::from_utf8_lossy(&message), expected);
//! }
//! # Ok::<(), tercet_megaco::Error>(())
//! ```

use crate::binary::{Binary, part};
use crate::model::{
    ActionReply, ActionRequest, AmmDescriptor, CommandReply, CommandRequest, MId, TerminationId, Transaction,
};
use crate::text::{self, Layout};
use crate::{Error, Result};

/// An encoding that has parts.
#[derive(Clone, Copy, Debug)]
pub enum Form<'b> {
    /// Text. Parts of the pretty layout are as far in as they are in a message.
    Text(Layout),
    /// BER.
    Ber(&'b Binary),
}

/// A part to encode.
#[derive(Clone, Copy, Debug)]
pub enum Part<'p, 'a> {
    /// A transaction of a message.
    Transaction(&'p Transaction<'a>),
    /// An action of a request.
    ActionRequest(&'p ActionRequest<'a>),
    /// An action of a reply.
    ActionReply(&'p ActionReply<'a>),
    /// A command of an action that is requested.
    CommandRequest(&'p CommandRequest<'a>),
    /// A command of one that is replied to.
    CommandReply(&'p CommandReply<'a>),
    /// A descriptor of Add, Move or Modify.
    Descriptor(&'p AmmDescriptor<'a>),
}

/// What is around parts.
#[derive(Clone, Copy, Debug)]
pub enum Around<'m> {
    /// A message of this sender; the parts are transactions.
    Message(&'m MId<'m>),
    /// A request of this id; the parts are actions that are requested.
    Request(u32),
    /// A reply to the request of this id; the parts are actions that are replied to.
    Reply {
        /// The id of the request.
        id: u32,
        /// Whether it has to be acknowledged at once.
        immediate_ack: bool,
    },
    /// An action on this context, requested or replied to; the parts are its commands.
    Context(u32),
    /// Add of this termination; the parts are descriptors.
    Add(&'m TerminationId<'m>),
    /// Move of it.
    Move(&'m TerminationId<'m>),
    /// Modify of it.
    Modify(&'m TerminationId<'m>),
}

impl Around<'_> {
    /// Whether there can be no parts in it.
    const fn may_be_empty(self) -> bool {
        matches!(self, Self::Add(_) | Self::Move(_) | Self::Modify(_))
    }
}

/// Encodes a part.
///
/// # Errors
/// The encoding, or the version, cannot say it.
pub fn write(part: Part<'_, '_>, form: Form<'_>, version: u8, out: &mut Vec<u8>) -> Result<()> {
    check(version)?;
    match form {
        Form::Text(layout) => text::write_part(part, layout, version, out),
        Form::Ber(binary) => part::write_part(part, binary, version, out),
    }
}

/// Encodes what is around parts that were encoded in the same form for the same version.
///
/// # Errors
/// The encoding cannot say it, or there are no parts where there have to be some.
pub fn join<P: AsRef<[u8]>>(
    around: Around<'_>,
    parts: &[P],
    form: Form<'_>,
    version: u8,
    out: &mut Vec<u8>,
) -> Result<()> {
    check(version)?;
    if parts.is_empty() && !around.may_be_empty() {
        return Err(Error::new(0, "at least one part"));
    }
    match form {
        Form::Text(layout) => text::join_parts(around, parts, layout, version, out),
        Form::Ber(binary) => part::join_parts(around, parts, binary, version, out),
    }
}

fn check(version: u8) -> Result<()> {
    if (1..=3).contains(&version) { Ok(()) } else { Err(Error::new(0, "version 1, 2 or 3")) }
}
