//! Schema of a directory (RFC 4512 clause 4): the descriptions that servers publish, parsed and printed.
//!
//! All kinds of descriptions have one form: an object identifier, and words with or without values. So they are one
//! type, [`Description`], with names for what the kinds have.

pub(crate) mod files;
mod names;
mod partition;

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::error::{Error, ErrorKind, Result};
use crate::ldif::{Change, Reader};
use crate::matching::Rule;
use crate::proto::Entry;

/// An attribute type, object class, matching rule, syntax or other description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The object identifier; for some servers, a name.
    pub oid: String,
    /// Words in the order in which they stand there, in upper case, with their values.
    pub fields: Vec<(String, Field)>,
}

/// What stands behind a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Nothing: `SINGLE-VALUE`, `OBSOLETE`, `ABSTRACT`.
    Flag,
    /// Object identifiers or names, without quotation marks: `SUP`, `MUST`, `SYNTAX`.
    Oids(Vec<String>),
    /// Texts in quotation marks: `NAME`, `DESC`, extensions.
    Texts(Vec<String>),
}

impl Description {
    fn field(&self, word: &str) -> Option<&Field> {
        self.fields.iter().find(|(name, _)| name == word).map(|(_, field)| field)
    }

    /// The values of a word; none if it does not stand there, or has none.
    #[must_use]
    pub fn values(&self, word: &str) -> &[String] {
        match self.field(word) {
            Some(Field::Oids(values) | Field::Texts(values)) => values,
            Some(Field::Flag) | None => &[],
        }
    }

    /// Whether a word stands there.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        self.field(word).is_some()
    }

    /// The names (`NAME`), the usual one first.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.values("NAME")
    }

    /// The usual name, or the object identifier.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names().first().unwrap_or(&self.oid)
    }

    /// What it is derived from (`SUP`).
    #[must_use]
    pub fn superiors(&self) -> &[String] {
        self.values("SUP")
    }

    /// Attributes that an object class needs (`MUST`).
    #[must_use]
    pub fn must(&self) -> &[String] {
        self.values("MUST")
    }

    /// Attributes that an object class allows (`MAY`).
    #[must_use]
    pub fn may(&self) -> &[String] {
        self.values("MAY")
    }

    /// The syntax of an attribute type or matching rule, and the length that the server handles at least.
    #[must_use]
    pub fn syntax(&self) -> Option<(&str, Option<u64>)> {
        let text = self.values("SYNTAX").first()?;
        match text.strip_suffix('}').and_then(|text| text.split_once('{')) {
            Some((oid, length)) => Some((oid, length.parse().ok())),
            None => Some((text, None)),
        }
    }

    /// Whether an attribute type has one value at most.
    #[must_use]
    pub fn is_single_valued(&self) -> bool {
        self.has("SINGLE-VALUE")
    }

    fn is_called(&self, name: &str) -> bool {
        self.oid == name || self.names().iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// What a server publishes of its schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// `attributeTypes`
    pub attribute_types: Vec<Description>,
    /// `objectClasses`
    pub object_classes: Vec<Description>,
    /// `matchingRules`
    pub matching_rules: Vec<Description>,
    /// `ldapSyntaxes`
    pub syntaxes: Vec<Description>,
    /// `dITContentRules`: the auxiliary classes and attributes that entries of a structural class may have.
    pub content_rules: Vec<Description>,
    /// Places of attribute types and object classes by name and object identifier, made when they are first looked for.
    places: OnceLock<Places>,
}

/// Places in the lists of a [`Schema`], by names in lower case.
#[derive(Clone, Debug, Default)]
struct Places {
    attribute_types: HashMap<String, usize>,
    object_classes: HashMap<String, usize>,
    /// The types that are derived from a type, by its place.
    subtypes: Vec<Vec<usize>>,
    /// The classes that are derived from a class, by its place.
    subclasses: Vec<Vec<usize>>,
    /// The rules of types, by their places, found when they are first asked for.
    rules: Vec<OnceLock<Rule>>,
}

impl Schema {
    /// The schema of lists of syntaxes, matching rules, attribute types, object classes and content rules.
    #[cfg(feature = "directory")]
    pub(crate) fn of_lists(lists: [Vec<Description>; 5]) -> Self {
        let [syntaxes, matching_rules, attribute_types, object_classes, content_rules] = lists;
        let places = OnceLock::new();
        Self { attribute_types, object_classes, matching_rules, syntaxes, content_rules, places }
    }

