//! Values of BIT STRING (X.680 §22), OCTET STRING (§23), the character string types (§41) and the time types (§38).

use crate::constraints::alphabet_of;
use crate::ir::{TypeId, TypeKind, Value};
use crate::resolve::{Binding, Resolver, Scope};
use num_bigint::BigInt;
use tercet_syntax::ast::{self, ValueKind};
use tercet_syntax::{Diagnostic, Span, TokenKind};

/// The highest bit that a value may name: 128 KiB of bits.
const BIT_LIMIT: u64 = 1 << 20;

impl<'a> Resolver<'a> {
    pub(super) fn bit_string_value(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        governor: TypeId,
        base: TypeId,
    ) -> Value {
        match &value.kind {
            ValueKind::Binary(digits) => Value::BitString(pack_bits(digits), digits.len() as u64),
            ValueKind::Hex(digits) => Value::BitString(pack_hex(digits), digits.len() as u64 * 4),
            ValueKind::Containing(inner) => self.contained_value(scope, inner, governor, value.span),
            ValueKind::Braced(braced) => match self.cursor(scope, *braced).inner().named_bits() {
                Ok(names) => self.named_bits_value(&names, base),
                Err(finding) => self.unread(*finding),
            },
            _ => self.mismatch(value, base),
        }
    }

    /// `{a, c}`: the bits up to the highest one named (X.680 §22.9, §22.10).
    fn named_bits_value(&mut self, names: &[ast::Ident], base: TypeId) -> Value {
        let mut octets: Vec<u8> = Vec::new();
        let mut bits = 0;
        for name in names {
            let TypeKind::BitString(known) = &self.model.types[base.index()].kind else {
                return Value::Error;
            };
            let Some(number) = known.iter().find(|bit| bit.name == name.text).map(|bit| &bit.value) else {
                self.report(Diagnostic::error(
                    "E0304",
                    name.span,
                    format!("this BIT STRING has no bit named `{}`", name.text),
                ));
                return Value::Error;
            };
            let number = number.clone();
            self.item_occurs(name.span, base, &name.text);
            let Some(at) = u64::try_from(&number).ok().filter(|&at| at < BIT_LIMIT) else {
                let message = format!("bit `{}` is too far out for a value", name.text);
                self.report(
                    Diagnostic::error("E0302", name.span, message)
                        .label(format!("a value may name bits up to {}", BIT_LIMIT - 1)),
                );
                return Value::Error;
            };
            bits = bits.max(at + 1);
            let octet = (at / 8) as usize;
            if octets.len() <= octet {
                octets.resize(octet + 1, 0);
            }
            octets[octet] |= 0x80 >> (at % 8);
        }
        if !self.spend_octets(octets.len(), names.last().map_or_else(Span::default, |name| name.span)) {
            return Value::Error;
        }
        Value::BitString(octets, bits)
    }

    pub(super) fn octet_string_value(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        governor: TypeId,
        base: TypeId,
    ) -> Value {
        match &value.kind {
            // X.680 §23.5–23.6: missing bits and digits are zero.
            ValueKind::Binary(digits) => Value::OctetString(pack_bits(digits)),
            ValueKind::Hex(digits) => Value::OctetString(pack_hex(digits)),
            ValueKind::Containing(inner) => self.contained_value(scope, inner, governor, value.span),
            ValueKind::String(text) if self.options.lenient => {
                let finding = self
                    .slip("E0303", value.span, "a character string for an OCTET STRING")
                    .label("taken as its bytes in UTF-8");
                self.report(finding);
                Value::OctetString(text.as_bytes().to_vec())
            }
            ValueKind::Braced(braced) if braced.end - braced.first == 2 && self.options.lenient => {
                let finding = self
                    .slip("E0303", value.span, "`{}` for an OCTET STRING")
                    .label("taken as one without bytes");
                self.report(finding);
                Value::OctetString(Vec::new())
            }
            _ => self.mismatch(value, base),
        }
    }

    /// `CONTAINING value`: of the type that the contents constraint names (X.680 §22.12, §23.8).
    fn contained_value(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        governor: TypeId,
        span: Span,
    ) -> Value {
        let mut ty = governor;
        for _ in 0..64 {
            self.ensure_constraints(ty);
            match self.model.types[ty.index()].kind {
                TypeKind::Reference(next) => ty = next,
                _ => break,
            }
        }
        let contents = self.model.contents_constraint(governor).and_then(|contents| contents.containing);
        let Some(inner) = contents else {
            self.report(
                Diagnostic::error("E0301", span, "CONTAINING needs a type with a contents constraint")
                    .note("X.682 §11"),
            );
            return Value::Error;
        };
        match self.value(scope, value, inner) {
            Value::Error => Value::Error,
            value => Value::Containing(Box::new(value)),
        }
    }

