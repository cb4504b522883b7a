//! Entries that attributes name, together with those that name them (draft-masarati-ldap-deref).

use tercet_runtime::Tag;
use tercet_runtime::ber::{Rules, Writer};

use crate::error::Result;
use crate::proto::element::{Elements, tag};
use crate::proto::{Control, RequestControl, ResponseControl};

/// Asks for attributes of the entries that an attribute of each found entry names, as `member` or `manager`.
///
/// ```
/// use tercet_ldap::Search;
/// use tercet_ldap::controls::Dereference;
///
/// let wanted = Dereference::default().with("manager", &["cn", "mail"]);
/// let search = Search::new("o=test").control(&wanted);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dereference(pub Vec<(String, Vec<String>)>);

impl Dereference {
    /// The same with another attribute that names entries, and what is wanted of these.
    #[must_use]
    pub fn with(mut self, attribute: &str, wanted: &[&str]) -> Self {
        self.0.push((attribute.to_owned(), wanted.iter().map(|&name| name.to_owned()).collect()));
        self
    }
}

impl RequestControl for Dereference {
    /// `SEQUENCE OF SEQUENCE { derefAttr AttributeDescription, attributes SEQUENCE OF AttributeDescription }`
    fn control(&self) -> Control {
        let mut writer = Writer::new(Rules::Der);
        let list = writer.open();
        for (attribute, wanted) in self.0.iter().rev() {
            let one = writer.open();
            let names = writer.open();
            wanted.iter().rev().for_each(|name| writer.octet_string(Tag::OCTET_STRING, name.as_bytes()));
            writer.close(Tag::SEQUENCE, names);
            writer.octet_string(Tag::OCTET_STRING, attribute.as_bytes());
            writer.close(Tag::SEQUENCE, one);
        }
        writer.close(Tag::SEQUENCE, list);
        Control::new(Dereferenced::OID).with_criticality(true).with_value(writer.into_vec())
    }
}

/// Entries that an entry names; it comes with the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dereferenced(pub Vec<Referent>);

/// An entry that another one names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Referent {
    /// The attribute that names it.
    pub attribute: String,
    /// Its name.
    pub dn: String,
    /// What was wanted of it, as far as it is there.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

/// `attrVals [0] PartialAttributeList`
const ATTRIBUTES: u8 = 0xA0;

impl ResponseControl for Dereferenced {
    const OID: &'static str = "1.3.6.1.4.1.4203.666.5.16";

    fn read(value: &[u8]) -> Result<Self> {
        let mut value = Elements::new(value, 0);
        let list = value.expect(tag::SEQUENCE, "a list of dereferenced entries")?;
        let mut list = Elements::new(list, value.begin(list));
        let mut all = Vec::new();
        while !list.rest().is_empty() {
            let one = list.expect(tag::SEQUENCE, "a dereferenced entry")?;
            all.push(referent(Elements::new(one, list.begin(one)))?);
        }
        Ok(Self(all))
    }
}

fn referent(mut parts: Elements<'_>) -> Result<Referent> {
    let attribute = text(parts.expect(tag::OCTET_STRING, "derefAttr")?);
    let dn = text(parts.expect(tag::OCTET_STRING, "derefVal")?);
    let mut attributes = Vec::new();
    if parts.rest().first() == Some(&ATTRIBUTES) {
        let list = parts.expect(ATTRIBUTES, "attrVals")?;
        let mut list = Elements::new(list, parts.begin(list));
        while !list.rest().is_empty() {
            let one = list.expect(tag::SEQUENCE, "PartialAttribute")?;
            let mut one = Elements::new(one, list.begin(one));
            let name = text(one.expect(tag::OCTET_STRING, "type of an attribute")?);
            let set = one.expect(tag::SET, "vals of an attribute")?;
            let mut set = Elements::new(set, one.begin(set));
            let mut values = Vec::new();
            while !set.rest().is_empty() {
                values.push(set.expect(tag::OCTET_STRING, "a value")?.to_vec());
            }
            attributes.push((name, values));
        }
    }
    Ok(Referent { attribute, dn, attributes })
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the draft.
    #[test]
    fn values() {
        let request = Dereference::default().with("m", &["cn", "sn"]).control();
        let wanted = b"\x30\x0F\x30\x0D\x04\x01m\x30\x08\x04\x02cn\x04\x02sn";
        assert_eq!(request.value.as_deref(), Some(&wanted[..]));
        let bare = b"\x30\x08\x04\x01m\x04\x03o=x";
        let full = b"\x30\x15\x04\x01m\x04\x03o=y\xA0\x0B\x30\x09\x04\x02cn\x31\x03\x04\x01Y";
        let value = [&[0x30, 33][..], bare, full].concat();
        let referent = |dn: &str, attributes| Referent { attribute: "m".into(), dn: dn.into(), attributes };
        let expected =
            [referent("o=x", Vec::new()), referent("o=y", vec![("cn".into(), vec![b"Y".to_vec()])])];
        assert_eq!(Dereferenced::read(&value).unwrap().0, expected);
        for end in 0..value.len() {
            assert!(Dereferenced::read(&value[..end]).is_err(), "{end}");
        }
    }
}