    /// The schema in a subschema entry, that [`SUBSCHEMA_ATTRIBUTES`] of it were asked for.
    ///
    /// # Errors
    /// A description is malformed.
    pub fn of_entry(entry: &Entry) -> Result<Self> {
        Self::of_values(&|name| entry.values(name).map(<[u8]>::to_vec).collect())
    }

    /// Reads a schema: LDIF, or a file of OpenLDAP (`.schema`). The LDIF has subschema entries with `attributeTypes` and
    /// `objectClasses`, entries of OpenLDAP's `cn=config` with `olcAttributeTypes` and `olcObjectClasses`, or the entries
    /// `attributeSchema` and `classSchema` that Active Directory has in its schema partition. Several entries are taken together.
    ///
    /// # Errors
    /// The text or a description is malformed, a record is a change, or there is no attribute type and no object class.
    pub fn read(mut input: impl BufRead) -> Result<Self> {
        let mut octets = Vec::new();
        input.read_to_end(&mut octets)?;
        let text = String::from_utf8_lossy(&octets);
        let mut schema = Self::default();
        let is_ldif = files::is_ldif(&text);
        if !is_ldif {
            schema.put(files::read_directives(&text)?);
        }
        let mut macros = files::Macros::new();
        for record in Reader::new(if is_ldif { &*octets } else { &[] }) {
            let record = record?;
            let Change::Add(attributes) = record.change else {
                let message = format!("{}: a change, where an entry of a schema is expected", record.dn);
                return Err(Error::new(ErrorKind::Syntax, message));
            };
            schema.put(files::of_attributes(&attributes, &mut macros)?);
            schema.take_partition(&|name| {
                let found = attributes.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
                found.flat_map(|(_, values)| values.clone()).collect()
            })?;
        }
        if schema.attribute_types.is_empty() && schema.object_classes.is_empty() {
            return Err(Error::new(ErrorKind::Syntax, "schema: no attribute types and no object classes"));
        }
        Ok(schema)
    }

    /// The schema in the entries `attributeSchema` and `classSchema` of Active Directory, which have what its subschema entry lacks:
    /// `systemMustContain`, `systemMayContain` and auxiliary classes.
    ///
    /// # Errors
    /// An entry has no name or no object identifier.
    pub fn of_partition<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Result<Self> {
        let mut schema = Self::default();
        for entry in entries {
            schema.take(&|name| entry.values(name).map(<[u8]>::to_vec).collect())?;
        }
        Ok(schema)
    }

    fn of_values(values: &dyn Fn(&str) -> Vec<Vec<u8>>) -> Result<Self> {
        let mut schema = Self::default();
        schema.take(values)?;
        Ok(schema)
    }

    /// Takes in the descriptions of an entry.
    fn take(&mut self, values: &dyn Fn(&str) -> Vec<Vec<u8>>) -> Result<()> {
        let list = |name: &str| {
            let values = values(name).into_iter();
            values.map(|value| String::from_utf8_lossy(&value).parse()).collect::<Result<Vec<Description>>>()
        };
        self.attribute_types.extend(list("attributeTypes")?);
        self.object_classes.extend(list("objectClasses")?);
        self.matching_rules.extend(list("matchingRules")?);
        self.syntaxes.extend(list("ldapSyntaxes")?);
        self.content_rules.extend(list("dITContentRules")?);
        self.take_partition(values)
    }

    /// Takes in descriptions of all kinds.
    fn put(&mut self, descriptions: Vec<files::OfKind>) {
        for (kind, description) in descriptions {
            let list = match kind {
                0 => &mut self.syntaxes,
                1 => &mut self.matching_rules,
                2 => &mut self.attribute_types,
                3 => &mut self.object_classes,
                _ => &mut self.content_rules,
            };
            list.push(description);
        }
    }

