//! Tags that decoders tell components apart by shall differ (X.680 §25.6, §27.3, §29.3).

use super::Checker;
use crate::ir::{Component, Components, Place, Presence, TypeId, TypeKind};
use crate::tags::{OuterTag, TagSet};
use rustc_hash::FxHashMap;
use tercet_syntax::Span;
use tercet_syntax::ast::TagClass;

impl Checker<'_> {
    pub(super) fn distinct_tags(&mut self, owner: TypeId, components: &Components) {
        if components.list.len() < 2 || self.is_numbered(components) {
            return;
        }
        match self.model.ty(owner).kind {
            TypeKind::Sequence(_) => self.runs(components),
            _ => self.all_distinct(
                &components.list,
                "X.680 §27.3, §29.3: the tags of a SET or CHOICE are distinct",
            ),
        }
    }

    /// The usual case, and a cheap one: every component has a context-specific tag of its own that ascends.
    fn is_numbered(&self, components: &Components) -> bool {
        let mut last = None;
        components.list.iter().all(|component| {
            let Some(tag) = self.model.ty(component.ty).tags.first() else { return false };
            let ascends = tag.class == TagClass::Context && last.is_none_or(|last| tag.number > last);
            last = Some(tag.number);
            ascends
        })
    }

    /// §25.6: in a SEQUENCE, each run of components that may be absent, together with the one behind it. Extension
    /// additions may all be absent (§25.6.1), so a run goes on through them.
    fn runs(&mut self, components: &Components) {
        let list = &components.list;
        let mut start = 0;
        for (at, component) in list.iter().enumerate() {
            let stays = matches!(component.presence, Presence::Mandatory) && component.place == Place::Root;
            if stays || at + 1 == list.len() {
                if at > start {
                    let why = "X.680 §25.6: a component that may be absent and those up to the next mandatory one \
                               have distinct tags";
                    self.all_distinct(&list[start..=at], why);
                }
                start = at + 1;
            }
        }
    }

    fn all_distinct(&mut self, list: &[Component], why: &'static str) {
        let mut seen: FxHashMap<OuterTag, (usize, Span)> = FxHashMap::default();
        let mut any: Option<&Component> = None;
        for (index, component) in list.iter().enumerate() {
            if let Some(open) = any {
                self.report_open(component, open, why);
                return;
            }
            match self.model.outer_tags(component.ty) {
                TagSet::Any => {
                    if let Some(before) = list[..index].last() {
                        self.report_open(component, before, why);
                        return;
                    }
                    any = Some(component);
                }
                TagSet::Of(tags) => {
                    for tag in tags {
                        match seen.get(&tag) {
                            Some(&(other, _)) if other == index => {}
                            Some(&(_, first)) => {
                                let text = format!(
                                    "`{}` has the tag {} of another component",
                                    component.name,
                                    name(tag)
                                );
                                let finding = self
                                    .slip("E0264", component.span, text)
                                    .label("decoders cannot distinguish them by their tags")
                                    .also(first, "the other one")
                                    .note(why);
                                self.out.push(finding);
                                break;
                            }
                            None => {
                                seen.insert(tag, (index, component.span));
                            }
                        }
                    }
                }
            }
        }
    }

    fn report_open(&mut self, component: &Component, other: &Component, why: &'static str) {
        let text = format!(
            "`{}` cannot be distinguished from `{}`: an open type has any tag",
            component.name, other.name
        );
        let finding = self.slip("E0265", component.span, text).also(other.span, "the other one").note(why);
        self.out.push(finding);
    }
}

/// A tag as it is written.
pub(crate) fn name((class, number): OuterTag) -> String {
    match class {
        TagClass::Universal => format!("[UNIVERSAL {number}]"),
        TagClass::Application => format!("[APPLICATION {number}]"),
        TagClass::Context => format!("[{number}]"),
        TagClass::Private => format!("[PRIVATE {number}]"),
    }
}
