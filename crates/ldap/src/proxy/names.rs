//! Names below one entry for clients, below another one for servers.

use tercet_runtime::types::Octets;

use super::{Context, Flow, Layer};
use crate::dn::Dn;
use crate::entry::Draft;
use crate::error::Result;
use crate::extended::{PASSWORD_MODIFY, PasswordModify};
use crate::generated::{self as asn1, Filter, LdapMessage, ProtocolOp};
use crate::matching::Rule;
use crate::proto::{self, Limits, control};

/// Replaces the end of names: clients see `from` where servers have `to`. Names of entries, values of attributes with names,
/// values in filters and the user of a password change are replaced; controls, URLs of referrals and other values are not.
#[derive(Clone, Debug)]
pub struct MapNames {
    from: Dn,
    to: Dn,
}

impl MapNames {
    /// Replaces `from`, as clients know it, by `to`, as servers know it.
    #[must_use]
    pub const fn new(from: Dn, to: Dn) -> Self {
        Self { from, to }
    }
}

impl MapNames {
    /// Changes a request.
    pub(crate) fn request_message(&self, message: &[u8]) -> Flow {
        Step { from: &self.from, to: &self.to }.message(message)
    }

    /// Returns a name as the servers know it.
    pub(crate) fn inside_name(&self, dn: &str) -> String {
        let mut octets = Octets::copied(dn.as_bytes());
        Step { from: &self.from, to: &self.to }.name(&mut octets, &mut false);
        String::from_utf8_lossy(&octets).into_owned()
    }

    /// Returns a name as clients see it.
    pub(crate) fn shown_name(&self, dn: &str) -> String {
        let mut octets = Octets::copied(dn.as_bytes());
        Step { from: &self.to, to: &self.from }.name(&mut octets, &mut false);
        String::from_utf8_lossy(&octets).into_owned()
    }

    /// Returns an entry as clients see it.
    pub(crate) fn shown(&self, entry: &Draft) -> Draft {
        let step = Step { from: &self.to, to: &self.from };
        let attributes = entry.attributes().map(|(name, values)| {
            let shown = values.iter().map(|value| {
                let mut octets = Octets::copied(value);
                step.value(name.as_bytes(), &mut octets, &mut false);
                octets.to_vec()
            });
            (name, shown.collect::<Vec<_>>())
        });
        Draft::new(self.shown_name(entry.dn()), attributes)
    }
}

impl Layer for MapNames {
    fn request(&self, _: &Context, message: &[u8]) -> Flow {
        self.request_message(message)
    }

    fn response(&self, _: &Context, message: &[u8]) -> Flow {
        Step { from: &self.to, to: &self.from }.message(message)
    }
}

/// One direction.
struct Step<'m> {
    from: &'m Dn,
    to: &'m Dn,
}

