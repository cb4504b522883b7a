//! Instructions as they are written.
//!
//! Both forms of a control section are read: `NAME targets AS "x"`, in which the targets stand in the middle, and
//! `[NAME AS "x"] targets` of X.697.

use super::{InstructionKind, InstructionRules, NewName, TextOf, Whitespace};
use smol_str::SmolStr;
use tercet_syntax::{Cursor, Span, TokenKind};

/// An instruction with the places it names.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) kind: InstructionKind,
    pub(super) negated: bool,
    pub(super) targets: Vec<Target>,
    pub(super) span: Span,
}

/// GLOBAL-DEFAULTS.
#[derive(Clone, Debug)]
pub(super) enum Default {
    ModifiedEncodings,
    ControlNamespace(String, Option<String>),
}

/// A place as it is written.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) what: What,
    /// `:item`, `:ALL`.
    pub(super) items: Vec<SmolStr>,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// `ALL`: every type that the module defines.
    All,
    /// `ALL IN ALL`: every component.
    AllParts,
    /// `Type.component.*`, and with `ALL IN` every component of it.
    Path(Vec<SmolStr>, bool),
    /// A built-in type: wherever it is written.
    BuiltIn(String),
}

/// What could not be read, and where.
pub(super) type Fault = (Span, String);

const NAMES: &[&str] = &[
    "ANY-ATTRIBUTES",
    "ANY-ELEMENT",
    "ARRAY",
    "ATTRIBUTE",
    "BASE64",
    "CAPITALIZED",
    "DECIMAL",
    "DEFAULT-FOR-EMPTY",
    "ELEMENT",
    "EMBED-VALUES",
    "GLOBAL-DEFAULTS",
    "LIST",
    "LOWERCASED",
    "NAME",
    "NAMESPACE",
    "NOT",
    "OBJECT",
    "PI-OR-COMMENT",
    "TEXT",
    "UNCAPITALIZED",
    "UNTAGGED",
    "UNWRAPPED",
    "UPPERCASED",
    "USE-NIL",
    "USE-NUMBER",
    "USE-ORDER",
    "USE-QNAME",
    "USE-TYPE",
    "USE-UNION",
    "WHITESPACE",
];

/// The words of the built-in types.
const BUILT_IN: &[&str] = &[
    "BIT STRING",
    "BMPString",
    "BOOLEAN",
    "CHOICE",
    "ENUMERATED",
    "GeneralString",
    "GeneralizedTime",
    "GraphicString",
    "IA5String",
    "INTEGER",
    "NULL",
    "NumericString",
    "OBJECT IDENTIFIER",
    "OCTET STRING",
    "PrintableString",
    "REAL",
    "RELATIVE-OID",
    "SEQUENCE OF",
    "SEQUENCE",
    "SET OF",
    "SET",
    "TeletexString",
    "UTCTime",
    "UTF8String",
    "UniversalString",
    "VisibleString",
];

/// Which rules the word of an instruction without a reference belongs to, if it is a word of one of them only.
pub(super) fn rules_of(word: &str) -> Option<InstructionRules> {
    match word {
        "ARRAY" | "OBJECT" | "UNWRAPPED" => Some(InstructionRules::Jer),
        word if NAMES.contains(&word) => Some(InstructionRules::Xer),
        _ => None,
    }
}

/// Reads what stands between the brackets of a prefix.
pub(super) fn prefix(cursor: &mut Cursor<'_>) -> Result<Vec<Written>, Fault> {
    Reader { cursor }.instruction(true)
}

/// Reads one instruction of a control section.
pub(super) fn assignment(cursor: &mut Cursor<'_>) -> Result<Vec<Written>, Fault> {
    let mut reader = Reader { cursor };
    if !reader.cursor.eat(TokenKind::OpenBracket) {
        return reader.instruction(false);
    }
    let mut found = reader.instruction(true)?;
    if !reader.cursor.eat(TokenKind::CloseBracket) {
        return Err(reader.expected("`]`"));
    }
    let targets = reader.targets()?;
    for written in &mut found {
        written.targets.clone_from(&targets);
        reader.items_of_targets(written);
    }
    Ok(found)
}

/// GLOBAL-DEFAULTS, if it stands here.
pub(super) fn global_default(cursor: &mut Cursor<'_>) -> Option<Result<Default, Fault>> {
    if !cursor.eat_word("GLOBAL-DEFAULTS") {
        return None;
    }
    let mut reader = Reader { cursor };
    if reader.cursor.eat_word("MODIFIED-ENCODINGS") {
        return Some(Ok(Default::ModifiedEncodings));
    }
    if reader.cursor.eat_word("CONTROL-NAMESPACE") {
        let uri = reader.string();
        return Some(uri.and_then(|uri| Ok(Default::ControlNamespace(uri, reader.prefix_name()?))));
    }
    Some(Err(reader.expected("`MODIFIED-ENCODINGS` or `CONTROL-NAMESPACE`")))
}

