//! What stands between a decoder and a sink passes on the places of parts.

use super::{Interpretation, Profile, RenderKind, Rendered, Scratch};
use std::sync::Arc;
use tercet_columns::Selection;
use tercet_dynamic::{Decoder, FieldId, Leaf, NodeId, Options, Place, Plan, Rules, Sink};

/// Keeps places and events as text.
#[derive(Default)]
struct Heard(Vec<String>);

impl Sink for Heard {
    fn leaf(&mut self, _: FieldId, _: NodeId, _: Leaf<'_>) {
        self.0.push("leaf".to_owned());
    }

    fn open(&mut self, _: FieldId, _: NodeId) {
        self.0.push("open".to_owned());
    }

    fn close(&mut self, _: FieldId, _: NodeId) {
        self.0.push("close".to_owned());
    }

    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}

    fn wants_places(&self) -> bool {
        true
    }

    fn place(&mut self, _: FieldId, _: NodeId, Place { part, at, bits, .. }: Place) {
        self.0.push(format!("{at}+{bits} {}", part.name()));
    }
}

/// The plan of a number in TBCD and a list.
fn plan() -> Plan {
    let text = "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { number OCTET STRING, inner SEQUENCE { list SEQUENCE OF BOOLEAN, ..., more NULL }, last NULL }
        END";
    let mut map = tercet_syntax::SourceMap::new();
    let file = map.add("test.asn", text);
    let (modules, found) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
    assert!(found.is_empty(), "{found:?}");
    let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
    tercet_lower::plan(&model, Rules::Uper, &tercet_lower::all_roots(&model)).0
}

/// A number of one octet, and two elements; an addition.
const INPUT: [u8; 7] = [0x01, 0x21, 0x81, 0x40, 0x20, 0x20, 0x00];

fn decode(plan: &Plan, sink: &mut impl Sink) {
    let mut options = Options::default();
    options.rules = Rules::Uper;
    let root = plan.root("T").unwrap();
    Decoder::new().decode(plan, root, &INPUT, sink, &options).unwrap();
}

#[test]
fn rendered_values_have_the_places_of_their_bytes() {
    let plan = plan();
    let mut plain = Heard::default();
    decode(&plan, &mut plain);
    assert_eq!(
        plain.0,
        [
            "open",
            "0+8 length",
            "8+8 contents",
            "leaf",
            "16+1 extension-bit",
            "open",
            "17+8 length",
            "open",
            "25+1 contents",
            "leaf",
            "26+1 contents",
            "leaf",
            "close",
            "27+7 length",
            "34+1 bitmap",
            "35+8 length",
            "43+0 contents",
            "leaf",
            "43+8 end-padding",
            "close",
            "51+0 contents",
            "leaf",
            "close",
            "51+5 end-padding",
        ]
    );
    let root = plan.root("T").unwrap();
    let rules = [("number".to_owned(), RenderKind::Tbcd)];
    let rendering = Interpretation::new(&plan.shape, root, &Profile::default(), &rules).unwrap();
    let (mut shown, mut scratch) = (Heard::default(), Scratch::default());
    let shape = Arc::clone(&plan.shape);
    decode(&plan, &mut Rendered::new(&shape, Some(&rendering), None, &mut shown, &mut scratch));
    assert_eq!(shown.0, plain.0);
}

#[test]
fn selected_components_have_their_places() {
    let plan = plan();
    let mut heard = Heard::default();
    let mut selection = Selection::new(&plan.shape, plan.root("T").unwrap(), &["inner.list".to_owned()]);
    decode(&plan, &mut selection.sink(&mut heard));
    assert_eq!(
        heard.0,
        [
            "open",
            "16+1 extension-bit",
            "open",
            "17+8 length",
            "open",
            "25+1 contents",
            "leaf",
            "26+1 contents",
            "leaf",
            "close",
            "27+7 length",
            "34+1 bitmap",
            "close",
            "close",
            "51+5 end-padding",
        ]
    );
}
