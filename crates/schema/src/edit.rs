//! Changes to a decoded value: a component set, added or removed, the rest as it is.
//!
//! ```
//! use tercet_schema::edit::Change;
//! use tercet_schema::dynamic::Tape;
//! use tercet_schema::{Rules, Schema, TapeCodec};
//!
//! let schema = Schema::from_text(
//!     "a.asn",
//!     "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//!      Throw ::= SEQUENCE { eyes INTEGER (1..6), thrower UTF8String OPTIONAL } END",
//! );
//! let plan = schema.plan_for(Rules::Uper, &["Throw"])?;
//! let root = plan.root("Throw").expect("a root that was asked for");
//! let (mut codec, mut tape, mut octets) = (TapeCodec::new(Rules::Uper, &plan), Tape::new(), Vec::new());
//! codec.read(root, &[0x20], &mut tape, &Default::default())?;
//! let changed = Change::set("Throw.thrower", "Falk").apply(&plan.shape, root, tape.view(&[0x20]))?;
//! codec.write(changed.view(&[0x20]), &mut octets)?;
//! let value = schema.codec("Throw", "uper")?.decode(&octets)?;
//! assert_eq!(value.to_string(), r#"{eyes 3, thrower "Falk"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{CodecError, TapeCodec, check_trailing};
use std::fmt;
use std::ops::Range;
use tercet_dynamic::validate::{Validator, Violation};
use tercet_dynamic::{
    Error, FieldId, Leaf, Marked, NodeId, Options, Plan, Rules, Shape, Sink, Tape, Token, Trailing, View,
    json,
};
use tercet_plan::Kind;

/// A change to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    path: String,
    /// The new value; `None` to remove the component.
    value: Option<String>,
}

/// The reason why a value cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError {
    path: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Message(String),
    /// A component that the type does not have.
    Unknown {
        kind: &'static str,
        name: String,
        known: Vec<String>,
    },
}

impl EditError {
    /// Returns the path of the change.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns what a name should have been, the name, and the names that there are, if the path has an unknown one.
    pub fn unknown(&self) -> Option<(&'static str, &str, &[String])> {
        match &self.reason {
            Reason::Unknown { kind, name, known } => Some((kind, name, known)),
            Reason::Message(_) => None,
        }
    }
}

impl From<String> for Reason {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.reason {
            Reason::Message(message) => write!(f, "`{path}`: {message}"),
            Reason::Unknown { kind, name, .. } => write!(f, "`{path}`: unknown {kind} `{name}`"),
        }
    }
}

impl std::error::Error for EditError {}

/// An encoding with changes of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The new encoding.
    pub octets: Vec<u8>,
    /// Constraints that the value does not meet now, but did before.
    pub violations: Vec<Violation>,
    /// Whether other octets differ too, as the value was not in the form that this library writes.
    pub is_rewritten: bool,
}

