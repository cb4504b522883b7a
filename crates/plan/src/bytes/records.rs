//! The members of every record, in the order of plan files, and the numbers of every choice's alternatives.
//!
//! A member or alternative that is missing here does not compile. A change of this file is a new
//! [`VERSION`](super::VERSION).

use super::Error;
use super::field::{Counts, Reader, Stored};
use crate::constraint::{
    Component, Components, Constraints, Element, Number, Presence as Requirement, Restriction, ValueTable,
};
use crate::instructions::{Instructions, Json, Places, Whitespace, Xml};
use crate::shape::{
    Constant, Constraint, Field, Item, Key, Node, Place, Presence, Root, Row, Shape, Table, TableRef,
};
use crate::{Code, Kind, ber, oer, per};

macro_rules! records {
    ($($type:ty { $($member:ident),* $(,)? })*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let Self { $($member),* } = self;
                $($member.write(out);)*
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                Ok(Self { $($member: Stored::read(reader)?),* })
            }
        }
    )* };
}

macro_rules! choices {
    ($($type:ty {
        $($number:literal $variant:ident $(($($item:ident),*))? $({$($member:ident),*})?),* $(,)?
    })*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($($item),*))? $({$($member),*})? => {
                        out.push($number);
                        $($($item.write(out);)*)?
                        $($($member.write(out);)*)?
                    })*
                }
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                reader.nested(|reader| {
                    Ok(match reader.octet()? {
                        $($number => {
                            $($(let $item = Stored::read(reader)?;)*)?
                            $($(let $member = Stored::read(reader)?;)*)?
                            Self::$variant $(($($item),*))? $({$($member),*})?
                        })*
                        _ => return Err(reader.unknown_alternative()),
                    })
                })
            }
        }
    )* };
}

records! {
    Counts { names, nodes, fields, registers, defaults, restrictions }
    Shape {
        names, nodes, fields, items, tables, defaults, constraints, restrictions, roots, set_orders,
        instructions, registers, value_names, oid_names,
    }
    Node {
        kind, extensible, first, count, second_root, item_first, item_count, name, containing, table,
        constraint,
    }
    Field { name, node, parent, presence, place, aliases, key }
    Item { value, name, addition }
    TableRef { table, keys }
    Table { name, extensible, rows }
    Row { keys, node, type_name }
    Constraint { integer, size, alphabet, base, extensible }
    Root { name, node }
    Instructions { json, xml, namespaces, control_prefix, unsupported }
    Json { name, array, object, unwrapped, base64, texts }
    Xml {
        name, namespace, modified, attribute, untagged, list, base64, decimal, text, texts, use_nil,
        use_number, use_order, use_type, use_union, whitespace, default_for_empty,
    }
    Constraints { list, sets, nodes, fields, roots, rows, contents, scopes }
    Restriction { root, extensible, additions, span }
    Components { partial, list }
    Component { name, value, presence }
    ValueTable { name, extensible, rows }
    ber::Program { slots, nodes, identifiers, scopes, chains, dense, sparse, masks, defaults }
    ber::Slot { tag, field, node, kind, flags, chain }
    ber::NodeCode {
        kind, flags, first, count, second_root, entry, dense_tag, dense, dense_len, sparse, sparse_len,
        masks, required,
    }
    per::Program {
        aligned, canonical, nodes, large, enumerations, alphabets, times, sequences, choices, steps, values,
        tables,
    }
    per::Integer { extensible, form }
    per::Large { lo, span }
    per::Size { extensible, lo, hi, whole, field }
    per::Field { lo, most, width, pad }
    per::Enumerated { extensible, whole, root, additions }
    per::Alphabet { octets, bits, unaligned, indexed, ranges, ascii, table, codes, check }
    per::Range { lo, hi, number }
    per::Member { field, optional }
    per::Sequence { extensible, optional, first, root, additions, keys, scopes }
    per::Choice { extensible, whole, first, root, additions, indices }
    per::Step { op, field, node, constant, key, run, bit }
    per::Counted { lo, most, width, pad, align }
    per::Lookup { places, seconds }
    per::Time { parts }
    oer::Program { canonical, nodes, sequences, choices, times }
    oer::Member { field, optional }
    oer::Sequence { extensible, optional, root, additions, keys, scopes }
    oer::Alternative { tag, addition }
    oer::Choice { extensible, alternatives, tags }
}

