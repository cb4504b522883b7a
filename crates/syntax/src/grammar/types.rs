//! Types (X.680 §17–§48) with their prefixes (§31).

use crate::ast::{
    Addition, Component, ComponentList, EncodingPrefix, EnumItem, Enumeration, Extension, Ident, NamedNumber,
    Presence, StringKind, TagClass, TagMode, TagPrefix, Type, TypeKind, UsefulTime, Value, ValueKind,
};
use crate::parser::{Parsed, Parser};
use crate::source::Span;
use crate::token::{Keyword as K, TokenKind as T};
use smol_str::SmolStr;

impl Parser<'_> {
    /// Whether a reserved word begins a type.
    pub(crate) fn type_word(&self, word: K) -> bool {
        use K::*;
        matches!(
            word,
            Any | Bit
                | BmpString
                | Boolean
                | Character
                | Choice
                | Date
                | DateTime
                | Duration
                | Embedded
                | Enumerated
                | External
                | GeneralizedTime
                | GeneralString
                | GraphicString
                | Ia5String
                | Instance
                | Integer
                | Iso646String
                | Null
                | NumericString
                | Object
                | ObjectDescriptor
                | Octet
                | OidIri
                | PrintableString
                | Real
                | RelativeOid
                | RelativeOidIri
                | Sequence
                | Set
                | T61String
                | TeletexString
                | Time
                | TimeOfDay
                | TypeIdentifier
                | AbstractSyntax
                | UniversalString
                | UtcTime
                | Utf8String
                | VideotexString
                | VisibleString
        )
    }

    /// Whether a type begins at a token that is not an identifier.
    pub(crate) fn type_start(&self, index: usize) -> bool {
        match self.kind_at(index) {
            T::Upper | T::OpenBracket => true,
            T::Word(word) => self.type_word(word),
            _ => false,
        }
    }

    /// Type (§17.1): prefixes, the type, and the constraints behind it (§49.6).
    pub(crate) fn ty(&mut self) -> Parsed<Type> {
        self.nested(Self::type_here)
    }

    #[inline(never)]
    fn type_here(&mut self) -> Parsed<Type> {
        let from = self.span();
        let mut ty = Type {
            tags: Vec::new(),
            encoding: Vec::new(),
            kind: TypeKind::Null,
            constraints: Vec::new(),
            span: from,
        };
        while self.peek() == T::OpenBracket || self.at_round_tag() {
            self.type_prefix(&mut ty)?;
        }
        self.type_kind(&mut ty)?;
        while self.peek() == T::OpenParen {
            let constraint = self.constraint()?;
            // A type has one constraint, if any: room for four, which `push` makes, would stay unused.
            ty.constraints.reserve_exact(1);
            ty.constraints.push(constraint);
        }
        if self.at_word(K::Size) && self.peek_at(1) == T::OpenParen && self.options.lenient {
            let constraint = self.size_in_front()?;
            self.lenient(
                "L0206",
                constraint.span,
                "`SIZE` without parentheses around it",
                "read as a constraint",
            );
            ty.constraints.push(constraint);
        }
        ty.span = self.since(from);
        Ok(ty)
    }

    /// TypePrefix (§31.1): a tag, or an encoding prefix, which stays unread.
    #[inline(never)]
    fn type_prefix(&mut self, ty: &mut Type) -> Parsed<()> {
        let first = self.pos;
        let from = self.span();
        let round = self.peek() == T::OpenParen;
        if round {
            let message = "a tag requires square brackets";
            self.lenient("L0218", from, message, "the parenthesis is read as a bracket");
        }
        self.bump();
        if self.text() == "TAG" && self.peek_at(1) == T::Colon {
            self.pos += 2;
        }
        let class = match self.peek() {
            T::Word(K::Universal) => Some(TagClass::Universal),
            T::Word(K::Application) => Some(TagClass::Application),
            T::Word(K::Private) => Some(TagClass::Private),
            T::Upper if self.text() == "CONTEXT" && self.peek_at(1) == T::Number => Some(TagClass::Context),
            _ => None,
        };
        let number = self.pos + usize::from(class.is_some());
        let is_tag = class.is_some()
            || matches!(
                (self.kind_at(number), self.kind_at(number + 1)),
                (T::Number, _) | (T::Lower, T::CloseBracket | T::Dot)
            )
            || (self.kind_at(number) == T::Upper && self.kind_at(number + 1) == T::Dot);
        if !is_tag {
            let reference =
                (self.peek() == T::Upper && self.peek_at(1) == T::Colon).then(|| self.take_ident());
            while self.peek() != T::CloseBracket {
                if self.bump().is_none() {
                    return Err(self.expected("`]`"));
                }
            }
            self.bump();
            let text = self.taken_since(first);
            ty.encoding.push(EncodingPrefix { reference, text });
            return Ok(());
        }
        self.pos = number;
        let number = self.value()?;
        self.expect(if round { T::CloseParen } else { T::CloseBracket })?;
        let mode = match self.peek() {
            T::Word(K::Implicit) => Some(TagMode::Implicit),
            T::Word(K::Explicit) => Some(TagMode::Explicit),
            _ => None,
        };
        self.pos += usize::from(mode.is_some());
        let class = class.unwrap_or(TagClass::Context);
        ty.tags.push(TagPrefix { class, number, mode, span: self.since(from) });
        Ok(())
    }

    /// Whether `(0)` or `(APPLICATION 0)` stands where a type must begin: a tag, as one vendor prints it.
    fn at_round_tag(&self) -> bool {
        if self.peek() != T::OpenParen || !self.options.lenient {
            return false;
        }
        let class = matches!(self.peek_at(1), T::Word(K::Universal | K::Application | K::Private));
        let number = 1 + usize::from(class);
        self.peek_at(number) == T::Number && self.peek_at(number + 1) == T::CloseParen
    }

    /// Whether components or alternatives in parentheses begin here: `CHOICE ( a …`. Behind SEQUENCE and SET a
    /// parenthesis may also begin a constraint, which `OF` follows.
    fn at_round_list(&self) -> bool {
        self.options.lenient
            && self.peek() == T::OpenParen
            && matches!(self.peek_at(1), T::Lower | T::Ellipsis)
            && (self.type_start(self.pos + 2)
                || matches!(self.peek_at(2), T::OpenParen | T::Lower | T::Comma))
            && self.kind_at(self.skip_group(self.pos)) != T::Word(K::Of)
    }

    #[inline(never)]
    fn type_kind(&mut self, ty: &mut Type) -> Parsed<()> {
        ty.kind = match self.peek() {
            T::Word(word) if self.type_word(word) => return self.builtin_type(word, ty),
            T::Upper => {
                if let Some(word) = self.misspelt_type_word() {
                    return self.builtin_type(word, ty);
                }
                self.reference_type()?
            }
            T::Lower if self.peek_at(1) == T::Less => {
                let name = self.take_ident();
                self.bump();
                TypeKind::Selection(name, Box::new(self.ty()?))
            }
            T::Lower
                if self.peek_at(1) == T::Dot && matches!(self.peek_at(2), T::UpperField | T::LowerField) =>
            {
                let base = self.plain_reference();
                TypeKind::FromObject { base: Box::new(base), path: self.field_path(true)? }
            }
            T::Lower if self.options.lenient => {
                if let Some(word) = self.misspelt_type_word() {
                    return self.builtin_type(word, ty);
                }
                let span = self.span();
                let reference = self.any_reference()?;
                self.lenient("L0205", span, "a type's name begins with a capital letter", "taken as a type");
                TypeKind::Reference(reference)
            }
            _ => return Err(self.expected("a type")),
        };
        Ok(())
    }

    /// DefinedType (§14), ObjectClassFieldType (X.681 §14), TypeFromObject (X.681 §15).
    #[inline(never)]
    fn reference_type(&mut self) -> Parsed<TypeKind> {
        let base = self.any_reference()?;
        if self.peek() == T::Dot && matches!(self.peek_at(1), T::UpperField | T::LowerField) {
            let path = self.field_path(true)?;
            // Only the case of the base tells a class from an object set, and even that is a hint (X.681 §7.1).
            let class = base.parameters.is_none() && !base.name.text.bytes().any(|b| b.is_ascii_lowercase());
            return Ok(if class {
                TypeKind::ClassField { class: Box::new(base), path }
            } else {
                TypeKind::FromObject { base: Box::new(base), path }
            });
        }
        Ok(TypeKind::Reference(base))
    }

    /// A built-in type's name in another case, such as `IA5STRING`, unless the file defines that name.
    fn misspelt_type_word(&mut self) -> Option<K> {
        if !self.options.lenient {
            return None;
        }
        let text = self.text();
        let word = match text.len() {
            3..=16 => K::lookup_any_case(text).filter(|&word| self.type_word(word))?,
            _ => return None,
        };
        if self.knows(text)
            || matches!(
                word,
                K::Date
                    | K::Time
                    | K::Duration
                    | K::Object
                    | K::Set
                    | K::Any
                    | K::Real
                    | K::Character
                    | K::Bit
                    | K::External
                    | K::TypeIdentifier
                    | K::AbstractSyntax
                    | K::Instance
                    | K::Embedded
            )
        {
            return None;
        }
        let span = self.span();
        self.lenient(
            "L0204",
            span,
            format!("`{text}` is not spelt `{}`", word.text()),
            "taken as the built-in type",
        );
        Some(word)
    }

    #[inline(never)]
    fn builtin_type(&mut self, word: K, ty: &mut Type) -> Parsed<()> {
        use StringKind as S;
        if matches!(word, K::TypeIdentifier | K::AbstractSyntax) {
            ty.kind = self.reference_type()?;
            if let TypeKind::FromObject { base, path } = ty.kind.clone() {
                ty.kind = TypeKind::ClassField { class: base, path };
            }
            return Ok(());
        }
        self.bump();
        ty.kind = match word {
            K::Boolean => TypeKind::Boolean,
            K::Integer => TypeKind::Integer(self.named_numbers()?),
            K::Enumerated => TypeKind::Enumerated(self.enumeration()?),
            K::Real => TypeKind::Real,
            K::Bit => {
                self.word_any_case(K::String)?;
                TypeKind::BitString(self.named_numbers()?)
            }
            K::Octet => {
                self.word_any_case(K::String)?;
                TypeKind::OctetString
            }
            K::Null => TypeKind::Null,
            K::Sequence | K::Set => return self.sequence_or_set(word == K::Set, ty),
            K::Choice => TypeKind::Choice(Box::new(self.component_list()?)),
            K::Object => {
                self.word_any_case(K::Identifier)?;
                TypeKind::ObjectIdentifier
            }
            K::RelativeOid => TypeKind::RelativeOid,
            K::OidIri => TypeKind::OidIri,
            K::RelativeOidIri => TypeKind::RelativeOidIri,
            K::Embedded => {
                self.word_any_case(K::Pdv)?;
                TypeKind::EmbeddedPdv
            }
            K::External => TypeKind::External,
            K::Time => TypeKind::Time,
            K::Date => TypeKind::UsefulTime(UsefulTime::Date),
            K::TimeOfDay => TypeKind::UsefulTime(UsefulTime::TimeOfDay),
            K::DateTime => TypeKind::UsefulTime(UsefulTime::DateTime),
            K::Duration => TypeKind::UsefulTime(UsefulTime::Duration),
            K::Character => {
                self.word_any_case(K::String)?;
                TypeKind::UnrestrictedCharacterString
            }
            K::GeneralizedTime => TypeKind::GeneralizedTime,
            K::UtcTime => TypeKind::UtcTime,
            K::ObjectDescriptor => TypeKind::ObjectDescriptor,
            K::Instance => {
                self.word_any_case(K::Of)?;
                TypeKind::InstanceOf(self.any_reference()?)
            }
            K::Any => {
                let defined = self.eat_word(K::Defined);
                if defined {
                    self.word_any_case(K::By)?;
                }
                TypeKind::Any(if defined { Some(self.any_name("an identifier")?) } else { None })
            }
            K::BmpString => TypeKind::CharacterString(S::Bmp),
            K::GeneralString => TypeKind::CharacterString(S::General),
            K::GraphicString => TypeKind::CharacterString(S::Graphic),
            K::Ia5String => TypeKind::CharacterString(S::Ia5),
            K::Iso646String => TypeKind::CharacterString(S::Iso646),
            K::NumericString => TypeKind::CharacterString(S::Numeric),
            K::PrintableString => TypeKind::CharacterString(S::Printable),
            K::T61String => TypeKind::CharacterString(S::T61),
            K::TeletexString => TypeKind::CharacterString(S::Teletex),
            K::UniversalString => TypeKind::CharacterString(S::Universal),
            K::Utf8String => TypeKind::CharacterString(S::Utf8),
            K::VideotexString => TypeKind::CharacterString(S::Videotex),
            K::VisibleString => TypeKind::CharacterString(S::Visible),
            _ => return Err(self.expected("a type")),
        };
        Ok(())
    }

    /// A word that must stand here, in any case when lenient.
    pub(crate) fn word_any_case(&mut self, word: K) -> Parsed<()> {
        if self.options.lenient && !self.at_word(word) && self.text().eq_ignore_ascii_case(word.text()) {
            let span = self.span();
            self.lenient(
                "L0204",
                span,
                format!("`{}` is not spelt `{}`", self.text(), word.text()),
                "accepted",
            );
            self.bump();
            return Ok(());
        }
        self.expect_word(word).map(drop)
    }

    /// SEQUENCE, SET, SEQUENCE OF, SET OF (§25–28); the word is already taken.
    #[inline(never)]
    fn sequence_or_set(&mut self, set: bool, ty: &mut Type) -> Parsed<()> {
        if self.peek() == T::OpenBrace || self.at_round_list() {
            let list = Box::new(self.component_list()?);
            ty.kind = if set { TypeKind::Set(list) } else { TypeKind::Sequence(list) };
            return Ok(());
        }
        // §50: a constraint may stand before OF, SIZE even without parentheses.
        if self.at_word(K::Size) {
            let constraint = self.size_in_front()?;
            ty.constraints.push(constraint);
        } else {
            while self.peek() == T::OpenParen {
                let constraint = self.constraint()?;
                ty.constraints.push(constraint);
            }
        }
        if !self.at_word(K::Of) && !self.text().eq_ignore_ascii_case("of") {
            return Err(self.expected("`{` or `OF`"));
        }
        self.word_any_case(K::Of)?;
        let name = if self.peek() == T::Lower && self.type_start(self.pos + 1) {
            Some(self.take_ident())
        } else {
            None
        };
        let element = Box::new(self.ty()?);
        ty.kind = if set { TypeKind::SetOf(name, element) } else { TypeKind::SequenceOf(name, element) };
        Ok(())
    }

    /// NamedNumberList, NamedBitList (§19.1, §22.1), or nothing.
    #[inline(never)]
    fn named_numbers(&mut self) -> Parsed<Vec<NamedNumber>> {
        let mut numbers = Vec::new();
        if !self.eat(T::OpenBrace) {
            return Ok(numbers);
        }
        self.leading_commas();
        if self.eat(T::CloseBrace) {
            return Ok(numbers);
        }
        loop {
            if self.peek() == T::Ellipsis && self.options.lenient {
                let span = self.span();
                self.bump();
                self.lenient("L0207", span, "named numbers have no extension marker", "ignored");
            } else {
                let name = self.item_name("an identifier")?;
                self.expect(T::OpenParen)?;
                let value = self.value()?;
                self.expect(T::CloseParen)?;
                numbers.push(NamedNumber { name, value });
            }
            if !self.separator(T::CloseBrace)? {
                break;
            }
        }
        self.expect(T::CloseBrace)?;
        Ok(numbers)
    }

    /// The identifier of an item, component or alternative; capitals and reserved words are let pass when lenient.
    pub(crate) fn item_name(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            T::Lower => Ok(self.take_ident()),
            T::Upper | T::Word(_) if self.options.lenient => {
                let ident = self.take_ident();
                self.lenient("L0208", ident.span, "an identifier begins with a small letter", "accepted");
                Ok(ident)
            }
            T::Upper => {
                let ident = self.take_ident();
                self.lenient("L0208", ident.span, "an identifier begins with a small letter", "accepted");
                Ok(ident)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Enumerations (§20.1).
    #[inline(never)]
    fn enumeration(&mut self) -> Parsed<Enumeration> {
        let mut list = Enumeration { root: Vec::new(), additional: None, exception: None };
        let open = self.span();
        if self.options.lenient && self.eat(T::OpenParen) {
            self.lenient(
                "L0216",
                open,
                "a list of items requires braces",
                "the parenthesis is read as a brace",
            );
        } else {
            self.expect(T::OpenBrace)?;
        }
        self.leading_commas();
        while !matches!(self.peek(), T::CloseBrace | T::CloseParen) {
            let span = self.span();
            if self.eat(T::Ellipsis) {
                if list.additional.is_some() {
                    self.lenient(
                        "L0207",
                        span,
                        "an enumeration has one extension marker",
                        "the second is ignored",
                    );
                }
                list.additional.get_or_insert_default();
                if self.peek() == T::Bang {
                    list.exception = Some(Box::new(self.exception()?));
                }
            } else {
                let name = self.item_name("an identifier")?;
                let value = if self.eat(T::OpenParen) {
                    let value = self.value()?;
                    self.expect(T::CloseParen)?;
                    Some(Box::new(value))
                } else {
                    None
                };
                list.additional.as_mut().unwrap_or(&mut list.root).push(EnumItem { name, value });
            }
            if self.peek() == T::CloseParen || !self.separator(T::CloseBrace)? {
                break;
            }
        }
        let close = self.span();
        if self.options.lenient && self.eat(T::CloseParen) {
            self.lenient(
                "L0216",
                close,
                "a list of items requires braces",
                "the parenthesis is read as a brace",
            );
        } else {
            self.expect(T::CloseBrace)?;
        }
        Ok(list)
    }

    /// ComponentTypeLists, AlternativeTypeLists (§25.1, §29.1) with their braces.
    #[inline(never)]
    fn component_list(&mut self) -> Parsed<ComponentList> {
        let mut list = ComponentList::default();
        let open = self.span();
        let close = if self.at_round_list() {
            self.bump();
            let message = "a list of components or alternatives requires braces";
            self.lenient("L0219", open, message, "the parentheses are read as braces");
            T::CloseParen
        } else {
            self.expect(T::OpenBrace)?;
            T::CloseBrace
        };
        self.leading_commas();
        while self.peek() != close {
            let span = self.span();
            match self.peek() {
                T::Ellipsis => {
                    self.bump();
                    match &mut list.extension {
                        None => {
                            let mut extension = Extension { span, ..Extension::default() };
                            if self.peek() == T::Bang {
                                extension.exception = Some(Box::new(self.exception()?));
                            }
                            list.extension = Some(extension);
                        }
                        Some(extension) if !extension.closed => extension.closed = true,
                        Some(_) => {
                            self.lenient("L0207", span, "a third extension marker", "ignored");
                        }
                    }
                }
                T::OpenVersion if list.extension.as_ref().is_some_and(|e| !e.closed) => {
                    let group = self.addition_group()?;
                    list.extension.get_or_insert_default().additions.push(group);
                }
                _ => {
                    let component = self.component()?;
                    match &mut list.extension {
                        None => list.root.push(component),
                        Some(extension) if extension.closed => list.second_root.push(component),
                        Some(extension) => extension.additions.push(Addition::Single(component)),
                    }
                }
            }
            if !self.separator(close)? {
                break;
            }
        }
        self.expect(close)?;
        list.root.shrink_to_fit();
        if let Some(extension) = &mut list.extension {
            extension.additions.shrink_to_fit();
        }
        Ok(list)
    }

    /// ExtensionAdditionGroup, ExtensionAdditionAlternativesGroup (§25.1, §29.1).
    #[inline(never)]
    fn addition_group(&mut self) -> Parsed<Addition> {
        let from = self.span();
        self.bump();
        let mut version = None;
        if self.peek() == T::Number && self.peek_at(1) == T::Colon {
            version = self.text().parse().ok();
            self.pos += 2;
        }
        let mut components = Vec::new();
        self.leading_commas();
        while self.peek() != T::CloseVersion {
            components.push(self.component()?);
            if !self.separator(T::CloseVersion)? {
                break;
            }
        }
        self.expect(T::CloseVersion)?;
        components.shrink_to_fit();
        Ok(Addition::Group { version, components, span: self.since(from) })
    }

    /// ComponentType (§25.1), or an alternative; the 1988 notation let the identifier out.
    #[inline(never)]
    fn component(&mut self) -> Parsed<Component> {
        if self.at_word(K::Components) && self.peek_at(1) == T::Word(K::Of) {
            self.pos += 2;
            return Ok(Component::ComponentsOf(self.ty()?));
        }
        let name = if self.component_is_named() {
            self.item_name("an identifier")?
        } else {
            let at = self.span().lo;
            Ident { text: SmolStr::default(), span: Span::new(at, at) }
        };
        let ty = if matches!(self.peek(), T::Comma | T::CloseBrace)
            && !name.text.is_empty()
            && self.options.lenient
        {
            // A bare word in a list of components: the 1988 notation's unnamed type, spelt with a small letter.
            return Err(self.expected("a type"));
        } else {
            self.ty()?
        };
        let presence = self.presence()?;
        Ok(Component::Named { name, ty, presence })
    }

    fn component_is_named(&self) -> bool {
        match self.peek() {
            T::Lower => self.peek_at(1) != T::Less,
            // A field name in capitals: a type begins right behind it.
            T::Upper => self.type_start(self.pos + 1) && self.options.lenient,
            T::Word(word) if self.options.lenient => !self.type_word(word) && self.type_start(self.pos + 1),
            _ => false,
        }
    }

    #[inline(never)]
    fn presence(&mut self) -> Parsed<Presence> {
        if self.eat_word(K::Optional) {
            let span = self.span();
            if self.eat_word(K::Optional) {
                self.lenient("L0209", span, "`OPTIONAL` is given twice", "ignored");
            }
            return Ok(Presence::Optional);
        }
        if self.eat_word(K::Default) {
            return Ok(Presence::Default(Box::new(self.default_value()?)));
        }
        if self.options.lenient && matches!(self.peek(), T::Upper | T::Lower) {
            let (span, text) = (self.span(), self.text());
            if text.eq_ignore_ascii_case("optional") && !self.type_start(self.pos + 1) {
                self.bump();
                self.lenient("L0204", span, format!("`{text}` is not spelt `OPTIONAL`"), "accepted");
                return Ok(Presence::Optional);
            }
            if text.eq_ignore_ascii_case("default") && !self.type_start(self.pos + 1) {
                self.bump();
                self.lenient("L0204", span, format!("`{text}` is not spelt `DEFAULT`"), "accepted");
                return Ok(Presence::Default(Box::new(self.default_value()?)));
            }
        }
        Ok(Presence::Mandatory)
    }

    #[inline(never)]
    fn default_value(&mut self) -> Parsed<Value> {
        // An enumeration's item in capitals.
        if self.options.lenient
            && self.peek() == T::Upper
            && matches!(self.peek_at(1), T::Comma | T::CloseBrace)
        {
            let reference = Box::new(self.plain_reference());
            let span = reference.span;
            self.lenient("L0208", span, "an identifier begins with a small letter", "accepted");
            return Ok(Value { kind: ValueKind::Reference(reference), span });
        }
        self.value()
    }
}
