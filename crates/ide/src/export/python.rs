//! Python types of the values that `tercet.Schema.decode` returns.

use super::{Names, own, word};
use std::fmt::Write as _;
use tercet_schema::plan::shape::{Place, Presence};
use tercet_schema::plan::{Kind, NodeId, Plan, Shape};

/// Words that no name may be.
const KEYWORDS: [&str; 38] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "match",
    "type", "tercet",
];

const HEADER: &str = "\
\"\"\"Types of the values that `tercet.Schema.decode` returns with default options. Made by `tercet export`.\"\"\"

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypeAlias
else:
    from typing_extensions import NotRequired, TypeAlias

import tercet
";

/// Names that the header takes.
const TAKEN: [&str; 12] = [
    "Any",
    "Dict",
    "Decimal",
    "List",
    "Literal",
    "NotRequired",
    "Tuple",
    "TypeAlias",
    "TypedDict",
    "Union",
    "annotations",
    "sys",
];

pub(super) fn text(plan: &Plan, roots: &[(String, NodeId)]) -> String {
    let shape = &*plan.shape;
    let names = Names::new(shape, roots, true, |name| {
        let name = word(name);
        if KEYWORDS.contains(&&*name) || TAKEN.contains(&&*name) { format!("{name}_") } else { name }
    });
    let maker = Maker { shape, names: &names };
    let mut text = HEADER.to_owned();
    for id in &names.order {
        if let Some(name) = names.get(*id) {
            text.push('\n');
            maker.definition(name, *id, &mut text);
        }
    }
    // A root may be one of the types above under another name.
    for (name, node) in roots {
        let name = word(own(name));
        if names.get(*node).is_some_and(|known| known != name)
            && !names.order.iter().any(|id| names.get(*id) == Some(&*name))
        {
            _ = writeln!(text, "\n{name}: TypeAlias = {}", quoted(&maker.value(*node)));
        }
    }
    text
}

struct Maker<'a> {
    shape: &'a Shape,
    names: &'a Names,
}

impl Maker<'_> {
    fn definition(&self, name: &str, id: NodeId, text: &mut String) {
        let node = self.shape.node(id);
        if !matches!(node.kind, Kind::Sequence | Kind::Set) {
            let value = self.expression(id);
            _ = writeln!(text, "{name}: TypeAlias = {}", quoted(&value));
            return;
        }
        // Names of components may have hyphens, or be words of Python.
        _ = writeln!(text, "{name} = TypedDict({}, {{", quoted(name));
        for (_, field) in self.shape.fields_of(id) {
            let value = self.value(field.node);
            let is_there = field.presence == Presence::Mandatory && field.place == Place::Root;
            let value = if is_there { value } else { format!("NotRequired[{value}]") };
            _ = writeln!(text, "    {}: {},", quoted(self.shape.name(field.name)), quoted(&value));
        }
        if node.extensible {
            _ = writeln!(text, "    \"...\": \"NotRequired[List[tercet.Unknown]]\",");
        }
        text.push_str("})\n");
    }

    /// The type of a value: by its name, if it has one.
    fn value(&self, id: NodeId) -> String {
        self.names.get(id).map_or_else(|| self.expression(id), str::to_owned)
    }

    fn expression(&self, id: NodeId) -> String {
        let node = self.shape.node(id);
        let text = match node.kind {
            Kind::Boolean => "bool",
            Kind::Null => "None",
            Kind::Integer => "int",
            Kind::Real => "Union[float, Decimal, tercet.Real]",
            Kind::Enumerated => {
                let names =
                    self.shape.items_of(id).iter().map(|item| quoted_plain(self.shape.name(item.name)));
                return format!("Union[Literal[{}], int]", names.collect::<Vec<_>>().join(", "));
            }
            Kind::BitString | Kind::OctetString if node.containing.is_some() => {
                let octets = if node.kind == Kind::BitString { "tercet.BitString" } else { "bytes" };
                let inner = node.containing.map(|inner| self.value(inner)).unwrap_or_default();
                return format!("Union[Tuple[str, {inner}], {octets}]");
            }
            Kind::BitString => "tercet.BitString",
            Kind::OctetString => "bytes",
            Kind::Open => "Union[Tuple[str, Any], bytes]",
            Kind::SequenceOf | Kind::SetOf => {
                let element = self.shape.fields_of(id).next().map(|(_, field)| self.value(field.node));
                return format!("List[{}]", element.unwrap_or_else(|| "Any".to_owned()));
            }
            Kind::Choice => {
                let alternatives = self.shape.fields_of(id).map(|(_, field)| {
                    format!(
                        "Tuple[Literal[{}], {}]",
                        quoted_plain(self.shape.name(field.name)),
                        self.value(field.node)
                    )
                });
                let mut all: Vec<String> = alternatives.collect();
                if node.extensible {
                    all.push("Tuple[Literal['...'], tercet.Unknown]".to_owned());
                }
                return format!("Union[{}]", all.join(", "));
            }
            Kind::Sequence | Kind::Set => "Dict[str, Any]",
            _ => "str",
        };
        text.to_owned()
    }
}

/// A text in quotes, for expressions in quotes.
fn quoted_plain(text: &str) -> String {
    format!("'{text}'")
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
