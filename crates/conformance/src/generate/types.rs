//! Random modules.

use super::Random;
use super::values::literal;
use serde_json::Value;
use std::fmt::Write as _;

/// A random module.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Its text.
    pub text: String,
    /// The named types in it; the first is `T0`.
    pub types: Vec<Type>,
}

/// A type as the value generator needs it; tags are in the text only.
#[derive(Clone, Debug)]
pub enum Type {
    /// BOOLEAN.
    Boolean,
    /// INTEGER of any size.
    Integer,
    /// ENUMERATED with so many items `e0`, `e1` …
    Enumerated(u64),
    /// REAL.
    Real,
    /// BIT STRING: a fixed size, or whether bits are named.
    Bits(Option<u64>, bool),
    /// OCTET STRING.
    Octets,
    /// NULL.
    Null,
    /// OBJECT IDENTIFIER.
    Oid,
    /// RELATIVE-OID.
    RelativeOid,
    /// A character string type by its keyword.
    Text(&'static str),
    /// UTCTime, GeneralizedTime, DATE, TIME-OF-DAY, DATE-TIME.
    Time(&'static str),
    /// SEQUENCE and SET.
    Struct(Vec<Component>),
    /// SEQUENCE OF (false) and SET OF (true).
    List(bool, Box<Self>),
    /// CHOICE.
    Choice(Vec<(String, Self)>),
    /// The n-th named type.
    Named(usize),
}

/// A component of a [`Type::Struct`].
#[derive(Clone, Debug)]
pub struct Component {
    /// Identifier.
    pub name: String,
    /// Type.
    pub of: Type,
    /// Whether it may be absent: OPTIONAL, or a DEFAULT.
    pub optional: bool,
    /// Its DEFAULT.
    pub default: Option<Value>,
}

const TEXTS: &[&str] = &[
    "UTF8String",
    "NumericString",
    "PrintableString",
    "IA5String",
    "VisibleString",
    "BMPString",
    "UniversalString",
];
const TIMES: &[&str] = &["UTCTime", "GeneralizedTime", "DATE", "TIME-OF-DAY", "DATE-TIME"];

/// A module with `T0` to `Tn`.
pub fn module(random: &mut Random) -> Generated {
    let environment = *random.pick(&["EXPLICIT TAGS", "IMPLICIT TAGS", "AUTOMATIC TAGS"]);
    let automatic = environment.starts_with("AUTO");
    let mut maker = Maker { random, automatic, tag: 0, types: Vec::new() };
    let mut text = format!("Random DEFINITIONS {environment} ::= BEGIN\n");
    for i in 0..maker.random.between(1, 4) {
        let (mut notation, of) = maker.of(0);
        if maker.random.one_in(4) {
            notation = format!("{}{notation}", maker.outer_tag());
        }
        maker.types.push(of);
        let _ = writeln!(text, "T{i} ::= {notation}");
    }
    text.push_str("END\n");
    let types = maker.types;
    Generated { text, types }
}

struct Maker<'a> {
    random: &'a mut Random,
    automatic: bool,
    /// The last context tag given: all are distinct, so that no two elements are ever confused.
    tag: u64,
    types: Vec<Type>,
}

impl Maker<'_> {
    fn of(&mut self, depth: u32) -> (String, Type) {
        let limit = if depth > 3 { 13 } else { 20 };
        match self.random.below(limit) {
            0 => ("BOOLEAN".into(), Type::Boolean),
            1 | 2 => ("INTEGER".into(), Type::Integer),
            3 => self.enumerated(),
            4 => ("REAL".into(), Type::Real),
            5 => self.bits(),
            6 => ("OCTET STRING".into(), Type::Octets),
            7 => ("NULL".into(), Type::Null),
            8 => ("OBJECT IDENTIFIER".into(), Type::Oid),
            9 => ("RELATIVE-OID".into(), Type::RelativeOid),
            10 | 11 => self.keyword(TEXTS, Type::Text),
            12 => self.keyword(TIMES, Type::Time),
            13..=15 => self.structure(depth),
            16 => self.list(depth),
            17 | 18 => self.choice(depth),
            _ if self.types.is_empty() => self.structure(depth),
            _ => {
                let i = self.random.below(self.types.len() as u64) as usize;
                (format!("T{i}"), Type::Named(i))
            }
        }
    }

    fn keyword(&mut self, words: &[&'static str], make: fn(&'static str) -> Type) -> (String, Type) {
        let word = *self.random.pick(words);
        (word.into(), make(word))
    }

