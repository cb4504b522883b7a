//! Requests as handlers see them: views of the bytes that were received.

use bytes::Bytes;
use tercet_runtime::types::Octets;

use super::Context;
use crate::directory::modification;
use crate::dn::Dn;
use crate::entry::Draft;
use crate::error::{Error, Result};
use crate::extended;
use crate::filter::Evaluation;
use crate::generated::{self as asn1, Filter, ProtocolOp};
use crate::ldif::RecordModification;
use crate::proto::{self, LdapResult, ResultCode};
use crate::url::Scope;

/// A request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Request<'a> {
    /// A bind.
    Bind(Bind<'a>),
    /// A search.
    Search(Search<'a>),
    /// An addition.
    Add(Add<'a>),
    /// A modification.
    Modify(Modify<'a>),
    /// A deletion.
    Delete(Delete<'a>),
    /// A new name: modify DN.
    Rename(Rename<'a>),
    /// A comparison.
    Compare(Compare<'a>),
    /// An extended operation.
    Extended(Extended<'a>),
}

/// A bind (RFC 4511 4.2).
#[derive(Clone)]
#[non_exhaustive]
pub struct Bind<'a> {
    /// The name; empty for an anonymous bind.
    pub dn: &'a str,
    /// How the client proves who it is.
    pub authentication: Authentication<'a>,
}

/// The authentication of a bind.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Authentication<'a> {
    /// A password.
    Simple(&'a [u8]),
    /// A step of a SASL mechanism. [`ResultCode::SASL_BIND_IN_PROGRESS`] asks for the next one; state between the steps goes into
    /// [`super::Context::extension`].
    Sasl {
        /// The mechanism.
        mechanism: &'a str,
        /// The credentials of the step.
        credentials: Option<&'a [u8]>,
    },
}

/// Passwords are not shown.
impl std::fmt::Debug for Authentication<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Simple(_) => "Simple",
            Self::Sasl { mechanism, .. } => mechanism,
        })
    }
}

/// Passwords are not shown.
impl std::fmt::Debug for Bind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bind").field("dn", &self.dn).field("mechanism", &self.mechanism()).finish()
    }
}

impl Bind<'_> {
    /// Returns whether neither a name nor a password is given.
    #[must_use]
    pub const fn is_anonymous(&self) -> bool {
        matches!(self.authentication, Authentication::Simple([])) && self.dn.is_empty()
    }

    /// Returns the password of a simple bind.
    #[must_use]
    pub const fn password(&self) -> Option<&[u8]> {
        match self.authentication {
            Authentication::Simple(password) => Some(password),
            Authentication::Sasl { .. } => None,
        }
    }

    /// Returns the SASL mechanism.
    #[must_use]
    pub const fn mechanism(&self) -> Option<&str> {
        match self.authentication {
            Authentication::Simple(_) => None,
            Authentication::Sasl { mechanism, .. } => Some(mechanism),
        }
    }
}

/// A search (RFC 4511 4.5).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search<'a> {
    /// The base.
    pub base: &'a str,
    /// The scope.
    pub scope: Scope,
    /// The attributes that are asked for; all of users if there are none.
    pub attributes: Vec<&'a str>,
    /// Entries at most; 0 for no limit. The server counts them.
    pub size_limit: u32,
    /// Seconds at most; 0 for no limit. The server keeps the time.
    pub time_limit: u32,
    /// Whether only types are asked for, without values.
    pub types_only: bool,
    pub(super) request: &'a asn1::SearchRequest<'a>,
}

