//! Where the elements of an XML text end. It is found out by a reader of its own, so that texts whose ranges nobody asks
//! for pay nothing.

use quick_xml::Reader;
use quick_xml::events::Event;
use std::ops::Range;

/// The extents of all elements of a well-formed text.
#[derive(Debug)]
pub(super) struct Extents {
    /// By where the elements begin.
    elements: Vec<Extent>,
}

/// The offsets of an element.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    /// The element with its tags.
    pub(super) whole: Range<usize>,
    /// What is between the tags; nothing behind the tag of an empty element.
    pub(super) content: Range<usize>,
}

impl Extents {
    /// Finds the elements of a text that [`super::document::Document`] has checked.
    pub(super) fn of(text: &str) -> Self {
        let mut reader = Reader::from_str(text);
        let place = |reader: &Reader<&[u8]>| usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let (mut elements, mut open) = (Vec::new(), Vec::new());
        loop {
            let at = place(&reader);
            let Ok(event) = reader.read_event() else { break };
            let end = place(&reader);
            match event {
                Event::Start(_) => {
                    open.push(elements.len());
                    elements.push(Extent { whole: at..end, content: end..end });
                }
                Event::Empty(_) => elements.push(Extent { whole: at..end, content: end..end }),
                Event::End(_) => {
                    if let Some(element) = open.pop().and_then(|index: usize| elements.get_mut(index)) {
                        (element.content.end, element.whole.end) = (at, end);
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        Self { elements }
    }

    /// Returns the element that begins at an offset.
    pub(super) fn element(&self, at: usize) -> Option<Extent> {
        let found = self.elements.binary_search_by_key(&at, |element| element.whole.start).ok()?;
        self.elements.get(found).cloned()
    }
}