    /// Character strings: a cstring, or a list of cstrings, references, tuples and quadruples (X.680 §41.8).
    pub(super) fn text_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value, base: TypeId) -> Value {
        let text = match &value.kind {
            ValueKind::String(text) => text.to_string(),
            ValueKind::Braced(braced) if self.is_character_string(base) => {
                let mut text = String::new();
                if self.character_list(scope, *braced, base, &mut text).is_none() {
                    return Value::Error;
                }
                text
            }
            _ => return self.mismatch(value, base),
        };
        self.check_characters(&text, value.span, base);
        Value::Text(text)
    }

    fn is_character_string(&self, base: TypeId) -> bool {
        matches!(
            self.model.types[base.index()].kind,
            TypeKind::CharacterString(_)
                | TypeKind::ObjectDescriptor
                | TypeKind::UtcTime
                | TypeKind::GeneralizedTime
        )
    }

    /// Reports a character that the type does not have.
    fn check_characters(&mut self, text: &str, span: Span, base: TypeId) {
        let kind = &self.model.types[base.index()].kind;
        let TypeKind::CharacterString(string) = kind else { return };
        let Some(alphabet) = alphabet_of(*string) else { return };
        if let Some(bad) = text.chars().find(|&c| !alphabet.contains(&u32::from(c))) {
            let name = super::kind_name(kind);
            let bad = if bad.is_control() { format!("U+{:04X}", u32::from(bad)) } else { format!("'{bad}'") };
            let finding = self.slip("E0305", span, format!("{name} has no character {bad}"));
            self.report(finding);
        }
    }

    fn character_list(
        &mut self,
        scope: &Scope<'a>,
        braced: ast::Braced,
        base: TypeId,
        text: &mut String,
    ) -> Option<()> {
        let mut cursor = self.cursor(scope, braced).inner();
        if cursor.peek_kind() == TokenKind::Number {
            let numbers = cursor.number_list().map_err(|finding| self.report_unread(*finding)).ok()?;
            text.push(self.tuple(scope, numbers, braced.span)?);
            return Some(());
        }
        let parts = cursor.char_strings().map_err(|finding| self.report_unread(*finding)).ok()?;
        if !self.enter(braced.span) {
            return None;
        }
        for part in parts {
            let done = self.character_part(scope, part, base, text);
            if done.is_none() {
                self.leave();
                return None;
            }
        }
        self.leave();
        Some(())
    }

    fn character_part(
        &mut self,
        scope: &Scope<'a>,
        part: ast::Value,
        base: TypeId,
        text: &mut String,
    ) -> Option<()> {
        let span = part.span;
        match &part.kind {
            ValueKind::String(more) => text.push_str(more),
            ValueKind::Braced(braced) => self.character_list(scope, *braced, base, text)?,
            ValueKind::Reference(reference) => {
                if self.peek(scope, &reference.name.text).is_none()
                    && let Some(control) = control_character(&reference.name.text)
                {
                    text.push(control);
                    return Some(());
                }
                let reference = self.keep_reference((**reference).clone());
                match self.lookup(scope, reference)? {
                    Binding::Value(_, Value::Text(more)) => text.push_str(&more),
                    Binding::Value(_, Value::Error) | Binding::Missing => return None,
                    other => {
                        self.report_wrong_kind(reference, &other, "a character string");
                        return None;
                    }
                }
            }
            _ => {
                self.report(
                    Diagnostic::error("E0301", span, "a character string is needed here").note("X.680 §41.8"),
                );
                return None;
            }
        }
        Some(())
    }

    /// `{column, row}` of ISO/IEC 646 or `{group, plane, row, cell}` of ISO/IEC 10646.
    fn tuple(
        &mut self,
        scope: &Scope<'a>,
        parts: Vec<(Option<ast::Ident>, ast::Value)>,
        span: Span,
    ) -> Option<char> {
        let integer = self.type_of(crate::resolve::BuiltIn::Integer);
        let mut numbers = Vec::with_capacity(parts.len());
        for (_, value) in parts {
            let value = self.keep_value(value);
            match self.value(scope, value, integer) {
                Value::Integer(number) => numbers.push(number),
                _ => return None,
            }
        }
        let small = |n: &BigInt, limit: u32| u32::try_from(n).ok().filter(|&n| n <= limit);
        let code = match numbers.as_slice() {
            [column, row] => small(column, 7).zip(small(row, 15)).map(|(column, row)| column * 16 + row),
            [group, plane, row, cell] => [group, plane, row, cell]
                .into_iter()
                .try_fold(0u32, |code, n| Some(code.checked_mul(256)? | small(n, 255)?)),
            _ => None,
        };
        let character = code.and_then(char::from_u32);
        if character.is_none() {
            let finding = self
                .slip("E0305", span, "these numbers are not a Unicode character")
                .label("`{column, row}` or `{group, plane, row, cell}` is needed")
                .note("X.680 §41.8");
            self.report(finding);
        }
        character
    }
}

/// `'0101'B` as octets, the first bit highest.
pub(super) fn pack_bits(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(8)
        .map(|chunk| chunk.iter().enumerate().fold(0, |octet, (n, &digit)| octet | (digit & 1) << (7 - n)))
        .collect()
}

/// `'0AF'H` as octets, the first digit high.
pub(super) fn pack_hex(digits: &str) -> Vec<u8> {
    let nibble = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| nibble(pair[0]) << 4 | pair.get(1).map_or(0, |&low| nibble(low)))
        .collect()
}

/// The control characters of module ASN1-CHARACTER-MODULE (X.680 §43.2).
pub(super) fn control_character(name: &str) -> Option<char> {
    const NAMES: [&str; 32] = [
        "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "lf", "vt", "ff", "cr", "so",
        "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "is4",
        "is3", "is2", "is1",
    ];
    if name == "del" {
        return Some('\u{7f}');
    }
    let at = NAMES.iter().position(|&known| known == name)?;
    char::from_u32(at as u32)
}
