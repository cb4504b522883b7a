//! Messages to octets.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use tercet_megaco::binary::Binary;
use tercet_megaco::codec::Encoding;
use tercet_megaco::model::{
    DomainName, ErrorDescriptor, MId, MegacoMessage, Message, MessageBody, Transaction,
};
use tercet_megaco::parts::{self, Around, Form, Part};
use tercet_megaco::text::{self, Layout};
use tercet_megaco::{List, Name, Result, Str};

/// What the binary encodings know beside the modules; the standard ones if nothing was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry(Option<Arc<Binary>>);

impl Registry {
    pub(crate) fn new(binary: Binary) -> Self {
        Self(Some(Arc::new(binary)))
    }
}

impl Deref for Registry {
    type Target = Binary;

    fn deref(&self) -> &Binary {
        self.0.as_deref().unwrap_or_else(|| Binary::standard())
    }
}

/// Room for messages that is given back: more than most transports take.
const LARGE: usize = 1 << 17;

/// How a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) encoding: Encoding,
    pub(crate) version: u8,
}

/// Borrows a sender, which would be copied by its `clone`.
pub(crate) fn borrow<'a>(mid: &'a MId<'_>) -> MId<'a> {
    let name = |name: &'a Name<'_>| Name(Cow::Borrowed(&*name.0));
    match mid {
        MId::Ip4Address(address) => MId::Ip4Address(address.clone()),
        MId::Ip6Address(address) => MId::Ip6Address(address.clone()),
        MId::DomainName(domain) => {
            MId::DomainName(DomainName { name: name(&domain.name), port_number: domain.port_number })
        }
        MId::DeviceName(device) => MId::DeviceName(name(device)),
        MId::MtpAddress(address) => MId::MtpAddress(Str(Cow::Borrowed(&*address.0))),
    }
}