/// Goes on to what may begin an instruction.
pub(super) fn recover(cursor: &mut Cursor<'_>) {
    while !cursor.is_end() && !NAMES.contains(&cursor.text()) && cursor.peek_kind() != TokenKind::OpenBracket
    {
        cursor.bump();
    }
}

struct Reader<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
}

impl Reader<'_, '_> {
    fn expected(&self, what: &str) -> Fault {
        (self.cursor.span(), format!("{what} expected in an encoding instruction"))
    }

    /// In a prefix the targets are the type behind it, except for the items of TEXT.
    fn instruction(&mut self, prefix: bool) -> Result<Vec<Written>, Fault> {
        use InstructionKind as I;
        let from = self.cursor.span();
        let negated = self.cursor.eat_word("NOT");
        let word = self.cursor.text().to_owned();
        // `[UNCAPITALIZED NAME]`, as X.694 writes it.
        if let Some(case) = case(&word)
            && self.cursor.bump().is_some()
        {
            let text = self.cursor.eat_word("TEXT");
            if !text && !self.cursor.eat_word("NAME") {
                return Err(self.expected("`NAME` or `TEXT`"));
            }
            let kind = if text { I::Text(TextOf::All, Some(case)) } else { I::Name(case) };
            return Ok(vec![Written { kind, negated, targets: Vec::new(), span: from }]);
        }
        if !NAMES.contains(&word.as_str()) {
            return Err((from, format!("unknown encoding instruction `{word}`")));
        }
        self.cursor.bump();
        let mut targets = Vec::new();
        let mut kind = match word.as_str() {
            "ARRAY" => I::Array,
            "OBJECT" => I::Object,
            "UNWRAPPED" => I::Unwrapped,
            "BASE64" => I::Base64,
            "ANY-ATTRIBUTES" => I::AnyAttributes,
            "ANY-ELEMENT" => I::AnyElement,
            "ATTRIBUTE" => I::Attribute,
            "DECIMAL" => I::Decimal,
            "ELEMENT" => I::Element,
            "EMBED-VALUES" => I::EmbedValues,
            "LIST" => I::List,
            "PI-OR-COMMENT" => I::PiOrComment,
            "UNTAGGED" => I::Untagged,
            "USE-NIL" => I::UseNil,
            "USE-NUMBER" => I::UseNumber,
            "USE-ORDER" => I::UseOrder,
            "USE-QNAME" => I::UseQname,
            "USE-TYPE" => I::UseType,
            "USE-UNION" => I::UseUnion,
            "TEXT" => I::Text(TextOf::Form, None),
            "NAME" => I::Name(NewName::Capitalized),
            "NAMESPACE" => I::Namespace(String::new(), None),
            "DEFAULT-FOR-EMPTY" => I::DefaultForEmpty(String::new()),
            "WHITESPACE" => I::Whitespace(Whitespace::Collapse),
            _ => return Err((from, format!("`{word}` takes no arguments"))),
        };
        if !prefix {
            targets = self.targets()?;
        } else if matches!(kind, I::Text(..)) {
            // `[TEXT:red AS "rot"]`, `[TEXT ALL AS CAPITALIZED]`.
            self.cursor.eat(TokenKind::Colon);
            if self.cursor.eat_word("ALL") {
                kind = I::Text(TextOf::All, None);
            } else if self.cursor.peek_kind() == TokenKind::Lower {
                kind = I::Text(TextOf::Item(self.word()), None);
            }
        }
        match &mut kind {
            I::Name(name) if !negated => {
                if !self.cursor.eat_word("AS") {
                    return Err(self.expected("`AS`"));
                }
                *name = self.new_name()?;
            }
            I::Text(_, name) if self.cursor.eat_word("AS") => *name = Some(self.new_name()?),
            I::Namespace(uri, prefix) if self.cursor.eat_word("AS") => {
                *uri = self.string()?;
                *prefix = self.prefix_name()?;
            }
            I::DefaultForEmpty(value) if self.cursor.eat_word("AS") => {
                *value = match self.cursor.peek_kind() {
                    TokenKind::CString => self.string()?,
                    _ => {
                        let minus = if self.cursor.eat(TokenKind::Minus) { "-" } else { "" };
                        format!("{minus}{}", self.word())
                    }
                };
            }
            I::Whitespace(action) if !negated => {
                let replace = self.cursor.eat_word("REPLACE");
                if !replace && !self.cursor.eat_word("COLLAPSE") {
                    return Err(self.expected("`REPLACE` or `COLLAPSE`"));
                }
                *action = if replace { Whitespace::Replace } else { Whitespace::Collapse };
            }
            I::PiOrComment if self.cursor.eat_word("AS") => {
                self.string()?;
                let places = ["BEFORE-TAG", "AFTER-TAG", "BEFORE-VALUE", "AFTER-VALUE"];
                if !places.iter().any(|place| self.cursor.eat_word(place)) {
                    return Err(self.expected("`BEFORE-TAG`, `AFTER-TAG`, `BEFORE-VALUE` or `AFTER-VALUE`"));
                }
            }
            I::AnyAttributes | I::AnyElement => self.restriction()?,
            _ => {}
        }
        let mut written = Written { kind, negated, targets, span: from };
        if !prefix {
            self.items_of_targets(&mut written);
        }
        Ok(vec![written])
    }

