//! Tables, which codecs follow where small ones are chosen.

use super::build::{code, first_time, integer_of};
use super::{Integer, IntegerForm};
use crate::code::Source;
use crate::types::Repr;
use std::collections::HashMap;
use std::ops::Range;
use tercet_plan::per::{self, Code as Plan, Large, Program, Size, Whole};
use tercet_plan::{Kind, NodeId};
use tercet_runtime::text::StringKind;

/// The tables of a program. Rows refer to one another by number; those of a type have its node beside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) sequences: Vec<(NodeId, Sequence)>,
    pub(crate) choices: Vec<(NodeId, Choice)>,
    pub(crate) lists: Vec<(NodeId, List)>,
    pub(crate) enumerations: Vec<(NodeId, Enumerated)>,
    /// The rows of each SEQUENCE, SET and CHOICE, one after the other.
    pub(crate) members: Vec<(NodeId, Vec<Member>)>,
    /// The rows of each SEQUENCE and SET that has additions, one after the other.
    pub(crate) additions: Vec<(NodeId, Vec<Addition>)>,
    pub(crate) bounds: Vec<Bounds>,
    pub(crate) leaves: Vec<Leaf>,
}

/// How a value is read and written: the table and the number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A constrained INTEGER: a row of the bounds.
    Integer(usize),
    /// An ENUMERATED whose items are numbered in their order: a row of the bounds.
    Items(usize),
    Enumerated(usize),
    Sequence(usize),
    Choice(usize),
    List(usize),
    /// The type has one form.
    Plain,
    Leaf(usize),
    /// By the codec of the type.
    Straight,
}

/// Bounds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) whole: Whole,
    pub(crate) lo: i64,
    pub(crate) span: u64,
    pub(crate) extensible: bool,
}

/// The form of a value without parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// A BIT STRING or OCTET STRING, and whether its bits have names.
    String(Size, bool),
    /// A known-multiplier string: its size, the number of its alphabet, and which time it is.
    Characters(Size, u32, CheckedTime),
    /// A time type: the node that its form is called by.
    Time(NodeId),
    OtherString(StringKind),
    /// A string with a value inside, and whether it is a BIT STRING.
    Containing(Size, Form, bool),
    SemiConstrained(i64, bool),
    Unconstrained(bool),
    Large(Large, bool),
}

/// What is checked of a string beside its alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedTime {
    No,
    Utc,
    Generalized,
}

#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) extensible: bool,
    /// The number of the member for additions of later versions, where they are kept.
    pub(crate) unknown: Option<u32>,
    pub(crate) counted: bool,
    /// The number of presence bits.
    pub(crate) optional: usize,
    /// Rows of the members.
    pub(crate) root: Range<usize>,
    /// Rows of the additions.
    pub(crate) additions: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) whole: Whole,
    pub(crate) extensible: bool,
    pub(crate) counted: bool,
    /// Rows of the members.
    pub(crate) root: Range<usize>,
    /// Rows of the members.
    pub(crate) additions: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) size: Size,
    pub(crate) set: bool,
    pub(crate) counted: bool,
    pub(crate) element: Form,
}

/// Items by their places in the declaration.
#[derive(Clone, Debug)]
pub(crate) struct Enumerated {
    pub(crate) whole: Whole,
    pub(crate) extensible: bool,
    pub(crate) root: Vec<usize>,
    pub(crate) additions: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The number of the component.
    pub(crate) number: u32,
    /// Whether it has a presence bit.
    pub(crate) optional: bool,
    pub(crate) form: Form,
}

#[derive(Clone, Debug)]
pub(crate) struct Addition {
    /// Whether it is a version bracket.
    pub(crate) group: bool,
    /// Rows of the members.
    pub(crate) members: Range<usize>,
}

/// Makes the tables.
pub(super) struct Builder<'p, 't, 'm> {
    source: Source<'t, 'm>,
    program: &'p Program,
    /// The numbers of types among the rows of their kind.
    numbers: HashMap<NodeId, usize>,
    /// The numbers of members and additions so far.
    members: usize,
    additions: usize,
    tables: Tables,
}

