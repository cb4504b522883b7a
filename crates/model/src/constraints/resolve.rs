//! Constraints of a tree, bound: X.680 §49–51, X.682.

use crate::ir::{self, Bound, Element, ElementSet, TypeId, TypeKind, Value};
use crate::resolve::{Binding, BuiltIn, Resolver, Scope};
use crate::values::kind_name;
use num_bigint::BigInt;
use tercet_syntax::ast::{self, ConstraintKind, ElementKind, EndpointValue, ValueKind};
use tercet_syntax::{Edit, Fix, SourceMap, Span, TokenKind};

impl<'a> Resolver<'a> {
    /// The constraint, none when nothing can be said.
    pub(crate) fn constraint(
        &mut self,
        scope: &Scope<'a>,
        constraint: &'a ast::Constraint,
        governor: TypeId,
    ) -> Option<ir::Constraint> {
        if !self.enter(constraint.span) {
            return None;
        }
        let kind = match &constraint.kind {
            ConstraintKind::Subtype(set) => match self.braced_object_set(scope, set, governor) {
                Some(set) => Some(ir::ConstraintKind::Table { set, relations: Vec::new() }),
                None => Some(ir::ConstraintKind::Subtype(self.element_set(scope, set, governor))),
            },
            ConstraintKind::Contents { containing, encoded_by } => {
                let containing = containing.as_ref().map(|ty| self.ty(scope, ty));
                let encoded_by = encoded_by.as_ref().and_then(|value| {
                    let governor = self.type_of(BuiltIn::ObjectIdentifier);
                    match self.value(scope, value, governor) {
                        Value::Oid(arcs) => Some(arcs.to_vec()),
                        _ => None,
                    }
                });
                Some(ir::ConstraintKind::Contents { containing, encoded_by })
            }
            ConstraintKind::UserDefined(_) => Some(ir::ConstraintKind::UserDefined),
            ConstraintKind::Table { set, relations } => self.table(scope, set, relations),
        };
        self.leave();
        // A dummy has become its actual parameter by now, and so is as visible as any constant. Constraints are
        // variable only through parameters of the abstract syntax (X.691 §3.7.25), which never have a value here.
        kind.map(|kind| ir::Constraint { kind, variable: false, span: constraint.span })
    }

    /// `({Set})`: a table constraint (X.682 §10), or a value set in braces.
    fn table(
        &mut self,
        scope: &Scope<'a>,
        set: &'a ast::Reference,
        relations: &'a [ast::AtNotation],
    ) -> Option<ir::ConstraintKind> {
        match self.lookup(scope, set)? {
            Binding::ObjectSet(set) => {
                let relations = relations
                    .iter()
                    .map(|at| ir::Relation {
                        level: at.level,
                        path: at.path.iter().map(|name| name.text.clone()).collect(),
                    })
                    .collect();
                Some(ir::ConstraintKind::Table { set, relations })
            }
            Binding::ValueSet(ty) | Binding::Type(ty) => Some(ir::ConstraintKind::Subtype(ElementSet {
                root: Element::Type(ty),
                extensible: false,
                additional: None,
            })),
            Binding::Missing => None,
            other => {
                self.report_wrong_kind(set, &other, "an object set");
                None
            }
        }
    }

    /// `({A | B, ...})`: an object set written in place (X.682 §10.3 allows any), which looks like a value in braces.
    fn braced_object_set(
        &mut self,
        scope: &Scope<'a>,
        set: &'a ast::ElementSet,
        governor: TypeId,
    ) -> Option<ir::ObjectSetId> {
        let braced = match &set.root.as_ref()?.kind {
            ElementKind::Braced(braced) => braced,
            // `(Set)`: vendors leave out the braces of a table constraint.
            ElementKind::Type(ty) if self.options.lenient => {
                let ast::TypeKind::Reference(reference) = &ty.kind else { return None };
                return match self.peek(scope, &reference.name.text)? {
                    Binding::ObjectSet(set) => {
                        self.lookup(scope, reference);
                        let message = "an object set as a constraint requires braces";
                        let finding =
                            self.slip("E0407", ty.span, message).label("taken as a table constraint");
                        self.report(finding);
                        Some(set)
                    }
                    _ => None,
                };
            }
            _ => return None,
        };
        let mut cursor = self.cursor(scope, *braced).inner();
        let base = self.base(governor);
        let class = match &self.model.types[base.index()].kind {
            TypeKind::Open(Some((class, _))) => *class,
            TypeKind::Sequence(_) | TypeKind::Set(_) | TypeKind::SequenceOf(..) | TypeKind::SetOf(..) => {
                return None;
            }
            _ if cursor.peek_kind() != TokenKind::Upper => return None,
            _ => {
                let name = cursor.text();
                match self.peek(scope, name)? {
                    Binding::ObjectSet(set) => self.object_set_class(set),
                    _ => return None,
                }
            }
        };
        let tree = match cursor.element_set() {
            Ok(tree) => self.keep_set(tree),
            Err(finding) => {
                self.report_unread(*finding);
                return None;
            }
        };
        Some(self.new_object_set(scope, tree, class, None))
    }

