//! Rules of access: who may do what with which entries and attributes.

mod parse;

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use super::entry::{Stored, depth, is_described, is_password, place};
use super::subschema;
use crate::dn::Dn;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::Evaluation;
use crate::filter::condition::{Budget, Condition, Steps};
use crate::ldif::{Change, Record};
use crate::schema::Schema;

/// Something that a user may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Right {
    /// Read an entry, or values of an attribute.
    Read,
    /// Use an attribute in a filter.
    Search,
    /// Compare a value of an attribute.
    Compare,
    /// Change an attribute, or rename an entry.
    Write,
    /// Add an entry.
    Add,
    /// Delete an entry.
    Delete,
    /// Bind as an entry.
    Auth,
}

/// All rights with their words.
const RIGHTS: [(&str, Right); 7] = [
    ("read", Right::Read),
    ("search", Right::Search),
    ("compare", Right::Compare),
    ("write", Right::Write),
    ("add", Right::Add),
    ("delete", Right::Delete),
    ("auth", Right::Auth),
];

impl FromStr for Right {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = RIGHTS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        let known = RIGHTS.map(|(word, _)| word).join(", ");
        let fault = || Error::new(ErrorKind::Usage, format!("unknown right `{text:.100}`; known: {known}"));
        found.map(|(_, right)| *right).ok_or_else(fault)
    }
}

/// Rules of access, the first of which that matches decides. Without one that matches, access is denied.
#[derive(Debug, Default)]
pub struct Acl {
    rules: Vec<Rule>,
    /// The places of groups that rules name.
    groups: Vec<Vec<u8>>,
    /// What names of attributes mean, if it is more than the standards say.
    schema: Option<Arc<Schema>>,
}

#[derive(Debug)]
struct Rule {
    line: usize,
    text: String,
    allows: bool,
    rights: Vec<Right>,
    base: Vec<u8>,
    scope: Scope,
    attributes: Option<Vec<String>>,
    filter: Option<Condition>,
    by: By,
}

/// The entries that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Entry,
    One,
    Sub,
    Children,
}

/// The users that a rule is about.
#[derive(Debug)]
enum By {
    Anyone,
    Anonymous,
    Users,
    Itself,
    Dn(Vec<u8>),
    /// The number of a group.
    Group(usize),
    Peer(IpAddr, u8),
    Tls,
}

/// Who asks for access.
#[derive(Clone, Debug, Default)]
pub struct Requester {
    /// The place of the user; nothing for anonymous.
    user: Option<Vec<u8>>,
    peer: Option<IpAddr>,
    is_tls: bool,
    /// For each group that rules name, whether the user is a member.
    groups: Vec<bool>,
}

impl Requester {
    /// A user by name; anonymous with an empty one.
    ///
    /// # Errors
    /// The name is malformed.
    pub fn new(dn: &str) -> Result<Self> {
        let dn: Dn = dn.parse()?;
        let user = (!dn.is_root()).then(|| place(&dn));
        Ok(Self { user, ..Self::default() })
    }

    /// Sets the address of the client, and whether the connection has TLS.
    #[must_use]
    pub const fn at(mut self, peer: Option<IpAddr>, is_tls: bool) -> Self {
        self.peer = peer;
        self.is_tls = is_tls;
        self
    }

    /// Finds out of which groups the user is a member.
    pub(super) fn with_groups<'s>(mut self, acl: &Acl, find: impl Fn(&[u8]) -> Option<&'s Stored>) -> Self {
        let Some(user) = &self.user else { return self };
        let is_user = |value: &[u8]| {
            std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).map(|dn| place(&dn)).as_ref()
                == Some(user)
        };
        let is_member =
            |group: &Stored| ["member", "uniqueMember"].iter().any(|name| group.values(name).any(is_user));
        self.groups = acl.groups.iter().map(|group| find(group).is_some_and(is_member)).collect();
        self
    }
}

/// An answer of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// Whether access is allowed.
    pub is_allowed: bool,
    /// The line of the rule, from 1, and its text; nothing if no rule matches.
    pub rule: Option<(usize, &'a str)>,
    /// Whether the rule names attributes.
    pub(super) names_attributes: bool,
}

/// Steps that the filter of a rule may take.
const FILTER_STEPS: Steps = 1_000_000;

