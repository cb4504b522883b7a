//! LDAP: messages of a peer, and the texts.

use bytes::BytesMut;
use tercet_ldap::ldif::{Reader, Style};
use tercet_ldap::proto::{Entry, Framer, Limits, Reply, decode};
use tercet_ldap::schema::Description;
use tercet_ldap::{Dn, Filter, Netlogon, Url};
use tercet_runtime::codec::{self, Encode};

use super::told;

/// A stream of messages: each is read as a whole, as an answer, and as an entry.
pub(super) fn message(input: &[u8]) {
    let limits = Limits::default();
    let framer = Framer::new(limits);
    let mut buffer = BytesMut::from(input);
    loop {
        let before = buffer.len();
        let incoming = match framer.next(&mut buffer) {
            Ok(Some(incoming)) => incoming,
            Ok(None) => break,
            Err(error) => return told(&error),
        };
        assert!(buffer.len() < before, "a message has octets");
        match decode(&incoming.octets, &limits) {
            Ok(message) => {
                let written: Vec<u8> =
                    Encode::<codec::Ber>::encode(&message).expect("what was read is written");
                let again = decode(&written, &limits).expect("what was written is read");
                assert!(again == message, "{message:?} became {again:?}");
            }
            Err(error) => told(&error),
        }
        if let Err(error) = Reply::read(&incoming, &limits) {
            told(&error);
        }
        match Entry::new(incoming.octets) {
            Ok(entry) => {
                for attribute in entry.attributes() {
                    let values = attribute.values().map(<[u8]>::len).sum::<usize>();
                    assert!(values + attribute.name().len() / 3 <= input.len(), "no octets from nowhere");
                }
                let mut text = Vec::new();
                Style::default().entry(&mut text, &entry);
                if let Err(error) = entry.controls() {
                    told(&error);
                }
            }
            Err(error) => told(&error),
        }
    }
}

pub(super) fn message_seeds() -> Vec<Vec<u8>> {
    let plan = super::values::ldap();
    plan.into_iter().chain(std::iter::once(Vec::new())).collect()
}

/// Records are written, and read as the same.
pub(super) fn ldif(input: &[u8]) {
    let mut reader = Reader::new(input);
    loop {
        match reader.record() {
            Ok(Some(record)) => {
                let mut text = Vec::new();
                Style::default().record(&mut text, &record);
                match Reader::new(&text[..]).record() {
                    Ok(Some(again)) => assert!(again == record, "{record:?} became {again:?}"),
                    other => panic!("{} became {other:?}", String::from_utf8_lossy(&text)),
                }
            }
            Ok(None) => break,
            Err(error) => return told(&error),
        }
    }
}

pub(super) fn ldif_seeds() -> Vec<Vec<u8>> {
    [
        "version: 1\ndn: cn=Babs,o=test\nobjectClass: person\ncn: Babs\ncn:: QmFicw==\ndescription: a long\n  one\n\n",
        "dn: uid=u1,o=test\nchangetype: add\nobjectclass: top\nuid: u1\n\n# a comment\ndn: uid=u2,o=test\nchangetype: delete\n",
        "dn: uid=u1,o=test\nchangetype: modify\nadd: mail\nmail: a@b\n-\ndelete: phone\n-\nreplace: sn\nsn:: w6Q=\n-\nincrement: n\nn: 1\n-\n",
        "dn: uid=u1,o=test\ncontrol: 1.2.3.4 true: x\nchangetype: modrdn\nnewrdn: uid=u3\ndeleteoldrdn: 1\nnewsuperior: o=other\n",
        "dn:: dWlkPcO8LG89dGVzdA==\r\nuid:: w7w=\r\n\r\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

/// What is parsed is printed, and parsed as the same.
fn printed<T>(input: &[u8])
where
    T: std::str::FromStr<Err = tercet_ldap::Error> + std::fmt::Display + PartialEq + std::fmt::Debug,
{
    let Ok(text) = std::str::from_utf8(input) else { return };
    match text.parse::<T>() {
        Ok(value) => {
            let text = value.to_string();
            match text.parse::<T>() {
                Ok(again) => assert!(again == value, "{value:?} became {again:?} by {text}"),
                Err(error) => panic!("{value:?} is printed as {text}: {error}"),
            }
        }
        Err(error) => told(&error),
    }
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(super) fn filter(input: &[u8]) {
    printed::<Filter<'static>>(input);
}

pub(super) fn filter_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "(uid=u1)",
        "(&(objectClass=person)(|(cn=a*b*c)(!(sn>=x)))(mail=*)(age<=5)(cn~=babs))",
        "(cn:dn:2.4.6.8.10:=Dino)",
        "(:1.2.3:=x)",
        "(o=Parens R Us \\28for all your parenthetical needs\\29)",
        "(bin=\\00\\00\\00\\04)",
        "(&)",
        "(|)",
    ])
}

