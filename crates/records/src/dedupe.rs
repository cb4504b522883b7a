//! Records that have been there before.

use crate::component::{Component, is_element};
use crate::filter::FilterError;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use tercet_dynamic::{FieldId, Leaf, NodeId, Shape, Token, View};

/// Tells records that have been there before, by their octets or by the values of components.
///
/// It keeps 16 octets of each record, a digest: that two records of 2^32 have the same one by chance happens once in 2^65 runs.
#[derive(Clone, Debug)]
pub struct Dedupe {
    /// None of them if it is the octets that count.
    components: Vec<Component>,
    seen: HashSet<u128>,
    hashers: [RandomState; 2],
    /// Where the walk over a record is.
    path: Vec<FieldId>,
}

impl Dedupe {
    /// By the values of components of a type, all of which have to be the same: paths from the record, or names of components
    /// wherever they are. By the octets if there are none.
    ///
    /// # Errors
    /// When the type has no such component, or it is no single value.
    pub fn new(shape: &Shape, root: NodeId, paths: &[String]) -> Result<Self, FilterError> {
        let component = |path: &String| Component::new(shape, root, path).map_err(FilterError::new);
        Ok(Self {
            components: paths.iter().map(component).collect::<Result<_, _>>()?,
            seen: HashSet::new(),
            hashers: [RandomState::new(), RandomState::new()],
            path: Vec::new(),
        })
    }

    /// The fields that have to be decoded.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.components.iter().flat_map(Component::fields)
    }

    /// Whether a component is a part of something rendered: no field below this number.
    pub(crate) fn is_of_parts(&self, fields: usize) -> bool {
        self.components.iter().any(|component| component.is_of_parts(fields))
    }

    /// What a record is known by; nothing if it has none of the components, and so is like no other.
    pub(crate) fn digest(&mut self, shape: &Shape, view: View<'_>, octets: &[u8]) -> Option<u128> {
        let mut hashers = [0, 1].map(|index| self.hashers[index].build_hasher());
        let mut take = |number: usize, value: &[u8]| {
            for hasher in &mut hashers {
                number.hash(hasher);
                value.hash(hasher);
            }
        };
        if self.components.is_empty() {
            take(0, octets);
        } else if !walk(&self.components, &mut self.path, shape, view, &mut take) {
            return None;
        }
        let [high, low] = hashers.map(|hasher| u128::from(hasher.finish()));
        Some(high << 64 | low)
    }

    /// Whether there has been a record with this digest.
    pub(crate) fn has(&self, digest: u128) -> bool {
        self.seen.contains(&digest)
    }

    /// Takes note of a record.
    pub(crate) fn add(&mut self, digest: u128) {
        self.seen.insert(digest);
    }
}

/// Says the values of components with their numbers; whether there are any.
fn walk(
    components: &[Component],
    path: &mut Vec<FieldId>,
    shape: &Shape,
    view: View<'_>,
    take: &mut dyn FnMut(usize, &[u8]),
) -> bool {
    path.clear();
    let mut any = false;
    for index in 0..view.len() {
        match view.token(index) {
            Token::Open { field, .. } => {
                path.push(if is_element(shape, field) { FieldId::ROOT } else { field });
            }
            Token::Close { .. } => _ = path.pop(),
            Token::Leaf { field, leaf, .. } => {
                for (number, component) in components.iter().enumerate() {
                    if component.is_at(shape, path, field) {
                        any = true;
                        match leaf {
                            Leaf::Input { contents, .. } | Leaf::Made(contents) => take(number, contents),
                            Leaf::Int(value) => take(number, &value.to_be_bytes()),
                            Leaf::Addition(value) => take(number, &value.to_be_bytes()),
                        }
                    }
                }
            }
            _ => {}
        }
    }
    any
}
