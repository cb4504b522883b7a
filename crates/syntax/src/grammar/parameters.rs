//! Parameters (X.683 §8.3, §9.5).

use crate::ast::{ActualParameter, Parameter};
use crate::parser::{Parsed, Parser};
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// ParameterList (X.683 §8.3).
    pub(crate) fn parameter_list(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect(T::OpenBrace)?;
        let mut parameters = Vec::new();
        self.leading_commas();
        while self.peek() != T::CloseBrace {
            parameters.push(self.parameter()?);
            if !self.separator(T::CloseBrace)? {
                break;
            }
        }
        self.expect(T::CloseBrace)?;
        Ok(parameters)
    }

    /// Parameter: `Governor : name` or the name alone.
    #[inline(never)]
    fn parameter(&mut self) -> Parsed<Parameter> {
        let alone =
            matches!(self.peek(), T::Upper | T::Lower) && matches!(self.peek_at(1), T::Comma | T::CloseBrace);
        if alone {
            return Ok(Parameter { governor: None, name: self.take_ident() });
        }
        let governor = Some(self.ty()?);
        self.expect(T::Colon)?;
        Ok(Parameter { governor, name: self.any_name("a dummy reference")? })
    }

    /// ActualParameterList (X.683 §9.5) with its braces.
    pub(crate) fn actual_parameter_list(&mut self) -> Parsed<Vec<ActualParameter>> {
        self.nested(|p| {
            p.expect(T::OpenBrace)?;
            let mut parameters = Vec::new();
            p.leading_commas();
            while p.peek() != T::CloseBrace {
                parameters.push(p.actual_parameter()?);
                if !p.separator(T::CloseBrace)? {
                    break;
                }
            }
            p.expect(T::CloseBrace)?;
            Ok(parameters)
        })
    }

    /// ActualParameter: its first tokens tell a type from a value.
    #[inline(never)]
    pub(crate) fn actual_parameter(&mut self) -> Parsed<ActualParameter> {
        match self.peek() {
            T::OpenBrace => return Ok(ActualParameter::Braced(self.braced()?)),
            T::Upper if self.peek_at(1) == T::Dot && self.peek_at(2) == T::Lower => {}
            T::Lower if self.peek_at(1) == T::Less => return Ok(ActualParameter::Type(self.ty()?)),
            _ if self.type_start(self.pos) => {
                let from = self.span();
                let ty = self.ty()?;
                if self.peek() != T::Colon {
                    return Ok(ActualParameter::Type(ty));
                }
                self.bump();
                let value = self.value()?;
                let kind = crate::ast::ValueKind::Typed(Box::new(ty), Box::new(value));
                return Ok(ActualParameter::Value(crate::ast::Value { kind, span: self.since(from) }));
            }
            _ => {}
        }
        Ok(ActualParameter::Value(self.value()?))
    }
}
