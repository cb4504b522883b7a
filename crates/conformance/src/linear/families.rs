//! The families: how an input of a size is made, and what reads it.

use std::sync::LazyLock;

use bytes::BytesMut;
use tercet::records::{Framing, Identifiers, RecordReader};
use tercet::runtime::dump;
use tercet::{Rules, Schema, SchemaOptions, TapeCodec};
use tercet_dynamic::{Options, Plan, Tape};
use tercet_ldap::ldif::{Reader, Style};
use tercet_ldap::proto::{Entry as SearchEntry, Framer, Limits, decode};
use tercet_ldap::{Dn, Filter, Url, schema::Description};
use tercet_megaco::codec::{Codec as _, Encoding};

use crate::corpora;
use crate::fuzz;

/// Inputs that are alike but for their size.
#[derive(Debug)]
pub(super) struct Family {
    pub name: String,
    pub entry: Entry,
    make: Make,
}

/// How an input is made of so many octets, elements, characters: what the family counts.
#[derive(Clone, Copy, Debug)]
enum Make {
    Octets(fn(usize) -> Vec<u8>),
    Text(fn(usize) -> String),
    /// A value as JSON, which the transfer syntax of the entry writes.
    Value(fn(usize) -> String),
    /// A message of H.248 as text, which the encoding of the entry writes.
    Message(fn(usize) -> String),
}

impl Family {
    pub(super) fn make(&self, size: usize) -> Vec<u8> {
        match (self.make, self.entry) {
            (Make::Octets(make), _) => make(size),
            (Make::Text(make), _) => make(size).into_bytes(),
            (Make::Value(make), Entry::Plan(syntax, root)) => encoded(syntax, root, &make(size)),
            (Make::Value(make), Entry::Typed(syntax)) => encoded(syntax, "Names", &make(size)),
            (Make::Message(make), Entry::Megaco(encoding)) => {
                let text = make(size);
                let message = Encoding::Pretty.decode(text.as_bytes()).expect("a message of our own");
                let mut octets = Vec::new();
                encoding.encode(&message, &mut octets).expect("a message of our own");
                octets
            }
            (make, entry) => unreachable!("{make:?} for {entry:?}"),
        }
    }

    /// The octets that an input of a size pays with: what is compressed counts as it is without.
    pub(super) fn weight(&self, size: usize, input: &[u8]) -> usize {
        match (self.make, self.entry) {
            (Make::Message(_), Entry::Megaco(Encoding::Etf { short, zlib: true })) => {
                let entry = Entry::Megaco(Encoding::Etf { short, zlib: false });
                Self { name: String::new(), entry, make: self.make }.make(size).len()
            }
            _ => input.len(),
        }
    }
}

/// What reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// The engine: a type of `linear.asn` in a transfer syntax, to a tape.
    Plan(Rules, &'static str),
    /// Generated code: names, a SEQUENCE OF PrintableString.
    Typed(Rules),
    /// Elements without a schema.
    Dump,
    /// ASN.1 source text, to its model.
    Source,
    /// A record file of elements.
    Records,
    Megaco(Encoding),
    /// A message, as such, as an entry, and as LDIF.
    LdapMessage,
    Ldif,
    Filter,
    Dn,
    Url,
    LdapSchema,
}

impl Entry {
    /// The most instructions for an octet, and the most octets of heap.
    pub(super) fn most(self) -> (f64, usize) {
        match self {
            // A value may have one bit.
            Self::Plan(Rules::Aper | Rules::Uper, _) | Self::Megaco(Encoding::Per) => (8.0 * 200.0, 8 * 32),
            Self::Typed(Rules::Aper | Rules::Uper) => (8.0 * 200.0, 8 * 8),
            // A model has a place for everything that was said.
            Self::Source => (4_000.0, 400),
            Self::Typed(_) | Self::Dump | Self::Records => (200.0, 8),
            // What was compressed is there beside the message.
            Self::Megaco(Encoding::Etf { zlib: true, .. }) => (200.0, 32 + 2),
            _ => (200.0, 32),
        }
    }

    /// Instructions and octets of heap beyond what the input pays for.
    pub(super) fn free(self) -> (u64, usize) {
        match self {
            // A file is read through a buffer of two MiB, whatever its size.
            Self::Records => (0, (64 << 10) + (2 << 20)),
            // Elements without octets may be announced, up to a number of them.
            Self::Plan(_, "Nothings") => (65_536 * 200, (64 << 10) + 65_536 * 48),
            _ => (0, 64 << 10),
        }
    }