    /// `TEXT Type:ALL AS …`: the items stand with the target.
    fn items_of_targets(&self, written: &mut Written) {
        let item = written.targets.iter().find_map(|target| target.items.first());
        if let (InstructionKind::Text(of, _), Some(item)) = (&mut written.kind, item) {
            *of = if item == "ALL" { TextOf::All } else { TextOf::Item(item.clone()) };
        }
    }

    /// `FROM "…"` and `EXCEPT "…"` of the wildcards.
    fn restriction(&mut self) -> Result<(), Fault> {
        if self.cursor.eat_word("FROM") || self.cursor.eat_word("EXCEPT") {
            while self.cursor.eat_word("ABSENT") || self.cursor.peek_kind() == TokenKind::CString {
                if self.cursor.peek_kind() == TokenKind::CString {
                    self.string()?;
                }
            }
        }
        Ok(())
    }

    fn new_name(&mut self) -> Result<NewName, Fault> {
        if self.cursor.peek_kind() == TokenKind::CString {
            return self.string().map(NewName::Literal);
        }
        let name =
            case(self.cursor.text()).ok_or_else(|| self.expected("a name or a keyword for its case"))?;
        self.cursor.bump();
        Ok(name)
    }

    fn prefix_name(&mut self) -> Result<Option<String>, Fault> {
        if self.cursor.eat_word("PREFIX") { self.string().map(Some) } else { Ok(None) }
    }

    fn string(&mut self) -> Result<String, Fault> {
        if self.cursor.peek_kind() != TokenKind::CString {
            return Err(self.expected("a character string"));
        }
        let text = self.cursor.text();
        let inner = text.trim_start_matches('"').strip_suffix('"').unwrap_or(text).replace("\"\"", "\"");
        self.cursor.bump();
        Ok(inner)
    }

    fn word(&mut self) -> SmolStr {
        let word = SmolStr::new(self.cursor.text());
        self.cursor.bump();
        word
    }

    /// Places, with commas between them or side by side.
    fn targets(&mut self) -> Result<Vec<Target>, Fault> {
        let mut targets = Vec::new();
        while let Some(target) = self.target()? {
            targets.push(target);
            // The list of the form in brackets has no commas.
            self.cursor.eat(TokenKind::Comma);
        }
        if targets.is_empty() { Err(self.expected("the place it is for")) } else { Ok(targets) }
    }

    fn target(&mut self) -> Result<Option<Target>, Fault> {
        let span = self.cursor.span();
        let word = self.cursor.text().to_owned();
        let what = if word == "ALL" {
            self.cursor.bump();
            if self.cursor.eat_word("IN") {
                if self.cursor.eat_word("ALL") { What::AllParts } else { What::Path(self.path()?, true) }
            } else {
                What::All
            }
        } else if let Some(name) = self.built_in() {
            What::BuiltIn(name)
        } else if NAMES.contains(&word.as_str())
            || matches!(word.as_str(), "AS" | "PREFIX" | "REPLACE" | "COLLAPSE" | "FROM" | "EXCEPT")
        {
            return Ok(None);
        } else if self.cursor.peek_kind() == TokenKind::Upper {
            What::Path(self.path()?, false)
        } else if self.cursor.peek_kind() == TokenKind::Lower {
            // `component IN Type`.
            let mut steps = vec![self.word()];
            while self.cursor.eat(TokenKind::Dot) {
                steps.push(self.word());
            }
            if !self.cursor.eat_word("IN") {
                return Err(self.expected("`IN` and a type"));
            }
            let mut path = self.path()?;
            path.append(&mut steps);
            What::Path(path, false)
        } else {
            return Ok(None);
        };
        let mut items = Vec::new();
        while self.cursor.eat(TokenKind::Colon) {
            items.push(self.word());
        }
        Ok(Some(Target { what, items, span }))
    }

    fn path(&mut self) -> Result<Vec<SmolStr>, Fault> {
        let mut path = vec![self.word()];
        while self.cursor.eat(TokenKind::Dot) {
            if self.cursor.is_end() {
                return Err(self.expected("a component"));
            }
            path.push(self.word());
        }
        Ok(path)
    }

    fn built_in(&mut self) -> Option<String> {
        let position = self.cursor.position();
        for name in BUILT_IN {
            if name.split(' ').all(|word| self.cursor.eat_word(word)) {
                return Some((*name).to_owned());
            }
            self.cursor.rewind(position);
        }
        None
    }
}

fn case(word: &str) -> Option<NewName> {
    Some(match word {
        "CAPITALIZED" => NewName::Capitalized,
        "UNCAPITALIZED" => NewName::Uncapitalized,
        "UPPERCASED" => NewName::Uppercased,
        "LOWERCASED" => NewName::Lowercased,
        _ => return None,
    })
}