impl<'p, 't, 'm> Builder<'p, 't, 'm> {
    /// Gives the types numbers, in order.
    pub(super) fn new(source: Source<'t, 'm>, program: &'p Program) -> Self {
        let tables = Tables::default();
        let mut builder = Self { source, program, numbers: HashMap::new(), members: 0, additions: 0, tables };
        let mut next = [0; 4];
        for node in source.types.nodes() {
            let list = match code(source, program, node) {
                _ if !source.types.is_tabled(node) => continue,
                Plan::Sequence(_) => 0,
                Plan::Choice(_) => 1,
                Plan::SequenceOf(..) => 2,
                Plan::Enumerated(code) if builder.plain_items(node, code).is_none() => 3,
                _ => continue,
            };
            builder.numbers.insert(node, next[list]);
            next[list] += 1;
        }
        builder
    }

    pub(super) fn finish(self) -> Tables {
        self.tables
    }

    /// Returns the form of a value.
    pub(super) fn form(&mut self, node: NodeId) -> Form {
        let node = self.source.types.same(node);
        let tabled = self.source.types.is_tabled(node);
        match (self.source.types.repr(node), code(self.source, self.program, node)) {
            (Repr::Integer { .. } | Repr::Big, Plan::Integer(integer)) => {
                self.integer(integer_of(self.program, integer))
            }
            (Repr::Enumerated, Plan::Enumerated(code)) => match self.plain_items(node, code) {
                Some(bounds) => Form::Items(bounds),
                None => Form::Enumerated(self.numbers[&node]),
            },
            (Repr::Struct, Plan::Sequence(_)) if tabled => Form::Sequence(self.numbers[&node]),
            (Repr::Choice, Plan::Choice(_)) if tabled => Form::Choice(self.numbers[&node]),
            (Repr::List, Plan::SequenceOf(..)) if tabled => Form::List(self.numbers[&node]),
            (Repr::Boolean | Repr::Null | Repr::Real | Repr::Float, _) => Form::Plain,
            (Repr::Oid | Repr::RelativeOid | Repr::Any, _) => Form::Plain,
            _ => self.leaf(node).map_or(Form::Straight, |leaf| self.leaf_form(leaf)),
        }
    }

    fn leaf_form(&mut self, leaf: Leaf) -> Form {
        Form::Leaf(number(&mut self.tables.leaves, leaf))
    }

    fn leaf(&mut self, node: NodeId) -> Option<Leaf> {
        let kind = self.source.types.shape.node(node).kind;
        Some(match (self.source.types.repr(node), code(self.source, self.program, node)) {
            (Repr::FixedBits(_) | Repr::Bits, Plan::BitString(size, named)) => Leaf::String(size, named),
            (Repr::FixedOctets(_) | Repr::Octets, Plan::OctetString(size)) => Leaf::String(size, false),
            (Repr::Text, Plan::Characters(size, alphabet)) => {
                let time = match kind {
                    Kind::UtcTime => CheckedTime::Utc,
                    Kind::GeneralizedTime => CheckedTime::Generalized,
                    _ => CheckedTime::No,
                };
                Leaf::Characters(size, alphabet, time)
            }
            (Repr::Text, Plan::Time(index)) => Leaf::Time(first_time(self.source, self.program, node, index)),
            (Repr::Text, Plan::Contents) => Leaf::OtherString(kind.string_kind()?),
            (Repr::Contained(inside), Plan::OctetsContaining(size) | Plan::BitsContaining(size, _)) => {
                Leaf::Containing(size, self.form(inside), kind == Kind::BitString)
            }
            _ => return None,
        })
    }

    fn integer(&mut self, integer: Integer) -> Form {
        let extensible = integer.extensible;
        let leaf = match integer.form {
            IntegerForm::Constrained { lo, span, whole } => {
                let bounds = Bounds { whole, lo, span, extensible };
                return Form::Integer(number(&mut self.tables.bounds, bounds));
            }
            IntegerForm::SemiConstrained(lo) => Leaf::SemiConstrained(lo, extensible),
            IntegerForm::Unconstrained => Leaf::Unconstrained(extensible),
            IntegerForm::Large(large) => Leaf::Large(large, extensible),
        };
        self.leaf_form(leaf)
    }