    /// Reads, and lets go of what was read.
    pub(super) fn read(self, input: &[u8]) -> Result<(), String> {
        fn told(error: impl ToString) -> String {
            error.to_string()
        }
        let text = || str::from_utf8(input).map_err(told);
        match self {
            Self::Plan(syntax, root) => {
                let plan = plan(syntax);
                let root = plan.root(root).ok_or("no such type")?;
                let mut tape = Tape::new();
                TapeCodec::new(syntax, plan)
                    .read(root, input, &mut tape, &Options::default())
                    .map(drop)
                    .map_err(told)
            }
            Self::Typed(syntax) => fuzz::read_names(syntax, input),
            Self::Dump => dump::dump(input).try_for_each(|line| line.map(drop).map_err(told)),
            Self::Source => {
                let schema = Schema::from_text("linear.asn", text()?);
                if schema.has_errors() { Err(schema.render(false).lines().take(1).collect()) } else { Ok(()) }
            }
            Self::Records => {
                let mut reader = RecordReader::new(input, Framing::concatenated(Identifiers::any()));
                while reader.next(&mut |_| true).map_err(told)?.is_some() {}
                Ok(())
            }
            Self::Megaco(encoding) => encoding.decode(input).map(drop).map_err(told),
            Self::LdapMessage => {
                let limits = Limits::default();
                let incoming = Framer::new(limits).next(&mut BytesMut::from(input)).map_err(told)?;
                let incoming = incoming.ok_or("cut off")?;
                decode(&incoming.octets, &limits).map_err(told)?;
                let entry = SearchEntry::new(incoming.octets).map_err(told)?;
                Style::default().entry(&mut Vec::new(), &entry);
                Ok(())
            }
            Self::Ldif => {
                let mut reader = Reader::new(input);
                while reader.record().map_err(told)?.is_some() {}
                Ok(())
            }
            Self::Filter => text()?.parse::<Filter<'static>>().map(drop).map_err(told),
            Self::Dn => text()?.parse::<Dn>().map(drop).map_err(told),
            Self::Url => text()?.parse::<Url>().map(drop).map_err(told),
            Self::LdapSchema => text()?.parse::<Description>().map(drop).map_err(told),
        }
    }
}

/// Plans of `linear.asn`, in the order of [`Rules::ALL`].
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let path = corpora::repository().join("crates/conformance/src/linear/linear.asn");
    let schema = Schema::load(&[path], &SchemaOptions::default()).expect("a schema of our own");
    assert!(!schema.has_errors(), "{}", schema.render(false));
    let rules = Rules::ALL.map(Rules::plan_rules);
    let roots: Vec<_> = VALUES.iter().map(|(root, _)| *root).chain(["Names", "Extended"]).collect();
    schema.plans(&rules, &roots).expect("plans of our own")
});

fn plan(syntax: Rules) -> &'static Plan {
    &PLANS[Rules::ALL.iter().position(|known| *known == syntax).unwrap_or_default()]
}

/// The encoding of a value that JSON tells.
fn encoded(syntax: Rules, root: &str, value: &str) -> Vec<u8> {
    let plan = plan(syntax);
    let (mut tape, mut octets) = (Tape::new(), Vec::new());
    let root = plan.root(root).expect("a type of our own");
    let mut json = TapeCodec::new(Rules::Jer, plan);
    json.read(root, value.as_bytes(), &mut tape, &Options::default()).expect("a value of our own");
    TapeCodec::new(syntax, plan).write(tape.view(value.as_bytes()), &mut octets).expect("a value of our own");
    octets
}

