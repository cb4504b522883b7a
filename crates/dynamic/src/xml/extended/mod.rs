//! Extended XER (X.693 clause 10): the text that encoding instructions ask for.
//!
//! Followed are ATTRIBUTE, BASE64, DECIMAL, DEFAULT-FOR-EMPTY, GLOBAL-DEFAULTS, LIST, NAME, NAMESPACE, TEXT, UNTAGGED,
//! USE-NIL, USE-NUMBER, USE-ORDER, USE-TYPE, USE-UNION, WHITESPACE. A shape with any other is refused, both ways; the
//! compiler tells where it stands. Components with a DEFAULT that are absent stay absent, and extension additions that
//! the schema does not know are left out.

mod characters;
mod read;
mod write;

pub use read::read;
pub use write::write;

use crate::contents::ContentsError;
use tercet_plan::instructions::{Places, Xml};
use tercet_plan::{FieldId, NodeId, Shape};

/// The control namespace (X.693 26.2 and 33 to 37).
const CONTROL: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Values inside one another, whatever the options say.
const MOST_DEPTH: u16 = 250;

/// What a shape without instructions has for every place.
static PLAIN: Xml = Xml {
    name: None,
    namespace: None,
    modified: false,
    attribute: false,
    untagged: false,
    list: false,
    base64: false,
    decimal: false,
    text: false,
    texts: Vec::new(),
    use_nil: false,
    use_number: false,
    use_order: false,
    use_type: false,
    use_union: false,
    whitespace: tercet_plan::instructions::Whitespace::Preserve,
    default_for_empty: None,
};

/// The places of a shape, looked up in one way whether there are instructions or not.
#[derive(Clone, Copy, Debug)]
struct Instructed<'s> {
    shape: &'s Shape,
    places: Option<&'s Places<Xml>>,
}

impl<'s> Instructed<'s> {
    /// The error is the instruction that is not followed.
    fn new(shape: &'s Shape) -> Result<Self, ContentsError> {
        let known = shape.instructions.as_deref();
        match known.and_then(|known| known.unsupported.first()) {
            Some(word) => {
                Err(format!("the encoding instruction `{}` is not supported", shape.name(*word)).into())
            }
            None => Ok(Self { shape, places: known.and_then(|known| known.xml.as_ref()) }),
        }
    }

    fn of(self, field: FieldId, node: NodeId) -> &'s Xml {
        self.places.map_or(&PLAIN, |places| places.of(field, node))
    }

    /// The namespace of a place, empty if it has none.
    fn uri(self, xml: &Xml) -> &'s str {
        let known = self.shape.instructions.as_deref().and_then(|known| {
            let at = xml.namespace?;
            known.namespaces.get(at as usize)
        });
        known.map_or("", |(uri, _)| self.shape.name(*uri))
    }

    /// The name of the element of a component, alternative or list element.
    fn name(self, field: FieldId, xml: &Xml) -> std::borrow::Cow<'s, str> {
        let it = self.shape.field(field);
        match xml.name {
            Some(name) => super::names::element_name(self.shape.name(name)),
            None => super::names::item_name(self.shape, it),
        }
    }
}