    /// The bounds of the numbers of an enumeration without extension whose items are declared in order.
    fn plain_items(&mut self, node: NodeId, code: u32) -> Option<usize> {
        let enumerated = &self.program.enumerations[code as usize];
        let items = self.source.types.shape.items_of(node).iter().map(|item| item.value);
        let plain = !enumerated.extensible && items.eq(enumerated.root.iter().copied());
        let span = (enumerated.root.len() as u64).checked_sub(1)?;
        let bounds = Bounds { whole: enumerated.whole, lo: 0, span, extensible: false };
        plain.then(|| number(&mut self.tables.bounds, bounds))
    }

    /// Adds the rows of a type.
    pub(super) fn add(&mut self, node: NodeId) {
        let program = self.program;
        match code(self.source, program, node) {
            Plan::Enumerated(code) if self.plain_items(node, code).is_none() => {
                let row = self.enumerated(node, &program.enumerations[code as usize]);
                self.tables.enumerations.push((node, row));
            }
            Plan::Sequence(code) => self.sequence(node, &program.sequences[code as usize]),
            Plan::Choice(code) => self.choice(node, &program.choices[code as usize]),
            Plan::SequenceOf(size, _) => {
                let types = self.source.types;
                let element = self.form(types.element(node));
                let set = types.shape.node(node).kind == Kind::SetOf;
                let row = List { size, set, counted: types.is_counted(node), element };
                self.tables.lists.push((node, row));
            }
            _ => {}
        }
    }

    fn enumerated(&self, node: NodeId, enumerated: &per::Enumerated) -> Enumerated {
        let items = self.source.types.shape.items_of(node);
        let place = |value: &i64| items.iter().position(|item| item.value == *value).unwrap_or(items.len());
        let places = |values: &[i64]| values.iter().map(place).collect();
        Enumerated {
            whole: enumerated.whole,
            extensible: enumerated.extensible,
            root: places(&enumerated.root),
            additions: places(&enumerated.additions),
        }
    }

    fn sequence(&mut self, node: NodeId, sequence: &per::Sequence) {
        let types = self.source.types;
        let mut rows = Vec::new();
        let root = self.members(node, &sequence.root, &mut rows);
        let first = self.additions;
        let mut additions = Vec::new();
        for addition in &sequence.additions {
            let (group, members) = match addition {
                per::Addition::Single(field) => {
                    let member = per::Member { field: *field, optional: true };
                    (false, self.members(node, &[member], &mut rows))
                }
                per::Addition::Group { members, .. } => (true, self.members(node, members, &mut rows)),
            };
            additions.push(Addition { group, members });
        }
        self.additions += additions.len();
        let row = Sequence {
            extensible: sequence.extensible,
            unknown: types.keeps_additions(node).then_some(types.shape.node(node).count),
            counted: types.is_counted(node),
            optional: sequence.root.iter().filter(|member| member.optional).count(),
            root,
            additions: first..self.additions,
        };
        self.tables.members.push((node, rows));
        if !additions.is_empty() {
            self.tables.additions.push((node, additions));
        }
        self.tables.sequences.push((node, row));
    }

    /// Adds the rows of members, and returns their numbers.
    fn members(&mut self, node: NodeId, members: &[per::Member], rows: &mut Vec<Member>) -> Range<usize> {
        let first = self.members;
        for member in members {
            let field = self.source.field(node, member.field);
            let form = self.form(self.source.types.shape.field(field).node);
            rows.push(Member { number: member.field, optional: member.optional, form });
        }
        self.members += members.len();
        first..self.members
    }

    fn choice(&mut self, node: NodeId, choice: &per::Choice) {
        let mut rows = Vec::new();
        let [root, additions] = [&choice.root, &choice.additions].map(|alternatives| {
            let members = alternatives.iter().map(|field| per::Member { field: *field, optional: false });
            self.members(node, &members.collect::<Vec<_>>(), &mut rows)
        });
        let counted = self.source.types.is_counted(node);
        let row = Choice { whole: choice.whole, extensible: choice.extensible, counted, root, additions };
        self.tables.members.push((node, rows));
        self.tables.choices.push((node, row));
    }
}

/// Returns the number of a row, which stands once in a table.
fn number<T: PartialEq>(rows: &mut Vec<T>, row: T) -> usize {
    rows.iter().position(|known| *known == row).unwrap_or_else(|| {
        rows.push(row);
        rows.len() - 1
    })
}
