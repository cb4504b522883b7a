//! Messages and transactions.

use super::records::{choice, record};
use super::{ActionReply, ActionRequest, Lenient};
use crate::Result;
use crate::list::List;
use crate::octets::{Name, Str};
use crate::value::{Sink, Source, Value, Word};

record! {
    /// A message, and what proves its sender.
    MegacoMessage<'a> [closed] {
        auth_header "authHeader": Option<Box<AuthenticationHeader<'a>>>,
        mess "mess": Message<'a>,
    }
}

record! {
    /// What proves the sender of a message (H.248.1 10.2).
    AuthenticationHeader<'a> [closed] {
        sec_parm_index "secParmIndex": [u8; 4],
        seq_num "seqNum": [u8; 4],
        ad "ad": Str<'a> as AuthData,
    }
}

/// A message: version, sender, and transactions or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// `version`
    pub version: u8,
    /// `mId`
    pub m_id: MId<'a>,
    /// `messageBody`
    pub message_body: MessageBody<'a>,
}

// Not a `record!`: all that follows depends on the version that it begins with.
impl<'a> Value<'a> for Message<'a> {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.record(const { &Word::new("Message") }, 3);
        sink.field("version");
        self.version.write(sink);
        sink.set_version(self.version);
        sink.field("mId");
        self.m_id.write(sink);
        sink.field("messageBody");
        self.message_body.write(sink);
        sink.end_record();
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        source.record(const { &Word::new("Message") }, 3)?;
        source.field("version")?;
        let version = u8::read(source)?;
        if !(1..=3).contains(&version) {
            return Err(source.error("version 1, 2 or 3"));
        }
        source.set_version(version);
        source.field("mId")?;
        let m_id = MId::read(source)?;
        source.field("messageBody")?;
        let message_body = MessageBody::read(source)?;
        source.end_record()?;
        Ok(Self { version, m_id, message_body })
    }
}

/// Version and sender, with which a message begins, whatever is behind them.
pub(crate) struct Head<'a>(pub(crate) u8, pub(crate) MId<'a>);

impl<'a> Head<'a> {
    pub(crate) fn read(source: &mut impl Source<'a>) -> Result<Self> {
        source.record(const { &Word::new("MegacoMessage") }, 2)?;
        source.field("authHeader")?;
        Option::<Box<AuthenticationHeader<'a>>>::read(source)?;
        source.field("mess")?;
        source.record(const { &Word::new("Message") }, 3)?;
        source.field("version")?;
        let version = u8::read(source)?;
        source.field("mId")?;
        Ok(Self(version, MId::read(source)?))
    }
}

crate::binary::read::read_record! {
    Message ['a] [] [...]
    { [version: u8, []] [m_id: MId<'a>, []] [message_body: MessageBody<'a>, []] } {}
}

crate::binary::write::write_record! {
    Message ['a] [] [...]
    { [version: u8, []] [m_id: MId<'a>, []] [message_body: MessageBody<'a>, []] } {}
}

choice! {
    /// What a message holds.
    MessageBody<'a> [closed] {
        MessageError "messageError" (ErrorDescriptor<'a>),
        Transactions "transactions" (List<Transaction<'a>>),
    }
}

choice! {
    /// Who sent a message.
    MId<'a> [...] {
        Ip4Address "ip4Address" (Ip4Address),
        Ip6Address "ip6Address" (Ip6Address),
        DomainName "domainName" (DomainName<'a>),
        DeviceName "deviceName" (Name<'a> as Path),
        MtpAddress "mtpAddress" (Str<'a> as Mtp),
    }
}

record! {
    /// A domain name, perhaps with a port.
    DomainName<'a> [closed] {
        name "name": Name<'a> as Ia5,
        port_number "portNumber": Option<u16>,
    }
}

record! {
    /// An address of IP version 4, perhaps with a port.
    Ip4Address as "IP4Address" [closed] {
        address "address": [u8; 4],
        port_number "portNumber": Option<u16>,
    }
}

record! {
    /// An address of IP version 6, perhaps with a port.
    Ip6Address as "IP6Address" [closed] {
        address "address": [u8; 16],
        port_number "portNumber": Option<u16>,
    }
}

choice! {
    /// A transaction.
    Transaction<'a> [...] {
        TransactionRequest "transactionRequest" (TransactionRequest<'a>),
        TransactionPending "transactionPending" (TransactionPending),
        TransactionReply "transactionReply" (TransactionReply<'a>),
        TransactionResponseAck "transactionResponseAck" (List<TransactionAck>),
        ; 3:
        SegmentReply "segmentReply" (SegmentReply),
    }
}

record! {
    /// Asks for actions.
    TransactionRequest<'a> [...] {
        transaction_id "transactionId": Lenient<u32>,
        actions "actions": List<ActionRequest<'a>>,
    }
}

record! {
    /// Says that a request is being worked on.
    TransactionPending [...] {
        transaction_id "transactionId": u32,
    }
}

record! {
    /// Answers a request.
    TransactionReply<'a> [...] {
        transaction_id "transactionId": Lenient<u32>,
        imm_ack_required "immAckRequired": Option<()>,
        transaction_result "transactionResult": TransactionResult<'a>,
        ; 3:
        segment_number "segmentNumber": Option<u16>,
        segmentation_complete "segmentationComplete": Option<()>,
    }
}

record! {
    /// Says that a segment has arrived.
    SegmentReply [...] {
        transaction_id "transactionId": u32,
        segment_number "segmentNumber": u16,
        segmentation_complete "segmentationComplete": Option<()>,
    }
}

choice! {
    /// What came of a request.
    TransactionResult<'a> [closed] {
        TransactionError "transactionError" (ErrorDescriptor<'a>),
        ActionReplies "actionReplies" (List<ActionReply<'a>>),
    }
}

record! {
    /// Replies that have arrived: one, or a range.
    TransactionAck [closed] {
        first_ack "firstAck": u32,
        last_ack "lastAck": Option<u32>,
    }
}

record! {
    /// An error.
    ErrorDescriptor<'a> [closed] {
        error_code "errorCode": u16,
        error_text "errorText": Option<Str<'a>> as Ia5,
    }
}
