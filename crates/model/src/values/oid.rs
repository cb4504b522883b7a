//! Values of OBJECT IDENTIFIER and RELATIVE-OID (X.680 §32–33) and the names of X.660's arcs.

use crate::arcs::Arcs;
use crate::ir::{TypeId, Value};
use crate::resolve::{Binding, BuiltIn, Resolver, Scope, well_known_arc};
use tercet_syntax::ast::{self, ValueKind};
use tercet_syntax::{Diagnostic, OidComponent, Span};

/// Arcs that are copied rather than shared: the first ones decide what names mean.
const SHORT: usize = 4;

impl<'a> Resolver<'a> {
    pub(super) fn oid_value(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        base: TypeId,
        relative: bool,
    ) -> Value {
        let ValueKind::Braced(braced) = value.kind else { return self.mismatch(value, base) };
        match self.oid(scope, braced, relative) {
            Some(arcs) => Value::Oid(arcs),
            None => Value::Error,
        }
    }

    /// The arcs of an OID in braces, `None` when one of them could not be found out, which has been reported.
    pub(crate) fn oid(&mut self, scope: &Scope<'a>, braced: ast::Braced, relative: bool) -> Option<Arcs> {
        let components = match self.cursor(scope, braced).inner().oid_components() {
            Ok(components) => components,
            Err(finding) => {
                self.report_unread(*finding);
                return None;
            }
        };
        let (mut before, mut arcs) = (None, Vec::with_capacity(components.len()));
        for component in components {
            self.oid_component(scope, component, &mut before, &mut arcs, relative)?;
        }
        let allowed = match arcs.as_slice() {
            // Those of another definition have been looked at there.
            _ if before.is_some() => true,
            [0 | 1, second, ..] => *second < 40,
            [first, ..] => *first <= 2,
            [] => true,
        };
        if !relative && !allowed {
            let finding = self
                .slip("E0307", braced.span, "no OBJECT IDENTIFIER begins with these numbers")
                .label("0 or 1 and a number below 40, or 2, is needed")
                .note("X.660 §7.6");
            self.report(finding);
        }
        Some(Arcs::below(before, arcs))
    }

    fn oid_component(
        &mut self,
        scope: &Scope<'a>,
        component: OidComponent,
        before: &mut Option<Arcs>,
        arcs: &mut Vec<u128>,
        relative: bool,
    ) -> Option<()> {
        let OidComponent { name, number, span } = component;
        if let Some(number) = number {
            arcs.push(self.arc(scope, number)?);
            return Some(());
        }
        let name = name?;
        let plain = name.module.is_none() && name.parameters.is_none();
        if plain
            && !relative
            && before.is_none()
            && let Some(number) = well_known_arc(&name.name.text, arcs)
        {
            arcs.push(number);
            return Some(());
        }
        if plain && self.peek(scope, &name.name.text).is_none() {
            let text = &name.name.text;
            let finding = self
                .slip("E0307", span, format!("the number of `{text}` is not known"))
                .label("neither a name of X.660 nor a value defined here or imported")
                .help(format!("write its number: `{text}(1)`"));
            self.report(finding);
            return None;
        }
        let reference = self.keep_reference(name);
        match self.lookup(scope, reference)? {
            // A reference to another OID may stand only at the beginning (X.680 §32.3); elsewhere it is a RELATIVE-OID.
            Binding::Value(_, Value::Oid(more))
                if before.is_none() && arcs.is_empty() && more.len() > SHORT =>
            {
                *before = Some(more);
            }
            Binding::Value(_, Value::Oid(more)) => {
                if !self.spend_octets(more.len() * size_of::<u128>(), span) {
                    return None;
                }
                arcs.extend(more.to_vec());
            }
            Binding::Value(_, Value::Integer(number)) => arcs.push(self.arc_of(&number, span)?),
            Binding::Value(_, Value::Error) | Binding::Missing => return None,
            Binding::Value(..) => {
                self.report(
                    Diagnostic::error(
                        "E0307",
                        span,
                        format!("`{}` is neither an OID nor a number", reference.name.text),
                    )
                    .label("an arc is needed here"),
                );
                return None;
            }
            other => {
                self.report_wrong_kind(reference, &other, "a value");
                return None;
            }
        }
        Some(())
    }

    fn arc(&mut self, scope: &Scope<'a>, number: ast::Value) -> Option<u128> {
        let span = number.span;
        if let ValueKind::Integer(text) = &number.kind
            && let Ok(arc) = text.parse()
        {
            return Some(arc);
        }
        let integer = self.type_of(BuiltIn::Integer);
        let number = self.keep_value(number);
        match self.value(scope, number, integer) {
            Value::Integer(number) => self.arc_of(&number, span),
            _ => None,
        }
    }

    fn arc_of(&mut self, number: &num_bigint::BigInt, span: Span) -> Option<u128> {
        let arc = u128::try_from(number).ok();
        if arc.is_none() {
            self.report(Diagnostic::error("E0307", span, "an arc is a number from 0 to 2^128 − 1"));
        }
        arc
    }
}
