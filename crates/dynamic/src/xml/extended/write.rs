//! Extended XER: a tape to text.

use super::super::names::{content_name, element_name, item_name, outermost_name};
use super::super::write::{Options, push_text};
use super::characters::{Form, is_white};
use super::{CONTROL, Instructed, MOST_DEPTH};
use crate::error::{Error, ErrorKind};
use crate::leaf::{Scalar, scalar};
use crate::tape::{Token, View};
use crate::text::join_path;
use std::borrow::Cow;
use tercet_plan::instructions::Xml;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

type Result<T> = std::result::Result<T, Error>;

/// Appends a value as extended XER, on one line.
///
/// # Errors
/// The shape has an instruction that is not supported, or the value has no form under its instructions: a control
/// character in an attribute, say. What was appended is then taken away.
pub fn write(shape: &Shape, value: View<'_>, out: &mut Vec<u8>, options: &Options) -> Result<()> {
    let begin = out.len();
    let written = write_all(shape, value, out, options);
    if written.is_err() {
        out.truncate(begin);
    }
    written
}

fn write_all(shape: &Shape, value: View<'_>, out: &mut Vec<u8>, options: &Options) -> Result<()> {
    let fail = |detail: String| Error::new(ErrorKind::ValueMismatch, 0).with_detail(detail);
    let places = Instructed::new(shape).map_err(|error| fail(error.into()))?;
    let Some((field, node)) = (!value.is_empty()).then(|| part_of(value.token(0))).flatten() else {
        return Err(fail("there is no value".to_owned()));
    };
    let count = shape.instructions.as_deref().map_or(0, |known| known.namespaces.len());
    let text = std::mem::take(out);
    let mut writer = Writer {
        places,
        view: value,
        out: text,
        used: vec![false; count],
        control: false,
        path: String::new(),
        level: 0,
    };
    let begin = writer.out.len();
    let xml = places.of(field, node);
    let name = match (&options.root, xml.name) {
        (Some(name), _) => element_name(name),
        (None, Some(name)) => element_name(shape.name(name)),
        (None, None) => outermost_name(shape, node),
    };
    let outcome = writer.element(0, field, node, &name);
    if outcome.is_ok() {
        writer.declare(begin);
    }
    *out = writer.out;
    outcome
}

/// The field and node of a value; nothing for what has no form.
fn part_of(token: Token<'_>) -> Option<(FieldId, NodeId)> {
    match token {
        Token::Open { field, node, .. } | Token::Leaf { field, node, .. } => Some((field, node)),
        Token::Close { .. } | Token::Default { .. } | Token::Unknown { .. } => None,
    }
}

struct Writer<'a> {
    places: Instructed<'a>,
    view: View<'a>,
    out: Vec<u8>,
    /// Which namespaces were met.
    used: Vec<bool>,
    /// Whether the control namespace was.
    control: bool,
    path: String,
    level: u16,
}

impl<'a> Writer<'a> {
    #[cold]
    fn fail(&self, detail: impl Into<String>) -> Error {
        Error::new(ErrorKind::ValueMismatch, 0).with_path(self.path.as_str()).with_detail(detail)
    }

    /// The parts of an open value.
    fn children(&self, index: usize) -> Vec<(usize, FieldId, NodeId)> {
        let mut children = Vec::new();
        let Token::Open { close, .. } = self.view.token(index) else { return children };
        let mut at = index + 1;
        while at < close {
            children.extend(part_of(self.view.token(at)).map(|(field, node)| (at, field, node)));
            at = self.view.skip(at);
        }
        children
    }

    /// A name with the prefix of its namespace.
    fn qualified(&mut self, xml: &Xml, name: &str) -> String {
        let Some(at) = xml.namespace else { return name.to_owned() };
        if let Some(used) = self.used.get_mut(at as usize) {
            *used = true;
        }
        format!("{}:{name}", self.prefix(at as usize))
    }