    /// A set of values of the governor's type (X.680 §50).
    pub(crate) fn element_set(
        &mut self,
        scope: &Scope<'a>,
        set: &'a ast::ElementSet,
        governor: TypeId,
    ) -> ElementSet {
        let base = self.base(governor);
        let root = set.root.as_ref().map_or(Element::All, |root| self.element(scope, root, governor, base));
        let additional =
            set.additional.as_ref().map(|more| Box::new(self.element(scope, more, governor, base)));
        ElementSet { root, extensible: set.extensible, additional }
    }

    fn element(
        &mut self,
        scope: &Scope<'a>,
        element: &'a ast::Element,
        governor: TypeId,
        base: TypeId,
    ) -> Element {
        if !self.spend(1, element.span) || !self.enter(element.span) {
            return Element::All;
        }
        let element = self.element_here(scope, element, governor, base);
        self.leave();
        element
    }

    fn element_here(
        &mut self,
        scope: &Scope<'a>,
        element: &'a ast::Element,
        governor: TypeId,
        base: TypeId,
    ) -> Element {
        match &element.kind {
            ElementKind::Union(parts) => {
                Element::Union(parts.iter().map(|part| self.element(scope, part, governor, base)).collect())
            }
            ElementKind::Intersection(parts) => Element::Intersection(
                parts.iter().map(|part| self.element(scope, part, governor, base)).collect(),
            ),
            ElementKind::Except(from, what) => {
                let from = self.element(scope, from, governor, base);
                let what = self.element(scope, what, governor, base);
                Element::Except(Box::new(from), Box::new(what))
            }
            ElementKind::AllExcept(what) => {
                let what = self.element(scope, what, governor, base);
                Element::Except(Box::new(Element::All), Box::new(what))
            }
            ElementKind::Value(value) => self.value_element(scope, value, governor, base),
            ElementKind::Range(lo, hi) => self.range_element(scope, lo, hi, base, element.span),
            ElementKind::Type(ty) => self.type_element(scope, ty, base),
            ElementKind::Size(inner) => {
                if !self.takes(base, Facet::Size, element.span) {
                    return Element::All;
                }
                let integer = self.type_of(BuiltIn::Integer);
                match self.inner_set(scope, inner, integer) {
                    Some(set) => {
                        if is_negative(&set.root) || set.additional.as_deref().is_some_and(is_negative) {
                            let finding = self
                                .slip("E0408", element.span, "a size is not negative")
                                .note("X.680 §51.5");
                            self.report(finding);
                        }
                        Element::Size(set)
                    }
                    None => Element::All,
                }
            }
            ElementKind::Alphabet(inner) => {
                if !self.takes(base, Facet::Alphabet, element.span) {
                    return Element::All;
                }
                self.inner_set(scope, inner, base).map_or(Element::All, Element::Alphabet)
            }
            ElementKind::Pattern(value) => {
                if !self.takes(base, Facet::Pattern, element.span) {
                    return Element::All;
                }
                match self.value(scope, value, base) {
                    Value::Text(text) => Element::Pattern(text),
                    _ => Element::All,
                }
            }
            ElementKind::Settings(value) => match &value.kind {
                ValueKind::String(text) => Element::Settings(text.to_string()),
                _ => Element::All,
            },
            ElementKind::WithComponent(inner) => {
                let (TypeKind::SequenceOf(_, item) | TypeKind::SetOf(_, item)) =
                    self.model.types[base.index()].kind
                else {
                    if !is_open(&self.model.types[base.index()].kind) {
                        self.misplaced("WITH COMPONENT", base, element.span, "SEQUENCE OF and SET OF");
                    }
                    return Element::All;
                };
                match self.constraint(scope, inner, item) {
                    Some(inner) => Element::WithComponent(Box::new(inner)),
                    None => Element::All,
                }
            }
            ElementKind::WithComponents { partial, components } => {
                self.with_components(scope, *partial, components, base, element.span)
            }
            ElementKind::Braced(braced) => {
                let value = ast::Value { kind: ValueKind::Braced(*braced), span: element.span };
                let value = self.keep_value(value);
                self.value_element(scope, value, governor, base)
            }
        }
    }