/// A name, with what makes the text of a size.
type Named = (&'static str, fn(usize) -> String);

/// Values that every transfer syntax has.
const VALUES: &[Named] = &[
    ("Octets", |n| format!("\"{}\"", "A5".repeat(n))),
    ("Bits", |n| format!("{{\"value\":\"{}\",\"length\":{}}}", "A5".repeat(n), n * 8)),
    ("Text", |n| format!("\"{}\"", "aé<&\\n\\\"".repeat(n / 8 + 1))),
    ("Visible", |n| format!("\"{}\"", "a".repeat(n))),
    ("Bmp", |n| format!("\"{}\"", "aé".repeat(n / 2))),
    ("Number", |n| format!("-{}", "7".repeat(n))),
    ("Id", |n| format!("\"1.2{}\"", ".3.4096".repeat(n / 4))),
    ("Flags", |n| list(n, |i| (i % 3 == 0).to_string())),
    ("Numbers", |n| list(n, |i| (i as i64 * i as i64 - 5).to_string())),
    ("Bag", |n| list(n, |i| (i * 7919 % n).to_string())),
    ("Nothings", |n| list(n, |_| "null".to_owned())),
    ("Choices", |n| {
        list(n, |i| match i % 3 {
            0 => "{\"flag\":true}".to_owned(),
            1 => format!("{{\"number\":{}}}", i % 256),
            _ => "{\"text\":\"abc\"}".to_owned(),
        })
    }),
    ("Records", |n| list(n / 2, |i| format!("{{\"number\":{i},\"name\":\"n{i}\",\"flag\":{}}}", i % 2 == 0))),
    ("Tree", |n| format!("{{\"twigs\":[{}{{\"twigs\":[]}}]}}", "{\"twigs\":[{\"twigs\":[]}]},".repeat(n))),
];

fn list(n: usize, element: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..n).map(element).collect::<Vec<_>>().join(","))
}

/// An element of BER.
fn element(identifier: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len().to_be_bytes();
    [&[identifier, 0x84], &length[length.len() - 4..], contents].concat()
}

/// The same octets many times, between others.
fn between(before: &[u8], octets: &[u8], n: usize, after: &[u8]) -> Vec<u8> {
    [before, &octets.repeat(n), after].concat()
}

/// A module with something many times.
fn module(n: usize, before: &str, each: impl Fn(usize) -> String, after: &str) -> String {
    let body: String = (0..n).map(each).collect();
    format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n{before}{body}{after}\nEND\n")
}

const BER: Rules = Rules::Ber;

