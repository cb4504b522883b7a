//! Tables, which codecs follow where small ones are chosen.

use super::Per;
use crate::code::per::{Bounds, CheckedTime, Form, Leaf, Tables};
use crate::rust::imports::{PER, STRING_KIND};
use crate::rust::per_forms::{size, whole};
use std::ops::Range;
use tercet_plan::NodeId;

/// How a value is encoded.
pub(super) fn form(form: Form) -> String {
    let (name, number) = match form {
        Form::Plain => return format!("{PER}::Form::Plain"),
        Form::Straight => return format!("{PER}::Form::Straight"),
        Form::Integer(number) => ("Integer", number),
        Form::Items(number) => ("Items", number),
        Form::Enumerated(number) => ("Enumerated", number),
        Form::Sequence(number) => ("Sequence", number),
        Form::Choice(number) => ("Choice", number),
        Form::List(number) => ("List", number),
        Form::Leaf(number) => ("Leaf", number),
    };
    format!("{PER}::Form::{name}({number})")
}

impl Per<'_, '_> {
    /// The tables of all types.
    pub(super) fn print_tables(&mut self, tables: &Tables) {
        let lists = [
            ("sequences", self.sequences_rows(tables)),
            ("choices", self.choices_rows(tables)),
            ("lists", self.lists_rows(tables)),
            ("enumerations", self.enumerations_rows(tables)),
            ("members", self.members_rows(tables)),
            ("additions", self.additions_rows(tables)),
            ("bounds", tables.bounds.iter().map(bounds).collect()),
            ("leaves", tables.leaves.iter().map(|leaf| self.leaf(leaf) + ",").collect()),
        ];
        if lists.iter().all(|(_, lines)| lines.is_empty()) {
            return;
        }
        let name = self.tables_name();
        self.line("");
        self.open(format!("static {name}: {PER}::Tables = {PER}::Tables {{"));
        for (name, lines) in lists {
            if lines.is_empty() {
                self.line(format!("{name}: &[],"));
                continue;
            }
            self.open(format!("{name}: &["));
            lines.iter().for_each(|line| self.line(line));
            self.close("],");
        }
        self.close("};");
    }

    pub(super) fn tables_name(&self) -> String {
        format!("{}_TABLES", self.rules.to_uppercase())
    }

    /// The rows of types, each under its number and name.
    fn type_rows<T>(&self, rows: &[(NodeId, T)], row: impl Fn(&T) -> String) -> Vec<String> {
        let numbered = (0..).zip(rows);
        let lines = numbered.flat_map(|(number, (node, known)): (usize, _)| {
            [format!("// {number}: {}", self.p.names.ty(*node)), row(known)]
        });
        lines.collect()
    }

    /// The rows of the parts of types, those of a type under its name.
    fn part_rows<T>(&self, rows: &[(NodeId, Vec<T>)], row: impl Fn(&T) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        for (node, rows) in rows {
            lines.push(format!("// {}", self.p.names.ty(*node)));
            lines.extend(rows.iter().map(&row));
        }
        lines
    }

    fn sequences_rows(&self, tables: &Tables) -> Vec<String> {
        self.type_rows(&tables.sequences, |row| {
            let unknown = row.unknown.map_or_else(|| "None".into(), |number| format!("Some({number})"));
            format!(
                "{PER}::Sequence {{ extensible: {}, unknown: {unknown}, counted: {}, optional: {}, root: {}, additions: {} }},",
                row.extensible,
                row.counted,
                row.optional,
                range(&row.root),
                range(&row.additions),
            )
        })
    }

    fn choices_rows(&self, tables: &Tables) -> Vec<String> {
        self.type_rows(&tables.choices, |row| {
            format!(
                "{PER}::Choice {{ whole: {}, extensible: {}, counted: {}, root: {}, additions: {} }},",
                whole(row.whole),
                row.extensible,
                row.counted,
                range(&row.root),
                range(&row.additions),
            )
        })
    }

    fn lists_rows(&self, tables: &Tables) -> Vec<String> {
        self.type_rows(&tables.lists, |row| {
            format!(
                "{PER}::List {{ size: {}, set: {}, counted: {}, element: {} }},",
                size(row.size),
                row.set,
                row.counted,
                form(row.element),
            )
        })
    }

    fn enumerations_rows(&self, tables: &Tables) -> Vec<String> {
        let places = |places: &[usize]| places.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        self.type_rows(&tables.enumerations, |row| {
            format!(
                "{PER}::Enumerated {{ whole: {}, extensible: {}, root: &[{}], additions: &[{}] }},",
                whole(row.whole),
                row.extensible,
                places(&row.root),
                places(&row.additions),
            )
        })
    }

    fn members_rows(&self, tables: &Tables) -> Vec<String> {
        self.part_rows(&tables.members, |row| {
            let (number, optional, form) = (row.number, row.optional, form(row.form));
            format!("{PER}::Member {{ number: {number}, optional: {optional}, form: {form} }},")
        })
    }

    fn additions_rows(&self, tables: &Tables) -> Vec<String> {
        self.part_rows(&tables.additions, |row| {
            format!("{PER}::Addition {{ group: {}, members: {} }},", row.group, range(&row.members))
        })
    }

    fn leaf(&self, leaf: &Leaf) -> String {
        match leaf {
            Leaf::String(known, named) => format!("{PER}::Leaf::String({}, {named})", size(*known)),
            Leaf::Characters(known, alphabet, time) => {
                let time = match time {
                    CheckedTime::No => "No",
                    CheckedTime::Utc => "Utc",
                    CheckedTime::Generalized => "Generalized",
                };
                let (size, alphabet) = (size(*known), self.alphabet(*alphabet));
                format!(
                    "{PER}::Leaf::Characters({PER}::Characters {{ size: {size}, alphabet: &<{alphabet} as {PER}::Letters>::ALPHABET, time: {PER}::Time::{time} }})"
                )
            }
            Leaf::Time(node) => format!("{PER}::Leaf::Time(&{})", self.time(*node)),
            Leaf::OtherString(kind) => format!("{PER}::Leaf::OtherString({STRING_KIND}::{kind:?})"),
            Leaf::Containing(known, inside, is_bits) => {
                format!("{PER}::Leaf::Containing({}, {}, {is_bits})", size(*known), form(*inside))
            }
            Leaf::SemiConstrained(lo, extensible) => {
                format!("{PER}::Leaf::SemiConstrained({lo}, {extensible})")
            }
            Leaf::Unconstrained(extensible) => format!("{PER}::Leaf::Unconstrained({extensible})"),
            Leaf::Large(large, extensible) => {
                let span =
                    large.span.as_ref().map_or_else(|| "None".into(), |span| format!("Some(&{span:?})"));
                format!("{PER}::Leaf::Large(&{:?}, {span}, {extensible})", large.lo)
            }
        }
    }
}

fn bounds(row: &Bounds) -> String {
    let Bounds { lo, span, extensible, .. } = row;
    let whole = whole(row.whole);
    format!("{PER}::Bounds {{ whole: {whole}, lo: {lo}, span: {span}, extensible: {extensible} }},")
}

fn range(rows: &Range<usize>) -> String {
    format!("{}..{}", rows.start, rows.end)
}
