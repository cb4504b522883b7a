//! Components named by their paths, and whether a leaf of a record is one.

use tercet_dynamic::{FieldId, NodeId, Shape};
use tercet_plan::Kind;

/// A component named by a path from the record, or by its name alone wherever it is.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    /// The ways to it, without elements of lists; of a name alone, each is one field.
    ways: Vec<Vec<FieldId>>,
    anywhere: bool,
}

impl Component {
    /// The component of that path, which has to be a single value.
    ///
    /// # Errors
    /// When there is none, or none that is a single value: the text says so.
    pub(crate) fn new(shape: &Shape, root: NodeId, path: &str) -> Result<Self, String> {
        let anywhere = !path.contains('.') && way(shape, root, path).is_none();
        let mut ways = if anywhere {
            let named = |index: &usize| shape.name(shape.fields[*index].name) == path;
            (0..shape.fields.len()).filter(named).map(|index| vec![FieldId(index as u32)]).collect()
        } else {
            vec![way(shape, root, path).ok_or_else(|| format!("there is no component `{path}`"))?]
        };
        ways.retain(|way| {
            way.last().is_some_and(|field| !shape.node(shape.field(*field).node).kind.is_constructed())
        });
        if ways.is_empty() {
            return Err(format!("there is no single value at `{path}`"));
        }
        Ok(Self { ways, anywhere })
    }

    /// The fields on the way to it.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.ways.iter().flatten().map(|field| field.index())
    }

    /// Whether it is a part of something rendered: no field below this number.
    pub(crate) fn is_of_parts(&self, fields: usize) -> bool {
        self.ways.iter().any(|way| way.first().is_some_and(|first| first.index() >= fields))
    }

    /// Whether the leaf of a field is the component; elements of lists and the record itself stand as ROOT in the path.
    #[inline]
    pub(crate) fn is_at(&self, shape: &Shape, path: &[FieldId], field: FieldId) -> bool {
        if self.anywhere {
            return self.ways.iter().any(|way| way[0] == field);
        }
        let Some(way) = self.ways.first() else { return false };
        let element = is_element(shape, field);
        if !element && way.last() != Some(&field) {
            return false;
        }
        let around = if element { &way[..] } else { &way[..way.len().saturating_sub(1)] };
        steps(path).eq(around)
    }
}

/// The fields of a path without elements of lists and the record itself.
pub(crate) fn steps(path: &[FieldId]) -> impl Iterator<Item = &FieldId> {
    path.iter().filter(|field| **field != FieldId::ROOT)
}

/// Whether a field is that of the elements of a list.
pub(crate) fn is_element(shape: &Shape, field: FieldId) -> bool {
    let parent = shape.fields.get(field.index()).map(|field| shape.node(field.parent).kind);
    matches!(parent, Some(Kind::SequenceOf | Kind::SetOf))
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