/// Inputs of one entry alone.
const SPECIAL: &[(&str, Entry, Make)] = &[
    (
        "ber-segments",
        Entry::Plan(BER, "Octets"),
        Make::Octets(|n| between(&[0x24, 0x80], &[4, 1, 65], n, &[0, 0])),
    ),
    (
        "ber-empty-segments",
        Entry::Plan(BER, "Octets"),
        Make::Octets(|n| between(&[0x24, 0x80], &[4, 0], n, &[0, 0])),
    ),
    (
        "ber-segments-of-bits",
        Entry::Plan(BER, "Bits"),
        Make::Octets(|n| between(&[0x23, 0x80], &[3, 2, 0, 65], n, &[0, 0])),
    ),
    (
        "ber-segments-in-segments",
        Entry::Plan(BER, "Octets"),
        Make::Octets(|n| between(&[0x24, 0x80], &[0x24, 0x80, 4, 1, 65, 0, 0], n, &[0, 0])),
    ),
    (
        "ber-long-arc",
        Entry::Plan(BER, "Id"),
        // Arcs beyond 448 bits are refused.
        Make::Octets(|n| element(6, &between(&[0x2A], &[0x81; 2], n, &[1]))),
    ),
    (
        "ber-unknown",
        Entry::Plan(BER, "Extended"),
        Make::Octets(|n| between(&[0x30, 0x80, 0x80, 1, 0xFF], &[0x9F, 0x81, 0x01, 0], n, &[0, 0])),
    ),
    (
        "ber-unknown-nested",
        Entry::Plan(BER, "Extended"),
        Make::Octets(|n| {
            let nest = between(&[], &[0xBF, 0x21, 0x80], 40, &[0; 80]);
            between(&[0x30, 0x80, 0x80, 1, 0xFF], &nest, n / 40, &[0, 0])
        }),
    ),
    (
        "ber-no-end",
        Entry::Plan(BER, "Extended"),
        Make::Octets(|n| between(&[0x30, 0x80, 0x80, 1, 0xFF], &[0x9F, 0x21, 0], n, &[])),
    ),
    (
        "ber-missing-everywhere",
        Entry::Plan(BER, "Records"),
        Make::Octets(|n| between(&[0x30, 0x80], &[0x30, 0], n, &[0, 0])),
    ),
    (
        "uper-bitmap",
        Entry::Plan(Rules::Uper, "Extended"),
        Make::Octets(|n| {
            // Value true with additions: a bitmap of 64 bits, each of its additions an open type of n octets.
            let mut octets = vec![0xC0 | 0x3F, 0xFF];
            octets.extend(vec![0xFF; n]);
            octets
        }),
    ),
    ("uper-announced", Entry::Plan(Rules::Uper, "Nothings"), Make::Octets(|n| vec![0xC4; n])),
    (
        "oer-unknown",
        Entry::Plan(Rules::Oer, "Extended"),
        Make::Octets(|n| {
            let bits = (n / 8 + 1).to_be_bytes();
            let before = [&[0x80, 0xFF, 0x83], &bits[5..], &[0]].concat();
            [before, vec![0xFF; n / 8], [1, 0].repeat(n / 8 * 8)].concat()
        }),
    ),
    (
        "oer-announced",
        Entry::Plan(Rules::Oer, "Nothings"),
        Make::Octets(|n| between(&[4, 0xFF, 0xFF, 0xFF, 0xFF], &[0], n, &[])),
    ),
    (
        "xer-attributes",
        Entry::Plan(Rules::Xer, "Text"),
        Make::Text(|n| {
            format!("<Text{}>a</Text>", (0..n).map(|i| format!(" a{i}=\"\"")).collect::<String>())
        }),
    ),
    (
        "xer-comments",
        Entry::Plan(Rules::Xer, "Text"),
        Make::Text(|n| format!("<Text>a{}</Text>", "<!-- - -->".repeat(n))),
    ),
    (
        "xer-references",
        Entry::Plan(Rules::Xer, "Text"),
        Make::Text(|n| format!("<Text>{}</Text>", "&#65;&amp;".repeat(n))),
    ),
    (
        "xer-space",
        Entry::Plan(Rules::Xer, "Flags"),
        Make::Text(|n| format!("<Flags>{}<true/></Flags>", " \n".repeat(n))),
    ),
    (
        "xer-unknown",
        Entry::Plan(Rules::Xer, "Extended"),
        Make::Text(|n| format!("<Extended><flag><true/></flag>{}</Extended>", "<new>1<b/></new>".repeat(n))),
    ),
    (
        "jer-escapes",
        Entry::Plan(Rules::Jer, "Text"),
        Make::Text(|n| format!("\"{}\"", "\\u00e9\\ud83d\\ude00".repeat(n))),
    ),
    (
        "jer-unknown",
        Entry::Plan(Rules::Jer, "Extended"),
        Make::Text(|n| {
            format!("{{\"flag\":true{}}}", (0..n).map(|i| format!(",\"k{i}\":[]")).collect::<String>())
        }),
    ),
    ("jer-space", Entry::Plan(Rules::Jer, "Flags"), Make::Text(|n| format!("[{}true]", " \n".repeat(n)))),
    ("gser-quotes", Entry::Plan(Rules::Gser, "Text"), Make::Text(|n| format!("\"{}\"", "\"\"".repeat(n)))),
    ("dump-elements", Entry::Dump, Make::Octets(|n| between(&[0x30, 0x80], &[4, 1, 65], n, &[0, 0]))),
    (
        "dump-nested",
        Entry::Dump,
        Make::Octets(|n| between(&[], &between(&[], &[0x30, 0x80], 40, &[0; 80]), n / 40, &[])),
    ),
    ("records-small", Entry::Records, Make::Octets(|n| [0x30, 3, 0x80, 1, 65].repeat(n))),
    ("records-indefinite", Entry::Records, Make::Octets(|n| [0x30, 0x80, 0x80, 1, 65, 0, 0].repeat(n))),
    (
        "records-filler",
        Entry::Records,
        Make::Octets(|n| between(&[], &[0x30, 3, 0x80, 1, 65, 0, 0, 0, 0], n, &[])),
    ),
    ("records-cut-off", Entry::Records, Make::Octets(|n| [0x30, 0x80, 0x80, 1, 65].repeat(n))),
    (
        "source-components",
        Entry::Source,
        Make::Text(|n| {
            module(n / 4, "T ::= SEQUENCE { a BOOLEAN", |i| format!(",\n c{i} INTEGER OPTIONAL"), "}")
        }),
    ),
    (
        "source-enumerations",
        Entry::Source,
        Make::Text(|n| module(n / 2, "T ::= ENUMERATED { a", |i| format!(", e{i}"), "}")),
    ),
    (
        "source-alternatives",
        Entry::Source,
        Make::Text(|n| module(n / 4, "T ::= CHOICE { a NULL", |i| format!(",\n c{i} NULL"), "}")),
    ),
    (
        "source-types",
        Entry::Source,
        Make::Text(|n| module(n / 4, "T ::= NULL\n", |i| format!("T{i} ::= SEQUENCE OF T\n"), "")),
    ),
    (
        "source-chain",
        Entry::Source,
        Make::Text(|n| module(n / 8, "T0 ::= NULL\n", |i| format!("T{} ::= T{i}\n", i + 1), "")),
    ),
    (
        "source-values",
        Entry::Source,
        Make::Text(|n| module(n / 4, "", |i| format!("v{i} INTEGER ::= {i}\n"), "")),
    ),
    (
        "source-ranges",
        Entry::Source,
        Make::Text(|n| module(n / 4, "T ::= INTEGER (0", |i| format!(" | {}", 2 * i + 2), ")")),
    ),
    (
        "source-objects",
        Entry::Source,
        Make::Text(|n| {
            let class = "C ::= CLASS { &id INTEGER UNIQUE, &T } WITH SYNTAX { &id &T }\nS C ::= { {0 NULL}";
            module(
                n / 8,
                class,
                |i| format!(" | {{{} BOOLEAN}}", i + 1),
                " }\nT ::= SEQUENCE { i C.&id ({S}), t C.&T ({S}{@i}) }",
            )
        }),
    ),
    (
        "source-comments",
        Entry::Source,
        Make::Text(|n| module(n, "T ::= NULL ", |_| "/* a /* b */ */ -- c\n".to_owned(), "")),
    ),
    (
        "source-string",
        Entry::Source,
        Make::Text(|n| module(n, "v UTF8String ::= \"", |_| "a\"\"".to_owned(), "\"")),
    ),
    (
        "source-digits",
        Entry::Source,
        Make::Text(|n| module(n / 8, "v INTEGER ::= 1", |_| "0".to_owned(), "")),
    ),
    (
        "source-faults",
        Entry::Source,
        Make::Text(|n| module(n / 4, "", |i| format!("T{i} ::= Missing{i}\n"), "")),
    ),
    (
        "ldap-values",
        Entry::LdapMessage,
        Make::Octets(|n| {
            let values = element(0x31, &[4, 3, 0x61, 0x62, 0x63].repeat(n));
            let attribute = element(0x30, &[&[4, 2, 0x63, 0x6E], values.as_slice()].concat());
            entry_of(&attribute)
        }),
    ),
    (
        "ldap-attributes",
        Entry::LdapMessage,
        Make::Octets(|n| entry_of(&[0x30, 9, 4, 2, 0x63, 0x6E, 0x31, 3, 4, 1, 0x61].repeat(n))),
    ),
    (
        "ldap-value",
        Entry::LdapMessage,
        Make::Octets(|n| {
            let values = element(0x31, &element(4, &vec![0xC3; n]));
            entry_of(&element(0x30, &[&[4, 2, 0x63, 0x6E], values.as_slice()].concat()))
        }),
    ),
    ("ldif-folded", Entry::Ldif, Make::Text(|n| format!("dn: o=a\no: {}\n", "a\n ".repeat(n)))),
    ("ldif-attributes", Entry::Ldif, Make::Text(|n| format!("dn: o=a\n{}", "cn: abc\n".repeat(n)))),
    (
        "ldif-distinct",
        Entry::Ldif,
        Make::Text(|n| format!("dn: o=a\n{}", (0..n).map(|i| format!("a{i}: b\n")).collect::<String>())),
    ),
    ("ldif-base64", Entry::Ldif, Make::Text(|n| format!("dn: o=a\no:: {}\n", "QUJD".repeat(n)))),
    ("ldif-records", Entry::Ldif, Make::Text(|n| "dn: o=a\no: a\n\n".repeat(n))),
    ("ldif-comments", Entry::Ldif, Make::Text(|n| format!("dn: o=a\n{}o: a\n", "# a\n b\n".repeat(n)))),
    ("filter-wide", Entry::Filter, Make::Text(|n| format!("(|{})", "(cn=a)".repeat(n)))),
    ("filter-substrings", Entry::Filter, Make::Text(|n| format!("(cn=a{}*b)", "*c".repeat(n)))),
    ("filter-escapes", Entry::Filter, Make::Text(|n| format!("(cn={})", "\\2a".repeat(n)))),
    ("dn-names", Entry::Dn, Make::Text(|n| format!("cn=a{}", ",ou=b".repeat(n)))),
    ("dn-values", Entry::Dn, Make::Text(|n| format!("cn=a{}", "+ou=b".repeat(n)))),
    ("dn-escapes", Entry::Dn, Make::Text(|n| format!("cn={}", "\\2c\\,".repeat(n)))),
    ("url-attributes", Entry::Url, Make::Text(|n| format!("ldap://h/o=a?a{}", ",b".repeat(n)))),
    ("url-escapes", Entry::Url, Make::Text(|n| format!("ldap://h/o={}", "%20a".repeat(n)))),
    ("schema-names", Entry::LdapSchema, Make::Text(|n| format!("( 1.2 NAME ( {}) )", "'ab' ".repeat(n)))),
    ("schema-oids", Entry::LdapSchema, Make::Text(|n| format!("( 1.2 MUST ( a {}) )", "$ b ".repeat(n)))),
    (
        "h248-comments",
        Entry::Megaco(Encoding::Compact),
        Make::Text(|n| format!("!/1 [1.2.3.4]{} T=1{{C=-{{MF=a}}}}", ";c\n".repeat(n))),
    ),
    (
        "h248-open",
        Entry::Megaco(Encoding::Compact),
        Make::Text(|n| format!("!/1 [1.2.3.4] T=1{{C=-{}", "{".repeat(n))),
    ),
];