impl Search<'_> {
    /// Returns the filter.
    #[must_use]
    pub const fn filter(&self) -> &Filter<'_> {
        &self.request.filter
    }

    /// Returns the request, with its base and scope as they are now.
    pub(super) fn as_asn1(&self) -> asn1::SearchRequest<'_> {
        asn1::SearchRequest {
            base_object: Octets::borrowed(self.base.as_bytes()),
            scope: match self.scope {
                Scope::Base => asn1::SearchRequestScope::BaseObject,
                Scope::One => asn1::SearchRequestScope::SingleLevel,
                Scope::Sub => asn1::SearchRequestScope::WholeSubtree,
                Scope::Children => asn1::SearchRequestScope::SubordinateSubtree,
            },
            ..self.request.clone()
        }
    }

    /// Returns the message of the search, with its base and scope as they are now.
    pub(super) fn message(&self, cx: &Context) -> Bytes {
        let request = self.as_asn1();
        let mut octets = Vec::new();
        // The filter was read, so that it can be written.
        _ = proto::encode(cx.message_id(), ProtocolOp::SearchRequest(request), cx.controls(), &mut octets);
        octets.into()
    }

    /// Returns whether a name is in the base and scope. Names that cannot be parsed are not.
    #[must_use]
    pub fn is_in_scope(&self, dn: &str) -> bool {
        let (Ok(base), Ok(dn)) = (self.base.parse::<Dn>(), dn.parse::<Dn>()) else { return false };
        if !dn.is_within(&base) {
            return false;
        }
        let levels = dn.rdns().len() - base.rdns().len();
        match self.scope {
            Scope::Base => levels == 0,
            Scope::One => levels == 1,
            Scope::Sub => true,
            Scope::Children => levels > 0,
        }
    }

    /// Returns whether an entry is in the base and scope, and the filter selects it.
    #[must_use]
    pub fn matches(&self, entry: &Draft) -> bool {
        let Ok(dn) = entry.dn().parse::<Dn>() else { return false };
        let values = |name: &str| entry.has(name).then(|| entry.values(name).collect::<Vec<_>>());
        self.is_in_scope(entry.dn()) && self.filter().evaluate(&dn, &values) == Evaluation::True
    }
}

/// An addition (RFC 4511 4.7).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Add<'a> {
    /// The name.
    pub dn: &'a str,
    request: &'a asn1::AddRequest<'a>,
}

impl Add<'_> {
    /// Returns the entry.
    #[must_use]
    pub fn entry(&self) -> Draft {
        let attributes = self.request.attributes.iter().map(|attribute| {
            let name = String::from_utf8_lossy(&attribute.r#type).into_owned();
            (name, attribute.vals.iter().map(|value| value.to_vec()).collect::<Vec<_>>())
        });
        Draft::new(self.dn, attributes)
    }
}

/// A modification (RFC 4511 4.6).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Modify<'a> {
    /// The name.
    pub dn: &'a str,
    request: &'a asn1::ModifyRequest<'a>,
}

impl Modify<'_> {
    /// Returns the modifications in their order, as [`Draft::apply`] makes them.
    ///
    /// # Errors
    /// One is of an unknown kind: the error is one of a result, `protocolError`, of which [`super::Answer`] can be made.
    pub fn modifications(&self) -> Result<Vec<RecordModification>> {
        let one = |change| modification(change).map_err(Error::from_result);
        self.request.changes.iter().map(one).collect()
    }
}

/// A deletion (RFC 4511 4.8).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Delete<'a> {
    /// The name.
    pub dn: &'a str,
}

/// A new name, or another place (RFC 4511 4.9).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rename<'a> {
    /// The name.
    pub dn: &'a str,
    /// The new RDN.
    pub new_rdn: &'a str,
    /// Whether the values of the old RDN are deleted.
    pub delete_old_rdn: bool,
    /// The new superior.
    pub new_superior: Option<&'a str>,
}

/// A comparison (RFC 4511 4.10).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compare<'a> {
    /// The name.
    pub dn: &'a str,
    /// The attribute.
    pub attribute: &'a str,
    /// The value.
    pub value: &'a [u8],
}

/// An extended operation (RFC 4511 4.12).
#[derive(Clone)]
#[non_exhaustive]
pub struct Extended<'a> {
    /// `requestName`
    pub name: &'a str,
    /// `requestValue`
    pub value: Option<&'a [u8]>,
}