    fn prefix(&self, at: usize) -> Cow<'a, str> {
        let known = self.places.shape.instructions.as_deref().and_then(|known| known.namespaces.get(at));
        match known.and_then(|(_, prefix)| *prefix) {
            Some(prefix) => Cow::Borrowed(self.places.shape.name(prefix)),
            None => Cow::Owned(format!("ns{}", at + 1)),
        }
    }

    fn control_prefix(&self) -> &'a str {
        let known = self.places.shape.instructions.as_deref().and_then(|known| known.control_prefix);
        known.map_or("xsi", |name| self.places.shape.name(name))
    }

    /// An attribute of the control namespace.
    fn push_control(&mut self, attributes: &mut Vec<u8>, name: &str, value: &str) {
        self.control = true;
        attributes.extend_from_slice(format!(" {}:{name}=\"{value}\"", self.control_prefix()).as_bytes());
    }

    /// Declares the namespaces that were met in the start tag of the outermost element, which begins there.
    fn declare(&mut self, begin: usize) {
        let mut text = String::new();
        let known = self.places.shape.instructions.as_deref();
        for (at, used) in self.used.iter().enumerate() {
            if let Some((uri, _)) = known.and_then(|known| known.namespaces.get(at)).filter(|_| *used) {
                let mut escaped = Vec::new();
                push_attribute(&mut escaped, self.places.shape.name(*uri));
                let escaped = String::from_utf8_lossy(&escaped);
                text.push_str(&format!(" xmlns:{}=\"{escaped}\"", self.prefix(at)));
            }
        }
        if self.control {
            text.push_str(&format!(" xmlns:{}=\"{CONTROL}\"", self.control_prefix()));
        }
        let tag = self.out.get(begin..).unwrap_or_default();
        let name = tag.iter().position(|octet| matches!(octet, b' ' | b'>' | b'/')).unwrap_or(tag.len());
        self.out.splice(begin + name..begin + name, text.into_bytes());
    }

    fn element(&mut self, index: usize, field: FieldId, node: NodeId, name: &str) -> Result<()> {
        if self.level >= MOST_DEPTH {
            return Err(self.fail(format!("more than {MOST_DEPTH} values inside one another")));
        }
        let path = join_path(&self.path, name);
        let outer = std::mem::replace(&mut self.path, path);
        self.level += 1;
        let xml = self.places.of(field, node);
        let name = self.qualified(xml, name);
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        let tag = self.out.len();
        self.out.push(b'>');
        let mut attributes = Vec::new();
        self.content(index, field, node, &mut attributes)?;
        if self.out.len() == tag + 1 {
            self.out.pop();
            self.out.extend_from_slice(b"/>");
        } else {
            self.out.extend_from_slice(b"</");
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b'>');
        }
        self.out.splice(tag..tag, attributes);
        self.level -= 1;
        self.path = outer;
        Ok(())
    }

    /// A part of a value: an element, or what is in it.
    fn part(&mut self, index: usize, field: FieldId, node: NodeId, attributes: &mut Vec<u8>) -> Result<()> {
        let xml = self.places.of(field, node);
        if !xml.untagged {
            let name = self.places.name(field, xml);
            return self.element(index, field, node, &name);
        }
        if self.level >= MOST_DEPTH {
            return Err(self.fail(format!("more than {MOST_DEPTH} values inside one another")));
        }
        self.level += 1;
        self.content(index, field, node, attributes)?;
        self.level -= 1;
        Ok(())
    }

    /// What stands between the tags of a value, and its attributes.
    fn content(
        &mut self,
        index: usize,
        field: FieldId,
        node: NodeId,
        attributes: &mut Vec<u8>,
    ) -> Result<()> {
        let shape = self.places.shape;
        let xml = self.places.of(field, node);
        if let Token::Leaf { leaf, .. } = self.view.token(index) {
            let form = self.places.form(xml, node, leaf).map_err(|detail| self.fail(detail))?;
            let text = match form {
                Form::Empty(name) => {
                    self.out.extend_from_slice(format!("<{name}/>").as_bytes());
                    return Ok(());
                }
                Form::Text(text) => text,
            };
            match xml.default_for_empty.map(|name| shape.name(name)) {
                Some(default) if default == text => {}
                Some(_) if text.is_empty() => {
                    return Err(self.fail("the empty value represents another one (X.693 clause 23)"));
                }
                _ => push_text(&mut self.out, &text),
            }
            return Ok(());
        }
        let children = self.children(index);
        match shape.node(node).kind {
            Kind::Sequence | Kind::Set => self.components(xml, node, children, attributes),
            Kind::SequenceOf | Kind::SetOf if xml.list => {
                let text = self.text_of(index, field, node)?;
                push_text(&mut self.out, &text);
                Ok(())
            }
            Kind::SequenceOf | Kind::SetOf => {
                for (number, (at, field, element)) in children.into_iter().enumerate() {
                    let outer = self.path.len();
                    self.path.push_str(&format!("[{number}]"));
                    if !xml.modified && super::super::names::is_value_list(shape, shape.field(field)) {
                        self.content(at, field, element, attributes)?;
                    } else {
                        self.part(at, field, element, attributes)?;
                    }
                    self.path.truncate(outer);
                }
                Ok(())
            }
            Kind::Choice => {
                let Some(&(at, chosen, inner)) = children.first() else {
                    return Err(self.fail("an alternative of a later version, which has no form"));
                };
                if xml.use_union {
                    let text = self.text_of(at, chosen, inner)?;
                    if self.means_another(node, chosen, &text) {
                        let name = self.places.name(chosen, self.places.of(chosen, inner));
                        self.push_control(attributes, "type", &name);
                    }
                    push_text(&mut self.out, &text);
                    return Ok(());
                }
                if xml.use_type {
                    if chosen.0 != shape.node(node).first {
                        let name = self.places.name(chosen, self.places.of(chosen, inner));
                        self.push_control(attributes, "type", &name);
                    }
                    return self.content(at, chosen, inner, attributes);
                }
                self.part(at, chosen, inner, attributes)
            }
            // An open type, or a string with its content.
            _ => match children.first() {
                Some(&(at, inner_field, inner)) => {
                    let inside = self.places.of(inner_field, inner);
                    let name = match inside.name {
                        Some(name) => element_name(shape.name(name)),
                        None => content_name(shape, node, inner),
                    };
                    self.element(at, inner_field, inner, &name)
                }
                None => Ok(()),
            },
        }
    }

    fn components(
        &mut self,
        xml: &Xml,
        node: NodeId,
        children: Vec<(usize, FieldId, NodeId)>,
        attributes: &mut Vec<u8>,
    ) -> Result<()> {
        let shape = self.places.shape;
        let (first, count) = (shape.node(node).first, shape.node(node).count);
        let mut elements = Vec::with_capacity(children.len());
        for (at, field, inner) in children {
            let it = self.places.of(field, inner);
            if it.attribute {
                let name = self.places.name(field, it);
                let text = self.text_of(at, field, inner)?;
                if text.contains(|letter: char| letter < ' ' && !is_white(letter)) {
                    let path = join_path(&self.path, &name);
                    return Err(self
                        .fail("a control character, which an attribute cannot have")
                        .with_path(path));
                }
                let is_default = it.default_for_empty.is_some_and(|name| shape.name(name) == text);
                let name = self.qualified(it, &name);
                attributes.extend_from_slice(format!(" {name}=\"").as_bytes());
                push_attribute(attributes, if is_default { "" } else { &text });
                attributes.push(b'"');
            } else {
                elements.push((at, field, inner));
            }
        }
        if xml.use_order && !elements.is_empty() {
            // X.693 clause 35: the first component tells the order of the others, and is not written.
            let order = elements.remove(0);
            let places: Vec<String> = self.order_of(order.0);
            let name = |field: FieldId| shape.name(shape.field(field).name);
            elements.sort_by_key(|(_, field, _)| places.iter().position(|place| place == name(*field)));
        }
        let last = FieldId(first + count.saturating_sub(1));
        for &(at, field, inner) in &elements {
            if xml.use_nil && field == last {
                self.content(at, field, inner, attributes)?;
            } else {
                self.part(at, field, inner, attributes)?;
            }
        }
        if xml.use_nil && elements.iter().all(|(_, field, _)| *field != last) {
            self.push_control(attributes, "nil", "true");
        }
        Ok(())
    }

    /// The names in the list that tells an order.
    fn order_of(&self, index: usize) -> Vec<String> {
        let names = self.children(index).into_iter().filter_map(|(at, _, node)| match self.view.token(at) {
            Token::Leaf { leaf, .. } => match scalar(self.places.shape, node, leaf) {
                Scalar::Enumerated(_, Some(name)) => Some(name.to_owned()),
                _ => None,
            },
            _ => None,
        });
        names.collect()
    }

    /// A value as characters alone: in an attribute, a list, a union.
    fn text_of(&self, index: usize, field: FieldId, node: NodeId) -> Result<String> {
        let xml = self.places.of(field, node);
        match (self.view.token(index), self.places.shape.node(node).kind) {
            (Token::Leaf { leaf, .. }, _) => {
                match self.places.form(xml, node, leaf).map_err(|detail| self.fail(detail))? {
                    Form::Text(text) => Ok(text.into_owned()),
                    Form::Empty("PLUS-INFINITY") => Ok("INF".to_owned()),
                    Form::Empty("MINUS-INFINITY") => Ok("-INF".to_owned()),
                    Form::Empty("NOT-A-NUMBER") => Ok("NaN".to_owned()),
                    Form::Empty(name) => Ok(name.to_owned()),
                }
            }
            (_, Kind::SequenceOf | Kind::SetOf) if xml.list => {
                let mut text = String::new();
                for (at, field, element) in self.children(index) {
                    let item = self.text_of(at, field, element)?;
                    if item.is_empty() || item.contains(is_white) {
                        return Err(self.fail("an element of a LIST is neither empty nor has white space"));
                    }
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(&item);
                }
                Ok(text)
            }
            (_, Kind::Choice) if xml.use_union => match self.children(index).first() {
                Some(&(at, field, inner)) => {
                    let text = self.text_of(at, field, inner)?;
                    match self.means_another(node, field, &text) {
                        false => Ok(text),
                        true => Err(self.fail("the characters are those of an earlier alternative too")),
                    }
                }
                None => Err(self.fail("an alternative of a later version, which has no form")),
            },
            _ => Err(self.fail(format!(
                "a value of `{}` has no form in characters",
                item_name_of(self.places.shape, node)
            ))),
        }
    }

    /// Whether an alternative before the chosen one has the same characters for a value.
    fn means_another(&self, choice: NodeId, chosen: FieldId, text: &str) -> bool {
        let shape = self.places.shape;
        let mut before = shape.fields_of(choice).take_while(|(field, _)| *field != chosen);
        before.any(|(field, it)| {
            let xml = self.places.of(field, it.node);
            !shape.node(it.node).kind.is_constructed() && self.places.contents(xml, it.node, text).is_ok()
        })
    }
}

fn item_name_of(shape: &Shape, node: NodeId) -> Cow<'_, str> {
    match shape.fields_of(node).next() {
        Some((_, field)) => item_name(shape, field),
        None => Cow::Borrowed(shape.node(node).kind.name()),
    }
}

/// Appends the value of an attribute (XML 1.0, 3.3.3: white space is kept by references).
fn push_attribute(out: &mut Vec<u8>, text: &str) {
    for letter in text.chars() {
        match letter {
            '<' => out.extend_from_slice(b"&lt;"),
            '&' => out.extend_from_slice(b"&amp;"),
            '"' => out.extend_from_slice(b"&quot;"),
            '\t' => out.extend_from_slice(b"&#9;"),
            '\n' => out.extend_from_slice(b"&#10;"),
            '\r' => out.extend_from_slice(b"&#13;"),
            letter => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
