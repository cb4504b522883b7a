//! What a name means, in Markdown.

use crate::{Definition, Kind, Snapshot};
use std::fmt::Write as _;
use std::sync::PoisonError;
use tercet_model::constraints::{Effective, Visibility};
use tercet_model::ir::{TagClass, TypeId, TypeKind, Value};
use tercet_model::keyword;
use tercet_schema::Rules;
use tercet_schema::dynamic::sizes::sizes;
use tercet_syntax::Span;

/// The encoding rules whose sizes [`Snapshot::hover`] has.
pub const HOVER_RULES: [Rules; 4] = [Rules::Ber, Rules::Aper, Rules::Uper, Rules::Oer];
/// Lines of a definition that are shown.
const LINES: usize = 40;
/// Lines of comments in front of it.
const COMMENT_LINES: usize = 20;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The name that it is about.
    pub span: Span,
    /// The text, in Markdown.
    pub markdown: String,
}

impl Snapshot {
    /// Returns what the name at a position means: its definition as it is written with the comments in front of it, tags on the
    /// wire, effective constraint, values of items, names of the arcs of an object identifier, the module that it comes from.
    pub fn hover(&self, at: u32) -> Option<Hover> {
        self.hover_by(at, &HOVER_RULES)
    }

    /// Returns what [`Snapshot::hover`] returns, with sizes by these encoding rules.
    pub fn hover_by(&self, at: u32, rules: &[Rules]) -> Option<Hover> {
        let Some((name, definition)) =
            self.name_at(at).and_then(|name| Some((name, self.definition(name.definition)?)))
        else {
            let (span, arcs) = self.oid_at(at)?;
            return Some(Hover { span, markdown: self.oid_facts(&arcs).join("\n\n") });
        };
        let mut markdown = String::new();
        for line in self.comments_before(definition) {
            let _ = writeln!(markdown, "{line}  ");
        }
        let _ = write!(markdown, "```asn1\n{}\n```\n", self.written(definition));
        for line in self.facts(definition, rules) {
            let _ = write!(markdown, "\n{line}\n");
        }
        Some(Hover { span: name.span, markdown })
    }

    /// The definition as it is written; of a module its header.
    fn written(&self, definition: &Definition) -> String {
        let whole = match definition.kind {
            Kind::Module => return self.text(definition.whole).lines().next().unwrap_or_default().to_owned(),
            _ => self.text(definition.whole),
        };
        let mut lines: Vec<&str> = whole.lines().take(LINES).collect();
        if whole.lines().count() > LINES {
            lines.push("…");
        }
        // The first line begins at the name, the others at the margin of the text.
        let margin = |line: &&str| line.len() - line.trim_start().len();
        let least =
            lines.iter().skip(1).filter(|line| !line.trim().is_empty()).map(margin).min().unwrap_or(0);
        let cut = |(index, line): (usize, &str)| match index {
            0 => line.to_owned(),
            _ => line.get(least..).unwrap_or_default().to_owned(),
        };
        lines.iter().enumerate().map(|(index, line)| cut((index, line))).collect::<Vec<_>>().join("\n")
    }

    /// The comments on the lines in front of an assignment, without their hyphens.
    fn comments_before(&self, definition: &Definition) -> Vec<String> {
        let at = definition.whole.lo;
        let file = self.sources().file_of(at);
        let lexed = self.lexed(file);
        let before = lexed.comments.partition_point(|comment| comment.span.lo < at);
        self.near_comments(lexed.comments[..before].iter().rev().map(|comment| comment.span), at)
    }

    /// The lines of those of some comments, the last one first, that stand on the lines in front of a place.
    pub(crate) fn near_comments(&self, comments: impl Iterator<Item = Span>, at: u32) -> Vec<String> {
        let mut next = at;
        let mut lines = Vec::new();
        for comment in comments {
            let between = self.text(Span::new(comment.hi, next));
            let is_near = between.trim().is_empty() && between.matches('\n').count() <= 1;
            if !is_near || lines.len() >= COMMENT_LINES {
                break;
            }
            next = comment.lo;
            let text = self.text(comment).trim_matches(['-', '/', '*', ' ', '\t', '\r', '\n']);
            lines.push(text.to_owned());
        }
        lines.reverse();
        lines
    }

    /// What the model knows of a definition.
    fn facts(&self, definition: &Definition, rules: &[Rules]) -> Vec<String> {
        let mut facts = Vec::new();
        let modules = self.schema().modules();
        let Some(module) = modules.get(definition.module) else { return facts };
        let name = self.text(definition.name);
        match definition.kind {
            Kind::Type | Kind::Set => {
                let ty = self.schema().model().find_type(&format!("{}.{name}", module.name.text));
                facts.extend(ty.map(|ty| self.of_type(ty)).unwrap_or_default());
                facts.extend(ty.and_then(|ty| self.sizes_of(ty, rules)));
            }
            Kind::Component | Kind::Alternative => {
                facts.extend(self.component(definition).map(|ty| self.of_type(ty)).unwrap_or_default());
            }
            Kind::Value => {
                let model = self.schema().model();
                let values =
                    model.modules.iter().filter(|it| it.name == module.name.text).flat_map(|it| &it.values);
                let found = values.into_iter().find(|(known, ..)| known == name);
                if let Some((_, _, value)) = found.filter(|(_, _, value)| !matches!(value, Value::Error)) {
                    let text: String = model.notation(value).to_string().chars().take(200).collect();
                    facts.push(format!("Value: `{text}`"));
                    if let Value::Oid(arcs) = value {
                        facts.extend(self.oid_facts(&arcs.to_vec()));
                    }
                }
            }
            Kind::Item => facts.extend(self.item(definition).map(|number| format!("Number: {number}"))),
            _ => {}
        }
        if definition.kind != Kind::Module {
            facts.push(format!("Module `{}`", module.name.text));
        }
        facts
    }

