//! Assignments (X.680 §16, X.681 §9–12, X.683 §8), macros of X.208, and where to go on after an error.

use crate::ast::{
    Assignment, AssignmentKind, Ident, Parameter, Reference, StringKind, Type, TypeKind, UsefulTime, Value,
    ValueKind,
};
use crate::diagnostic::Diagnostic;
use crate::parser::{Parsed, Parser};
use crate::source::Span;
use crate::token::{Keyword as K, TokenKind as T};

/// How far an assignment's `::=` may be from its name when we look for one after an error.
const HEAD_REACH: usize = 600;

impl Parser<'_> {
    /// Assignment. `None` for a definition that is read and dropped.
    pub(crate) fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        let from = self.span();
        let name = match self.peek() {
            T::Upper | T::Lower => self.take_ident(),
            T::Word(word) if self.peek_at(1) == T::Assign || self.peek_at(1) == T::Word(K::Macro) => {
                let name = self.take_ident();
                let builtin = self.type_word(word);
                let told = if builtin { "the definition is ignored" } else { "taken as a name" };
                self.lenient("L0303", name.span, format!("`{}` is a reserved word", name.text), told);
                if builtin && self.peek() == T::Assign {
                    self.bump();
                    self.ty()?;
                    return Ok(None);
                }
                name
            }
            _ => return Err(self.expected("an assignment")),
        };
        let parameters = if self.peek() == T::OpenBrace { self.parameter_list()? } else { Vec::new() };
        let kind = if name.is_upper() {
            self.upper_assignment(&name, &parameters)?
        } else if self.peek() == T::Assign && self.peek_at(1) == T::Xml {
            self.xml_assignment()?
        } else if self.options.lenient && self.peek() == T::Assign && self.peek_at(1) == T::OpenBrace {
            let span = self.span();
            self.lenient(
                "L0217",
                span,
                format!("the type of `{}` is missing", name.text),
                "taken as `OBJECT IDENTIFIER`",
            );
            self.bump();
            let governor = Type {
                tags: Vec::new(),
                encoding: Vec::new(),
                kind: TypeKind::ObjectIdentifier,
                constraints: Vec::new(),
                span,
            };
            AssignmentKind::Value { governor, value: self.value()? }
        } else if self.options.lenient && self.peek() == T::Assign {
            self.lenient(
                "L0205",
                name.span,
                "a type's name begins with a capital letter",
                "taken as a type assignment",
            );
            self.bump();
            self.assigned_type()?
        } else {
            self.value_assignment()?
        };
        Ok(Some(Assignment { name, parameters, kind, span: self.since(from) }))
    }

    /// XMLValueAssignment (§16.2): `name ::= <Type>…</Type>`, where the element names the type.
    fn xml_assignment(&mut self) -> Parsed<AssignmentKind> {
        self.bump();
        let span = self.span();
        let text = self.text();
        let name = text.trim_start_matches('<').split(|c: char| !is_element_name(c)).next().unwrap_or("");
        let Some(kind) = xml_type(name, Span::new(span.lo + 1, span.lo + 1 + name.len() as u32)) else {
            let finding = Diagnostic::error("E0107", span, format!("`<{name}>` names no type of a value"));
            return Err(Box::new(finding.note("X.680 §16.2, Table 4")));
        };
        let governor = Type { tags: Vec::new(), encoding: Vec::new(), kind, constraints: Vec::new(), span };
        Ok(AssignmentKind::Value { governor, value: self.value()? })
    }

    /// What follows a name in capitals: a type, class, macro, or a governor and a set.
    fn upper_assignment(&mut self, name: &Ident, parameters: &[Parameter]) -> Parsed<AssignmentKind> {
        if self.eat(T::Assign) {
            return if self.at_word(K::Class) && self.peek_at(1) == T::OpenBrace {
                self.object_class().map(AssignmentKind::Class)
            } else {
                self.assigned_type()
            };
        }
        if self.at_word(K::Macro) {
            return self.macro_definition();
        }
        let governor = self.governor()?;
        let span = self.span();
        if !self.eat(T::Assign) {
            let lone = parameters.is_empty()
                && matches!(
                    governor.kind,
                    TypeKind::Sequence(_)
                        | TypeKind::Choice(_)
                        | TypeKind::Set(_)
                        | TypeKind::Enumerated(_)
                        | TypeKind::SequenceOf(..)
                        | TypeKind::SetOf(..)
                        | TypeKind::OctetString
                        | TypeKind::Integer(_)
                        | TypeKind::CharacterString(_)
                        | TypeKind::BitString(_)
                        | TypeKind::Boolean
                );
            if lone && self.options.lenient {
                self.lenient(
                    "L0310",
                    name.span,
                    format!("`::=` is missing after `{}`", name.text),
                    "assumed here",
                );
                return Ok(AssignmentKind::Type(governor));
            }
            return Err(self.expected("`::=`"));
        }
        if self.peek() == T::OpenBrace {
            return Ok(AssignmentKind::Set { governor, set: self.braced_element_set()? });
        }
        if self.peek() == T::Xml {
            let value = self.value()?;
            return Ok(AssignmentKind::Value { governor, value });
        }
        self.lenient("L0311", span, "a set is written in braces", "taken as a value");
        let value = self.value()?;
        Ok(AssignmentKind::Value { governor, value })
    }

    /// TypeAssignment (X.680 §16.1); in the 1988 notation also the use of a macro.
    fn assigned_type(&mut self) -> Parsed<AssignmentKind> {
        let first = self.pos;
        let marks = self.diagnostics.len();
        let in_capitals = self.peek() == T::Upper && !self.text().bytes().any(|b| b.is_ascii_lowercase());
        if !in_capitals {
            return self.ty().map(AssignmentKind::Type);
        }
        let result = self.ty();
        if result.is_ok() && self.at_assignment_end() {
            return result.map(AssignmentKind::Type);
        }
        // `T ::= OPERATION ARGUMENT …` (X.208): the tokens up to the next assignment belong to the macro.
        let after = self.pos;
        let stop = self.next_assignment(first + 1);
        if stop == after || !matches!(self.kind_at(first + 1), T::Upper | T::Word(_) | T::Lower) {
            return result.map(AssignmentKind::Type);
        }
        self.diagnostics.truncate(marks);
        Ok(AssignmentKind::Type(self.macro_use(first, stop)))
    }

    /// `name` governor `::=` value (X.680 §16.2, X.681 §11.1).
    fn value_assignment(&mut self) -> Parsed<AssignmentKind> {
        let governor = self.governor()?;
        if !self.eat(T::Assign) {
            return Err(self.expected("`::=`"));
        }
        let value = match governor.kind {
            TypeKind::MacroUse(..) => self.macro_value()?,
            _ => self.assigned_value()?,
        };
        Ok(AssignmentKind::Value { governor, value })
    }

    /// The right side of a value assignment. X.208 wrote `identifier value` for a CHOICE, without the colon.
    fn assigned_value(&mut self) -> Parsed<Value> {
        let from = self.span();
        let old_choice = self.peek() == T::Lower
            && match self.peek_at(1) {
                T::Number | T::Minus | T::CString | T::HString | T::BString => true,
                // Actual parameters are separated by commas; the components of an OID are not.
                T::OpenBrace => match self.peek_at(2) {
                    T::Lower | T::Upper => matches!(self.peek_at(3), T::Number | T::Lower | T::OpenParen),
                    T::Number => self.peek_at(3) == T::Number,
                    _ => false,
                },
                _ => false,
            };
        if !old_choice {
            return self.value();
        }
        let name = self.take_ident();
        self.lenient(
            "L0215",
            name.span,
            "`:` is missing between a CHOICE's identifier and its value",
            "assumed here",
        );
        let value = Box::new(self.value()?);
        Ok(Value { kind: ValueKind::Choice(name, value), span: self.since(from) })
    }

    /// The governor of a value or set: a type, or a macro with its arguments (1988).
    fn governor(&mut self) -> Parsed<Type> {
        let first = self.pos;
        let marks = self.diagnostics.len();
        let maybe_macro =
            matches!(self.peek(), T::Upper) && !self.text().bytes().any(|b| b.is_ascii_lowercase());
        let result = self.ty();
        if !maybe_macro || (result.is_ok() && self.peek() == T::Assign) {
            return result;
        }
        let Some(assign) = self.find_assign(first) else { return result };
        self.diagnostics.truncate(marks);
        self.depth = 0;
        Ok(self.macro_use(first, assign))
    }

    fn macro_use(&mut self, first: usize, stop: usize) -> Type {
        self.pos = first;
        let name = self.take_ident();
        let arguments = self.pos;
        self.pos = stop.max(arguments);
        let text = self.taken_since(arguments);
        let span = self.since(name.span);
        Type {
            tags: Vec::new(),
            encoding: Vec::new(),
            kind: TypeKind::MacroUse(name, text),
            constraints: Vec::new(),
            span,
        }
    }

    /// The value of a macro's instance: common notation when that reaches the next assignment, else its tokens.
    fn macro_value(&mut self) -> Parsed<Value> {
        let first = self.pos;
        let result = self.assigned_value();
        if result.is_ok() && self.at_assignment_end() {
            return result;
        }
        let after = self.pos;
        let stop = self.next_assignment(first);
        if stop <= first || stop == after {
            return result;
        }
        self.pos = stop;
        let tokens = self.taken_since(first);
        Ok(Value { kind: ValueKind::Macro(tokens), span: tokens.span })
    }

    /// `NAME MACRO ::= BEGIN … END` or `NAME MACRO ::= OTHER` (X.208 Annex A).
    fn macro_definition(&mut self) -> Parsed<AssignmentKind> {
        self.bump();
        self.expect(T::Assign)?;
        let open = self.span();
        if !self.eat_word(K::Begin) {
            self.any_reference()?;
            return Ok(AssignmentKind::Macro);
        }
        while !self.at_word(K::End) {
            if self.bump().is_none() {
                let error = Diagnostic::error("E0105", open, "this macro has no `END`");
                return Err(Box::new(error));
            }
        }
        self.bump();
        Ok(AssignmentKind::Macro)
    }

    /// The first `::=` from `first` on that is not in braces, unless another assignment begins before it.
    fn find_assign(&self, first: usize) -> Option<usize> {
        let mut index = first;
        let stop = self.end.min(first.saturating_add(HEAD_REACH * 8));
        while index < stop {
            match self.kind_at(index) {
                T::Assign => return Some(index),
                T::OpenBrace => index = self.skip_group(index),
                T::Word(K::End | K::Begin) | T::CloseBrace => return None,
                T::Upper
                    if index > first && self.kind_at(index + 1) == T::Assign && self.starts_line(index) =>
                {
                    return None;
                }
                _ => index += 1,
            }
        }
        None
    }

    /// Whether an assignment may end here.
    fn at_assignment_end(&self) -> bool {
        matches!(self.peek(), T::End | T::Word(K::End | K::EncodingControl) | T::Semicolon | T::Comma)
            || self.assignment_head(self.pos)
    }

    /// The index of the next token from `first` on where an assignment begins, or the module ends.
    fn next_assignment(&self, first: usize) -> usize {
        let mut index = first;
        while index < self.end {
            match self.kind_at(index) {
                T::Word(K::End) => return index,
                T::Upper | T::Lower if self.starts_line(index) && self.assignment_head(index) => {
                    return index;
                }
                _ => index += 1,
            }
        }
        self.end
    }

    /// Whether an assignment begins at a token: a name whose `::=` comes before anything that denies it.
    pub(crate) fn assignment_head(&self, index: usize) -> bool {
        let lower = match self.kind_at(index) {
            T::Upper => false,
            T::Lower => true,
            T::Word(_) => return self.kind_at(index + 1) == T::Assign && self.starts_line(index),
            _ => return false,
        };
        let mut at = index + 1;
        match self.kind_at(at) {
            T::Assign => return !lower || self.options.lenient || self.kind_at(at + 1) == T::Xml,
            T::Word(K::Macro) => return true,
            T::OpenBrace => {
                let Some(behind) = self.skip_group_within(at, HEAD_REACH) else { return false };
                at = behind;
                if self.kind_at(at) == T::Assign {
                    return true;
                }
                if self.kind_at(at) == T::Word(K::Definitions) {
                    return true;
                }
            }
            T::Word(K::Definitions) => return true,
            _ => {}
        }
        match self.kind_at(at) {
            T::Upper | T::OpenBracket => {}
            T::Word(word) if self.type_word(word) => {}
            _ => return false,
        }
        let governor = at;
        if !lower && self.starts_line(at) && self.kind_at(at + 1) == T::Assign {
            // `ERRORS {…}` at the end of a macro's use, with the next assignment below it.
            return false;
        }
        let stop = self.end.min(index + HEAD_REACH);
        while at < stop {
            match self.kind_at(at) {
                T::Assign => return true,
                T::OpenBrace | T::OpenParen => match self.skip_group_within(at, HEAD_REACH) {
                    Some(behind) => at = behind,
                    None => return false,
                },
                T::CloseBrace | T::CloseParen | T::Word(K::End | K::Begin) | T::Semicolon => return false,
                T::Upper | T::Lower if at > governor && self.starts_line(at) => {
                    let next = self.kind_at(at + 1);
                    let begins = next == T::Assign
                        || self.kind_at(at) == T::Lower
                            && (next == T::Upper || matches!(next, T::Word(word) if self.type_word(word)));
                    if begins {
                        return false;
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        false
    }

    fn skip_group_within(&self, open: usize, reach: usize) -> Option<usize> {
        let mut depth = 0usize;
        for index in open..self.end.min(open + reach) {
            match self.kind_at(index) {
                T::OpenBrace | T::OpenParen => depth += 1,
                T::CloseBrace | T::CloseParen => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// After an error in the assignment that began at `from`: goes to the next one.
    pub(crate) fn recover(&mut self, from: usize) {
        let mut index = self.pos.max(from + 1);
        while index < self.end {
            match self.kind_at(index) {
                T::Word(K::End | K::Imports | K::Exports | K::EncodingControl) => break,
                T::Upper | T::Lower | T::Word(_) => {
                    let placed = self.starts_line(index)
                        || matches!(
                            self.kind_at(index - 1),
                            T::CloseBrace | T::CloseParen | T::Semicolon | T::Number
                        );
                    if placed && self.assignment_head(index) && !self.is_governor(index) {
                        break;
                    }
                    index += 1;
                }
                _ => index += 1,
            }
        }
        self.pos = index;
    }

    /// Whether a name before `::=` is the governor of the name in front of it.
    fn is_governor(&self, index: usize) -> bool {
        self.kind_at(index) == T::Upper
            && self.kind_at(index + 1) == T::Assign
            && index > self.base
            && self.kind_at(index - 1) == T::Lower
    }
}

const fn is_element_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// The type that the element around a value names (§16.2): a reference, `Module.Type`, or the name that Table 4 gives a
/// built-in type. Those whose values cannot be told without a definition are not among them.
fn xml_type(name: &str, span: Span) -> Option<TypeKind> {
    use StringKind as S;
    Some(match name {
        "BOOLEAN" => TypeKind::Boolean,
        "INTEGER" => TypeKind::Integer(Vec::new()),
        "REAL" => TypeKind::Real,
        "NULL" => TypeKind::Null,
        "BIT_STRING" => TypeKind::BitString(Vec::new()),
        "OCTET_STRING" => TypeKind::OctetString,
        "OBJECT_IDENTIFIER" => TypeKind::ObjectIdentifier,
        "RELATIVE_OID" => TypeKind::RelativeOid,
        "OID_IRI" => TypeKind::OidIri,
        "RELATIVE_OID_IRI" => TypeKind::RelativeOidIri,
        "TIME" => TypeKind::Time,
        "DATE" => TypeKind::UsefulTime(UsefulTime::Date),
        "TIME_OF_DAY" => TypeKind::UsefulTime(UsefulTime::TimeOfDay),
        "DATE_TIME" => TypeKind::UsefulTime(UsefulTime::DateTime),
        "DURATION" => TypeKind::UsefulTime(UsefulTime::Duration),
        "GeneralizedTime" => TypeKind::GeneralizedTime,
        "UTCTime" => TypeKind::UtcTime,
        "ObjectDescriptor" => TypeKind::ObjectDescriptor,
        "BMPString" => TypeKind::CharacterString(S::Bmp),
        "GeneralString" => TypeKind::CharacterString(S::General),
        "GraphicString" => TypeKind::CharacterString(S::Graphic),
        "IA5String" => TypeKind::CharacterString(S::Ia5),
        "ISO646String" => TypeKind::CharacterString(S::Iso646),
        "NumericString" => TypeKind::CharacterString(S::Numeric),
        "PrintableString" => TypeKind::CharacterString(S::Printable),
        "T61String" => TypeKind::CharacterString(S::T61),
        "TeletexString" => TypeKind::CharacterString(S::Teletex),
        "UniversalString" => TypeKind::CharacterString(S::Universal),
        "UTF8String" => TypeKind::CharacterString(S::Utf8),
        "VideotexString" => TypeKind::CharacterString(S::Videotex),
        "VisibleString" => TypeKind::CharacterString(S::Visible),
        _ => {
            let ident = |text: &str| Ident { text: text.into(), span };
            let (module, name) = match name.split_once('.') {
                Some((module, name)) => (Some(Box::new(ident(module))), name),
                None => (None, name),
            };
            // `<SEQUENCE>`, `<SEQUENCE_OF>` and their like name no definition; references hold a small letter or no `_`.
            let known =
                matches!(name, "SEQUENCE" | "SET" | "CHOICE" | "ENUMERATED" | "EXTERNAL" | "INSTANCE_OF");
            if known || name.contains('_') || !name.starts_with(|c: char| c.is_ascii_uppercase()) {
                return None;
            }
            TypeKind::Reference(Reference { module, name: ident(name), parameters: None, span })
        }
    })
}
