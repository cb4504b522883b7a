//! What an overlay says, bound to the types of a program.

use crate::overlay::{
    Additions, Bounds, Choice, Codecs, IntegerType, Lazy, Lists, Memory, Overlay, OverlayError, RealType,
    Strings,
};
use crate::types::{Edge, Origin, Repr, Types};
use std::collections::{HashMap, HashSet};
use tercet_plan::{FieldId, NodeId};

/// The choices by node and field; types that are the same have them by the node that stands for them.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// Nodes whose own parts do not borrow.
    pub(crate) owned: HashSet<NodeId>,
    /// Nodes whose own parts are slices of the input.
    pub(crate) slices: HashSet<NodeId>,
    /// Lists and what is in a box are in an arena.
    pub(crate) arena: bool,
    /// Lists whose first element is in place, with the largest element, in octets of memory.
    pub(crate) inline: HashMap<NodeId, usize>,
    /// Lists whose elements are decoded when they are asked for.
    pub(crate) lazy: HashMap<NodeId, Lazy>,
    /// Extension additions that are not known are passed over.
    pub(crate) skip_additions: bool,
    /// REALs are `f64` where nothing else is said.
    pub(crate) floats: bool,
    /// Codecs of PER follow tables.
    pub(crate) small: bool,
    /// The size above which alternatives and OPTIONAL components are in a box, if one was said.
    pub(crate) boxed_above: Option<usize>,
    /// Whether a component or alternative is in a box.
    pub(crate) boxed: HashMap<Edge, bool>,
    /// The names of types.
    pub(crate) types: HashMap<NodeId, String>,
    /// The names of components and alternatives.
    pub(crate) fields: HashMap<FieldId, String>,
    /// Derives of single types.
    pub(crate) derives: HashMap<NodeId, Vec<String>>,
    /// Derives of all types.
    pub(crate) derive: Vec<String>,
}

/// Octets of memory that the first element of a list may take where all lists have it in place.
const LARGEST_IN_PLACE: usize = 32;

impl Choices {
    /// Binds an overlay; numbers get their types at once.
    pub(crate) fn bind(overlay: &Overlay, types: &mut Types<'_>) -> Result<Self, OverlayError> {
        let arena = overlay.memory == Memory::Arena;
        if arena {
            agree_with_arena(overlay)?;
        }
        let mut choices = Self {
            arena,
            derive: overlay.derive.clone(),
            boxed_above: overlay.boxed_above,
            skip_additions: overlay.extension_additions == Additions::Skipped,
            floats: overlay.reals == RealType::F64,
            small: overlay.codecs == Codecs::Small,
            ..Self::default()
        };
        let nodes: Vec<NodeId> = types.nodes().collect();
        for &node in &nodes {
            choices.strings(node, if arena { Strings::Slices } else { overlay.strings });
            if overlay.lists == Lists::Inline && types.repr(node) == Repr::List {
                choices.inline.insert(node, LARGEST_IN_PLACE);
            }
            choices.integer(types, node, overlay.integers);
            real(types, node, overlay.reals);
            if overlay.bounds == Bounds::Wide {
                widen(types, node);
            }
        }
        for (name, choice) in &overlay.types {
            let found = named(types, name);
            if found.is_empty() {
                return Err(OverlayError(format!("types: no type `{name}` is reached")));
            }
            for node in found {
                choices.node(types, node, choice, name)?;
                if let Some(rename) = &choice.rename {
                    choices.types.insert(node, identifier(rename)?);
                }
                if let Some(boxed) = choice.boxed {
                    choices.everywhere(types, node, boxed);
                }
                if !choice.derive.is_empty() {
                    choices.derives.entry(node).or_default().extend(choice.derive.iter().cloned());
                }
            }
        }
        for (path, choice) in &overlay.fields {
            choices.field(types, path, choice)?;
        }
        Ok(choices)
    }

    fn field(&mut self, types: &mut Types<'_>, path: &str, choice: &Choice) -> Result<(), OverlayError> {
        let wrong = |what: &str| OverlayError(format!("fields: `{path}` {what}"));
        let field = walk(types, path).ok_or_else(|| wrong("names no component or alternative"))?;
        let node = types.same(types.shape.field(field).node);
        if let Some(rename) = &choice.rename {
            self.fields.insert(field, identifier(rename)?);
        }
        if let Some(boxed) = choice.boxed {
            self.boxed.insert(Edge::Field(field), boxed);
        }
        if !choice.derive.is_empty() {
            return Err(wrong("cannot have derives: only types can"));
        }
        let of_string = choice.strings.is_some() || choice.bounds.is_some();
        let of_number = choice.integer.is_some() || choice.real.is_some();
        let of_list = choice.lists.is_some() || choice.lazy != Lazy::No;
        if of_string || of_number || of_list {
            // What is chosen for a value holds wherever its type stands.
            let uses = types.shape.fields.iter().filter(|field| types.same(field.node) == node).count();
            if uses > 1 {
                return Err(wrong("has a type that is used elsewhere too: choose for the type"));
            }
            self.node(types, node, choice, path)?;
        }
        Ok(())
    }