    /// Takes in an entry of the schema partition of Active Directory.
    fn take_partition(&mut self, values: &dyn Fn(&str) -> Vec<Vec<u8>>) -> Result<()> {
        let class =
            values("objectClass").into_iter().map(|value| String::from_utf8_lossy(&value).to_lowercase());
        for class in class {
            match class.as_str() {
                "attributeschema" => self.attribute_types.push(partition::attribute_type(values)?),
                "classschema" => self.object_classes.push(partition::object_class(values)?),
                _ => {}
            }
        }
        self.places = OnceLock::new();
        Ok(())
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            let of = |list: &[Description]| {
                let mut places = HashMap::new();
                for (place, one) in list.iter().enumerate() {
                    for name in one.names().iter().chain([&one.oid]) {
                        places.entry(name.to_ascii_lowercase()).or_insert(place);
                    }
                }
                places
            };
            let (attribute_types, object_classes) = (of(&self.attribute_types), of(&self.object_classes));
            let find =
                |places: &HashMap<String, usize>, name: &str| places.get(&name.to_ascii_lowercase()).copied();
            let subtypes = Places::derived(&self.attribute_types, |name| find(&attribute_types, name));
            let subclasses = Places::derived(&self.object_classes, |name| find(&object_classes, name));
            let rules = vec![OnceLock::new(); self.attribute_types.len()];
            Places { attribute_types, object_classes, subtypes, subclasses, rules }
        })
    }

    /// The attribute type with a name or object identifier.
    #[must_use]
    pub fn attribute_type(&self, name: &str) -> Option<&Description> {
        Self::find(&self.attribute_types, &self.places().attribute_types, name)
    }

    /// The object class with a name or object identifier.
    #[must_use]
    pub fn object_class(&self, name: &str) -> Option<&Description> {
        Self::find(&self.object_classes, &self.places().object_classes, name)
    }

    fn find<'s>(
        list: &'s [Description],
        places: &HashMap<String, usize>,
        name: &str,
    ) -> Option<&'s Description> {
        let place = places.get(&name.to_ascii_lowercase());
        // The lists are public: one may have changed since the places were found.
        match place.and_then(|place| list.get(*place)).filter(|one| one.is_called(name)) {
            Some(one) => Some(one),
            None => list.iter().find(|one| one.is_called(name)),
        }
    }

    /// The first that an attribute type or one that it is derived from has of a word: `EQUALITY`, `SYNTAX`.
    pub(crate) fn inherited(&self, attribute: &str, word: &str) -> Option<&str> {
        let mut next = self.attribute_type(attribute);
        // Types may be derived from one another in a circle, if a server says so.
        for _ in 0..DERIVED {
            let one = next?;
            if let Some(value) = one.values(word).first() {
                return Some(value);
            }
            next = self.attribute_type(one.superiors().first()?);
        }
        None
    }

    /// The equality rule of an attribute; [`Rule::of_attribute`] where the schema says nothing that is known.
    #[must_use]
    pub fn rule(&self, attribute: &str) -> Rule {
        let name = attribute.split(';').next().unwrap_or_default();
        let named = self.inherited(name, "EQUALITY").and_then(Rule::named);
        // A type with a name of ours has the rule of that name, however it is called here.
        let usual = || self.attribute_type(name).map_or(name, Description::name);
        named.unwrap_or_else(|| Rule::of_attribute(usual()))
    }

    /// What is wrong with an entry of these attributes: classes that are not known, attributes that its classes need and
    /// it lacks, attributes that they do not allow, several values where one is allowed.
    #[must_use]
    pub fn check(&self, attributes: &[(String, Vec<Vec<u8>>)]) -> Vec<String> {
        let mut faults = Vec::new();
        let called = |name: &str| name.split(';').next().unwrap_or_default().to_ascii_lowercase();
        let key = |name: &str| {
            let name = called(name);
            self.attribute_type(&name).map_or(name, |one| one.oid.clone())
        };
        let present: HashMap<String, usize> =
            attributes.iter().map(|(name, values)| (key(name), values.len())).collect();
        let classes = attributes.iter().filter(|(name, _)| called(name) == "objectclass");
        let mut left: Vec<String> = classes
            .flat_map(|(_, values)| values.iter().map(|value| String::from_utf8_lossy(value).into_owned()))
            .collect();
        let (mut seen, mut allowed) = (Vec::new(), vec![key("objectClass")]);
        while let Some(name) = left.pop() {
            let Some(class) = self.object_class(&name) else {
                faults.push(format!("object class `{name}` is not known"));
                continue;
            };
            // Classes may be derived from one another in a circle, if a server says so.
            if seen.contains(&&class.oid) {
                continue;
            }
            seen.push(&class.oid);
            left.extend(class.superiors().iter().cloned());
            for needed in class.must() {
                if !present.contains_key(&key(needed)) {
                    faults.push(format!("`{}` needs `{needed}`", class.name()));
                }
            }
            allowed.extend(class.must().iter().chain(class.may()).map(|name| key(name)));
        }
        for (name, values) in attributes {
            let key = key(name);
            let has_all = seen.iter().any(|oid| oid.as_str() == "1.3.6.1.4.1.1466.101.120.111");
            if !has_all && !allowed.contains(&key) {
                faults.push(format!("`{name}` is not allowed"));
            }
            if values.len() > 1 && self.attribute_type(&key).is_some_and(Description::is_single_valued) {
                faults.push(format!("`{name}` has several values"));
            }
        }
        faults
    }
}

