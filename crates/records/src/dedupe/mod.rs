//! Records that have been there before.

use crate::component::{Component, is_element};
use crate::filter::FilterError;
use seen::{Seen, Turn};
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tercet_dynamic::{FieldId, Leaf, NodeId, Shape, Token, View};
use tercet_plan::Kind;

mod file;
mod seen;

/// What a record is known by: 16 octets of a SHA-256. That two records of 2^32 have the same one by chance happens once in
/// 2^65 runs, and nobody makes another record of the same one on purpose in less than 2^64 steps.
pub(crate) type Digest = [u8; 16];

/// Tells records that have been there before, by their octets or by the values of components. Clones know of the same records.
#[derive(Clone, Debug)]
pub struct Dedupe {
    /// None of them if it is the octets that count.
    components: Vec<Component>,
    seen: Arc<Seen>,
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
        let components = paths.iter().map(component).collect::<Result<_, _>>()?;
        Ok(Self { components, seen: Arc::default(), path: Vec::new() })
    }

    /// Knows the records of earlier runs from a file, and adds those of this one, an output at a time: see [`Dedupe::begin`].
    /// `meaning` is what digests depend on; `earlier` is what an earlier version called the same.
    ///
    /// # Errors
    /// Those of the file system; when the file holds something else, or another run has it.
    pub fn with_file(mut self, path: &Path, meaning: &str, earlier: Option<&str>) -> io::Result<Self> {
        self.seen = Arc::new(Seen::with_file(path, meaning, earlier)?);
        Ok(self)
    }

    /// Where the larger part of what `with_file` keeps goes, beside the file.
    pub fn sorted_path(path: &Path) -> std::path::PathBuf {
        file::beside(path)
    }

    /// The records of an output follow. Those that a file has as an earlier state of this output count as not having been
    /// there, so that an output that is made again is the same. An output without a name is like no other.
    pub fn begin(&self, output: Option<&str>) {
        self.seen.begin(output);
    }

    /// Takes the records of the output over into the file: to be called before the output gets its name. An output that is
    /// begun and not committed leaves nothing.
    ///
    /// # Errors
    /// Those of the file system, also those met while records were looked up.
    pub fn commit(&self) -> io::Result<()> {
        self.seen.commit()
    }

    /// The fields that have to be decoded.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.components.iter().flat_map(Component::fields)
    }

    /// Whether a component is a part of something rendered: no field below this number.
    pub(crate) fn is_of_parts(&self, fields: usize) -> bool {
        self.components.iter().any(|component| component.is_of_parts(fields))
    }

    /// Whether it is the octets of records that count, not their values.
    pub(crate) fn is_of_octets(&self) -> bool {
        self.components.is_empty()
    }

    /// What a record is known by, if its octets count.
    pub(crate) fn digest_of_octets(octets: &[u8]) -> Digest {
        shortened(Sha256::new_with_prefix(octets))
    }

    /// What a record is known by; nothing if it has none of the components, and so is like no other.
    pub(crate) fn digest(&mut self, shape: &Shape, view: View<'_>, octets: &[u8]) -> Option<Digest> {
        if self.is_of_octets() {
            return Some(Self::digest_of_octets(octets));
        }
        let mut hash = Sha256::new();
        let mut take = |number: usize, value: &[u8]| {
            hash.update((number as u64).to_be_bytes());
            hash.update((value.len() as u64).to_be_bytes());
            hash.update(value);
        };
        let any = walk(&self.components, &mut self.path, shape, view, &mut take);
        any.then(|| shortened(hash))
    }

    /// Whether there has been a record with this digest.
    pub(crate) fn has(&self, digest: &Digest) -> bool {
        self.seen.has(digest)
    }

    /// Takes note of a record.
    pub(crate) fn add(&self, digest: Digest) {
        self.seen.add(digest);
    }

    /// Batches of records follow, numbered from 0, whose threads take turns.
    pub(crate) fn begin_turns(&self) {
        self.seen.begin_turns();
    }

    /// The turn of a batch, which passes to the next one when it is over.
    pub(crate) fn turn(&self, batch: usize) -> Turn {
        Turn::new(Arc::clone(&self.seen), batch)
    }

    /// The records of the first batch of those that have had their turn are rows now.
    pub(crate) fn accept(&self) {
        self.seen.accept();
    }

    /// No batch follows; the records of those that have not been accepted have not been there.
    pub(crate) fn end_turns(&self) {
        self.seen.end_turns();
    }
}

fn shortened(hash: Sha256) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.finalize()[..16]);
    digest
}

/// The contents octets in BER of a number that has none, as in PER, and where they begin: a value is the same in all rules.
fn contents_of(kind: Kind, value: i64) -> ([u8; 8], usize) {
    if kind == Kind::Boolean {
        return ([if value == 0 { 0 } else { 0xFF }; 8], 7);
    }
    let spare = if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
    (value.to_be_bytes(), (spare as usize - 1).min(63) / 8)
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
            Token::Leaf { field, node, leaf } => {
                for (number, component) in components.iter().enumerate() {
                    if component.is_at(shape, path, field) {
                        any = true;
                        match leaf {
                            Leaf::Input { contents, .. } | Leaf::Made(contents) => take(number, contents),
                            Leaf::Int(value) => {
                                let (octets, begin) = contents_of(shape.node(node).kind, value);
                                take(number, &octets[begin..]);
                            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_contents_that_ber_has() {
        // X.690 8.3.2: the first nine bits are not all alike.
        for (value, expected) in [
            (0, &[0][..]),
            (127, &[0x7F]),
            (128, &[0, 0x80]),
            (-1, &[0xFF]),
            (-128, &[0x80]),
            (-129, &[0xFF, 0x7F]),
            (65_536, &[1, 0, 0]),
            (i64::MAX, &[0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (i64::MIN, &[0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let (octets, begin) = contents_of(Kind::Integer, value);
            assert_eq!(&octets[begin..], expected, "{value}");
        }
        assert_eq!(contents_of(Kind::Boolean, 1), ([0xFF; 8], 7));
    }
}
