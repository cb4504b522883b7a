//! Columns without structs: one for each component, named by its path as in CSV.

use crate::layout::{Layout, ROOT, What};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use std::sync::Arc;
use tercet_dynamic::csv;
use tercet_dynamic::text::join_path;

impl Layout {
    /// A schema with structs as one without.
    pub(crate) fn flattened(&self, nested: &Schema) -> SchemaRef {
        let keys = self.options.keys.names().len() + self.options.elements.len();
        let (keys, components) = nested.fields().split_at(keys.min(nested.fields().len()));
        let mut fields: Vec<Arc<Field>> = keys.to_vec();
        match self.what(ROOT) {
            What::Group | What::Choice(_) => {
                self.flat_parts(ROOT, &components.iter().cloned().collect(), "", &mut fields);
            }
            _ => fields.extend(components.iter().cloned()),
        }
        let names = &self.options.names;
        let named = fields.into_iter().map(|field| match csv::renamed(field.name(), names) {
            name if name == field.name().as_str() => field,
            name => Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable())),
        });
        Arc::new(Schema::new(named.collect::<Fields>()))
    }

    /// The columns of the parts of a place, in the order in which [`flat_columns`] has them.
    fn flat_parts(&self, place: u32, fields: &Fields, path: &str, out: &mut Vec<Arc<Field>>) {
        let mut fields = fields.iter();
        let push = |name: String, field: &Field, out: &mut Vec<Arc<Field>>| {
            out.push(Arc::new(Field::new(name, field.data_type().clone(), true)));
        };
        if self.what(place) == What::Choice(true)
            && let Some(field) = fields.next()
        {
            // The alternative's name stands at the path of the CHOICE.
            let name = if path.is_empty() { field.name().clone() } else { path.to_owned() };
            push(name, field, out);
        }
        for part in self.parts(place) {
            let Some(field) = fields.next() else { break };
            let name = join_path(path, field.name());
            match field.data_type() {
                DataType::Struct(inner) => self.flat_parts(part, inner, &name, out),
                _ => push(name, field, out),
            }
            if self.what(part) == What::Timestamp(true)
                && let Some(field) = fields.next()
            {
                push(join_path(path, field.name()), field, out);
            }
        }
    }
}

/// The columns of structs in place of these. A column is null wherever a struct around it is, as the builder pads it so.
pub(crate) fn flat_columns(columns: &[ArrayRef]) -> Vec<ArrayRef> {
    let mut flat = Vec::with_capacity(columns.len());
    for column in columns {
        match column.data_type() {
            DataType::Struct(_) => flat.extend(flat_columns(column.as_struct().columns())),
            _ => flat.push(Arc::clone(column)),
        }
    }
    flat
}
