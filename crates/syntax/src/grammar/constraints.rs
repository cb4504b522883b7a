//! Constraints (X.680 §49–§51, X.682) and exceptions (X.680 §53).

use crate::ast::{
    ComponentConstraint, Constraint, ConstraintKind, Element, ElementKind, ElementSet, Endpoint,
    EndpointValue, Exception, PresenceConstraint, Value, ValueKind,
};
use crate::parser::{Parsed, Parser};
use crate::source::Span;
use crate::token::{Keyword as K, TokenKind as T};

impl Parser<'_> {
    /// Constraint (§49.6) with its parentheses.
    pub(crate) fn constraint(&mut self) -> Parsed<Constraint> {
        self.nested(|p| {
            let from = p.expect(T::OpenParen)?;
            let kind = p.constraint_spec()?;
            let exception = if p.peek() == T::Bang { Some(Box::new(p.exception()?)) } else { None };
            p.expect(T::CloseParen)?;
            Ok(Constraint { kind, exception, span: p.since(from) })
        })
    }

    /// `SIZE (…)` between SEQUENCE and OF (§50): the same as in parentheses.
    #[inline(never)]
    pub(crate) fn size_in_front(&mut self) -> Parsed<Constraint> {
        let from = self.span();
        self.bump();
        let size = self.constraint()?;
        let span = self.since(from);
        let element = Element { kind: ElementKind::Size(Box::new(size)), span };
        let set = ElementSet { root: Some(element), extensible: false, additional: None, span };
        Ok(Constraint { kind: ConstraintKind::Subtype(set), exception: None, span })
    }

    /// ConstraintSpec (§49.6, X.682 §8).
    #[inline(never)]
    fn constraint_spec(&mut self) -> Parsed<ConstraintKind> {
        match self.peek() {
            T::Word(K::Constrained) => {
                self.bump();
                self.expect_word(K::By)?;
                Ok(ConstraintKind::UserDefined(self.braced()?))
            }
            T::Word(K::Containing)
                if !self.value_start(self.pos + 1) || self.peek_at(1) == T::Word(K::Null) =>
            {
                self.bump();
                let containing = Some(Box::new(self.ty()?));
                let encoded_by = if self.at_word(K::Encoded) { Some(self.encoded_by()?) } else { None };
                Ok(ConstraintKind::Contents { containing, encoded_by })
            }
            T::Word(K::Encoded) => {
                Ok(ConstraintKind::Contents { containing: None, encoded_by: Some(self.encoded_by()?) })
            }
            T::OpenBrace if self.at_table() => self.table_constraint(),
            _ => self.element_set().map(ConstraintKind::Subtype),
        }
    }

    #[inline(never)]
    fn encoded_by(&mut self) -> Parsed<Value> {
        self.bump();
        self.expect_word(K::By)?;
        self.value()
    }

    /// Whether exactly one reference in capitals stands in the braces here.
    fn at_table(&self) -> bool {
        let mut at = self.pos + 1;
        if self.kind_at(at) != T::Upper {
            return false;
        }
        if self.kind_at(at + 1) == T::Dot && self.kind_at(at + 2) == T::Upper {
            at += 2;
        }
        at += 1;
        if self.kind_at(at) == T::OpenBrace {
            at = self.skip_group(at);
        }
        self.kind_at(at) == T::CloseBrace
            && matches!(self.kind_at(at + 1), T::CloseParen | T::OpenBrace | T::Bang)
    }

    /// TableConstraint (X.682 §10.3).
    #[inline(never)]
    fn table_constraint(&mut self) -> Parsed<ConstraintKind> {
        self.expect(T::OpenBrace)?;
        let set = self.any_reference()?;
        self.expect(T::CloseBrace)?;
        let mut relations = Vec::new();
        if self.eat(T::OpenBrace) {
            while self.peek() != T::CloseBrace {
                relations.push(self.at_notation()?);
                if !self.separator(T::CloseBrace)? {
                    break;
                }
            }
            self.expect(T::CloseBrace)?;
        }
        Ok(ConstraintKind::Table { set, relations })
    }

    /// A set with its braces: ValueSet (§16.7), ObjectSet (X.681 §12.3).
    pub(crate) fn braced_element_set(&mut self) -> Parsed<ElementSet> {
        self.nested(|p| {
            let from = p.expect(T::OpenBrace)?;
            if p.peek() == T::CloseBrace {
                p.bump();
                let span = p.since(from);
                p.lenient("L0211", span, "a set has at least one element or `...`", "taken as an empty set");
                return Ok(ElementSet { root: None, extensible: false, additional: None, span });
            }
            let mut set = p.element_set()?;
            p.expect(T::CloseBrace)?;
            set.span = p.since(from);
            Ok(set)
        })
    }

    /// ElementSetSpecs (§50.1), ObjectSetSpec (X.681 §12.3).
    #[inline(never)]
    pub(crate) fn element_set(&mut self) -> Parsed<ElementSet> {
        let from = self.span();
        let mut set = ElementSet { root: None, extensible: false, additional: None, span: from };
        if self.peek() == T::Ellipsis {
            self.bump();
            set.extensible = true;
        } else {
            set.root = Some(self.union()?);
            if self.peek() == T::Comma && self.peek_at(1) == T::Ellipsis {
                self.pos += 2;
                set.extensible = true;
            } else {
                self.stray_commas(&mut set)?;
            }
        }
        if set.extensible && self.peek() == T::Comma {
            self.bump();
            set.additional = Some(Box::new(self.union()?));
            self.second_marker(&mut set)?;
        }
        set.span = self.since(from);
        Ok(set)
    }

    /// A second `...` in a set, with what follows it.
    #[inline(never)]
    fn second_marker(&mut self, set: &mut ElementSet) -> Parsed<()> {
        while self.options.lenient && self.peek() == T::Comma && self.peek_at(1) == T::Ellipsis {
            self.bump();
            let span = self.span();
            self.bump();
            self.lenient("L0207", span, "a set has one extension marker", "the second is ignored");
            if self.eat(T::Comma) {
                let next = self.union()?;
                if let Some(additional) = set.additional.take() {
                    set.additional = Some(Box::new(join(vec![*additional, next])));
                }
            }
        }
        Ok(())
    }

    /// Commas where bars belong, as in `(1, 2, 3)` or `(1..5,)`.
    #[inline(never)]
    fn stray_commas(&mut self, set: &mut ElementSet) -> Parsed<()> {
        while self.options.lenient && self.peek() == T::Comma {
            let span = self.span();
            self.bump();
            if matches!(self.peek(), T::CloseParen | T::CloseBrace) {
                self.lenient("L0203", span, "a comma before the end of a constraint", "ignored");
                break;
            }
            self.lenient("L0212", span, "a comma between the elements of a set", "read as `|`");
            if self.eat(T::Ellipsis) {
                set.extensible = true;
                break;
            }
            let next = self.union()?;
            if let Some(root) = set.root.take() {
                set.root = Some(join(vec![root, next]));
            }
        }
        Ok(())
    }

    /// Unions (§50.1).
    fn union(&mut self) -> Parsed<Element> {
        self.nested(|p| {
            let first = p.intersection()?;
            if !p.at_union_mark() {
                return Ok(first);
            }
            let mut elements = vec![first];
            while p.at_union_mark() {
                p.bump();
                elements.push(p.intersection()?);
            }
            Ok(join(elements))
        })
    }

    fn at_union_mark(&self) -> bool {
        matches!(self.peek(), T::Bar | T::Word(K::Union))
    }

    /// Intersections (§50.1).
    #[inline(never)]
    fn intersection(&mut self) -> Parsed<Element> {
        let first = self.exclusion()?;
        if !self.at_intersection_mark() {
            return Ok(first);
        }
        let mut elements = vec![first];
        while self.at_intersection_mark() {
            self.bump();
            elements.push(self.exclusion()?);
        }
        let span = span_of(&elements);
        Ok(Element { kind: ElementKind::Intersection(elements), span })
    }

    fn at_intersection_mark(&self) -> bool {
        matches!(self.peek(), T::Caret | T::Word(K::Intersection))
    }

    /// `ALL EXCEPT a`, `a EXCEPT b` (§50.1).
    #[inline(never)]
    fn exclusion(&mut self) -> Parsed<Element> {
        let from = self.span();
        if self.eat_word(K::All) {
            self.expect_word(K::Except)?;
            let excluded = Box::new(self.element()?);
            return Ok(Element { kind: ElementKind::AllExcept(excluded), span: self.since(from) });
        }
        let element = self.element()?;
        if self.eat_word(K::Except) {
            let excluded = Box::new(self.element()?);
            return Ok(Element {
                kind: ElementKind::Except(Box::new(element), excluded),
                span: self.since(from),
            });
        }
        Ok(element)
    }

    /// Elements (§50.1), SubtypeElements (§51.1), ObjectSetElements (X.681 §12.3).
    #[inline(never)]
    fn element(&mut self) -> Parsed<Element> {
        let from = self.span();
        let kind = match self.peek() {
            T::OpenParen => {
                return self.nested(|p| {
                    p.bump();
                    let mut inner = p.union()?;
                    p.expect(T::CloseParen)?;
                    inner.span = p.since(from);
                    Ok(inner)
                });
            }
            T::OpenBrace => {
                let braced = self.braced()?;
                if self.peek() == T::Range || (self.peek() == T::Less && self.peek_at(1) == T::Range) {
                    // Quadruples and tuples (§41.8) are ends of ranges of characters.
                    let value = Value { kind: ValueKind::Braced(braced), span: braced.span };
                    self.range_or_value(Some(value))?
                } else {
                    ElementKind::Braced(braced)
                }
            }
            T::Word(K::Size) => {
                self.bump();
                ElementKind::Size(Box::new(self.constraint()?))
            }
            T::Word(K::From) => {
                self.bump();
                ElementKind::Alphabet(Box::new(self.constraint()?))
            }
            T::Word(K::Pattern) => {
                self.bump();
                ElementKind::Pattern(self.value()?)
            }
            T::Word(K::Settings) => {
                self.bump();
                ElementKind::Settings(self.value()?)
            }
            T::Word(K::Includes) => {
                self.bump();
                ElementKind::Type(Box::new(self.ty()?))
            }
            T::Word(K::With) => self.inner_type_constraint()?,
            T::Word(K::Min | K::Max) => self.range_or_value(None)?,
            T::Upper if self.peek_at(1) == T::Dot && self.peek_at(2) == T::Lower => {
                self.range_or_value(None)?
            }
            T::Lower if self.peek_at(1) == T::Less && self.peek_at(2) != T::Range => {
                ElementKind::Type(Box::new(self.ty()?))
            }
            T::Word(K::Null) => ElementKind::Type(Box::new(self.ty()?)),
            _ if self.type_start(self.pos) => self.type_element()?,
            _ if self.options.lenient
                && self.text().eq_ignore_ascii_case("size")
                && self.peek_at(1) == T::OpenParen =>
            {
                self.lenient("L0204", from, format!("`{}` is not spelt `SIZE`", self.text()), "accepted");
                self.bump();
                ElementKind::Size(Box::new(self.constraint()?))
            }
            _ => self.range_or_value(None)?,
        };
        Ok(Element { kind, span: self.since(from) })
    }

    /// What begins like a type: a contained subtype, an object set, `Type : value`, or a value in capitals.
    #[inline(never)]
    fn type_element(&mut self) -> Parsed<ElementKind> {
        let from = self.span();
        if self.options.lenient && self.text().eq_ignore_ascii_case("size") && self.peek_at(1) == T::OpenParen
        {
            self.lenient("L0204", from, format!("`{}` is not spelt `SIZE`", self.text()), "accepted");
            self.bump();
            return Ok(ElementKind::Size(Box::new(self.constraint()?)));
        }
        let ty = self.ty()?;
        if self.eat(T::Colon) {
            let value = self.value()?;
            let kind = ValueKind::Typed(Box::new(ty), Box::new(value));
            return Ok(ElementKind::Value(Value { kind, span: self.since(from) }));
        }
        if self.peek() == T::Range || (self.peek() == T::Less && self.peek_at(1) == T::Range) {
            let value = self.type_as_value(ty)?;
            return self.range_or_value(Some(value));
        }
        Ok(ElementKind::Type(Box::new(ty)))
    }

    /// SingleValue (§51.2) or ValueRange (§51.4).
    #[inline(never)]
    fn range_or_value(&mut self, lower: Option<Value>) -> Parsed<ElementKind> {
        let lower = match lower {
            Some(value) => EndpointValue::Value(value),
            None if self.eat_word(K::Min) => EndpointValue::Min,
            None if self.eat_word(K::Max) => EndpointValue::Max,
            None => EndpointValue::Value(self.value()?),
        };
        let open = self.peek() == T::Less && self.peek_at(1) == T::Range;
        self.pos += usize::from(open);
        let span = self.span();
        let spelt_with_three = self.options.lenient && self.peek() == T::Ellipsis;
        if !self.eat(T::Range) && !spelt_with_three {
            return match lower {
                EndpointValue::Value(value) => Ok(ElementKind::Value(value)),
                // `(MIN)` and `(MAX)` name one value; only a range can say so.
                EndpointValue::Min => {
                    Ok(ElementKind::Range(point(EndpointValue::Min), point(EndpointValue::Min)))
                }
                EndpointValue::Max => {
                    Ok(ElementKind::Range(point(EndpointValue::Max), point(EndpointValue::Max)))
                }
            };
        }
        if spelt_with_three {
            self.bump();
            self.lenient("L0213", span, "a range is written with `..`", "read as `..`");
        }
        let lower = Endpoint { value: lower, open };
        let open = self.eat(T::Less);
        let value = if self.eat_word(K::Max) {
            EndpointValue::Max
        } else if self.eat_word(K::Min) {
            EndpointValue::Min
        } else {
            EndpointValue::Value(self.value()?)
        };
        Ok(ElementKind::Range(lower, Endpoint { value, open }))
    }

    /// InnerTypeConstraints (§51.8).
    #[inline(never)]
    fn inner_type_constraint(&mut self) -> Parsed<ElementKind> {
        self.bump();
        if self.eat_word(K::Component) {
            return Ok(ElementKind::WithComponent(Box::new(self.constraint()?)));
        }
        self.expect_word(K::Components)?;
        self.expect(T::OpenBrace)?;
        let mut partial = false;
        let mut components = Vec::new();
        self.leading_commas();
        while self.peek() != T::CloseBrace {
            if self.eat(T::Ellipsis) {
                partial = true;
            } else {
                components.push(self.component_constraint()?);
            }
            if !self.separator(T::CloseBrace)? {
                break;
            }
        }
        self.expect(T::CloseBrace)?;
        Ok(ElementKind::WithComponents { partial, components })
    }

    /// NamedConstraint (§51.8.5).
    #[inline(never)]
    fn component_constraint(&mut self) -> Parsed<ComponentConstraint> {
        let name = self.item_name("a component's identifier")?;
        let constraint = if self.peek() == T::OpenParen { Some(self.constraint()?) } else { None };
        let presence = match self.peek() {
            T::Word(K::Present) => Some(PresenceConstraint::Present),
            T::Word(K::Absent) => Some(PresenceConstraint::Absent),
            T::Word(K::Optional) => Some(PresenceConstraint::Optional),
            _ => None,
        };
        self.pos += usize::from(presence.is_some());
        Ok(ComponentConstraint { name, constraint, presence })
    }

    /// ExceptionSpec (§53).
    #[inline(never)]
    pub(crate) fn exception(&mut self) -> Parsed<Exception> {
        self.expect(T::Bang)?;
        if self.type_start(self.pos)
            && !(self.peek() == T::Upper && self.peek_at(1) == T::Dot && self.peek_at(2) == T::Lower)
        {
            let ty = Some(Box::new(self.ty()?));
            self.expect(T::Colon)?;
            return Ok(Exception { ty, value: self.value()? });
        }
        Ok(Exception { ty: None, value: self.value()? })
    }
}

fn point(value: EndpointValue) -> Endpoint {
    Endpoint { value, open: false }
}

/// A union of elements in which no union is nested.
fn join(elements: Vec<Element>) -> Element {
    let span = span_of(&elements);
    let mut flat = Vec::with_capacity(elements.len());
    for element in elements {
        match element.kind {
            ElementKind::Union(inner) => flat.extend(inner),
            _ => flat.push(element),
        }
    }
    Element { kind: ElementKind::Union(flat), span }
}

fn span_of(elements: &[Element]) -> Span {
    let first = elements.first().map(|e| e.span).unwrap_or_default();
    elements.last().map_or(first, |last| first.to(last.span))
}