pub(super) fn dn(input: &[u8]) {
    printed::<Dn>(input);
    if let Ok(dn) = String::from_utf8_lossy(input).parse::<Dn>() {
        let normalized = dn.normalized();
        assert!(dn.is_within(&dn), "a name is within itself");
        let again = normalized.parse::<Dn>().unwrap_or_else(|error| panic!("{normalized}: {error}"));
        assert!(again.normalized() == normalized, "{normalized} became {}", again.normalized());
        let _ = dn.friendly();
    }
}

pub(super) fn dn_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "UID=jsmith,DC=example,DC=net",
        "OU=Sales+CN=J.  Smith,DC=example,DC=net",
        "CN=James \\\"Jim\\\" Smith\\, III,DC=example,DC=net",
        "CN=Before\\0dAfter,DC=example,DC=net",
        "1.3.6.1.4.1.1466.0=#04024869",
        "CN=Lu\\C4\\8Di\\C4\\87",
        "",
        "cn=\\ lead and trail\\ ,o=\\#hash",
    ])
}

pub(super) fn url(input: &[u8]) {
    printed::<Url>(input);
}

pub(super) fn url_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "ldap://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress?sub?(cn=Babs%20Jensen)",
        "ldaps://[2001:db8::7]:6666/c=GB?objectClass?one",
        "ldap:///??sub??!e-bindname=cn=Manager%2cdc=example%2cdc=com",
        "ldapi://%2Ftmp%2Fsocket/",
        "ldap://h/o=a?cn,sn;lang-de?base?(a=%5c00)",
    ])
}

pub(super) fn schema(input: &[u8]) {
    printed::<Description>(input);
}

pub(super) fn schema_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "( 2.5.4.3 NAME ( 'cn' 'commonName' ) DESC 'a name' SUP name EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{64} SINGLE-VALUE )",
        "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY ( userPassword $ seeAlso ) X-ORIGIN 'RFC 4519' )",
        "( 1.2.3 DESC 'it\\27s \\5c' OBSOLETE )",
    ])
}

/// What a domain controller says of itself.
pub(super) fn netlogon(input: &[u8]) {
    match Netlogon::decode(input) {
        Ok(told) => {
            let names = [&told.forest, &told.domain, &told.host, &told.netbios_domain, &told.netbios_host];
            assert!(names.iter().all(|name| name.len() <= 255), "{told:?}");
        }
        Err(error) => told(&error),
    }
}

pub(super) fn netlogon_seeds() -> Vec<Vec<u8>> {
    let head = [&[23, 0, 0, 0, 0x9d, 0x11, 0, 0][..], &(0..16).collect::<Vec<u8>>()].concat();
    let names = b"\x07example\x03net\0\xc0\x18\x02vm\xc0\x18\x07EXAMPLE\0\x02VM\0\0\x04Here\0\xc0\x3a";
    let seed = |more: &[u8], version: u8| {
        [&head[..], names, more, &[version, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]].concat()
    };
    let address = [16, 2, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    vec![seed(b"", 0x05), seed(b"\x04Next\0", 0x15), seed(&address, 0x0d)]
}
