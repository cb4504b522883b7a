//! Values of INTEGER (X.680 §19), ENUMERATED (§20) and REAL (§21).

use crate::ir::{Real, TypeId, TypeKind, Value};
use crate::resolve::{Resolver, Scope};
use num_bigint::{BigInt, Sign};
use tercet_syntax::ast::{self, ValueKind};
use tercet_syntax::{Diagnostic, Span};

/// The longest number that is read, in digits: far beyond any use, and turned into binary at once.
pub(super) const DIGIT_LIMIT: usize = 10_000;

impl<'a> Resolver<'a> {
    /// The digits of a number with its sign; a report when they are too many.
    pub(crate) fn number(&mut self, text: &str, span: Span) -> Option<BigInt> {
        if text.len() > DIGIT_LIMIT {
            self.report(
                Diagnostic::error("E0302", span, format!("this number has {} digits", text.len()))
                    .label(format!("at most {DIGIT_LIMIT} are read")),
            );
            return None;
        }
        // Few numbers need more than 64 bits.
        if let Ok(number) = text.parse::<i64>() {
            return Some(number.into());
        }
        // `- 5` may hold white space behind its sign.
        let number = match text.strip_prefix('-') {
            Some(digits) => digits.trim_start().parse::<BigInt>().map(|n| -n),
            None => text.parse(),
        };
        if number.is_err() {
            self.report(Diagnostic::error("E0302", span, "this is not a number"));
        }
        number.ok()
    }

    pub(super) fn integer_value(&mut self, value: &'a ast::Value, base: TypeId) -> Value {
        match &value.kind {
            ValueKind::Integer(text) => self.number(text, value.span).map_or(Value::Error, Value::Integer),
            ValueKind::Hex(digits) if self.options.lenient => self.number_in_digits(digits, 16, value.span),
            ValueKind::Binary(digits) if self.options.lenient => self.number_in_digits(digits, 2, value.span),
            _ => self.mismatch(value, base),
        }
    }

    /// `'FF'H` where an INTEGER belongs: read as its number.
    fn number_in_digits(&mut self, digits: &str, radix: u32, span: Span) -> Value {
        let finding =
            self.slip("E0303", span, "a bit string for an INTEGER").label("taken as an unsigned number");
        self.report(finding);
        match BigInt::parse_bytes(digits.as_bytes(), radix) {
            Some(number) => Value::Integer(number),
            None => Value::Integer(BigInt::ZERO),
        }
    }

    pub(super) fn enumerated_value(&mut self, value: &'a ast::Value, base: TypeId) -> Value {
        if let ValueKind::Integer(text) = &value.kind
            && let TypeKind::Enumerated(items) = &self.model.types[base.index()].kind
            && let Ok(wanted) = text.parse::<i64>()
            && let Some((name, number)) =
                items.root.iter().chain(&items.additions).find(|(_, n)| *n == wanted)
        {
            let item = Value::Enumerated(name.clone(), *number);
            let finding = self
                .slip("E0303", value.span, "a number for an item of an ENUMERATED")
                .label(format!("taken as `{name}`"));
            self.report(finding);
            return item;
        }
        self.mismatch(value, base)
    }

    /// REAL (X.680 §21.6): a number, a special value, or mantissa, base and exponent.
    pub(super) fn real_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value, base: TypeId) -> Value {
        let real = match &value.kind {
            ValueKind::Integer(text) | ValueKind::Real(text) => match self.decimal(text, value.span) {
                Some(real) => real,
                None => return Value::Error,
            },
            ValueKind::PlusInfinity => Real::PlusInfinity,
            ValueKind::MinusInfinity => Real::MinusInfinity,
            ValueKind::NotANumber => Real::NotANumber,
            ValueKind::Braced(braced) => {
                let mut cursor = self.cursor(scope, *braced).inner();
                return match cursor.number_list() {
                    Ok(parts) => self.mantissa_base_exponent(scope, parts, value.span),
                    Err(finding) => self.unread(*finding),
                };
            }
            _ => return self.mismatch(value, base),
        };
        Value::Real(real)
    }

    fn mantissa_base_exponent(
        &mut self,
        scope: &Scope<'a>,
        parts: Vec<(Option<ast::Ident>, ast::Value)>,
        span: Span,
    ) -> Value {
        let integer = self.type_of(crate::resolve::BuiltIn::Integer);
        let mut found: [Option<BigInt>; 3] = [None, None, None];
        for (n, (name, value)) in parts.into_iter().enumerate() {
            let at = match name.as_ref().map(|name| name.text.as_str()) {
                None if n < 3 => n,
                Some("mantissa") => 0,
                Some("base") => 1,
                Some("exponent") => 2,
                _ => 3,
            };
            let value = self.keep_value(value);
            let Value::Integer(number) = self.value(scope, value, integer) else { return Value::Error };
            if let Some(slot) = found.get_mut(at) {
                *slot = Some(number);
            }
        }
        let [Some(mantissa), Some(base), Some(exponent)] = found else {
            self.report(
                Diagnostic::error("E0302", span, "a REAL in braces has a mantissa, a base and an exponent")
                    .note("X.680 §21.6"),
            );
            return Value::Error;
        };
        let (Ok(base @ (2 | 10)), Ok(exponent)) = (u8::try_from(&base), i64::try_from(&exponent)) else {
            self.report(
                Diagnostic::error("E0302", span, "the base of a REAL is 2 or 10, its exponent below 2^63")
                    .note("X.680 §21.5"),
            );
            return Value::Error;
        };
        let exponent = if mantissa.sign() == Sign::NoSign { 0 } else { exponent };
        Value::Real(Real::Finite { mantissa, base, exponent })
    }

    /// `-12.50E3`: an exact decimal, without zeros at its end.
    pub(super) fn decimal(&mut self, text: &str, span: Span) -> Option<Real> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i64>().ok()),
            None => (text, Some(0)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches('0');
        let mut digits = format!("{whole}{fraction}");
        let mut exponent = exponent.and_then(|e| e.checked_sub(i64::try_from(fraction.len()).ok()?));
        if fraction.is_empty() {
            let kept = digits.trim_end_matches('0').len();
            let zeros = digits.len() - kept;
            if kept > 0 && digits[..kept].ends_with(|c: char| c.is_ascii_digit()) {
                digits.truncate(kept);
                exponent = exponent.and_then(|e| e.checked_add(i64::try_from(zeros).ok()?));
            }
        }
        let mantissa = self.number(&digits, span)?;
        if mantissa.sign() == Sign::NoSign {
            // X.680 §21.6: `-0` is a value of its own.
            let minus = text.starts_with('-');
            return Some(if minus {
                Real::MinusZero
            } else {
                Real::Finite { mantissa, base: 10, exponent: 0 }
            });
        }
        let Some(exponent) = exponent else {
            self.report(Diagnostic::error("E0302", span, "the exponent of this number is beyond 2^63"));
            return None;
        };
        Some(Real::Finite { mantissa, base: 10, exponent })
    }
}