impl Step<'_> {
    fn message(&self, octets: &[u8]) -> Flow {
        match self.mapped(octets) {
            Ok(Some(octets)) => Flow::Replace(octets),
            Ok(None) => Flow::Pass,
            Err(_) => Flow::Close,
        }
    }

    fn mapped(&self, octets: &[u8]) -> Result<Option<Vec<u8>>> {
        let message = proto::decode(octets, &Limits::default())?.into_owned();
        let LdapMessage { message_id, mut protocol_op, controls } = message;
        let mut is_changed = false;
        self.operation(&mut protocol_op, &mut is_changed);
        if !is_changed {
            return Ok(None);
        }
        let controls: Vec<_> =
            controls.unwrap_or_default().into_iter().map(control::from_asn1).collect::<Result<_>>()?;
        let mut out = Vec::new();
        proto::encode(message_id, protocol_op, &controls, &mut out)?;
        Ok(Some(out))
    }

    /// Replaces the end of a name.
    fn name(&self, octets: &mut Octets<'static>, is_changed: &mut bool) {
        let Ok(text) = std::str::from_utf8(octets) else { return };
        // A value may begin as an authorization identity does.
        let (prefix, text) = text.strip_prefix("dn:").map_or(("", text), |text| ("dn:", text));
        let Ok(dn) = text.parse::<Dn>() else { return };
        if !dn.is_within(self.from) {
            return;
        }
        let below = dn.rdns().len() - self.from.rdns().len();
        let kept = dn.rdns().iter().take(below).rev().cloned();
        let name = kept.fold(self.to.clone(), |dn, rdn| dn.child(rdn));
        *octets = Octets::copied(format!("{prefix}{name}").as_bytes());
        *is_changed = true;
    }

    fn value(&self, attribute: &[u8], octets: &mut Octets<'static>, is_changed: &mut bool) {
        let attribute = String::from_utf8_lossy(attribute);
        if Rule::of_attribute(&attribute) == Rule::DistinguishedName {
            self.name(octets, is_changed);
        }
    }

    fn attribute(&self, attribute: &mut asn1::PartialAttribute<'static>, is_changed: &mut bool) {
        let asn1::PartialAttribute { r#type, vals } = attribute;
        vals.iter_mut().for_each(|octets| self.value(r#type, octets, is_changed));
    }

    /// Replaces names in a filter. Filters are read to a depth, so that this does not go deep.
    fn filter(&self, filter: &mut Filter<'static>, is_changed: &mut bool) {
        match filter {
            Filter::And(list) | Filter::Or(list) => {
                list.iter_mut().for_each(|part| self.filter(part, is_changed));
            }
            Filter::Not(part) => self.filter(part, is_changed),
            Filter::EqualityMatch(one)
            | Filter::ApproxMatch(one)
            | Filter::GreaterOrEqual(one)
            | Filter::LessOrEqual(one) => {
                self.value(&one.attribute_desc, &mut one.assertion_value, is_changed);
            }
            _ => {}
        }
    }

    /// Replaces the name of the user whose password is changed. A malformed value is left to the server.
    fn password_modify(&self, octets: &mut Octets<'static>, is_changed: &mut bool) {
        let Ok(mut request) = PasswordModify::read(octets) else { return };
        let Some(user) = &request.user else { return };
        let mut name = Octets::copied(user.as_bytes());
        let mut is_mapped = false;
        self.name(&mut name, &mut is_mapped);
        if is_mapped {
            request.user = Some(String::from_utf8_lossy(&name).into_owned());
            *octets = Octets::copied(&request.value());
            *is_changed = true;
        }
    }

    fn operation(&self, operation: &mut ProtocolOp<'static>, is_changed: &mut bool) {
        match operation {
            ProtocolOp::BindRequest(bind) => self.name(&mut bind.name, is_changed),
            ProtocolOp::SearchRequest(search) => {
                self.name(&mut search.base_object, is_changed);
                self.filter(&mut search.filter, is_changed);
            }
            ProtocolOp::SearchResEntry(entry) => {
                self.name(&mut entry.object_name, is_changed);
                entry.attributes.iter_mut().for_each(|one| self.attribute(one, is_changed));
            }
            ProtocolOp::ModifyRequest(modify) => {
                self.name(&mut modify.object, is_changed);
                let changes = modify.changes.iter_mut();
                changes.for_each(|change| self.attribute(&mut change.modification, is_changed));
            }
            ProtocolOp::AddRequest(add) => {
                self.name(&mut add.entry, is_changed);
                add.attributes.iter_mut().for_each(|one| self.attribute(one, is_changed));
            }
            ProtocolOp::DelRequest(dn) => self.name(dn, is_changed),
            ProtocolOp::ModDnRequest(rename) => {
                self.name(&mut rename.entry, is_changed);
                if let Some(superior) = &mut rename.new_superior {
                    self.name(superior, is_changed);
                }
            }
            ProtocolOp::CompareRequest(compare) => {
                self.name(&mut compare.entry, is_changed);
                self.value(&compare.ava.attribute_desc, &mut compare.ava.assertion_value, is_changed);
            }
            ProtocolOp::ExtendedReq(request) if &*request.request_name == PASSWORD_MODIFY.as_bytes() => {
                if let Some(value) = &mut request.request_value {
                    self.password_modify(value, is_changed);
                }
            }
            ProtocolOp::BindResponse(bind) => self.name(&mut bind.matched_dn, is_changed),
            ProtocolOp::SearchResDone(done)
            | ProtocolOp::ModifyResponse(done)
            | ProtocolOp::AddResponse(done)
            | ProtocolOp::DelResponse(done)
            | ProtocolOp::ModDnResponse(done)
            | ProtocolOp::CompareResponse(done) => self.name(&mut done.matched_dn, is_changed),
            ProtocolOp::ExtendedResp(response) => {
                self.name(&mut response.matched_dn, is_changed);
                // The answer to Who am I?
                if let Some(value) = &mut response.response_value
                    && value.starts_with(b"dn:")
                {
                    self.name(value, is_changed);
                }
            }
            _ => {}
        }
    }
}