    fn value_element(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        governor: TypeId,
        base: TypeId,
    ) -> Element {
        if matches!(self.model.types[base.index()].kind, TypeKind::Error) {
            return Element::All;
        }
        if let ValueKind::Integer(_) = value.kind
            && self.counts_without_size(base, value.span)
        {
            let integer = self.type_of(BuiltIn::Integer);
            let size = Element::Value(self.value(scope, value, integer));
            return Element::Size(Box::new(ElementSet { root: size, extensible: false, additional: None }));
        }
        match self.value(scope, value, governor) {
            Value::Error => Element::All,
            value => Element::Value(value),
        }
    }

    /// `OCTET STRING (1..8)`: vendors leave out SIZE.
    fn counts_without_size(&mut self, base: TypeId, span: Span) -> bool {
        let kind = &self.model.types[base.index()].kind;
        let sized = matches!(
            kind,
            TypeKind::OctetString
                | TypeKind::BitString(_)
                | TypeKind::CharacterString(_)
                | TypeKind::SequenceOf(..)
                | TypeKind::SetOf(..)
        );
        if !sized || !self.options.lenient {
            return false;
        }
        let message = format!("{} takes no numbers", kind_name(kind));
        let finding = self.slip("E0402", span, message).label("taken as `SIZE (…)`");
        self.report(finding);
        true
    }