/// A SearchResultEntry with attributes.
fn entry_of(attributes: &[u8]) -> Vec<u8> {
    let entry = [&[4, 3, 0x6F, 0x3D, 0x61], element(0x30, attributes).as_slice()].concat();
    element(0x30, &[&[2, 1, 1], element(0x64, &entry).as_slice()].concat())
}

/// What messages of H.248 have many of.
const MESSAGES: &[Named] = &[
    ("transactions", |n| {
        let each = |i: usize| format!(" T={}{{C=-{{SC=a{{SV{{MT=RS,RE=\"901 x\"}}}}}}}}", i + 1);
        format!("!/1 [1.2.3.4]{}", (0..n / 32 + 1).map(each).collect::<String>())
    }),
    ("terminations", |n| {
        let each = |i: usize| format!("{}S=t/{i}", if i == 0 { "" } else { "," });
        format!("!/1 [1.2.3.4] T=1{{C=1{{{}}}}}", (0..n / 8 + 1).map(each).collect::<String>())
    }),
    ("events", |n| {
        let each = |i: usize| format!("{}al/of", if i == 0 { "" } else { "," });
        format!("!/1 [1.2.3.4] T=1{{C=1{{MF=t{{E=1{{{}}}}}}}}}", (0..n / 8 + 1).map(each).collect::<String>())
    }),
    ("sdp", |n| format!("!/1 [1.2.3.4] T=1{{C=1{{MF=t{{M{{L{{\nv=0\n{}}}}}}}}}}}", "a=b:1\n".repeat(n / 8))),
    ("acknowledgements", |n| {
        format!("!/1 [1.2.3.4] K{{1{}}}", (1..n / 8 + 1).map(|i| format!(",{}", i * 10)).collect::<String>())
    }),
];