/// Copies a sender out of its message.
pub(crate) fn into_owned(mid: MId<'_>) -> MId<'static> {
    match mid {
        MId::Ip4Address(address) => MId::Ip4Address(address),
        MId::Ip6Address(address) => MId::Ip6Address(address),
        MId::DomainName(domain) => MId::DomainName(DomainName {
            name: Name(Cow::Owned(domain.name.0.into_owned())),
            port_number: domain.port_number,
        }),
        MId::DeviceName(device) => MId::DeviceName(Name(Cow::Owned(device.0.into_owned()))),
        MId::MtpAddress(address) => MId::MtpAddress(address.into_owned()),
    }
}

/// A sender as text, as it stands in messages; octets that text cannot say are escaped.
pub(crate) fn mid_text(mid: &MId<'_>) -> String {
    let mut text = Vec::new();
    match text::write_mid(mid, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => match mid {
            MId::DeviceName(name) => name.escape_ascii().to_string(),
            MId::DomainName(domain) => format!("<{}>", domain.name.escape_ascii()),
            _ => "?".to_owned(),
        },
    }
}

/// Octets by which senders are the same: names are in lower case.
pub(crate) fn mid_key(mid: &MId<'_>, out: &mut Vec<u8>) {
    let port = |port: Option<u16>, out: &mut Vec<u8>| match port {
        None => out.push(0),
        Some(port) => {
            out.push(1);
            out.extend_from_slice(&port.to_be_bytes());
        }
    };
    match mid {
        MId::Ip4Address(address) => {
            out.push(4);
            out.extend_from_slice(&address.address);
            port(address.port_number, out);
        }
        MId::Ip6Address(address) => {
            out.push(6);
            out.extend_from_slice(&address.address);
            port(address.port_number, out);
        }
        MId::DomainName(domain) => {
            out.push(1);
            out.extend(domain.name.lower());
            port(domain.port_number, out);
        }
        MId::DeviceName(device) => {
            out.push(2);
            out.extend(device.lower());
        }
        MId::MtpAddress(address) => {
            out.push(3);
            out.extend_from_slice(address);
        }
    }
}

impl Dialect {
    /// Encodes a message of transactions. It is kept, so that it gets its exact size; `scratch` is what it is written into.
    pub(crate) fn message(
        self,
        binary: &Binary,
        mid: &MId<'_>,
        transactions: List<Transaction<'_>>,
        scratch: &mut Vec<u8>,
    ) -> Result<Arc<[u8]>> {
        scratch.clear();
        self.encode(binary, mid, MessageBody::Transactions(transactions), scratch)?;
        let octets = Arc::from(&scratch[..]);
        if scratch.capacity() > LARGE {
            *scratch = Vec::new();
        }
        Ok(octets)
    }

    /// Encodes a message that is an error.
    pub(crate) fn error(self, binary: &Binary, mid: &MId<'_>, code: u16, text: &str) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.encode(binary, mid, MessageBody::MessageError(descriptor(code, text)), &mut out)?;
        Ok(out)
    }

    fn encode(
        self,
        binary: &Binary,
        mid: &MId<'_>,
        message_body: MessageBody<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mess = Message { version: self.version, m_id: borrow(mid), message_body };
        self.encoding.encode_with(binary, &MegacoMessage { auth_header: None, mess }, out)
    }

    /// Encodes a transaction so that [`join`](Self::join) can put it beside others: as it stands in a message, or as a
    /// message of its own where the encoding has no parts.
    pub(crate) fn piece(
        self,
        binary: &Binary,
        mid: &MId<'_>,
        transaction: Transaction<'_>,
    ) -> Result<Vec<u8>> {
        let Some(form) = self.form(binary) else {
            let mut out = Vec::new();
            self.encode(binary, mid, MessageBody::Transactions(List::One(transaction)), &mut out)?;
            return Ok(out);
        };
        let mut out = Vec::new();
        parts::write(Part::Transaction(&transaction), form, self.version, &mut out)?;
        Ok(out)
    }

    /// Puts pieces together to a message.
    pub(crate) fn join(self, binary: &Binary, mid: &MId<'_>, pieces: &[&[u8]]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(64 + pieces.iter().map(|piece| piece.len()).sum::<usize>());
        if let Some(form) = self.form(binary) {
            parts::join(Around::Message(mid), pieces, form, self.version, &mut out)?;
            return Ok(out);
        }
        if let [piece] = pieces {
            return Ok(piece.to_vec());
        }
        let mut all = List::new();
        for piece in pieces {
            let message = self.encoding.decode_with(binary, piece)?;
            if let MessageBody::Transactions(transactions) = message.mess.message_body {
                match transactions {
                    List::One(one) => all.push(one),
                    List::Many(many) => many.into_iter().for_each(|one| all.push(one)),
                }
            }
        }
        out.clear();
        self.encode(binary, mid, MessageBody::Transactions(all), &mut out)?;
        Ok(out)
    }

    /// Octets that are around the pieces of a message, at most.
    pub(crate) fn overhead(self, mid: &MId<'_>) -> usize {
        let mut text = Vec::new();
        // The name, a version, and in BER four lengths of up to four octets.
        _ = text::write_mid(mid, &mut text);
        match self.encoding {
            Encoding::Pretty => "MEGACO/3 \n".len() + text.len(),
            Encoding::Compact => "!/3 \n".len() + text.len(),
            _ => 32 + text.len(),
        }
    }

    fn form(self, binary: &Binary) -> Option<Form<'_>> {
        match self.encoding {
            Encoding::Pretty => Some(Form::Text(Layout::Pretty)),
            Encoding::Compact => Some(Form::Text(Layout::Compact)),
            Encoding::Ber => Some(Form::Ber(binary)),
            Encoding::Per | Encoding::Etf { .. } | Encoding::Json => None,
        }
    }
}

/// An error descriptor. Text that cannot be quoted loses the octets in question.
pub(crate) fn descriptor(code: u16, text: &str) -> ErrorDescriptor<'static> {
    let quotable = |octet: &u8| matches!(octet, b' '..=b'~') && *octet != b'"';
    let text: Vec<u8> = text.bytes().filter(quotable).take(200).collect();
    ErrorDescriptor { error_code: code, error_text: (!text.is_empty()).then(|| Str::from(text)) }
}

/// The code and the text of an error descriptor.
pub(crate) fn code_and_text(error: &ErrorDescriptor<'_>) -> (u16, Option<String>) {
    (error.error_code, error.error_text.as_ref().map(|text| text.to_string()))
}