    fn range_element(
        &mut self,
        scope: &Scope<'a>,
        lo: &'a ast::Endpoint,
        hi: &'a ast::Endpoint,
        base: TypeId,
        span: Span,
    ) -> Element {
        let kind = &self.model.types[base.index()].kind;
        let is_text = matches!(kind, TypeKind::CharacterString(_));
        match kind {
            TypeKind::Integer(_) | TypeKind::Real => {}
            TypeKind::Error | TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) => return Element::All,
            _ => {
                let number = |end: &ast::Endpoint| matches!(&end.value, EndpointValue::Value(value) if matches!(value.kind, ValueKind::Integer(_)));
                if (number(lo) || number(hi)) && self.counts_without_size(base, span) {
                    let integer = self.type_of(BuiltIn::Integer);
                    let root = self.range_element(scope, lo, hi, integer, span);
                    return Element::Size(Box::new(ElementSet { root, extensible: false, additional: None }));
                }
                let timed = matches!(
                    self.model.types[base.index()].kind,
                    TypeKind::Time | TypeKind::UsefulTime(_) | TypeKind::GeneralizedTime | TypeKind::UtcTime
                );
                if !is_text && !timed {
                    self.misplaced("a range", base, span, "INTEGER, REAL and character strings");
                    return Element::All;
                }
            }
        }
        let lo_bound = self.bound(scope, lo, base, true);
        let hi_bound = self.bound(scope, hi, base, false);
        if let (Bound::Closed(lo_value), Bound::Closed(hi_value)) = (&lo_bound, &hi_bound) {
            let empty = match (lo_value, hi_value) {
                (Value::Integer(lo), Value::Integer(hi)) => lo > hi,
                (Value::Text(lo), Value::Text(hi)) if is_text => lo > hi,
                _ => false,
            };
            if empty {
                let text = |value: &Value| self.model.notation(value).to_string();
                let message = format!("the range from {} to {} is empty", text(lo_value), text(hi_value));
                let mut finding = self
                    .slip("E0401", span, message)
                    .label("the lower end is above the upper one")
                    .help("exchange the ends");
                finding.fixes.extend(exchange(self.map, lo, hi));
                self.report(finding);
                return Element::All;
            }
        }
        Element::Range(lo_bound, hi_bound)
    }

    /// An end of a range, closed where it is an integer (X.680 §51.4.2). An end that is not known is no bound.
    fn bound(&mut self, scope: &Scope<'a>, end: &'a ast::Endpoint, base: TypeId, lower: bool) -> Bound {
        let value = match &end.value {
            EndpointValue::Min => return Bound::Min,
            EndpointValue::Max => return Bound::Max,
            EndpointValue::Value(value) => self.value(scope, value, base),
        };
        match value {
            Value::Error => {
                if lower {
                    Bound::Min
                } else {
                    Bound::Max
                }
            }
            Value::Integer(value) if end.open => {
                let one = BigInt::from(1);
                Bound::Closed(Value::Integer(if lower { value + one } else { value - one }))
            }
            value if end.open => Bound::Open(value),
            value => Bound::Closed(value),
        }
    }

    /// A contained subtype (X.680 §51.3), or a reference in capitals to something else that has values.
    fn type_element(&mut self, scope: &Scope<'a>, ty: &'a ast::Type, base: TypeId) -> Element {
        let plain = ty.tags.is_empty() && ty.constraints.is_empty();
        let contained = match &ty.kind {
            ast::TypeKind::Null if matches!(self.model.types[base.index()].kind, TypeKind::Null) => {
                return Element::Value(Value::Null);
            }
            ast::TypeKind::Reference(reference) if plain => match self.lookup(scope, reference) {
                Some(Binding::Type(ty) | Binding::ValueSet(ty)) => ty,
                Some(Binding::Value(_, value)) => return Element::Value(value),
                Some(Binding::Missing) | None => return Element::All,
                Some(other) => {
                    self.report_wrong_kind(reference, &other, "a type or value set");
                    return Element::All;
                }
            },
            ast::TypeKind::FromObject { base: object, path }
            | ast::TypeKind::ClassField { class: object, path }
                if plain =>
            {
                match self.setting_of(scope, object, path) {
                    Some(ir::Setting::Type(ty) | ir::Setting::ValueSet(ty)) => ty,
                    Some(ir::Setting::Value(_, value)) => return Element::Value(value),
                    _ => return Element::All,
                }
            }
            _ => self.ty(scope, ty),
        };
        let other = self.base(contained);
        let (own, given) = (&self.model.types[base.index()].kind, &self.model.types[other.index()].kind);
        if !is_open(own) && !is_open(given) && std::mem::discriminant(own) != std::mem::discriminant(given) {
            let message = format!("{} is not a subtype of {}", kind_name(given), kind_name(own));
            let finding =
                self.slip("E0403", ty.span, message).label("the constraint is ignored").note("X.680 §51.3");
            self.report(finding);
            return Element::All;
        }
        Element::Type(contained)
    }

    fn inner_set(
        &mut self,
        scope: &Scope<'a>,
        inner: &'a ast::Constraint,
        governor: TypeId,
    ) -> Option<Box<ElementSet>> {
        match &inner.kind {
            ConstraintKind::Subtype(set) => Some(Box::new(self.element_set(scope, set, governor))),
            // `SIZE ({Set})`
            ConstraintKind::Table { set, .. } => match self.lookup(scope, set)? {
                Binding::ValueSet(ty) | Binding::Type(ty) => Some(Box::new(ElementSet {
                    root: Element::Type(ty),
                    extensible: false,
                    additional: None,
                })),
                _ => None,
            },
            _ => None,
        }
    }

    /// Inner subtyping by component (X.680 §51.8).
    fn with_components(
        &mut self,
        scope: &Scope<'a>,
        partial: bool,
        components: &'a [ast::ComponentConstraint],
        base: TypeId,
        span: Span,
    ) -> Element {
        let mut bound = Vec::with_capacity(components.len());
        for component in components {
            let governor = match &self.model.types[base.index()].kind {
                TypeKind::Sequence(known) | TypeKind::Set(known) | TypeKind::Choice(known) => {
                    let Some(found) = known.list.iter().find(|c| c.name == component.name.text) else {
                        self.no_component(base, &component.name);
                        continue;
                    };
                    let ty = found.ty;
                    self.component_occurs(component.name.span, base, &component.name.text);
                    ty
                }
                // The associated SEQUENCE has INTEGERs only (X.680 §21.5).
                TypeKind::Real => self.type_of(BuiltIn::Integer),
                TypeKind::EmbeddedPdv | TypeKind::UnrestrictedCharacterString => {
                    let built_in = match component.name.text.as_str() {
                        "identification" => BuiltIn::Identification,
                        "data-value-descriptor" => BuiltIn::ObjectDescriptor,
                        "data-value" | "string-value" => BuiltIn::OctetString,
                        _ => {
                            self.no_component(base, &component.name);
                            continue;
                        }
                    };
                    self.type_of(built_in)
                }
                // The values of EXTERNAL have another form (X.690 §8.18.1) than its associated type.
                TypeKind::External | TypeKind::InstanceOf(_) => {
                    bound.push(ir::ComponentConstraint {
                        name: component.name.text.clone(),
                        constraint: None,
                        presence: component.presence,
                    });
                    continue;
                }
                TypeKind::Error | TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) => return Element::All,
                _ => {
                    self.misplaced("WITH COMPONENTS", base, span, "SEQUENCE, SET, CHOICE and REAL");
                    return Element::All;
                }
            };
            let constraint = component
                .constraint
                .as_ref()
                .and_then(|constraint| self.constraint(scope, constraint, governor))
                .map(Box::new);
            bound.push(ir::ComponentConstraint {
                name: component.name.text.clone(),
                constraint,
                presence: component.presence,
            });
        }
        Element::WithComponents { partial, components: bound }
    }

    fn no_component(&mut self, base: TypeId, name: &ast::Ident) {
        let kind = kind_name(&self.model.types[base.index()].kind);
        let message = format!("this {kind} has no component `{}`", name.text);
        let finding = self.slip("E0404", name.span, message).label("ignored");
        self.report(finding);
    }

    /// Whether a type has sizes or characters to constrain (X.680 §51.1, Table 9); else a report.
    fn takes(&mut self, base: TypeId, facet: Facet, span: Span) -> bool {
        use TypeKind as K;
        let kind = &self.model.types[base.index()].kind;
        let takes = match kind {
            K::CharacterString(_) | K::UtcTime | K::GeneralizedTime | K::ObjectDescriptor => true,
            K::BitString(_)
            | K::OctetString
            | K::SequenceOf(..)
            | K::SetOf(..)
            | K::UnrestrictedCharacterString => facet == Facet::Size,
            K::OidIri | K::RelativeOidIri => facet == Facet::Pattern,
            K::Error | K::Reference(_) | K::Open(_) | K::AnyDefinedBy(_) => return false,
            _ => false,
        };
        if !takes {
            let (what, which) = match facet {
                Facet::Size => ("SIZE", "strings, SEQUENCE OF and SET OF"),
                Facet::Alphabet => ("FROM", "character strings"),
                Facet::Pattern => ("PATTERN", "character strings"),
            };
            self.misplaced(what, base, span, which);
        }
        takes
    }

    fn misplaced(&mut self, what: &str, base: TypeId, span: Span, which: &str) {
        let kind = kind_name(&self.model.types[base.index()].kind);
        let finding = self
            .slip("E0402", span, format!("{what} does not apply to {kind}"))
            .label(format!("it applies to {which}"))
            .note("X.680 §51.1");
        self.report(finding);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Facet {
    Size,
    Alphabet,
    Pattern,
}

/// Whether nothing can be said of what a type takes.
fn is_open(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Error | TypeKind::Reference(_) | TypeKind::Open(_) | TypeKind::AnyDefinedBy(_))
}

/// Whether a set of sizes names a negative one.
fn is_negative(element: &Element) -> bool {
    let negative = |value: &Value| matches!(value, Value::Integer(n) if n.sign() == num_bigint::Sign::Minus);
    match element {
        Element::Value(value) => negative(value),
        Element::Range(Bound::Closed(value), _) | Element::Range(_, Bound::Closed(value))
            if negative(value) =>
        {
            true
        }
        Element::Union(parts) | Element::Intersection(parts) => parts.iter().any(is_negative),
        _ => false,
    }
}

/// Returns the edits that exchange the ends of a range.
fn exchange(map: &SourceMap, lo: &ast::Endpoint, hi: &ast::Endpoint) -> Option<Fix> {
    let value = |end: &ast::Endpoint| match &end.value {
        EndpointValue::Value(value) if !end.open => Some(value.span),
        _ => None,
    };
    let (lo, hi) = (value(lo)?, value(hi)?);
    let edit = |span: Span, other: Span| Edit { span, text: map.text(other).to_owned() };
    let edits = vec![edit(lo, hi), edit(hi, lo)];
    Some(Fix { title: "exchange the ends".to_owned(), edits, is_certain: false })
}
