//! The compact protocol of Apache Thrift, as far as headers and footers of Parquet files need it.

use super::runs::push_varint;

/// Kinds of values.
#[derive(Clone, Copy)]
enum Kind {
    True = 1,
    False = 2,
    Byte = 3,
    Number32 = 5,
    Number64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// Writes the fields of a struct; they have to come in ascending order.
pub(crate) struct Struct<'o> {
    out: &'o mut Vec<u8>,
    /// The number of the field before.
    last: i16,
}

impl<'o> Struct<'o> {
    /// Writes a struct of its own.
    pub(crate) fn write(out: &'o mut Vec<u8>, fields: impl FnOnce(&mut Self)) {
        let mut it = Self { out, last: 0 };
        fields(&mut it);
        it.out.push(0);
    }

    fn field(&mut self, field: i16, kind: Kind) -> &mut Vec<u8> {
        let step = field - self.last;
        debug_assert!((1..16).contains(&step));
        self.last = field;
        self.out.push((step as u8) << 4 | kind as u8);
        self.out
    }

    pub(crate) fn bool(&mut self, field: i16, value: bool) {
        self.field(field, if value { Kind::True } else { Kind::False });
    }

    pub(crate) fn byte(&mut self, field: i16, value: u8) {
        self.field(field, Kind::Byte).push(value);
    }

    pub(crate) fn i32(&mut self, field: i16, value: i32) {
        push_number(value.into(), self.field(field, Kind::Number32));
    }

    pub(crate) fn i64(&mut self, field: i16, value: i64) {
        push_number(value, self.field(field, Kind::Number64));
    }

    pub(crate) fn binary(&mut self, field: i16, value: &[u8]) {
        push_binary(value, self.field(field, Kind::Binary));
    }

    /// A struct as a field.
    pub(crate) fn inner(&mut self, field: i16, fields: impl FnOnce(&mut Struct<'_>)) {
        Struct::write(self.field(field, Kind::Struct), fields);
    }

    /// A list of structs.
    pub(crate) fn structs<T>(
        &mut self,
        field: i16,
        items: &[T],
        mut fields: impl FnMut(&mut Struct<'_>, &T),
    ) {
        let out = self.list(field, Kind::Struct, items.len());
        for item in items {
            Struct::write(out, |it| fields(it, item));
        }
    }

    /// A list of structs that have been written already.
    pub(crate) fn written(&mut self, field: i16, count: usize, octets: &[u8]) {
        self.list(field, Kind::Struct, count).extend_from_slice(octets);
    }

    pub(crate) fn numbers(&mut self, field: i16, numbers: &[i32]) {
        let out = self.list(field, Kind::Number32, numbers.len());
        numbers.iter().for_each(|number| push_number((*number).into(), out));
    }

    pub(crate) fn texts<'t>(&mut self, field: i16, texts: impl ExactSizeIterator<Item = &'t str>) {
        let out = self.list(field, Kind::Binary, texts.len());
        texts.for_each(|text| push_binary(text.as_bytes(), out));
    }

    fn list(&mut self, field: i16, kind: Kind, len: usize) -> &mut Vec<u8> {
        let out = self.field(field, Kind::List);
        match u8::try_from(len) {
            Ok(len @ ..15) => out.push(len << 4 | kind as u8),
            _ => {
                out.push(0xF0 | kind as u8);
                push_varint(len as u64, out);
            }
        }
        out
    }
}

/// Appends a number whose sign is its last bit.
fn push_number(number: i64, out: &mut Vec<u8>) {
    push_varint((number << 1 ^ number >> 63) as u64, out);
}

fn push_binary(octets: &[u8], out: &mut Vec<u8>) {
    push_varint(octets.len() as u64, out);
    out.extend_from_slice(octets);
}