/// The value may be a password.
impl std::fmt::Debug for Extended<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Extended").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Request<'a> {
    /// Returns the view of a request.
    ///
    /// # Errors
    /// A text is not UTF-8, or the operation is not a request: `protocolError`.
    pub(super) fn of(operation: &'a ProtocolOp<'a>) -> Result<Self> {
        Ok(match operation {
            ProtocolOp::BindRequest(bind) => Self::Bind(Bind {
                dn: text(&bind.name)?,
                authentication: match &bind.authentication {
                    asn1::AuthenticationChoice::Simple(password) => Authentication::Simple(password),
                    asn1::AuthenticationChoice::Sasl(sasl) => Authentication::Sasl {
                        mechanism: text(&sasl.mechanism)?,
                        credentials: sasl.credentials.as_deref(),
                    },
                    _ => return Err(refused(ResultCode::AUTH_METHOD_NOT_SUPPORTED, "")),
                },
            }),
            ProtocolOp::SearchRequest(request) => Self::Search(Search {
                base: text(&request.base_object)?,
                scope: match request.scope {
                    asn1::SearchRequestScope::BaseObject => Scope::Base,
                    asn1::SearchRequestScope::SingleLevel => Scope::One,
                    asn1::SearchRequestScope::WholeSubtree => Scope::Sub,
                    asn1::SearchRequestScope::SubordinateSubtree => Scope::Children,
                    _ => return Err(refused(ResultCode::PROTOCOL_ERROR, "unknown scope")),
                },
                attributes: request.attributes.iter().map(|name| text(name)).collect::<Result<_>>()?,
                size_limit: request.size_limit,
                time_limit: request.time_limit,
                types_only: request.types_only,
                request,
            }),
            ProtocolOp::AddRequest(request) => Self::Add(Add { dn: text(&request.entry)?, request }),
            ProtocolOp::ModifyRequest(request) => {
                Self::Modify(Modify { dn: text(&request.object)?, request })
            }
            ProtocolOp::DelRequest(dn) => Self::Delete(Delete { dn: text(dn)? }),
            ProtocolOp::ModDnRequest(rename) => Self::Rename(Rename {
                dn: text(&rename.entry)?,
                new_rdn: text(&rename.newrdn)?,
                delete_old_rdn: rename.deleteoldrdn,
                new_superior: rename.new_superior.as_ref().map(|superior| text(superior)).transpose()?,
            }),
            ProtocolOp::CompareRequest(compare) => Self::Compare(Compare {
                dn: text(&compare.entry)?,
                attribute: text(&compare.ava.attribute_desc)?,
                value: &compare.ava.assertion_value,
            }),
            ProtocolOp::ExtendedReq(request) => Self::Extended(Extended {
                name: text(&request.request_name)?,
                value: request.request_value.as_deref(),
            }),
            _ => return Err(refused(ResultCode::PROTOCOL_ERROR, "not a request")),
        })
    }

    /// Returns the name of the entry that the request is about: the base of a search, the name of a bind. Extended operations have
    /// none.
    #[must_use]
    pub const fn dn(&self) -> Option<&'a str> {
        match self {
            Self::Bind(Bind { dn, .. })
            | Self::Search(Search { base: dn, .. })
            | Self::Add(Add { dn, .. })
            | Self::Modify(Modify { dn, .. })
            | Self::Delete(Delete { dn })
            | Self::Rename(Rename { dn, .. })
            | Self::Compare(Compare { dn, .. }) => Some(dn),
            Self::Extended(_) => None,
        }
    }

    /// Returns the name of the operation: `bind`, `search`, `add`, `modify`, `delete`, `rename`, `compare` or `extended`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bind(_) => "bind",
            Self::Search(_) => "search",
            Self::Add(_) => "add",
            Self::Modify(_) => "modify",
            Self::Delete(_) => "delete",
            Self::Rename(_) => "rename",
            Self::Compare(_) => "compare",
            Self::Extended(_) => "extended",
        }
    }

    /// Returns whether the request changes entries: additions, modifications, deletions, renamings and new passwords.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self {
            Self::Add(_) | Self::Modify(_) | Self::Delete(_) | Self::Rename(_) => true,
            Self::Extended(request) => request.name == extended::PASSWORD_MODIFY,
            Self::Bind(_) | Self::Search(_) | Self::Compare(_) => false,
        }
    }
}

fn refused(code: ResultCode, message: &str) -> Error {
    Error::from_result(LdapResult::new(code).with_message(message))
}

fn text(octets: &[u8]) -> Result<&str> {
    std::str::from_utf8(octets).map_err(|_| refused(ResultCode::PROTOCOL_ERROR, "a text that is not UTF-8"))
}