/// The attributes to ask a subschema entry for.
pub const SUBSCHEMA_ATTRIBUTES: [&str; 5] =
    ["attributeTypes", "objectClasses", "matchingRules", "ldapSyntaxes", "dITContentRules"];

/// How many types may be derived from one another.
const DERIVED: usize = 32;

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Dollar,
    Word(String),
    Text(String),
}

impl FromStr for Description {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut tokens = tokens(text)?.into_iter().peekable();
        let fault =
            |message: &str| Error::new(ErrorKind::Syntax, format!("schema: {message} in `{text:.100}`"));
        if tokens.next() != Some(Token::Open) {
            return Err(fault("`(` expected"));
        }
        let Some(Token::Word(oid) | Token::Text(oid)) = tokens.next() else {
            return Err(fault("an object identifier expected"));
        };
        // Some servers set it in quotation marks; what is inside is one word all the same.
        if !oid.bytes().all(|octet| octet.is_ascii_graphic() && !b"()$'".contains(&octet)) || oid.is_empty() {
            return Err(fault("an object identifier expected"));
        }
        let mut fields = Vec::new();
        loop {
            let word = match tokens.next() {
                Some(Token::Word(word)) => word.to_ascii_uppercase(),
                Some(Token::Close) if tokens.peek().is_none() => return Ok(Self { oid, fields }),
                _ => return Err(fault("a word or `)` expected")),
            };
            let field = match tokens.peek() {
                _ if is_flag(&word) => Field::Flag,
                Some(Token::Open) => {
                    tokens.next();
                    let (mut oids, mut texts) = (Vec::new(), Vec::new());
                    loop {
                        match tokens.next() {
                            Some(Token::Word(oid)) => oids.push(oid),
                            Some(Token::Text(text)) => texts.push(text),
                            Some(Token::Dollar) => {}
                            Some(Token::Close) => break,
                            _ => return Err(fault("`)` expected")),
                        }
                    }
                    match (oids.is_empty(), texts.is_empty()) {
                        (_, true) => Field::Oids(oids),
                        (true, false) => Field::Texts(texts),
                        (false, false) => return Err(fault("names and texts in one list")),
                    }
                }
                Some(Token::Text(_) | Token::Word(_)) => match tokens.next() {
                    Some(Token::Text(text)) => Field::Texts(vec![text]),
                    Some(Token::Word(oid)) => Field::Oids(vec![oid]),
                    _ => return Err(fault("a value expected")),
                },
                _ => return Err(fault("a value expected")),
            };
            fields.push((word, field));
        }
    }
}

fn is_flag(word: &str) -> bool {
    matches!(
        word,
        "OBSOLETE"
            | "SINGLE-VALUE"
            | "COLLECTIVE"
            | "NO-USER-MODIFICATION"
            | "ABSTRACT"
            | "STRUCTURAL"
            | "AUXILIARY"
    )
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '(' | ')' | '$' => {
                tokens.push(match first {
                    '(' => Token::Open,
                    ')' => Token::Close,
                    _ => Token::Dollar,
                });
                1
            }
            '\'' => {
                let inside = rest.get(1..).unwrap_or_default();
                let end =
                    inside.find('\'').ok_or_else(|| Error::new(ErrorKind::Syntax, "schema: `'` expected"))?;
                // `'` and `\` in texts are written \27 and \5C (RFC 4512 4.1).
                let said = inside.get(..end).unwrap_or_default();
                tokens.push(Token::Text(unescaped(said)));
                end + 2
            }
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '$' | '\''))
                    .unwrap_or(rest.len());
                tokens.push(Token::Word(rest.get(..end).unwrap_or_default().to_owned()));
                end
            }
        };
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

