//! Components named by their paths, and whether a leaf of a record is one.

use tercet_dynamic::text::join_path;
use tercet_dynamic::{FieldId, NodeId, Shape};
use tercet_plan::Kind;
use tercet_suggest::{with_known, with_list};

/// A component named by a path from the record, or by its name alone wherever it is.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    /// The ways to it, without elements of lists; of a name alone, each is one field.
    ways: Vec<Vec<FieldId>>,
    anywhere: bool,
    /// Whether some of the components are lists, whose elements stand for them.
    has_lists: bool,
    /// The fields of these elements.
    elements: Vec<FieldId>,
}

impl Component {
    /// The component of that path, which has to be a single value.
    ///
    /// # Errors
    /// When there is none, or none that is a single value: the text says so, with a line of help.
    pub(crate) fn new(shape: &Shape, root: NodeId, path: &str) -> Result<Self, String> {
        let mut component = Self::of_any_kind(shape, root, path)?;
        let node = component.last_fields().next().map(|field| shape.field(field).node);
        component.ways.retain(|way| {
            way.last().is_some_and(|field| {
                // A list stands for its elements.
                !shape.node(inside(shape, shape.field(*field).node)).kind.is_constructed()
            })
        });
        let Some(node) = node.filter(|_| component.ways.is_empty()) else { return Ok(component) };
        let parts = shape.fields_of(inside(shape, node)).map(|(_, field)| shape.name(field.name));
        let kind = shape.node(node).kind.name();
        let parts: Vec<String> = parts.map(|name| join_path(path, name)).collect();
        Err(with_list(
            &format!("`{path}` is not a single value but a {kind}"),
            parts.iter().map(String::as_str),
        ))
    }

    /// The component of that path, which may have parts.
    ///
    /// # Errors
    /// When there is none: the text says so, with a line of help.
    pub(crate) fn of_any_kind(shape: &Shape, root: NodeId, path: &str) -> Result<Self, String> {
        if let Some(way) = way(shape, root, path).filter(|way| !way.is_empty()) {
            return Ok(Self::at(shape, vec![way], false));
        }
        let named = |index: &usize| shape.name(shape.fields[*index].name) == path;
        let ways: Vec<_> =
            (0..shape.fields.len()).filter(named).map(|index| vec![FieldId(index as u32)]).collect();
        if path.contains('.') || ways.is_empty() {
            return Err(unknown_component(shape, root, path));
        }
        Ok(Self::at(shape, ways, true))
    }

    fn at(shape: &Shape, ways: Vec<Vec<FieldId>>, anywhere: bool) -> Self {
        let last = ways.iter().filter_map(|way| way.last());
        let elements: Vec<_> = last.flat_map(|field| elements_of(shape, shape.field(*field).node)).collect();
        Self { ways, anywhere, has_lists: !elements.is_empty(), elements }
    }

    /// The field at the end of each way.
    pub(crate) fn last_fields(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.ways.iter().filter_map(|way| way.last().copied())
    }

    /// Those fields and, where they are lists, the fields of their elements.
    pub(crate) fn last_and_elements(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.last_fields().chain(self.elements.iter().copied())
    }

    /// The fields on the way to it, and its elements.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.ways.iter().flatten().chain(&self.elements).map(|field| field.index())
    }

    /// Whether it is a part of something rendered: no field below this number.
    pub(crate) fn is_of_parts(&self, fields: usize) -> bool {
        self.ways.iter().any(|way| way.first().is_some_and(|first| first.index() >= fields))
    }

    /// Whether the leaf of a field is the component; elements of lists and the record itself stand as ROOT in the path.
    #[inline]
    pub(crate) fn is_at(&self, shape: &Shape, path: &[FieldId], field: FieldId) -> bool {
        if self.anywhere {
            let is = |field: &FieldId| self.ways.iter().any(|way| way[0] == *field);
            // An element stands for the list that it is in.
            return is(&field)
                || self.has_lists && is_element(shape, field) && steps(path).last().is_some_and(is);
        }
        let Some(way) = self.ways.first() else { return false };
        let element = is_element(shape, field);
        if !element && way.last() != Some(&field) {
            return false;
        }
        let around = if element { &way[..] } else { &way[..way.len().saturating_sub(1)] };
        steps(path).eq(around)
    }

    /// Whether the value with parts that has begun last is the component, or an element of it.
    pub(crate) fn is_open(&self, path: &[FieldId]) -> bool {
        if self.anywhere {
            return self.ways.iter().any(|way| path.last() == Some(&way[0]));
        }
        self.ways.first().is_some_and(|way| steps(path).eq(way))
    }
}

/// The text about a path that leads to no component: the step that is wrong, and what is there.
fn unknown_component(shape: &Shape, root: NodeId, path: &str) -> String {
    let mut node = inside(shape, root);
    let mut good = String::new();
    for step in path.split('.') {
        match shape.fields_of(node).find(|(_, field)| shape.name(field.name) == step) {
            Some((_, field)) => {
                good = join_path(&good, step);
                node = inside(shape, field.node);
            }
            None if good.is_empty() => {
                // A name alone may be of any component: those of the record come first.
                let own = shape.fields_of(node).map(|(_, field)| field);
                let all: Vec<&str> = own.chain(&shape.fields).map(|field| shape.name(field.name)).collect();
                return with_known(&format!("no component `{step}`"), step, all);
            }
            None => {
                let own = shape.fields_of(node).map(|(_, field)| shape.name(field.name));
                return with_known(&format!("no component `{step}` in `{good}`"), step, own);
            }
        }
    }
    format!("no component `{path}`")
}

fn is_list(shape: &Shape, node: NodeId) -> bool {
    matches!(shape.node(node).kind, Kind::SequenceOf | Kind::SetOf)
}

/// The fields of the elements of a list, and of the lists inside of it.
pub(crate) fn elements_of(shape: &Shape, mut node: NodeId) -> Vec<FieldId> {
    let mut elements = Vec::new();
    // A list of itself has no innermost element.
    while elements.len() < 64 && is_list(shape, node) {
        let Some((id, element)) = shape.fields_of(node).next() else { break };
        elements.push(id);
        node = element.node;
    }
    elements
}

/// The fields of a path without elements of lists and the record itself.
pub(crate) fn steps(path: &[FieldId]) -> impl Iterator<Item = &FieldId> {
    path.iter().filter(|field| **field != FieldId::ROOT)
}

/// Whether a field is that of the elements of a list.
pub(crate) fn is_element(shape: &Shape, field: FieldId) -> bool {
    shape.fields.get(field.index()).is_some_and(|field| is_list(shape, field.parent))
}

/// The element's type, if the type is a list.
pub(crate) fn inside(shape: &Shape, mut node: NodeId) -> NodeId {
    // A list of itself has no innermost element.
    for _ in 0..64 {
        match (shape.node(node).kind, shape.fields_of(node).next()) {
            (Kind::SequenceOf | Kind::SetOf, Some((_, element))) => node = element.node,
            _ => break,
        }
    }
    node
}

/// The fields on the way to a component, elements of lists left out.
pub(crate) fn way(shape: &Shape, root: NodeId, path: &str) -> Option<Vec<FieldId>> {
    let mut node = inside(shape, root);
    let mut way = Vec::new();
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (id, field) = shape.fields_of(node).find(|(_, field)| shape.name(field.name) == step)?;
        way.push(id);
        node = inside(shape, field.node);
    }
    Some(way)
}