/// The reason why an encoding cannot be changed.
#[derive(Debug)]
pub enum ChangeError {
    /// The octets are not a value of the type.
    Read(CodecError),
    /// Octets follow the value.
    Trailing(Error),
    /// A change does not fit the value.
    Change(EditError),
    /// The new value cannot be written.
    Write(CodecError),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) | Self::Write(error) => write!(f, "{error}"),
            Self::Trailing(error) => write!(f, "{error}"),
            Self::Change(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ChangeError {}

/// Changes the value of an encoding, and reads the result to see that it is a value. Zero octets after the value are dropped.
///
/// # Errors
/// The octets are not a value of the type, a change does not fit it, or it cannot be written.
pub fn change_octets(
    plan: &Plan,
    root: NodeId,
    rules: Rules,
    octets: &[u8],
    changes: &[Change],
) -> Result<Changed, ChangeError> {
    let mut codec = TapeCodec::new(rules, plan);
    let (mut tape, mut options) = (Tape::new(), Options::default());
    options.rules = rules.plan_rules();
    let length = codec.read(root, octets, &mut tape, &options).map_err(ChangeError::Read)?;
    check_trailing(plan, root, &octets[length..], length as u64, Trailing::Zeros)
        .map_err(ChangeError::Trailing)?;
    let mut before = Vec::new();
    codec.write(tape.view(octets), &mut before).map_err(ChangeError::Read)?;
    let mut validator = Validator::new();
    let old = validator.check(&plan.shape, root, tape.view(octets));
    for change in changes {
        tape = change.apply(&plan.shape, root, tape.view(octets)).map_err(ChangeError::Change)?;
    }
    let mut after = Vec::new();
    codec.write(tape.view(octets), &mut after).map_err(ChangeError::Write)?;
    let mut violations = validator.check(&plan.shape, root, tape.view(octets));
    violations.retain(|it| !old.iter().any(|known| known.path == it.path));
    let mut again = Tape::new();
    codec.read(root, &after, &mut again, &options).map_err(ChangeError::Write)?;
    Ok(Changed { octets: after, violations, is_rewritten: before != octets[..length] })
}

/// The place in a value that a change is about.
struct Target {
    /// The entries that are replaced; none where something is added.
    range: Range<usize>,
    field: FieldId,
    node: NodeId,
}

impl Change {
    /// Returns the change that sets the component at a path (`Call.parties[2].number`) to a value in JSON (X.697). A text that
    /// is not a value of the type, but would be one in quotes, needs no quotes. An absent component is added, another
    /// alternative replaces the one that is chosen, and the number after the last element of a list adds one.
    pub fn set(path: impl Into<String>, value: impl Into<String>) -> Self {
        Self { path: path.into(), value: Some(value.into()) }
    }

    /// Returns the change that removes the component, or the element of a list, at a path.
    pub fn remove(path: impl Into<String>) -> Self {
        Self { path: path.into(), value: None }
    }

    /// Returns the path of the component.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Applies the change to a value of type `root`. The new tape is over the same input.
    ///
    /// # Errors
    /// The path leads to no component; the text is not a value of its type.
    pub fn apply(&self, shape: &Shape, root: NodeId, value: View<'_>) -> Result<Tape, EditError> {
        let named = |reason| EditError { path: self.path.clone(), reason };
        let steps = self.steps(shape, root).map_err(|message| named(message.into()))?;
        let target = find(shape, value, root, &steps, self.value.is_none()).map_err(named)?;
        let new = match &self.value {
            Some(text) => Some(read(shape, target.node, text).map_err(|message| named(message.into()))?),
            None => None,
        };
        let mut out = Tape::new();
        let Target { range, field, .. } = target;
        value.replay(&mut Spliced { out: &mut out, at: 0, range, field, new, is_kept: true });
        Ok(out)
    }

    /// The steps of the path; the name of the type at its begin may be left out.
    fn steps<'t>(&'t self, shape: &Shape, root: NodeId) -> Result<Vec<Step<'t>>, String> {
        let mut steps = Vec::new();
        for name in self.path.split('.') {
            let (name, mut rest) = name.split_at(name.find('[').unwrap_or(name.len()));
            if !name.is_empty() {
                steps.push(Step::Name(name));
            }
            while let Some((number, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                steps.push(Step::Element(number.parse().map_err(|_| format!("`[{number}]` has no number"))?));
                rest = after;
            }
            if !rest.is_empty() || name.is_empty() && steps.is_empty() {
                return Err("not a path such as `a.b[2].c`".to_owned());
            }
        }
        let type_name = shape.type_name(root);
        if steps.first().is_some_and(|step| matches!(step, Step::Name(name) if Some(*name) == type_name)) {
            steps.remove(0);
        }
        Ok(steps)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step<'t> {
    Name(&'t str),
    Element(usize),
}

/// What is wrong with a path into a component that is not there.
const ABSENT: &str = "the component around it is absent; set that one first";

/// Finds the entries of the component that steps lead to.
fn find(
    shape: &Shape,
    value: View<'_>,
    root: NodeId,
    steps: &[Step<'_>],
    removes: bool,
) -> Result<Target, Reason> {
    let mut target = Target { range: 0..value.len(), field: FieldId::ROOT, node: root };
    if steps.is_empty() && removes {
        return Err("the value as a whole cannot be removed".to_owned().into());
    }
    for (index, step) in steps.iter().enumerate() {
        if target.range.is_empty() {
            return Err(ABSENT.to_owned().into());
        }
        // The content of an open type or of a string.
        let mut at = target.range.start;
        let (node, close) = loop {
            match value.token(at) {
                Token::Open { node, close, .. } if shape.node(node).kind.is_constructed() => {
                    break (node, close);
                }
                Token::Open { .. } => at += 1,
                _ => {
                    let kind = shape.node(target.node).kind.name();
                    return Err(format!("there are no components in {kind}").into());
                }
            }
        };
        let is_last = index + 1 == steps.len();
        target = part(shape, value, (node, at, close), *step)?;
        let is_other = !target.range.is_empty() && field_at(value, target.range.start) != target.field;
        if is_other && !is_last {
            return Err("another alternative is chosen; set this one first".to_owned().into());
        }
        if target.range.is_empty() && (removes || !is_last) {
            let text = if removes { "it is absent" } else { ABSENT };
            return Err(text.to_owned().into());
        }
        let around = shape.node(node).kind;
        if removes && is_last && around == Kind::Choice {
            return Err("a CHOICE requires an alternative; set another one instead".to_owned().into());
        }
    }
    Ok(target)
}

/// Finds a component, alternative or element of the value whose entries are from `open` to `close`.
fn part(
    shape: &Shape,
    value: View<'_>,
    (node, open, close): (NodeId, usize, usize),
    step: Step<'_>,
) -> Result<Target, Reason> {
    let kind = shape.node(node).kind;
    let children =
        || std::iter::successors(Some(open + 1), |at| Some(value.skip(*at))).take_while(|at| *at < close);
    if matches!(kind, Kind::SequenceOf | Kind::SetOf) {
        let Step::Element(number) = step else {
            return Err(format!("{} has elements, such as `[0]`", kind.name()).into());
        };
        let Some((field, element)) = shape.fields_of(node).next() else {
            return Err("the list has no element type".to_owned().into());
        };
        let count = children().count();
        let range = match children().nth(number) {
            Some(at) => at..value.skip(at),
            None if number == count => close..close,
            None => return Err(format!("the list has {count} elements").into()),
        };
        return Ok(Target { range, field, node: element.node });
    }
    let Step::Name(name) = step else {
        return Err(format!("{} has components with names", kind.name()).into());
    };
    let Some((field, found)) = shape.fields_of(node).find(|(_, field)| shape.name(field.name) == name) else {
        let known = shape.fields_of(node).map(|(_, field)| shape.name(field.name).to_owned()).collect();
        let kind = if kind == Kind::Choice { "alternative" } else { "component" };
        return Err(Reason::Unknown { kind, name: name.to_owned(), known });
    };
    let place = match kind {
        // There is one alternative, which the new one replaces.
        Kind::Choice => children().next().map(|at| at..value.skip(at)),
        _ => children().find(|at| field_at(value, *at) == field).map(|at| at..value.skip(at)),
    };
    let range = place.unwrap_or_else(|| {
        // Components of a SEQUENCE are in their order; unknown additions come after them.
        let is_after = |at: &usize| {
            kind == Kind::Sequence
                && (field_at(value, *at) == FieldId::ROOT || field_at(value, *at).0 > field.0)
        };
        let at = children().find(is_after).unwrap_or(close);
        at..at
    });
    Ok(Target { range, field, node: found.node })
}

/// Returns the field of the value that begins at an entry.
fn field_at(value: View<'_>, at: usize) -> FieldId {
    match value.token(at) {
        Token::Open { field, .. } | Token::Leaf { field, .. } | Token::Default { field, .. } => field,
        _ => FieldId::ROOT,
    }
}

/// Reads a value in JSON, or the same text as a string; returns it with the text that it is over.
fn read(shape: &Shape, node: NodeId, text: &str) -> Result<(Tape, String), String> {
    let mut tape = Tape::new();
    let options = json::Options::default();
    let Err(first) = json::read(shape, node, text.as_bytes(), &mut tape, &options) else {
        return Ok((tape, text.to_owned()));
    };
    let quoted = serde_json::Value::from(text).to_string();
    tape.clear();
    match json::read(shape, node, quoted.as_bytes(), &mut tape, &options) {
        Ok(()) => Ok((tape, quoted)),
        Err(second) => {
            let error = if text.starts_with(['{', '[', '"']) { first } else { second };
            Err(error.message().to_owned())
        }
    }
}

/// Copies a value with other entries in the place of some.
struct Spliced<'o> {
    out: &'o mut Tape,
    /// The number of the next entry.
    at: usize,
    /// The entries that are replaced.
    range: Range<usize>,
    field: FieldId,
    new: Option<(Tape, String)>,
    /// Whether the last entry was copied.
    is_kept: bool,
}

impl Spliced<'_> {
    /// Counts an entry; puts the new ones before the one at their place. Returns whether this one is copied.
    fn next(&mut self) -> bool {
        if self.at == self.range.start
            && let Some((tape, text)) = self.new.take()
        {
            tape.view(text.as_bytes()).replay(&mut Placed { out: self.out, field: self.field, depth: 0 });
        }
        self.is_kept = !self.range.contains(&self.at);
        self.at += 1;
        self.is_kept
    }
}

impl Sink for Spliced<'_> {
    fn begin(&mut self, rules: Rules) {
        self.out.begin(rules);
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.next() {
            self.out.leaf(field, node, leaf);
        }
    }

    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        if self.next() {
            self.out.marked(field, node, leaf, marked);
        }
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.next() {
            self.out.open(field, node);
        }
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        if self.next() {
            self.out.close(field, node);
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.next() {
            self.out.absent(field, node, constant);
        }
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        if self.next() {
            self.out.unknown(addition, leaf);
        }
    }

    fn earlier(&mut self, additions: u32) {
        if self.is_kept {
            self.out.earlier(additions);
        }
    }
}

/// Puts a value in the place of a component: what begins outermost is of another field, and nothing is of the input.
struct Placed<'o> {
    out: &'o mut Tape,
    field: FieldId,
    depth: usize,
}

impl Placed<'_> {
    fn field(&self, field: FieldId) -> FieldId {
        if self.depth == 0 { self.field } else { field }
    }
}

impl Sink for Placed<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let leaf = match leaf {
            Leaf::Input { contents, .. } => Leaf::Made(contents),
            other => other,
        };
        self.out.leaf(self.field(field), node, leaf);
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        self.out.open(self.field(field), node);
        self.depth += 1;
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        self.depth = self.depth.saturating_sub(1);
        self.out.close(self.field(field), node);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.out.absent(self.field(field), node, constant);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.out.unknown(addition, leaf);
    }
}
