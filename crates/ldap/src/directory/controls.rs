//! Controls of requests, as the directory understands them.

use tercet_runtime::types::Octets;

use super::store::Done;
use crate::controls as known;
use crate::generated::{self as asn1, Filter};
use crate::proto::control::{decoded, encoded};
use crate::proto::{Control, LdapResult, ResponseControl, ResultCode};

/// Controls of a request.
#[derive(Debug, Default)]
pub(super) struct Controls {
    pub(super) paged: Option<known::PagedResults>,
    pub(super) sort: Vec<known::SortKey>,
    pub(super) matched: Vec<Filter<'static>>,
    pub(super) assertion: Option<Filter<'static>>,
    pub(super) pre_read: Option<Vec<String>>,
    pub(super) post_read: Option<Vec<String>>,
    pub(super) manage_dsa_it: bool,
    pub(super) tree_delete: bool,
    pub(super) no_op: bool,
    pub(super) view: Option<known::VirtualListView>,
    pub(super) sync: Option<known::Sync>,
    pub(super) password_policy: bool,
}

/// Object identifiers of all that are understood, for the root DSE.
pub(super) const SUPPORTED: &[&str] = &[
    known::PagedResults::OID,
    known::Sort::OID,
    known::MatchedValues::OID,
    known::Assertion::OID,
    known::PreRead::OID,
    known::PostRead::OID,
    known::ManageDsaIt::OID,
    known::TreeDelete::OID,
    known::NoOp::OID,
    known::VirtualListView::OID,
    known::Sync::OID,
    <known::PasswordPolicy as ResponseControl>::OID,
];

impl Controls {
    pub(super) fn read(controls: &[Control]) -> Done<Self> {
        let mut all = Self::default();
        for control in controls {
            all.one(control)?;
        }
        Ok(all)
    }

    fn one(&mut self, control: &Control) -> Done {
        let value = control.value.as_deref().unwrap_or_default();
        let fault =
            |error: crate::Error| LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message(error.to_string());
        match control.oid.as_str() {
            <known::PasswordPolicy as ResponseControl>::OID => self.password_policy = true,
            known::PagedResults::OID => self.paged = Some(known::PagedResults::read(value).map_err(fault)?),
            known::Sort::OID => {
                let keys: asn1::SortKeyList<'_> = decoded(value, "sort").map_err(fault)?;
                let text = |octets: &Octets<'_>| String::from_utf8_lossy(octets).into_owned();
                let keys = keys.0.iter().map(|key| known::SortKey {
                    attribute: text(&key.attribute_type),
                    rule: key.ordering_rule.as_ref().map(text),
                    reverse: key.reverse_order,
                });
                self.sort = keys.collect();
            }
            known::MatchedValues::OID => {
                let filters: asn1::ValuesReturnFilter<'_> =
                    decoded(value, "matched values").map_err(fault)?;
                self.matched = filters.0.into_iter().map(Filter::into_owned).collect();
            }
            known::Assertion::OID => {
                let filter: Filter<'_> = decoded(value, "assertion").map_err(fault)?;
                self.assertion = Some(filter.into_owned());
            }
            known::PreRead::OID => self.pre_read = Some(names(value).map_err(fault)?),
            known::PostRead::OID => self.post_read = Some(names(value).map_err(fault)?),
            known::ManageDsaIt::OID => self.manage_dsa_it = true,
            known::TreeDelete::OID => self.tree_delete = true,
            known::NoOp::OID => self.no_op = true,
            known::VirtualListView::OID => {
                self.view = Some(known::VirtualListView::read(value).map_err(fault)?);
            }
            known::Sync::OID => self.sync = Some(known::Sync::read(value).map_err(fault)?),
            _ if control.critical => {
                let message = format!("control {:.100} is not known", control.oid);
                return Err(LdapResult::new(ResultCode::UNAVAILABLE_CRITICAL_EXTENSION).with_message(message));
            }
            _ => {}
        }
        Ok(())
    }
}

fn names(value: &[u8]) -> crate::Result<Vec<String>> {
    use crate::proto::element::{Elements, tag};
    let mut outer = Elements::new(value, 0);
    let mut list = Elements::new(outer.expect(tag::SEQUENCE, "AttributeSelection")?, 0);
    let mut names = Vec::new();
    while !list.rest().is_empty() {
        names.push(String::from_utf8_lossy(list.expect(tag::OCTET_STRING, "a selector")?).into_owned());
    }
    Ok(names)
}

/// The answer to paged results: an estimate of all, and where the next page begins.
pub(super) fn page(total: usize, cookie: &[u8]) -> Control {
    let size = u32::try_from(total).unwrap_or_default();
    let value = asn1::PagedResults { size, cookie: Octets::borrowed(cookie) };
    Control::new(known::PagedResults::OID).with_value(encoded(&value))
}

/// The answer to sorting: it has been done, or by what it could not be done.
pub(super) fn sorted(fault: Option<(ResultCode, &str)>) -> Control {
    let code = fault.and_then(|(code, _)| asn1::SortResultCode::from_number(i64::from(code.0)));
    let value = asn1::SortResult {
        sort_result: code.unwrap_or(asn1::SortResultCode::Success),
        attribute_type: fault.map(|(_, name)| Octets::borrowed(name.as_bytes())),
    };
    Control::new(known::SortResult::OID).with_value(encoded(&value))
}

/// The answer to a list view: where it stands.
pub(super) fn viewed(code: ResultCode, position: usize, count: usize) -> Control {
    let number = |number: usize| u32::try_from(number).unwrap_or(i32::MAX as u32);
    let code = asn1::SortResultCode::from_number(i64::from(code.0)).unwrap_or(asn1::SortResultCode::Success);
    let value = asn1::VirtualListViewResponse {
        target_position: number(position),
        content_count: number(count),
        virtual_list_view_result: code,
        context_id: None,
    };
    Control::new(known::VlvResult::OID).with_value(encoded(&value))
}