impl Acl {
    /// Decides about an entry, or an attribute of it, of which the attributes are in `entries`.
    ///
    /// A rule with a filter does not match an entry that is not in `entries`; one with a group does not match if the group is not.
    ///
    /// # Errors
    /// The name of the entry, or of one in `entries`, is malformed.
    pub fn decide(
        &self,
        who: &Requester,
        dn: &str,
        right: Right,
        attribute: Option<&str>,
        entries: &[Record],
    ) -> Result<Decision<'_>> {
        let mut stored = Vec::new();
        for record in entries {
            if let Change::Add(attributes) = &record.change {
                stored.push(candidate(&record.dn, attributes)?);
            }
        }
        let find = |place: &[u8]| stored.iter().find(|stored| stored.place() == place);
        let who = who.clone().with_groups(self, find);
        let place = place(&dn.parse()?);
        Ok(self.decision(&who, &place, find(&place), right, attribute))
    }

    /// Returns the places of the groups that rules name.
    pub(super) fn groups(&self) -> &[Vec<u8>] {
        &self.groups
    }

    /// Decides about an entry, or an attribute of it.
    pub(super) fn decision(
        &self,
        who: &Requester,
        place: &[u8],
        stored: Option<&Stored>,
        right: Right,
        attribute: Option<&str>,
    ) -> Decision<'_> {
        self.first(who, place, right, attribute, |rule, filter| selects(filter, stored, rule.allows))
    }

    /// Decides about an entry that cannot be seen. A rule with a filter matches it if the rule denies: the entry may be one of those.
    pub(super) fn decision_unseen(
        &self,
        who: &Requester,
        place: &[u8],
        right: Right,
        attribute: Option<&str>,
    ) -> Decision<'_> {
        self.first(who, place, right, attribute, |rule, _| !rule.allows)
    }

    /// Takes the schema by which attributes have several names: a rule is about one, whichever name it or a request has for it.
    pub(super) fn set_schema(&mut self, schema: Arc<Schema>) {
        for name in self.rules.iter_mut().flat_map(|rule| rule.attributes.iter_mut().flatten()) {
            *name = schema.usual(name).into_owned();
        }
        self.schema = Some(schema);
    }

    fn first(
        &self,
        who: &Requester,
        place: &[u8],
        right: Right,
        attribute: Option<&str>,
        is_selected: impl Fn(&Rule, &Condition) -> bool,
    ) -> Decision<'_> {
        let schema = self.schema.as_ref().map_or_else(subschema::standard, Arc::clone);
        let attribute = attribute.map(|name| schema.usual(name));
        let attribute = attribute.as_deref();
        let found = self.rules.iter().find(|rule| {
            rule.is_of(right)
                && rule.is_about(place)
                && rule.is_about_attribute(attribute)
                && rule.is_by(who, place)
                && rule.filter.as_ref().is_none_or(|filter| is_selected(rule, filter))
        });
        Decision {
            is_allowed: found.is_some_and(|rule| rule.allows),
            rule: found.map(|rule| (rule.line, rule.text.as_str())),
            names_attributes: found.is_some_and(|rule| rule.attributes.is_some()),
        }
    }
}

/// Whether the filter of a rule selects an entry. If it takes too long, a rule that denies matches and one that allows does not.
fn selects(filter: &Condition, stored: Option<&Stored>, allows: bool) -> bool {
    let Some(stored) = stored else { return false };
    match filter.evaluate(stored, &mut Budget::turn(FILTER_STEPS)) {
        Ok(evaluation) => evaluation == Evaluation::True,
        Err(_) => !allows,
    }
}

/// An entry that is not in the directory.
pub(super) fn candidate(name: &str, attributes: &[super::entry::Attribute]) -> Result<Stored> {
    let origin = super::entry::Origin { id: 0, serial: 0, changed: 0, created: 0, modified: 0 };
    Ok(Stored::new(name, &place(&name.parse()?), attributes, origin))
}

impl Rule {
    /// Whether the rule is about a right. Who may read a value learns nothing new by searching for it or comparing it; who must not
    /// read it would learn it by many searches.
    fn is_of(&self, right: Right) -> bool {
        let is_read = matches!(right, Right::Search | Right::Compare) && self.rights.contains(&Right::Read);
        self.rights.contains(&right) || is_read
    }

    fn is_about(&self, place: &[u8]) -> bool {
        let Some(rest) = place.strip_prefix(self.base.as_slice()) else { return false };
        match self.scope {
            Scope::Entry => rest.is_empty(),
            Scope::One => depth(rest) == 1,
            Scope::Sub => true,
            Scope::Children => !rest.is_empty(),
        }
    }

    fn is_about_attribute(&self, attribute: Option<&str>) -> bool {
        match (&self.attributes, attribute) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(names), Some(attribute)) => names.iter().any(|name| {
                name == "*" || is_described(attribute, name) || (is_password(name) && is_password(attribute))
            }),
        }
    }

    fn is_by(&self, who: &Requester, place: &[u8]) -> bool {
        match &self.by {
            By::Anyone => true,
            By::Anonymous => who.user.is_none(),
            By::Users => who.user.is_some(),
            By::Itself => who.user.as_deref() == Some(place),
            By::Dn(dn) => who.user.as_ref() == Some(dn),
            By::Group(number) => who.groups.get(*number).copied().unwrap_or_default(),
            By::Peer(network, bits) => who.peer.is_some_and(|peer| is_within(peer, *network, *bits)),
            By::Tls => who.is_tls,
        }
    }
}

/// Whether an address is in a network.
fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address.to_canonical(), network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}
