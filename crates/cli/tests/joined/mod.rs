//! The tables of a conversion to JSON lines, put together again: what `--child` parts.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows by the paths of their tables, that of the records is the empty one, and by the keys of the row that they belong to.
pub(crate) struct Tables(BTreeMap<String, BTreeMap<String, Vec<Value>>>);

impl Tables {
    /// Those of a run whose output is `NAME.jsonl` in a folder.
    pub(crate) fn read(folder: &Path, name: &str) -> Self {
        let mut tables = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            let Some(table) = file.strip_prefix(name).and_then(|rest| rest.strip_suffix(".jsonl")) else {
                continue;
            };
            let table = table.trim_start_matches('.').to_owned();
            let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let row: Value = serde_json::from_str(line).unwrap();
                let around = if table.is_empty() { String::new() } else { keys(&row, &index_of(&table)) };
                rows.entry(around).or_default().push(row);
            }
            tables.insert(table, rows);
        }
        Self(tables)
    }

    /// The paths of the tables.
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// The records with all their parts.
    pub(crate) fn joined(&self) -> Vec<Value> {
        let records = self.0[""].values().flatten();
        records.map(|row| self.value("", row)).collect()
    }

    /// A row with the rows of its tables in place of their numbers.
    fn value(&self, table: &str, row: &Value) -> Value {
        let mut value = row.clone();
        value.as_object_mut().unwrap().retain(|name, _| !name.starts_with('_'));
        for child in self.0.keys().filter(|child| self.is_child(table, child)) {
            let path = child[table.len()..].trim_start_matches('.');
            let rows = self.0[child].get(&keys(row, "")).map_or(&[][..], Vec::as_slice);
            let place = value.pointer_mut(&format!("/{}", path.replace('.', "/")));
            let Some(place) = place else {
                assert!(rows.is_empty(), "{child}");
                continue;
            };
            assert_eq!(*place, rows.len(), "{child}");
            let index = index_of(child);
            for (number, row) in rows.iter().enumerate() {
                assert!(row.get(&index).is_none_or(|index| *index == number), "{row}");
            }
            let is_list = rows.first().is_none_or(|row| row.get(&index).is_some());
            let mut parts: Vec<Value> = rows.iter().map(|row| self.value(child, row)).collect();
            *place = if is_list { parts.into() } else { parts.remove(0) };
        }
        // An element without members of its own.
        let is_plain = !table.is_empty() && value.as_object().is_some_and(|members| members.len() == 1);
        let plain = value.get_mut("value").filter(|_| is_plain).map(Value::take);
        plain.unwrap_or(value)
    }

    /// Whether a table is one of parts of the rows of another, with none between them.
    fn is_child(&self, table: &str, child: &str) -> bool {
        let inside = |around: &str, it: &str| {
            around.is_empty() && !it.is_empty()
                || it.strip_prefix(around).is_some_and(|rest| rest.starts_with('.'))
        };
        inside(table, child) && !self.0.keys().any(|other| inside(table, other) && inside(other, child))
    }
}

/// The column with the index of a list.
fn index_of(table: &str) -> String {
    format!("_{}", table.rsplit('.').next().unwrap_or(table))
}

/// The members that tell which record and element a row is of, but one.
fn keys(row: &Value, but: &str) -> String {
    let members = row.as_object().unwrap().iter();
    let keys = members.filter(|(name, _)| name.starts_with('_') && *name != but);
    keys.map(|(name, value)| format!("{name}={value} ")).collect()
}
