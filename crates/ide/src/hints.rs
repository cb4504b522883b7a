//! What a text leaves out: automatic tags, numbers of enumeration items, the default of tags, the bits of PER.

use crate::{Kind, Snapshot};
use std::collections::{BTreeMap, HashMap, HashSet};
use tercet_model::ir::{Component, Components, Place, Presence, TagClass, TypeId, TypeKind};
use tercet_schema::Rules;
use tercet_schema::dynamic::sizes::{Sizes, all_sizes};
use tercet_syntax::ast::TagDefault;
use tercet_syntax::{FileId, Keyword, Span, TokenKind};

/// A few characters to show in a text that are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The position that they are shown after.
    pub at: u32,
    /// The characters.
    pub text: String,
    /// What they are about.
    pub kind: HintKind,
}

/// What a hint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// A tag of AUTOMATIC TAGS (X.680 §25.7).
    Tag,
    /// The number of an enumeration item that is written without (X.680 §20.5).
    Number,
    /// The default of tags in a module whose header has none (X.680 §13.2).
    TagDefault,
    /// The number of bits that a value takes in PER.
    Width,
    /// The bits in front of a value in PER: extension bit, presence bits (X.691 §19), index of a CHOICE (X.691 §23).
    Presence,
}

impl HintKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Tag, Self::Number, Self::TagDefault, Self::Width, Self::Presence];

    /// Returns the name of the kind, as settings have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tag => "tags",
            Self::Number => "numbers",
            Self::TagDefault => "tag-default",
            Self::Width => "widths",
            Self::Presence => "presence",
        }
    }
}

/// The hint at a place, or `None` where instances of one parameterized type differ.
type Places = BTreeMap<(u32, HintKind), Option<String>>;

impl Snapshot {
    /// Returns all hints for a part of a text, with the bits of unaligned PER.
    pub fn hints(&self, file: FileId, span: Span) -> Vec<Hint> {
        self.hints_of(file, span, &HintKind::ALL, Some(Rules::Uper))
    }

    /// Returns the hints of some kinds for a part of a text, in the order of their places. The bits are those of the given
    /// rules, which are one of PER; there are none without rules. A place in a parameterized type has a hint if all instances
    /// agree.
    pub fn hints_of(&self, file: FileId, span: Span, kinds: &[HintKind], per: Option<Rules>) -> Vec<Hint> {
        let mut places = Places::new();
        let is_wanted = |kind: HintKind| kinds.contains(&kind);
        if is_wanted(HintKind::Tag) || is_wanted(HintKind::Number) {
            self.tags_and_numbers(file, span, &mut places);
        }
        if is_wanted(HintKind::TagDefault) {
            self.tag_defaults(file, span, &mut places);
        }
        if let Some(rules) = per {
            if is_wanted(HintKind::Width) {
                self.widths(file, span, rules, &mut places);
            }
            if is_wanted(HintKind::Presence) {
                self.presence(file, span, &mut places);
            }
        }
        let hints = places.into_iter().filter(|((_, kind), _)| is_wanted(*kind));
        hints.filter_map(|((at, kind), text)| Some(Hint { at, text: text?, kind })).collect()
    }

    fn tags_and_numbers(&self, file: FileId, span: Span, places: &mut Places) {
        let model = self.schema().model();
        let mut tags = HashMap::new();
        for component in model.types.iter().filter_map(|ty| components(&ty.kind)).flat_map(|it| &it.list) {
            let tag = model.ty(component.ty).tags.first().filter(|tag| tag.class == TagClass::Context);
            if let Some(tag) = tag {
                tags.insert(component.span.lo, tag.number);
            }
        }
        let mut numbers = HashMap::new();
        for ty in &model.types {
            let TypeKind::Enumerated(items) = &ty.kind else { continue };
            for (name, number) in items.root.iter().chain(&items.additions) {
                numbers.insert((ty.span, name.as_str()), *number);
            }
        }
        let here = self.definitions().iter().filter(|it| {
            span.lo <= it.name.lo && it.name.hi <= span.hi && self.sources().file_of(it.name.lo) == file
        });
        let text = &self.sources().file(file).text;
        let start = self.sources().file(file).start;
        let behind = |at: u32| text.get((at - start) as usize..).unwrap_or_default().trim_start();
        let modules = self.schema().modules();
        for it in here {
            match it.kind {
                Kind::Component | Kind::Alternative => {
                    let is_automatic =
                        modules.get(it.module).is_some_and(|module| module.tags == TagDefault::Automatic);
                    let tag = tags.get(&it.name.lo);
                    if let Some(tag) = tag.filter(|_| is_automatic && !behind(it.name.hi).starts_with('[')) {
                        add(places, it.name.hi, HintKind::Tag, format!(" [{tag}]"));
                    }
                }
                Kind::Item if !behind(it.name.hi).starts_with('(') => {
                    let name = self.text(it.name);
                    let holds = |span: &Span| span.lo <= it.name.lo && it.name.hi <= span.hi;
                    let mut found = numbers.iter().filter(|((span, known), _)| *known == name && holds(span));
                    if let Some((_, number)) = found.next() {
                        add(places, it.name.hi, HintKind::Number, format!(" ({number})"));
                    }
                }
                _ => {}
            }
        }
    }