    fn enumerated(&mut self) -> (String, Type) {
        let count = self.random.between(1, 6);
        let mut number = self.random.below(200) as i64 - 100;
        let mut items: Vec<String> = Vec::new();
        for i in 0..count {
            items.push(format!("e{i}({number})"));
            number += self.random.between(1, 300) as i64;
        }
        if self.random.one_in(2) {
            let at = self.random.between(1, count) as usize;
            items.insert(at, "...".into());
        }
        (format!("ENUMERATED {{ {} }}", items.join(", ")), Type::Enumerated(count))
    }

    fn bits(&mut self) -> (String, Type) {
        match self.random.below(3) {
            0 => ("BIT STRING".into(), Type::Bits(None, false)),
            1 => ("BIT STRING { b0(0), b3(3), b9(9) }".into(), Type::Bits(None, true)),
            _ => {
                let size = self.random.between(1, 20);
                (format!("BIT STRING (SIZE ({size}))"), Type::Bits(Some(size), false))
            }
        }
    }

    fn structure(&mut self, depth: u32) -> (String, Type) {
        let set = self.random.one_in(3);
        let count = self.random.below(7);
        // Without tags, all components of a SEQUENCE have to be there.
        let tagged = set || self.automatic || self.random.one_in(2);
        let addition = if tagged && self.random.one_in(2) { self.random.below(count + 1) } else { u64::MAX };
        let (mut parts, mut components) = (Vec::new(), Vec::new());
        for i in 0..count {
            if i == addition {
                parts.push("...".to_owned());
            }
            let (notation, of) = self.of(depth + 1);
            let tag = if tagged && !self.automatic { self.tag(&of) } else { String::new() };
            let mut component = Component { name: format!("c{i}"), of, optional: false, default: None };
            let mut suffix = String::new();
            if tagged && (i >= addition || self.random.one_in(3)) {
                component.optional = true;
                suffix = " OPTIONAL".into();
                if i < addition
                    && self.random.one_in(2)
                    && let Some((text, value)) = literal(self.random, &component.of)
                {
                    suffix = format!(" DEFAULT {text}");
                    component.default = Some(value);
                }
            }
            parts.push(format!("c{i} {tag}{notation}{suffix}"));
            components.push(component);
        }
        if addition == count {
            parts.push("...".to_owned());
        }
        let word = if set { "SET" } else { "SEQUENCE" };
        (format!("{word} {{ {} }}", parts.join(", ")), Type::Struct(components))
    }

    fn list(&mut self, depth: u32) -> (String, Type) {
        let set = self.random.one_in(2);
        let (notation, of) = self.of(depth + 1);
        let tag = if self.random.one_in(4) { self.outer_tag() } else { String::new() };
        let word = if set { "SET OF" } else { "SEQUENCE OF" };
        (format!("{word} {tag}{notation}"), Type::List(set, Box::new(of)))
    }

    fn choice(&mut self, depth: u32) -> (String, Type) {
        let count = self.random.between(1, 5);
        let (mut parts, mut alternatives) = (Vec::new(), Vec::new());
        for i in 0..count {
            let (notation, of) = self.of(depth + 1);
            let tag = if self.automatic { String::new() } else { self.tag(&of) };
            parts.push(format!("a{i} {tag}{notation}"));
            alternatives.push((format!("a{i}"), of));
        }
        if self.random.one_in(3) {
            let at = self.random.between(1, count) as usize;
            parts.insert(at, "...".into());
        }
        (format!("CHOICE {{ {} }}", parts.join(", ")), Type::Choice(alternatives))
    }

    /// A tag that no other component has; the numbers grow past one and two septets.
    /// IMPLICIT may not be written before a CHOICE (X.680 §31.2.9).
    fn tag(&mut self, of: &Type) -> String {
        let mut of = of;
        while let Type::Named(i) = of {
            of = &self.types[*i];
        }
        let choice = matches!(of, Type::Choice(_));
        self.tag += if self.random.one_in(12) { self.random.between(1, 9_000) } else { 1 };
        let ways: &[&str] = if choice { &["", "EXPLICIT "] } else { &["", "IMPLICIT ", "EXPLICIT "] };
        let way = *self.random.pick(ways);
        format!("[{}] {way}", self.tag)
    }

    fn outer_tag(&mut self) -> String {
        let class = *self.random.pick(&["APPLICATION ", "PRIVATE ", ""]);
        let number = self.random.below(200);
        format!("[{class}{number}] ")
    }
}
