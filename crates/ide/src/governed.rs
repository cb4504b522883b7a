//! What fits inside of braces whose contents something governs: the components of a value, the components that WITH COMPONENTS
//! names (X.680 §51.8), and the words of an object in defined syntax (X.681 §11.6).

use crate::{Completion, Kind, Snapshot};
use tercet_model::ir::{Components, TypeId, TypeKind};
use tercet_syntax::ast::{AssignmentKind, Module, ObjectClass, SyntaxItem};
use tercet_syntax::{FileId, Keyword, Token, TokenKind};

/// Braces inside of one another that are followed.
const MOST_LEVELS: usize = 64;

/// The text in front of a position, as tokens of one assignment.
struct Before<'s> {
    snapshot: &'s Snapshot,
    module: &'s Module,
    /// From the name of the assignment on.
    tokens: Vec<Token>,
    /// Where `::=` stands.
    assign: usize,
    /// The braces that are open, from the outside in.
    open: Vec<usize>,
}

/// What is expected at a position.
pub(crate) enum Expected {
    /// These and nothing else.
    Only(Vec<Completion>),
    /// Values of a type, of which these have names.
    Value(Vec<Completion>),
}

impl Snapshot {
    /// Returns what the text in front of a position requires there; `None` where it does not say.
    pub(crate) fn expected(&self, module: &Module, file: FileId, at: u32) -> Option<Expected> {
        let before = Before::new(self, module, file, at)?;
        before.default_value().or_else(|| before.with_components()).or_else(|| before.assigned())
    }

    /// The class of a name in a module: its own, or an imported one. Others are not asked: which of them are there depends on
    /// what is being worked on.
    fn class_of(&self, module: &Module, name: &str) -> Option<&ObjectClass> {
        let import = module.imports.iter().find(|it| it.symbols.iter().any(|symbol| symbol.text == name));
        let home = import.map_or(&module.name.text, |it| &it.module.text);
        let modules = self.schema().modules().iter().filter(|it| it.name.text == *home);
        modules.flat_map(|it| &it.assignments).find_map(|it| match &it.kind {
            AssignmentKind::Class(class) if it.name.text == name => Some(class),
            _ => None,
        })
    }

    /// The type of a name in a module: its own, an imported one, or one with the name of its module in front.
    fn type_of(&self, module: &Module, name: &str) -> Option<TypeId> {
        let model = self.schema().model();
        if name.contains('.') {
            return model.find_type(name);
        }
        let import = module.imports.iter().find(|it| it.symbols.iter().any(|symbol| symbol.text == name));
        let home = import.map_or(&module.name.text, |it| &it.module.text);
        model.find_type(&format!("{home}.{name}"))
    }
}

impl<'s> Before<'s> {
    fn new(snapshot: &'s Snapshot, module: &'s Module, file: FileId, at: u32) -> Option<Self> {
        let lexed = snapshot.lexed(file);
        let tokens = &lexed.tokens[..lexed.tokens.partition_point(|token| token.span.hi <= at)];
        let assign = tokens.iter().rposition(|token| token.kind == TokenKind::Assign)?;
        // The name, and a governor of up to three items: `a Module.Type`.
        let first = assign.saturating_sub(4);
        let (tokens, assign) = (tokens[first..].to_vec(), assign - first);
        let mut open = Vec::new();
        for (index, token) in tokens.iter().enumerate().skip(assign) {
            match token.kind {
                TokenKind::OpenBrace => open.push(index),
                TokenKind::CloseBrace => _ = open.pop(),
                _ => {}
            }
        }
        (open.len() <= MOST_LEVELS).then_some(Self { snapshot, module, tokens, assign, open })
    }

    fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    fn text(&self, index: usize) -> &'s str {
        self.tokens.get(index).map_or("", |token| self.snapshot.text(token.span))
    }

    fn is_word(&self, index: Option<usize>, word: Keyword) -> bool {
        index.and_then(|index| self.kind(index)) == Some(TokenKind::Word(word))
    }

    fn last(&self) -> usize {
        self.tokens.len() - 1
    }

    /// `a Type DEFAULT ` of a component.
    fn default_value(&self) -> Option<Expected> {
        let last = self.last();
        if !self.is_word(Some(last), Keyword::Default) || self.kind(last.checked_sub(1)?)? != TokenKind::Upper
        {
            return None;
        }
        let ty = self.snapshot.type_of(self.module, self.text(last - 1))?;
        self.value_of(ty)
    }

    /// The value, object, value set or object set of an assignment.
    fn assigned(&self) -> Option<Expected> {
        let governor = self.assign.checked_sub(1)?;
        let name = match self.kind(governor.checked_sub(1)?)? {
            TokenKind::Dot => governor.checked_sub(3)?,
            _ => governor - 1,
        };
        let name = self.kind(name)?;
        if self.kind(governor)? != TokenKind::Upper || !matches!(name, TokenKind::Lower | TokenKind::Upper) {
            return None;
        }
        if let Some(class) = self.snapshot.class_of(self.module, self.text(governor)) {
            // An object stands in one pair of braces, those of a set in one more.
            let levels = if name == TokenKind::Lower { 1 } else { 2 };
            let is_there = self.open.len() == levels;
            return is_there.then(|| self.words(class))?.map(Expected::Only);
        }
        let ty = self.snapshot.type_of(self.module, self.text(governor))?;
        (name == TokenKind::Lower).then(|| self.inside(ty, &self.open))?
    }

    /// A value of a type, of which some braces are open.
    fn inside(&self, ty: TypeId, open: &[usize]) -> Option<Expected> {
        let Some((first, rest)) = open.split_first() else {
            return (self.last() == self.assign).then(|| self.value_of(ty))?;
        };
        let mut ty = self.through_choices(ty, *first);
        for brace in rest {
            // `a {` is the value of a component, a brace alone an element.
            let before = brace.checked_sub(1)?;
            let at = match self.kind(before)? {
                TokenKind::Lower => self.component_of(ty?, self.text(before)),
                TokenKind::Colon => self.before_choices(ty?, *brace),
                _ => self.element_of(ty?),
            };
            ty = self.through_choices(at?, *brace);
        }
        let (ty, innermost) = (ty?, *open.last()?);
        match self.kind(self.last())? {
            TokenKind::OpenBrace | TokenKind::Comma => match self.element_of(ty) {
                Some(element) => self.value_of(element),
                None => Some(Expected::Only(self.components(ty, innermost)?)),
            },
            TokenKind::Lower => self.value_of(self.component_of(ty, self.text(self.last()))?),
            TokenKind::Colon => {
                let alternative = self.text(self.last().checked_sub(1)?);
                self.value_of(self.component_of(ty, alternative)?)
            }
            _ => None,
        }
    }

    /// The type that `a : b : {` leads to, from that in front of `a`.
    fn through_choices(&self, ty: TypeId, brace: usize) -> Option<TypeId> {
        let mut names = Vec::new();
        let mut at = brace;
        while at >= 2
            && self.kind(at - 1) == Some(TokenKind::Colon)
            && self.kind(at - 2) == Some(TokenKind::Lower)
        {
            names.push(self.text(at - 2));
            at -= 2;
        }
        names.into_iter().rev().try_fold(ty, |ty, name| self.component_of(ty, name))
    }

    /// The type in front of the alternatives that lead to a brace: of a component that is named, or of an element.
    fn before_choices(&self, ty: TypeId, brace: usize) -> Option<TypeId> {
        let mut at = brace;
        while at >= 2 && self.kind(at - 1) == Some(TokenKind::Colon) {
            at -= 2;
        }
        match self.kind(at.checked_sub(1)?)? {
            TokenKind::Lower => self.component_of(ty, self.text(at - 1)),
            _ => self.element_of(ty),
        }
    }

    /// `Type (WITH COMPONENTS {`, and those of components inside.
    fn with_components(&self) -> Option<Expected> {
        let ty = self.constrained(self.open.len())?;
        let innermost = *self.open.last()?;
        match self.kind(self.last())? {
            TokenKind::OpenBrace | TokenKind::Comma => Some(Expected::Only(self.components(ty, innermost)?)),
            TokenKind::Lower | TokenKind::CloseParen => {
                let words = ["ABSENT", "OPTIONAL", "PRESENT"].into_iter();
                Some(Expected::Only(words.map(|word| proposal(word, None, "")).collect()))
            }
            _ => None,
        }
    }

    /// The type whose components the innermost of so many braces name.
    fn constrained(&self, levels: usize) -> Option<TypeId> {
        let brace = *self.open.get(levels.checked_sub(1)?)?;
        let is_it = self.is_word(brace.checked_sub(1), Keyword::Components)
            && self.is_word(brace.checked_sub(2), Keyword::With)
            && self.kind(brace.checked_sub(3)?) == Some(TokenKind::OpenParen);
        let subject = brace.checked_sub(4).filter(|_| is_it)?;
        match self.kind(subject)? {
            TokenKind::Upper => self.snapshot.type_of(self.module, self.text(subject)),
            TokenKind::Lower => self.component_of(self.constrained(levels - 1)?, self.text(subject)),
            _ => None,
        }
    }

    fn list_of(&self, ty: TypeId) -> Option<&'s Components> {
        let model = self.snapshot.schema().model();
        match &model.ty(model.base(ty)).kind {
            TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) => Some(list),
            _ => None,
        }
    }

    fn component_of(&self, ty: TypeId, name: &str) -> Option<TypeId> {
        self.list_of(ty)?.list.iter().find(|it| it.name == name).map(|it| it.ty)
    }

    fn element_of(&self, ty: TypeId) -> Option<TypeId> {
        let model = self.snapshot.schema().model();
        match &model.ty(model.base(ty)).kind {
            TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => Some(*element),
            _ => None,
        }
    }

    /// The components of a type that are not yet named in the braces.
    fn components(&self, ty: TypeId, brace: usize) -> Option<Vec<Completion>> {
        let list = self.list_of(ty)?;
        let own = self.own_tokens(brace);
        let is_new = |name: &str| !own.iter().any(|index| self.text(*index) == name);
        let model = self.snapshot.schema().model();
        let detail = model.type_name(ty);
        let found = list.list.iter().filter(|it| is_new(&it.name));
        Some(found.map(|it| proposal(&it.name, Some(Kind::Component), &detail)).collect())
    }

    /// The tokens of the innermost braces that no braces inside hold.
    fn own_tokens(&self, brace: usize) -> Vec<usize> {
        let mut depth = 0usize;
        let mut own = Vec::new();
        for index in brace + 1..self.tokens.len() {
            match self.tokens[index].kind {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace => depth = depth.saturating_sub(1),
                _ if depth == 0 => own.push(index),
                _ => {}
            }
        }
        own
    }

    /// What values of a type are called.
    fn value_of(&self, ty: TypeId) -> Option<Expected> {
        let model = self.snapshot.schema().model();
        let detail = model.type_name(ty);
        let named = |kind: Kind| move |name: &str| proposal(name, Some(kind), &detail);
        let found: Vec<Completion> = match &model.ty(model.base(ty)).kind {
            TypeKind::Boolean => ["FALSE", "TRUE"].into_iter().map(|word| proposal(word, None, "")).collect(),
            TypeKind::Null => vec![proposal("NULL", None, "")],
            TypeKind::Enumerated(items) => {
                let items = items.root.iter().chain(&items.additions);
                items.map(|(name, _)| name.as_str()).map(named(Kind::Item)).collect()
            }
            TypeKind::Integer(items) => {
                items.iter().map(|item| item.name.as_str()).map(named(Kind::Item)).collect()
            }
            TypeKind::Choice(list) => {
                list.list.iter().map(|it| it.name.as_str()).map(named(Kind::Alternative)).collect()
            }
            _ => return None,
        };
        Some(Expected::Value(found))
    }

    /// The words that the syntax of a class lets follow what stands in the innermost braces; `None` where a setting follows.
    fn words(&self, class: &ObjectClass) -> Option<Vec<Completion>> {
        let mut flat = Vec::new();
        flatten(class.syntax.as_ref()?, &mut Vec::new(), &mut 0, &mut flat);
        let own = self.own_tokens(*self.open.last()?);
        let mut at = None;
        let mut last_word = None;
        for index in &own {
            let text = self.text(*index);
            let rest = at.map_or(0, |at| at + 1);
            let next = flat[rest..].iter().position(|it| it.literal == Some(text));
            if let Some(next) = next {
                (at, last_word) = (Some(rest + next), Some(*index));
            }
        }
        let next = at.map_or(0, |at| at + 1);
        let is_setting = flat.get(next).is_some_and(|it| it.literal.is_none());
        // Behind a word its field follows; in front of all words a field may stand first.
        if is_setting && (last_word == Some(self.last()) || own.is_empty()) {
            return None;
        }
        let here = at.map_or(&[][..], |at| &flat[at].groups);
        let mut found = Vec::new();
        let mut index = next;
        while let Some(item) = flat.get(index) {
            let Some(word) = item.literal else {
                index += 1;
                continue;
            };
            if word != "," {
                found.push(proposal(word, None, "WITH SYNTAX"));
            }
            // An optional group is left again; a word that has to be there is the last that can follow.
            match item.groups.iter().find(|group| !here.contains(group)) {
                None => break,
                Some(group) => {
                    index += flat[index..].iter().take_while(|it| it.groups.contains(group)).count();
                }
            }
        }
        Some(found)
    }
}

/// An item of WITH SYNTAX: a word, or a field, with the optional groups around it.
struct Flat<'s> {
    literal: Option<&'s str>,
    groups: Vec<usize>,
}

fn flatten<'s>(
    items: &'s [SyntaxItem],
    groups: &mut Vec<usize>,
    count: &mut usize,
    flat: &mut Vec<Flat<'s>>,
) {
    for item in items {
        match item {
            SyntaxItem::Literal(word) => flat.push(Flat { literal: Some(word), groups: groups.clone() }),
            SyntaxItem::Field(_) => flat.push(Flat { literal: None, groups: groups.clone() }),
            SyntaxItem::Optional(inner) => {
                *count += 1;
                groups.push(*count);
                flatten(inner, groups, count, flat);
                groups.pop();
            }
        }
    }
}

fn proposal(label: &str, kind: Option<Kind>, detail: &str) -> Completion {
    Completion { label: label.to_owned(), kind, detail: detail.to_owned(), edits: Vec::new() }
}