    /// Headers without a default of tags, which mean EXPLICIT TAGS.
    fn tag_defaults(&self, file: FileId, span: Span, places: &mut Places) {
        for module in self.schema().modules() {
            if self.sources().file_of(module.span.lo) != file || !touches(module.span, span) {
                continue;
            }
            let is = |kind: TokenKind, word: Keyword| kind == TokenKind::Word(word);
            let header = module.tokens.iter().take_while(|token| token.kind != TokenKind::Assign);
            let mut words = header.skip_while(|token| !is(token.kind, Keyword::Definitions));
            let Some(definitions) = words.next() else { continue };
            let mut at = definitions.span.hi;
            let mut is_given = false;
            for token in words {
                is_given |= [Keyword::Explicit, Keyword::Implicit, Keyword::Automatic]
                    .iter()
                    .any(|word| is(token.kind, *word));
                // The default encoding reference stands in front of that of tags.
                if is(token.kind, Keyword::Instructions) {
                    at = token.span.hi;
                }
            }
            if !is_given && span.lo <= at && at <= span.hi {
                add(places, at, HintKind::TagDefault, " EXPLICIT TAGS".to_owned());
            }
        }
    }

    /// The bits of types that hold no other types: of components, elements and assignments.
    fn widths(&self, file: FileId, span: Span, rules: Rules, places: &mut Places) {
        let model = self.schema().model();
        let is_here = |at: Span| touches(at, span) && self.sources().file_of(at.lo) == file;
        let mut shown: HashSet<TypeId> = HashSet::new();
        let mut push = |id: TypeId| {
            if is_here(model.ty(id).span) && is_leaf(&model.ty(model.base(id)).kind) {
                shown.insert(id);
            }
        };
        for module in &model.modules {
            module.types.iter().for_each(|(_, id)| push(*id));
        }
        for ty in &model.types {
            match &ty.kind {
                TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => push(*element),
                kind => components(kind).into_iter().flat_map(|it| &it.list).for_each(|it| push(it.ty)),
            }
        }
        let mut shown: Vec<TypeId> = shown.into_iter().collect();
        shown.sort_unstable_by_key(|id| id.index());
        if shown.is_empty() {
            return;
        }
        let (plans, _) = tercet_schema::lower::plans(model, &[rules], &shown);
        let Some(plan) = plans.first() else { return };
        let sizes = all_sizes(plan, rules);
        for (id, root) in shown.iter().zip(&plan.shape.roots) {
            let size = sizes.get(root.node.index()).copied().flatten();
            if let Some(text) = size.and_then(shown_bits) {
                add(places, model.ty(*id).span.hi, HintKind::Width, format!(" {text}"));
            }
        }
    }

    /// The bits in front of the components of a SEQUENCE or SET, and of the alternative of a CHOICE.
    fn presence(&self, file: FileId, span: Span, places: &mut Places) {
        let model = self.schema().model();
        for ty in &model.types {
            let Some(list) = components(&ty.kind) else { continue };
            if !touches(ty.span, span) || self.sources().file_of(ty.span.lo) != file {
                continue;
            }
            let text = self.text(ty.span);
            let Some(brace) = text.find('{') else { continue };
            // A brace of a comment in front may be meant.
            if text[..brace].contains("--") || text[..brace].contains("/*") {
                continue;
            }
            let at = ty.span.lo + brace as u32 + 1;
            let in_root = |it: &&Component| it.place == Place::Root;
            let root = list.list.iter().filter(in_root);
            let mut parts = Vec::new();
            if list.extensible {
                parts.push("extension bit".to_owned());
            }
            match ty.kind {
                TypeKind::Choice(_) => {
                    // X.691 §23.6: as an INTEGER from 0 to the number of alternatives less one.
                    let last = root.count().saturating_sub(1);
                    parts.extend(counted(u64::from(usize::BITS - last.leading_zeros()), "index bit"));
                }
                _ => {
                    let optional = root.filter(|it| !matches!(it.presence, Presence::Mandatory)).count();
                    parts.extend(counted(optional as u64, "presence bit"));
                }
            }
            if !parts.is_empty() && span.lo <= at && at <= span.hi {
                add(places, at, HintKind::Presence, format!(" {}", parts.join(", ")));
            }
        }
    }
}

fn add(places: &mut Places, at: u32, kind: HintKind, text: String) {
    let known = places.entry((at, kind)).or_insert_with(|| Some(text.clone()));
    if known.as_ref().is_some_and(|known| *known != text) {
        *known = None;
    }
}

fn touches(one: Span, other: Span) -> bool {
    one.lo <= other.hi && other.lo <= one.hi
}

fn components(kind: &TypeKind) -> Option<&Components> {
    match kind {
        TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) => Some(list),
        _ => None,
    }
}

/// Whether a type holds no other ones, so that its width says something by itself.
fn is_leaf(kind: &TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::Boolean
            | TypeKind::Integer(_)
            | TypeKind::Enumerated(_)
            | TypeKind::BitString(_)
            | TypeKind::OctetString
            | TypeKind::Null
            | TypeKind::UsefulTime(_)
            | TypeKind::CharacterString(_)
    )
}

/// `6 bits`, `9 to 17 bits`; nothing without a bound.
fn shown_bits(size: Sizes) -> Option<String> {
    let most = size.most?;
    match most == size.least {
        true if most == 0 => Some("0 bits".to_owned()),
        true => counted(most, "bit"),
        false => Some(format!("{} to {most} bits", size.least)),
    }
}

/// `1 bit`, `2 bits`; nothing for none.
fn counted(count: u64, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    }
}