    /// The type of a component.
    pub(crate) fn component(&self, definition: &Definition) -> Option<TypeId> {
        let types = self.schema().model().types.iter();
        let lists = types.filter_map(|ty| match &ty.kind {
            TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) => Some(list),
            _ => None,
        });
        let component = lists.flat_map(|list| &list.list).find(|it| it.span.lo == definition.name.lo);
        component.map(|component| component.ty)
    }

    fn item(&self, definition: &Definition) -> Option<String> {
        let name = self.text(definition.name);
        let holds = |span: Span| span.lo <= definition.name.lo && definition.name.hi <= span.hi;
        let model = self.schema().model();
        model.types.iter().filter(|ty| holds(ty.span)).find_map(|ty| match &ty.kind {
            TypeKind::Enumerated(items) => {
                let mut items = items.root.iter().chain(&items.additions);
                items.find(|(known, _)| known == name).map(|(_, number)| number.to_string())
            }
            TypeKind::Integer(items) | TypeKind::BitString(items) => {
                items.iter().find(|item| item.name == name).map(|item| item.value.to_string())
            }
            _ => None,
        })
    }

    /// The least and greatest sizes of a type, by some encoding rules.
    fn sizes_of(&self, ty: TypeId, rules: &[Rules]) -> Option<String> {
        if rules.is_empty() {
            return None;
        }
        let known = || self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (ty, rules.to_vec());
        if let Some(text) = known().get(&key) {
            return text.clone();
        }
        let text = self.measured(ty, rules);
        known().insert(key, text.clone());
        text
    }

    fn measured(&self, ty: TypeId, rules: &[Rules]) -> Option<String> {
        let mut parts = Vec::new();
        let (plans, _) = tercet_schema::lower::plans(self.schema().model(), rules, &[ty]);
        for (plan, rules) in plans.iter().zip(rules.iter().copied()) {
            let root = plan.shape.roots.first()?.node;
            let sizes = sizes(plan, rules, root)?;
            let bytes = |bits: u64| bits.div_ceil(8).max(1);
            let text = match sizes.most {
                None => format!("{} or more", bytes(sizes.least)),
                Some(most) if bytes(most) == bytes(sizes.least) => bytes(most).to_string(),
                Some(most) => format!("{} to {}", bytes(sizes.least), bytes(most)),
            };
            parts.push(format!("{} {text}", rules.label()));
        }
        Some(format!("Bytes: {}", parts.join(", ")))
    }

    fn of_type(&self, ty: TypeId) -> Vec<String> {
        let model = self.schema().model();
        let mut facts = Vec::new();
        let kind = &model.ty(model.base(ty)).kind;
        if !matches!(kind, TypeKind::Error | TypeKind::Reference(_)) {
            let tags: Vec<String> =
                model.tags(ty).iter().map(|(class, number)| shown_tag(*class, *number)).collect();
            let tags = if tags.is_empty() { String::new() } else { format!(", tags `{}`", tags.join(" ")) };
            facts.push(format!("{}{tags}", keyword(kind)));
        }
        let effective = model.effective(ty, Visibility::All);
        let constraint = shown_constraint(&effective);
        if !constraint.is_empty() {
            facts.push(format!("Effective constraint: `{constraint}`"));
        }
        facts
    }
}

pub(crate) fn shown_tag(class: TagClass, number: u32) -> String {
    match class {
        TagClass::Universal => format!("[UNIVERSAL {number}]"),
        TagClass::Application => format!("[APPLICATION {number}]"),
        TagClass::Private => format!("[PRIVATE {number}]"),
        TagClass::Context => format!("[{number}]"),
    }
}

pub(crate) fn shown_constraint(effective: &Effective) -> String {
    let mut parts = Vec::new();
    let dots = |extensible: bool| if extensible { ", ..." } else { "" };
    if let Some(range) = &effective.integer
        && (range.lo.is_some() || range.hi.is_some())
    {
        let lo = range.lo.as_ref().map_or_else(|| "MIN".to_owned(), ToString::to_string);
        let hi = range.hi.as_ref().map_or_else(|| "MAX".to_owned(), ToString::to_string);
        let range =
            format!("{}{}", if lo == hi { lo } else { format!("{lo}..{hi}") }, dots(range.extensible));
        parts.push(format!("({range})"));
    }
    if let Some(size) = &effective.size {
        let hi = size.hi.map_or_else(|| "MAX".to_owned(), |hi| hi.to_string());
        let lo = size.lo.to_string();
        let range = if lo == hi { lo } else { format!("{lo}..{hi}") };
        parts.push(format!("(SIZE ({range}{}))", dots(size.extensible)));
    }
    parts.join(" ")
}
