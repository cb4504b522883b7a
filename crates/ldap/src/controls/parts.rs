//! Pages, sorting, and parts of sorted lists.

use tercet_runtime::types::Octets;

use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;
use crate::proto::control::{decoded, encoded};
use crate::proto::{Control, RequestControl, ResponseControl, ResultCode};

/// A page of a search (RFC 2696): as a request its size, as an answer an estimate; an empty cookie ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagedResults {
    /// Entries of a page, or an estimate of all.
    pub size: u32,
    /// What the last page came with.
    pub cookie: Vec<u8>,
    /// Whether the search has to fail where pages are not known.
    pub critical: bool,
}

impl RequestControl for PagedResults {
    fn control(&self) -> Control {
        let value = asn1::PagedResults { size: self.size, cookie: Octets::borrowed(&self.cookie) };
        Control::new(Self::OID).with_criticality(self.critical).with_value(encoded(&value))
    }
}

impl ResponseControl for PagedResults {
    const OID: &'static str = "1.2.840.113556.1.4.319";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::PagedResults<'_> = decoded(value, "paged results")?;
        Ok(Self { size: value.size, cookie: value.cookie.to_vec(), critical: false })
    }
}

/// A key to sort by (RFC 2891).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortKey {
    /// The attribute.
    pub attribute: String,
    /// The matching rule, if not the attribute's own.
    pub rule: Option<String>,
    /// From the last to the first.
    pub reverse: bool,
}

impl std::str::FromStr for SortKey {
    type Err = Error;

    /// `[-]attribute[:rule]`, as ldapsearch takes it.
    fn from_str(text: &str) -> Result<Self> {
        let (reverse, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (attribute, rule) =
            text.split_once(':').map_or((text, None), |(name, rule)| (name, Some(rule.to_owned())));
        if attribute.is_empty() {
            return Err(Error::new(ErrorKind::Syntax, "a sort key needs an attribute"));
        }
        Ok(Self { attribute: attribute.to_owned(), rule, reverse })
    }
}

/// Sorting by the server (RFC 2891).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The keys, the most significant first.
    pub keys: Vec<SortKey>,
    /// Whether the search has to fail where entries cannot be sorted.
    pub critical: bool,
}

impl Sort {
    /// The object identifier of the request.
    pub const OID: &'static str = "1.2.840.113556.1.4.473";
}

impl RequestControl for Sort {
    fn control(&self) -> Control {
        let keys = self.keys.iter().map(|key| asn1::SortKey {
            attribute_type: Octets::borrowed(key.attribute.as_bytes()),
            ordering_rule: key.rule.as_ref().map(|rule| Octets::borrowed(rule.as_bytes())),
            reverse_order: key.reverse,
        });
        let value = asn1::SortKeyList(keys.collect());
        Control::new(Self::OID).with_criticality(self.critical).with_value(encoded(&value))
    }
}

/// What became of sorting (RFC 2891).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortResult {
    /// `success`, or why not.
    pub code: ResultCode,
    /// The attribute at fault.
    pub attribute: Option<String>,
}

impl ResponseControl for SortResult {
    const OID: &'static str = "1.2.840.113556.1.4.474";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::SortResult<'_> = decoded(value, "sort result")?;
        let attribute = value.attribute_type.map(|name| String::from_utf8_lossy(&name).into_owned());
        Ok(Self { code: code(value.sort_result.number()), attribute })
    }
}

fn code(number: i64) -> ResultCode {
    ResultCode(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A part of a sorted list (draft-ietf-ldapext-ldapv3-vlv-09).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualListView {
    /// Entries before the target.
    pub before: u32,
    /// Entries behind it.
    pub after: u32,
    /// The entry in the middle.
    pub target: VlvTarget,
    /// What the last answer came with.
    pub context: Option<Vec<u8>>,
}

/// The entry that a list view is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VlvTarget {
    /// By its position, from 1, in a list of about so many.
    Offset {
        /// The position.
        offset: u32,
        /// How many there are, as far as the client knows; 0 for unknown.
        count: u32,
    },
    /// The first that is not less than a value.
    Value(Vec<u8>),
}

impl VirtualListView {
    /// The object identifier of the request.
    pub const OID: &'static str = "2.16.840.1.113730.3.4.9";

    /// Reads the value of a request.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::VirtualListViewRequest<'_> = decoded(value, "list view")?;
        let target = match value.target {
            asn1::Target::ByOffset(place) => {
                VlvTarget::Offset { offset: place.offset, count: place.content_count }
            }
            asn1::Target::GreaterThanOrEqual(value) => VlvTarget::Value(value.to_vec()),
            asn1::Target::Unknown(_) => {
                return Err(Error::new(ErrorKind::Protocol, "list view with an unknown kind of target"));
            }
        };
        let context = value.context_id.map(|octets| octets.to_vec());
        Ok(Self { before: value.before_count, after: value.after_count, target, context })
    }
}

impl RequestControl for VirtualListView {
    fn control(&self) -> Control {
        let target = match &self.target {
            VlvTarget::Offset { offset, count } => {
                asn1::Target::ByOffset(asn1::TargetByOffset { offset: *offset, content_count: *count })
            }
            VlvTarget::Value(value) => asn1::Target::GreaterThanOrEqual(Octets::borrowed(value)),
        };
        let value = asn1::VirtualListViewRequest {
            before_count: self.before,
            after_count: self.after,
            target,
            context_id: self.context.as_deref().map(Octets::borrowed),
        };
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

/// Where a list view stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VlvResult {
    /// Position of the target.
    pub position: u32,
    /// Entries of the whole list.
    pub count: u32,
    /// `success`, or why not.
    pub code: ResultCode,
    /// To be given to the next request.
    pub context: Option<Vec<u8>>,
}

impl ResponseControl for VlvResult {
    const OID: &'static str = "2.16.840.1.113730.3.4.10";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::VirtualListViewResponse<'_> = decoded(value, "list view")?;
        Ok(Self {
            position: value.target_position,
            count: value.content_count,
            code: code(value.virtual_list_view_result.number()),
            context: value.context_id.map(|octets| octets.to_vec()),
        })
    }
}
