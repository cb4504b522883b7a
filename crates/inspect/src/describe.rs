//! Rows of records: what they are, their first values, whether something is wrong.

use crate::answers::cut;
use crate::rows::{Row, RowKind};
use crate::view::View;
use serde_json::{Map, Value};
use std::sync::Arc;
use tercet_schema::dynamic::json::{self as json_text, JsonWriter};
use tercet_schema::dynamic::validate::Validator;
use tercet_schema::dynamic::{Decoder, FieldId, Leaf, NodeId, Shape, Sink, Tape};
use tercet_schema::plan::Kind;
use tercet_schema::records::Scratch;

/// Bytes of a record that its row is made of.
pub(crate) const SUMMARY: usize = 1 << 16;
/// Values in the row of a record, and characters of each.
const LEAVES: usize = 3;
const LEAF: usize = 40;

/// Makes the rows of records.
pub(crate) struct Describer {
    view: Arc<View>,
    decoder: Decoder,
    tape: Tape,
    shown: Tape,
    scratch: Scratch,
    validator: Validator,
}

impl Describer {
    pub(crate) fn new(view: Arc<View>) -> Self {
        Self {
            view,
            decoder: Decoder::new(),
            tape: Tape::new(),
            shown: Tape::new(),
            scratch: Scratch::default(),
            validator: Validator::new(),
        }
    }

    /// Returns the value that was decoded last, as far as it could be.
    pub(crate) fn tape(&self) -> &Tape {
        &self.tape
    }

    /// Decodes a record; returns the kind of its first problem. Constraints are checked only if that is asked for.
    pub(crate) fn problem(&mut self, octets: &[u8], checks: bool) -> Option<&'static str> {
        let Self { view, decoder, tape, validator, .. } = self;
        let options = view.options();
        tape.clear();
        let mut problem = None;
        if view.rules.is_text() {
            let mut codec = tercet_schema::TapeCodec::new(view.rules, &view.plan);
            problem = codec.read(view.root, octets, tape, &options).err().map(|_| "fault");
        } else {
            match decoder.decode(&view.plan, view.root, octets, tape, &options) {
                Ok(_) if decoder.marked() > 0 && view.rules.has_elements() => problem = Some("value"),
                Ok(_) => {}
                Err(_) => {
                    tape.finish_partial();
                    problem = Some("fault");
                }
            }
        }
        let is_checked = checks && problem.is_none();
        if is_checked && !validator.check(&view.plan.shape, view.root, tape.view(octets)).is_empty() {
            problem = Some("constraint");
        }
        problem
    }

    /// Adds to the row of a record what it holds, and the kind of its first problem.
    pub(crate) fn describe(&mut self, octets: &[u8], line: &mut Map<String, Value>) {
        let problem = self.problem(octets, true);
        let view = Arc::clone(&self.view);
        let shape = view.rendering.as_ref().map_or(&view.plan.shape, |rendering| rendering.shape());
        let values = JsonWriter::new(shape, json_text::Options::default());
        let mut summary = Summary { shape, values, label: String::new(), text: String::new(), leaves: 0 };
        self.replay(octets, &mut summary);
        line.insert("label".to_owned(), summary.label.into());
        line.insert("summary".to_owned(), summary.text.into());
        line.extend(problem.map(|problem| ("problem".to_owned(), problem.into())));
    }

    /// Reports whether a value of the record that was decoded last is shown with a text, in letters of any case.
    pub(crate) fn shows(&mut self, octets: &[u8], text: &str) -> bool {
        let view = Arc::clone(&self.view);
        let shape = view.rendering.as_ref().map_or(&view.plan.shape, |rendering| rendering.shape());
        let values = JsonWriter::new(shape, json_text::Options::default());
        let mut search = Search { values, text: text.as_bytes(), is_found: text.is_empty() };
        self.replay(octets, &mut search);
        search.is_found
    }

    /// Hands on the value that was decoded last, as it is shown.
    fn replay(&mut self, octets: &[u8], sink: &mut impl Sink) {
        let Self { view, tape, shown, scratch, .. } = self;
        match &view.rendering {
            Some(rendering) => {
                rendering.show(tape.view(octets), shown, scratch);
                shown.view(octets).replay(sink);
            }
            None => tape.view(octets).replay(sink),
        }
    }
}

/// Reports whether the row of a record can have more than its place: other rules have plans of their own, and a long record
/// is looked at when it is opened.
pub(crate) fn can_describe(row: &Row) -> bool {
    row.kind.is_record()
        && row.kind.rules().is_none()
        && row.length <= SUMMARY as u64
        && row.kind != RowKind::Rejected
}

/// Looks for a text in the values of a record.
struct Search<'v> {
    values: JsonWriter<'v>,
    text: &'v [u8],
    is_found: bool,
}

impl Sink for Search<'_> {
    fn leaf(&mut self, _: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.is_found {
            return;
        }
        self.values.clear();
        self.values.leaf(FieldId::ROOT, node, leaf);
        let mut windows = self.values.text().windows(self.text.len());
        self.is_found = windows.any(|found| found.eq_ignore_ascii_case(self.text));
    }

    fn open(&mut self, _: FieldId, _: NodeId) {}

    fn close(&mut self, _: FieldId, _: NodeId) {}

    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
}

/// The alternative and the first values of a record, as text.
struct Summary<'v> {
    shape: &'v Shape,
    values: JsonWriter<'v>,
    /// The alternative.
    label: String,
    text: String,
    leaves: usize,
}

impl Summary<'_> {
    fn name(&self, field: FieldId) -> &str {
        let shape = self.shape;
        shape.fields.get(field.index()).map_or("", |field| shape.name(field.name))
    }
}

impl Sink for Summary<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.leaves >= LEAVES {
            return;
        }
        self.leaves += 1;
        self.values.clear();
        self.values.leaf(FieldId::ROOT, node, leaf);
        let value = cut(&String::from_utf8_lossy(self.values.text()), LEAF);
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        let name = self.name(field).to_owned();
        if !name.is_empty() {
            self.text.push_str(&name);
            self.text.push(' ');
        }
        self.text.push_str(value.trim_matches('"'));
    }

    fn open(&mut self, field: FieldId, _: NodeId) {
        let shape = self.shape;
        // The alternative says what the record is.
        let of_choice = shape
            .fields
            .get(field.index())
            .filter(|field| shape.nodes.get(field.parent.index()).is_some_and(|it| it.kind == Kind::Choice));
        if let Some(field) = of_choice.filter(|_| self.leaves == 0) {
            if !self.label.is_empty() {
                self.label.push('.');
            }
            self.label.push_str(shape.name(field.name));
        }
    }

    fn close(&mut self, _: FieldId, _: NodeId) {}

    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
}