/// All of them.
pub(super) static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    use Rules::{Aper, Cer, Coer, Der, Gser, Jer, Uper, Xer};
    let mut families = Vec::new();
    for syntax in [Der, Cer, Aper, Uper, Coer, Xer, Jer, Gser] {
        for (root, make) in VALUES {
            // Elements without octets: how many there may be is a limit of their own.
            if *root == "Nothings" && matches!(syntax, Aper | Uper | Coer) {
                continue;
            }
            let name = format!("{syntax}-{}", root.to_lowercase());
            families.push(Family { name, entry: Entry::Plan(syntax, root), make: Make::Value(*make) });
        }
    }
    for syntax in [Der, Cer, Aper, Uper, Coer] {
        let name = format!("generated-{syntax}-names");
        let make = Make::Value(|n| list(n / 4, |i| format!("\"n{i}\"")));
        families.push(Family { name, entry: Entry::Typed(syntax), make });
    }
    for (name, make) in MESSAGES {
        for (word, encoding) in Encoding::ALL {
            let name = format!("h248-{word}-{name}");
            families.push(Family { name, entry: Entry::Megaco(*encoding), make: Make::Message(*make) });
        }
    }
    let special = SPECIAL.iter().map(|(name, entry, make)| Family {
        name: (*name).to_owned(),
        entry: *entry,
        make: *make,
    });
    families.extend(special);
    families
});
