//! Whole messages: requests that are written, and answers other than entries.

use tercet_runtime::ber;
use tercet_runtime::codec::BerType;

use super::control::{self, Control};
use super::element::{check_subset, tag};
use super::frame::{Incoming, Limits};
use super::result::{LdapResult, ResultCode};
use crate::error::{Error, ErrorKind, Result};
use crate::generated::{self as asn1, LdapMessage, ProtocolOp};

/// Writes a message at the end of a buffer.
///
/// # Errors
/// The operation is not one of its type, as a filter that is nested too deeply.
pub fn encode(id: u32, operation: ProtocolOp<'_>, controls: &[Control], out: &mut Vec<u8>) -> Result<()> {
    let controls = (!controls.is_empty()).then(|| controls.iter().map(control::to_asn1).collect());
    let message = LdapMessage { message_id: id, protocol_op: operation, controls };
    let written = tercet_runtime::codec::Encode::<tercet_runtime::codec::Ber>::encode_into(&message, out);
    let Err(fault) = written else { return Ok(()) };
    if fault.kind() != tercet_runtime::ErrorKind::DepthLimit {
        return Err(tercet_runtime::Error::from(fault).into());
    }
    // Servers read deeper filters than the usual limit allows.
    let mut deep = ber::Writer::new(ber::Rules::Ber).with_depth(values_of(Limits::default().depth));
    message.write_element(&mut deep)?;
    out.extend_from_slice(&deep.into_vec());
    Ok(())
}

/// The values that as many elements inside one another may come to: one of `and` is a list and a CHOICE in it.
const fn values_of(elements: u16) -> u16 {
    elements.saturating_mul(2)
}

/// Returns the operation that answers a request with a result; nothing for unbind, abandon and what is not a request.
#[cfg(feature = "directory")]
pub(crate) fn answer<'r>(request: &ProtocolOp<'_>, result: &'r LdapResult) -> Option<ProtocolOp<'r>> {
    let written = result.to_asn1();
    Some(match request {
        ProtocolOp::SearchRequest(_) => ProtocolOp::SearchResDone(written),
        ProtocolOp::AddRequest(_) => ProtocolOp::AddResponse(written),
        ProtocolOp::ModifyRequest(_) => ProtocolOp::ModifyResponse(written),
        ProtocolOp::DelRequest(_) => ProtocolOp::DelResponse(written),
        ProtocolOp::ModDnRequest(_) => ProtocolOp::ModDnResponse(written),
        ProtocolOp::CompareRequest(_) => ProtocolOp::CompareResponse(written),
        ProtocolOp::BindRequest(_) => {
            let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } = written;
            let server_sasl_creds = None;
            ProtocolOp::BindResponse(asn1::BindResponse {
                result_code,
                matched_dn,
                diagnostic_message,
                referral,
                server_sasl_creds,
            })
        }
        ProtocolOp::ExtendedReq(_) => {
            let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } = written;
            ProtocolOp::ExtendedResp(asn1::ExtendedResponse {
                result_code,
                matched_dn,
                diagnostic_message,
                referral,
                response_name: None,
                response_value: None,
            })
        }
        _ => return None,
    })
}

/// Reads a whole message.
///
/// # Errors
/// The octets are no LDAPMessage in the subset of BER that LDAP uses, or break a limit.
pub fn decode<'a>(octets: &'a [u8], limits: &Limits) -> Result<LdapMessage<'a>> {
    check_subset_of_operation(octets, limits)?;
    let depth = tercet_runtime::Limits::DEFAULT.with_depth(values_of(limits.depth));
    let mut reader = ber::Reader::with_limits(octets, 0, ber::Rules::Ber, &depth);
    let message = LdapMessage::read_element(&mut reader)?;
    reader.finish()?;
    if let ProtocolOp::Unknown(unknown) = &message.protocol_op {
        let first = unknown.octets.first().copied().unwrap_or_default();
        return Err(Error::new(ErrorKind::Protocol, format!("an unknown operation {first:02X}")));
    }
    Ok(message)
}

fn check_subset_of_operation(octets: &[u8], limits: &Limits) -> Result<()> {
    check_subset(octets, limits.depth)
}

/// An answer that is no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// The end of a search, and the answer to add, delete, modify, modify DN and compare.
    Done(LdapResult),
    /// The answer to a bind, with `serverSaslCreds`.
    Bind(LdapResult, Option<Vec<u8>>),
    /// The answer to an extended operation.
    Extended(Extended),
    /// An intermediate response.
    Intermediate(Intermediate),
    /// A reference of a search.
    Reference(Reference),
}

