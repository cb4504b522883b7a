//! What stands in front of each row: where it came from, and which element of its lists it is.

use tercet::dynamic::csv::push_field;
use tercet::records::Origin;

/// Columns or members in front of each row.
#[derive(Clone, Debug)]
pub struct Prefix {
    from: bool,
    lists: Vec<String>,
}

impl Prefix {
    /// Where rows came from, if that is wanted, and the elements of these lists.
    pub fn new(from: bool, lists: &[String]) -> Self {
        Self { from, lists: lists.to_vec() }
    }

    /// The names of the columns, with a comma behind each.
    pub fn csv_header(&self, out: &mut Vec<u8>) {
        if self.from {
            out.extend_from_slice(b"_file,_record,_offset,_length,");
        }
        for list in &self.lists {
            push_field(out, format!("_{list}").as_bytes(), b',');
            out.push(b',');
        }
    }

    /// The fields, with a comma behind each.
    pub fn csv(&self, origin: &Origin<'_>, out: &mut Vec<u8>) {
        if self.from {
            push_field(out, origin.input.as_bytes(), b',');
            let Origin { index, offset, length, .. } = origin;
            out.extend_from_slice(format!(",{index},{offset},{length},").as_bytes());
        }
        for list in 0..self.lists.len() {
            if let Some(Some(element)) = origin.elements.get(list) {
                out.extend_from_slice(element.to_string().as_bytes());
            }
            out.push(b',');
        }
    }

    /// Appends a JSON value with members in front; what is no object becomes the member `value`.
    pub fn json(&self, origin: &Origin<'_>, value: &[u8], indent: Option<u8>, out: &mut Vec<u8>) {
        let mut members = Vec::new();
        if self.from {
            let Origin { input, index, offset, length, .. } = origin;
            members.push(("_file".to_owned(), serde_json::Value::from(*input)));
            for (name, number) in [("_record", *index), ("_offset", *offset), ("_length", *length as u64)] {
                members.push((name.to_owned(), number.into()));
            }
        }
        for (list, name) in self.lists.iter().enumerate() {
            if let Some(Some(element)) = origin.elements.get(list) {
                members.push((format!("_{name}"), (*element).into()));
            }
        }
        if members.is_empty() {
            return out.extend_from_slice(value);
        }
        let (space, gap) = if indent.is_some() { ("\n  ", " ") } else { ("", "") };
        let text = members
            .iter()
            .map(|(name, value)| format!("{space}{}:{gap}{value}", serde_json::Value::from(name.as_str())));
        out.push(b'{');
        out.extend_from_slice(text.collect::<Vec<_>>().join(",").as_bytes());
        match value.strip_prefix(b"{") {
            Some(b"}") => out.extend_from_slice(if indent.is_some() { b"\n}" } else { b"}" }),
            Some(rest) => {
                out.push(b',');
                out.extend_from_slice(rest);
            }
            None => {
                out.extend_from_slice(format!(",{space}\"value\":{gap}").as_bytes());
                out.extend_from_slice(value);
                out.extend_from_slice(if indent.is_some() { b"\n}" } else { b"}" });
            }
        }
    }
}