choices! {
    Code { 0 Ber(program), 1 Per(program), 2 Oer(program) }
    Kind {
        0 Boolean, 1 Integer, 2 Enumerated, 3 Real, 4 BitString, 5 OctetString, 6 Null, 7 ObjectIdentifier,
        8 RelativeOid, 9 OidIri, 10 RelativeOidIri, 11 Utf8String, 12 NumericString, 13 PrintableString,
        14 TeletexString, 15 VideotexString, 16 Ia5String, 17 GraphicString, 18 VisibleString,
        19 GeneralString, 20 UniversalString, 21 BmpString, 22 ObjectDescriptor, 23 UtcTime,
        24 GeneralizedTime, 25 Time, 26 Date, 27 TimeOfDay, 28 DateTime, 29 Duration, 30 Sequence, 31 Set,
        32 SequenceOf, 33 SetOf, 34 Choice, 35 Open,
    }
    Presence { 0 Mandatory, 1 Optional, 2 Default(index) }
    Place { 0 Root, 1 Addition(number), 2 Group(number) }
    Key { 0 Int(value), 1 Octets(contents), 2 Alternative(name, key) }
    Constant {
        0 Boolean(value), 1 Int(value), 2 Contents(contents), 3 Struct(fields), 4 List(elements),
        5 Choice(field, value), 6 Open(node, value),
    }
    Element {
        0 All, 1 Union(parts), 2 Intersection(parts), 3 Except(all, but), 4 Value(value), 5 Integers(ranges),
        6 Reals(least, greatest), 7 Sizes(ranges), 8 Alphabet(ranges), 9 Pattern(text), 10 Settings(text),
        11 Subtype(name, list), 12 Component(restriction), 13 Components(list), 14 Object(set, keys),
        15 Contents(node, rules), 16 UserDefined,
    }
    Requirement { 0 Present, 1 Absent, 2 Optional }
    Whitespace { 0 Preserve, 1 Replace, 2 Collapse }
    per::Whole { 0 Nothing, 1 Bits(width), 2 Octet, 3 TwoOctets, 4 Octets(width, most) }
    per::IntegerForm {
        0 Constrained{lo, span, whole}, 1 SemiConstrained(lo), 2 Unconstrained, 3 Large(index),
    }
    per::Addition { 0 Single(field), 1 Group{optional, first, members} }
    per::Code {
        0 Boolean, 1 Null, 2 Integer(form), 3 Enumerated(index), 4 BitString(size, named), 5 OctetString(size),
        6 BitsContaining(size, named), 7 OctetsContaining(size), 8 Characters(size, alphabet), 9 Contents,
        10 Sequence(index), 11 SequenceOf(size, field), 12 Choice(index), 13 Predefined(index), 14 Open,
        15 Time(index), 16 Unsupported,
    }
    per::Op {
        0 Null, 1 Number{lo, span, width, pad}, 2 Sequence{first, count, optional, width},
        3 Keyed{first, width, pad, behind, rest}, 4 List{element, lo, span, width, pad},
        5 Choice{first, most, width, pad}, 6 Open{table, key, second}, 7 Octets(size), 8 Bits(size),
        9 Characters(size, alphabet), 10 Text(size, alphabet), 11 Leaf, 12 Part,
    }
    per::Unit {
        0 Century, 1 Year, 2 Month, 3 Week, 4 Day, 5 DayOfYear, 6 DayOfWeek, 7 Hour, 8 Minute, 9 Second,
        10 Fraction, 11 FractionDigits, 12 ZoneSign, 13 ZoneHour, 14 ZoneMinute,
    }
    per::TimeStep { 0 Presence(unit), 1 Number(unit, form), 2 Ranges(unit, forms), 3 Always(unit, value), 4 Utc }
    per::TimePart { 0 Point(steps), 1 Duration(steps), 2 Recurrence(form, digits) }
    oer::Integer { 0 Unsigned(octets), 1 Signed(octets), 2 UnsignedVariable, 3 SignedVariable }
    oer::Real { 0 Binary32, 1 Binary64, 2 Contents }
    oer::Addition { 0 Single(field), 1 Group{optional, members} }
    oer::Code {
        0 Boolean, 1 Null, 2 Integer(form), 3 Enumerated, 4 Real(form), 5 BitString(size, named),
        6 OctetString(size), 7 BitsContaining(size, named), 8 OctetsContaining(size), 9 Contents(size),
        10 Time(index), 11 Sequence(index), 12 SequenceOf, 13 Choice(index), 14 Predefined(index), 15 Open,
    }
    oer::TimeStep { 0 Number(unit, form), 1 Difference, 2 Always(unit, value), 3 Utc }
    oer::Time { 0 Point(steps), 1 Duration }
}

impl Stored for Number {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Stored::read(reader).map(Self)
    }
}

impl<T: Stored> Stored for Places<T> {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { fields, nodes, other } = self;
        fields.write(out);
        nodes.write(out);
        other.write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self { fields: Stored::read(reader)?, nodes: Stored::read(reader)?, other: Stored::read(reader)? })
    }
}