/// A text without its escapes, each read once: `\\5C27` is `\\27`.
fn unescaped(said: &str) -> String {
    let mut parts = said.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (octet, behind) = match part.get(..2) {
            Some("27") => ("'", &part[2..]),
            Some("5C" | "5c") => ("\\", &part[2..]),
            _ => ("\\", part),
        };
        text.push_str(octet);
        text.push_str(behind);
    }
    text
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "( {}", self.oid)?;
        for (word, field) in &self.fields {
            write!(f, " {word}")?;
            let quoted = |text: &String| format!("'{}'", text.replace('\\', "\\5C").replace('\'', "\\27"));
            match field {
                Field::Flag => {}
                Field::Oids(oids) => match oids.as_slice() {
                    [oid] => write!(f, " {oid}")?,
                    oids => write!(f, " ( {} )", oids.join(" $ "))?,
                },
                Field::Texts(texts) => match texts.as_slice() {
                    [text] => write!(f, " {}", quoted(text))?,
                    texts => write!(f, " ( {} )", texts.iter().map(quoted).collect::<Vec<_>>().join(" "))?,
                },
            }
        }
        f.write_str(" )")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Descriptions of RFC 4512 and RFC 4519, printed as they came.
    #[test]
    fn descriptions() {
        for text in [
            "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY ( userPassword $ seeAlso ) )",
            "( 2.5.4.3 NAME ( 'cn' 'commonName' ) SUP name )",
            "( 1.3.6.1.4.1.1466.115.121.1.15 DESC 'Directory String' )",
            "( 2.5.13.2 NAME 'caseIgnoreMatch' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )",
            "( 2.5.18.10 NAME 'subschemaSubentry' DESC 'it\\27s one' SYNTAX 1.3.6.1.4.1.1466.115.121.1.12 SINGLE-VALUE NO-USER-MODIFICATION USAGE directoryOperation X-ORIGIN ( 'a' 'b' ) )",
        ] {
            let description: Description = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(description.to_string(), text);
        }
        let dense: Description = "(2.5.4.4 NAME('sn''surname')SYNTAX 1.2{64})".parse().unwrap();
        assert_eq!(
            (dense.names(), dense.syntax()),
            (&["sn".to_owned(), "surname".to_owned()][..], Some(("1.2", Some(64))))
        );
        for bad in [
            "",
            "(",
            "( )",
            "( 1.2",
            "( 1.2 NAME )",
            "( 1.2 NAME 'x )",
            "( 1.2 NAME ( 'x'",
            "( 1.2 ) x",
            "( 1.2 NAME ( x 'y' ) )",
        ] {
            assert!(bad.parse::<Description>().is_err(), "{bad}");
        }
    }

    #[test]
    fn entries_are_checked() {
        let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let schema = Schema {
            object_classes: parse(&[
                "( 2.5.6.0 NAME 'top' ABSTRACT MUST objectClass )",
                "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY c )",
            ]),
            attribute_types: parse(&[
                "( 2.5.4.3 NAME ( 'cn' 'commonName' ) )",
                "( 2.5.4.6 NAME 'c' SINGLE-VALUE )",
            ]),
            ..Schema::default()
        };
        let check = |attributes: &[(&str, &[&str])]| {
            let owned: Vec<_> = attributes
                .iter()
                .map(|(name, values)| {
                    (
                        (*name).to_owned(),
                        values.iter().map(|value| value.as_bytes().to_vec()).collect::<Vec<_>>(),
                    )
                })
                .collect();
            schema.check(&owned)
        };
        assert_eq!(
            check(&[("objectClass", &["person"]), ("commonName;lang-de", &["x"]), ("sn", &["y"])]),
            [""; 0]
        );
        let faults = check(&[
            ("objectClass", &["person", "ghost"]),
            ("cn", &["x"]),
            ("c", &["a", "b"]),
            ("l", &["z"]),
        ]);
        assert_eq!(
            faults,
            [
                "object class `ghost` is not known",
                "`person` needs `sn`",
                "`c` has several values",
                "`l` is not allowed"
            ]
        );
    }

    proptest! {
        #[test]
        fn round_trip(oid in "[0-9]{1,3}(\\.[0-9]{1,3}){0,4}", names in proptest::collection::vec("[ -~]{0,6}", 1..3),
            must in proptest::collection::vec("[a-z][a-z0-9-]{0,5}", 1..3)) {
            let fields = vec![("NAME".to_owned(), Field::Texts(names)), ("OBSOLETE".to_owned(), Field::Flag), ("MUST".to_owned(), Field::Oids(must))];
            let description = Description { oid, fields };
            prop_assert_eq!(description.to_string().parse::<Description>().unwrap(), description);
        }

        #[test]
        fn never_panics(text in "[()$' A-Za-z0-9.\\\\]{0,40}") {
            _ = text.parse::<Description>();
        }
    }
}