/// The answer to an extended operation (RFC 4511 4.12).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extended {
    /// The result.
    pub result: LdapResult,
    /// `responseName`
    pub name: Option<String>,
    /// `responseValue`
    pub value: Option<Vec<u8>>,
}

/// An intermediate response (RFC 4511 4.13).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intermediate {
    /// `responseName`
    pub name: Option<String>,
    /// `responseValue`
    pub value: Option<Vec<u8>>,
    /// Controls of the message.
    pub controls: Vec<Control>,
}

/// A reference of a search (RFC 4511 4.5.3): other servers that have to be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// URLs, of which one has to be tried.
    pub urls: Vec<String>,
    /// Controls of the message.
    pub controls: Vec<Control>,
}

impl Reply {
    /// Reads an answer.
    ///
    /// # Errors
    /// The message is malformed, or is none that servers send.
    pub fn read(incoming: &Incoming, limits: &Limits) -> Result<Self> {
        let LdapMessage { protocol_op, controls, .. } = decode(&incoming.octets, limits)?;
        let controls: Vec<Control> =
            controls.unwrap_or_default().into_iter().map(control::from_asn1).collect::<Result<_>>()?;
        Ok(match protocol_op {
            ProtocolOp::BindResponse(asn1::BindResponse {
                result_code,
                matched_dn,
                diagnostic_message,
                referral,
                server_sasl_creds,
            }) => {
                let common = asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral };
                Self::Bind(result(common, controls)?, server_sasl_creds.map(|octets| octets.to_vec()))
            }
            ProtocolOp::ExtendedResp(asn1::ExtendedResponse {
                result_code,
                matched_dn,
                diagnostic_message,
                referral,
                response_name,
                response_value,
            }) => {
                let common = asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral };
                Self::Extended(Extended {
                    result: result(common, controls)?,
                    name: response_name.map(|octets| text(&octets, "responseName")).transpose()?,
                    value: response_value.map(|octets| octets.to_vec()),
                })
            }
            ProtocolOp::SearchResDone(common)
            | ProtocolOp::ModifyResponse(common)
            | ProtocolOp::AddResponse(common)
            | ProtocolOp::DelResponse(common)
            | ProtocolOp::ModDnResponse(common)
            | ProtocolOp::CompareResponse(common) => Self::Done(result(common, controls)?),
            ProtocolOp::SearchResRef(urls) => Self::Reference(Reference {
                urls: urls.iter().map(|url| text(url, "URI")).collect::<Result<_>>()?,
                controls,
            }),
            ProtocolOp::IntermediateResponse(response) => Self::Intermediate(Intermediate {
                name: response.response_name.map(|octets| text(&octets, "responseName")).transpose()?,
                value: response.response_value.map(|octets| octets.to_vec()),
                controls,
            }),
            _ => {
                let operation = incoming.operation;
                let message = format!("a server sends an operation {operation:02X}");
                return Err(Error::new(ErrorKind::Protocol, message));
            }
        })
    }

    /// The result, of an answer that ends its operation.
    #[must_use]
    pub const fn result(&self) -> Option<&LdapResult> {
        match self {
            Self::Done(result) | Self::Bind(result, _) | Self::Extended(Extended { result, .. }) => {
                Some(result)
            }
            Self::Intermediate(_) | Self::Reference(_) => None,
        }
    }
}

/// Whether an operation of a message ends what it belongs to.
pub(crate) const fn is_last(operation: u8) -> bool {
    !matches!(operation, tag::SEARCH_ENTRY | tag::SEARCH_REFERENCE | tag::INTERMEDIATE)
}

fn result(common: asn1::LdapResult<'_>, controls: Vec<Control>) -> Result<LdapResult> {
    let code = u32::try_from(common.result_code.number())
        .map_err(|_| Error::new(ErrorKind::Protocol, "a resultCode is negative or above 4294967295"))?;
    let referrals = common.referral.unwrap_or_default();
    Ok(LdapResult {
        code: ResultCode(code),
        matched_dn: text(&common.matched_dn, "matchedDN")?,
        message: text(&common.diagnostic_message, "diagnosticMessage")?,
        referrals: referrals.iter().map(|url| text(url, "URI")).collect::<Result<_>>()?,
        controls,
    })
}

pub(crate) fn text(octets: &[u8], what: &str) -> Result<String> {
    match std::str::from_utf8(octets) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let message = format!("{what} is not UTF-8 at its byte {}", error.valid_up_to());
            Err(Error::new(ErrorKind::Protocol, message))
        }
    }
}
