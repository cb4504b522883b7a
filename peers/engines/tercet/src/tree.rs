//! A value as nested lists of texts, in which every primitive says what it is: what peers compare their own with.
//!
//! Texts are free of quotation marks and backslashes (characters are given as hexadecimal UTF-8), so that a line is
//! both JSON and a term of Erlang. The forms are listed in `peers/README.md`.

use serde_json::{Value as Json, json};
use tercet::dynamic::leaf::{Scalar, scalar};
use tercet::dynamic::{Encoder, FieldId, Leaf, NodeId, Sink, Tape, Token, View, say_constant};
use tercet::plan::{Kind, Plan, Rules};
use tercet::runtime::types::Real;

/// Makes trees of values as one of the rules has them: what is inside open types is also given in its encoding.
#[derive(Debug)]
pub struct Trees<'a> {
    /// The plan that the encodings are made by.
    pub plan: &'a Plan,
    /// The rules of the encodings.
    pub rules: Rules,
}

impl Trees<'_> {
    /// The tree of the value that begins at an index of a tape.
    pub fn tree(&self, view: View<'_>, index: usize) -> Json {
        let shape = &self.plan.shape;
        match view.token(index) {
            Token::Leaf { node, leaf, .. } => self.leaf(node, leaf),
            Token::Default { field, node, constant } => {
                let mut tape = Tape::new();
                say_constant(shape, field, node, constant, &mut tape);
                self.tree(tape.view(&[]), 0)
            }
            Token::Unknown { leaf, .. } => json!(["unknown", hex(leaf.contents().unwrap_or_default())]),
            Token::Open { node, close, .. } => match shape.node(node).kind {
                Kind::Sequence | Kind::Set => json!(["members", self.members(view, index, close)]),
                Kind::SequenceOf | Kind::SetOf => {
                    let order = if shape.node(node).kind == Kind::SetOf { "any" } else { "given" };
                    let parts: Vec<Json> =
                        children(view, index, close).map(|at| self.tree(view, at)).collect();
                    json!(["elements", parts, order])
                }
                Kind::Choice => match children(view, index, close).next() {
                    Some(at) => json!(["choice", self.name(view.token(at)), self.tree(view, at)]),
                    None => json!(["raw", ""]),
                },
                Kind::Open => {
                    let encoding = self.encoding(view, index + 1, close);
                    json!(["open", self.tree(view, index + 1), hex(&encoding)])
                }
                kind => {
                    let encoding = self.encoding(view, index + 1, close);
                    let kind = if kind == Kind::BitString { "bits" } else { "octets" };
                    json!(["containing", self.tree(view, index + 1), hex(&encoding), kind])
                }
            },
            Token::Close { .. } => json!(["raw", ""]),
        }
    }

    fn members(&self, view: View<'_>, index: usize, close: usize) -> Vec<Json> {
        children(view, index, close)
            .map(|at| {
                let token = view.token(at);
                let how = if matches!(token, Token::Default { .. }) { "default" } else { "given" };
                json!([self.name(token), self.tree(view, at), how])
            })
            .collect()
    }

    fn name(&self, token: Token<'_>) -> &str {
        let shape = &self.plan.shape;
        match token {
            Token::Open { field, .. } | Token::Leaf { field, .. } | Token::Default { field, .. } => {
                shape.fields.get(field.index()).map_or("", |field| shape.name(field.name))
            }
            _ => "",
        }
    }

    /// The complete encoding of what is inside an open type.
    fn encoding(&self, view: View<'_>, index: usize, close: usize) -> Vec<u8> {
        let mut content = Content { tape: Tape::new(), depth: 0 };
        for at in index..close {
            match view.token(at) {
                Token::Open { field, node, .. } => content.open(field, node),
                Token::Close { field, node, .. } => content.close(field, node),
                Token::Leaf { field, node, leaf } => content.leaf(field, node, leaf),
                Token::Default { field, node, constant } => content.absent(field, node, constant),
                Token::Unknown { addition, leaf } => content.unknown(addition, leaf),
            }
        }
        let mut out = Vec::new();
        match Encoder::new().encode(self.plan, self.rules, content.tape.view(&[]), &mut out) {
            Ok(()) => out,
            Err(_) => Vec::new(),
        }
    }

    fn leaf(&self, node: NodeId, leaf: Leaf<'_>) -> Json {
        let shape = &self.plan.shape;
        let kind = shape.node(node).kind;
        match scalar(shape, node, leaf) {
            Scalar::Boolean(value) => json!(["boolean", if value { "true" } else { "false" }]),
            Scalar::Integer(number) => {
                let name = shape.item_name(node, number).unwrap_or("");
                json!(["integer", number.to_string(), name])
            }
            Scalar::BigInteger(octets) => json!(["big", hex(octets)]),
            Scalar::Enumerated(number, name) => json!(["enumerated", name.unwrap_or(""), number.to_string()]),
            Scalar::Addition(number) => json!(["addition", number.to_string()]),
            Scalar::Real(real) => {
                let base = if matches!(real, Real::Decimal(_)) { "10" } else { "2" };
                json!(["real", format!("{:?}", real.to_f64()), base])
            }
            Scalar::BitString(bits) => {
                let names: Vec<String> = if shape.items_of(node).is_empty() {
                    Vec::new()
                } else {
                    let set = bits.iter().enumerate().filter(|bit| bit.1);
                    let name = |at: usize| shape.item_name(node, i64::try_from(at).unwrap_or(i64::MAX));
                    set.map(|(at, _)| name(at).map_or_else(|| format!("bit {at}"), str::to_owned)).collect()
                };
                json!(["bits", hex(bits.bytes()), bits.len().to_string(), names])
            }
            Scalar::OctetString(octets) => json!(["octets", hex(octets)]),
            Scalar::Null => json!(["null"]),
            Scalar::ObjectIdentifier(oid) => json!(["oid", oid.to_string()]),
            Scalar::RelativeOid(oid) => json!(["relative-oid", oid.to_string()]),
            Scalar::Text(text) => json!(["text", kind.name(), hex(text.as_bytes())]),
            Scalar::Time(text) => json!(["time", kind.name(), hex(text.as_bytes())]),
            Scalar::Open(octets) => json!(["encoding", hex(octets)]),
            Scalar::Raw(octets) => json!(["raw", hex(octets)]),
        }
    }
}

/// Copies what is inside an open type as a value of its own.
struct Content {
    tape: Tape,
    depth: usize,
}

impl Content {
    fn field(&self, field: FieldId) -> FieldId {
        if self.depth == 0 { FieldId::ROOT } else { field }
    }
}

impl Sink for Content {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let leaf = match leaf {
            Leaf::Input { contents, .. } => Leaf::Made(contents),
            other => other,
        };
        self.tape.leaf(self.field(field), node, leaf);
    }
    fn open(&mut self, field: FieldId, node: NodeId) {
        self.tape.open(self.field(field), node);
        self.depth += 1;
    }
    fn close(&mut self, field: FieldId, node: NodeId) {
        self.depth -= 1;
        self.tape.close(self.field(field), node);
    }
    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.tape.absent(self.field(field), node, constant);
    }
    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.tape.unknown(addition, Leaf::Made(leaf.contents().unwrap_or_default()));
    }
}

/// The indices of the parts of a value.
fn children(view: View<'_>, index: usize, close: usize) -> impl Iterator<Item = usize> {
    let first = Some(index + 1).filter(|at| *at < close);
    std::iter::successors(first, move |at| Some(view.skip(*at)).filter(|at| *at < close))
}

/// Octets as hexadecimal text.
pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