    /// What is chosen for the values of a type.
    fn node(
        &mut self,
        types: &mut Types<'_>,
        node: NodeId,
        choice: &Choice,
        said: &str,
    ) -> Result<(), OverlayError> {
        if let Some(strings) = choice.strings {
            self.strings(node, strings);
        }
        match choice.lists {
            Some(_) if types.repr(node) != Repr::List => {
                return Err(OverlayError(format!("`{said}` is not a list")));
            }
            Some(Lists::Inline) => _ = self.inline.insert(node, usize::MAX),
            Some(Lists::Vec) => _ = self.inline.remove(&node),
            None => {}
        }
        match choice.bounds {
            Some(Bounds::Wide) => widen(types, node),
            Some(Bounds::Narrow) => types.narrow(node),
            None => {}
        }
        if let Some(integer) = choice.integer {
            self.integer(types, node, integer);
        }
        if let Some(chosen) = choice.real {
            real(types, node, chosen);
        }
        if choice.lazy != Lazy::No {
            if types.repr(node) != Repr::List {
                return Err(OverlayError(format!("`{said}` is not a list and cannot be lazy")));
            }
            self.lazy.insert(node, choice.lazy);
        }
        Ok(())
    }

    fn strings(&mut self, node: NodeId, chosen: Strings) {
        for (nodes, kept) in [(&mut self.owned, Strings::Owned), (&mut self.slices, Strings::Slices)] {
            if chosen == kept {
                nodes.insert(node);
            } else {
                nodes.remove(&node);
            }
        }
    }

    fn integer(&self, types: &mut Types<'_>, node: NodeId, chosen: IntegerType) {
        if types.repr(node) == Repr::Big
            && let Some((signed, bits)) = chosen.machine()
        {
            types.set_repr(node, Repr::Integer { signed, bits });
        }
    }

    fn everywhere(&mut self, types: &Types<'_>, node: NodeId, boxed: bool) {
        for id in types.nodes() {
            for (edge, part) in types.parts(id) {
                if let Some(edge) = edge.filter(|_| types.same(part) == node) {
                    self.boxed.insert(edge, boxed);
                }
            }
        }
    }
}

/// Refuses what cannot be chosen beside an arena.
fn agree_with_arena(overlay: &Overlay) -> Result<(), OverlayError> {
    let all = || overlay.types.values().chain(overlay.fields.values());
    let other = |strings: Strings| strings != Strings::Slices;
    let why = if overlay.strings == Strings::Owned || all().any(|one| one.strings.is_some_and(other)) {
        "strings are slices: do not set `strings`"
    } else if overlay.lists == Lists::Inline || all().any(|one| one.lists == Some(Lists::Inline)) {
        "lists are in the arena: do not set `lists`"
    } else if all().any(|one| one.lazy != Lazy::No) {
        "the elements of a lazy list would have none: do not set `lazy`"
    } else {
        return Ok(());
    };
    Err(OverlayError(format!("with `memory = \"arena\"` {why}")))
}

fn real(types: &mut Types<'_>, node: NodeId, chosen: RealType) {
    if matches!(types.repr(node), Repr::Real | Repr::Float) {
        types.set_repr(node, if chosen == RealType::F64 { Repr::Float } else { Repr::Real });
    }
}

/// Gives a type room for values that break its constraint.
fn widen(types: &mut Types<'_>, node: NodeId) {
    match types.repr(node) {
        Repr::Integer { signed, bits } if signed || bits < 64 => {
            types.set_repr(node, Repr::Integer { signed: true, bits: 64 });
        }
        Repr::FixedOctets(_) => types.set_repr(node, Repr::Octets),
        Repr::FixedBits(_) => types.set_repr(node, Repr::Bits),
        _ => {}
    }
}

/// The nodes of a type by `Type` or `Module.Type`.
fn named(types: &Types<'_>, wanted: &str) -> Vec<NodeId> {
    let is_wanted = |node: &NodeId| match types.origin(*node) {
        Origin::Named(module, name, _) => {
            name == wanted
                || wanted.strip_prefix(module.as_str()).and_then(|rest| rest.strip_prefix('.')) == Some(name)
        }
        _ => false,
    };
    types.nodes().filter(is_wanted).collect()
}

/// The component or alternative that a path ends at.
fn walk(types: &Types<'_>, path: &str) -> Option<FieldId> {
    // A module's name may stand in front; neither it nor a type's name has a full stop in it.
    (1..=2).find_map(|words| {
        let at = path.match_indices('.').nth(words - 1)?.0;
        let mut node = named(types, &path[..at]).into_iter().next()?;
        let mut found = None;
        for step in path[at + 1..].split('.') {
            let field = match types.repr(node) {
                Repr::List if step == "*" => FieldId(types.shape.node(node).first),
                Repr::Struct | Repr::Choice => {
                    types.shape.fields_of(node).find(|(_, field)| types.shape.name(field.name) == step)?.0
                }
                _ => return None,
            };
            node = types.same(types.shape.field(field).node);
            found = Some(field);
        }
        found
    })
}

/// A name that Rust takes.
fn identifier(name: &str) -> Result<String, OverlayError> {
    let plain = name.strip_prefix("r#").unwrap_or(name);
    let good = plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !plain.starts_with(|c: char| c.is_ascii_digit())
        && !plain.is_empty()
        && plain != "_"
        && (name != plain || !crate::rust::is_keyword(plain));
    if good { Ok(name.to_owned()) } else { Err(OverlayError(format!("`{name}` is not a name in Rust"))) }
}
