//! Child tables: an output for each, beside that of the records.

use super::{Format, Shown};
use crate::children::Children;
use crate::conversion::{FormOptions, OptionFault, Prepared};
use crate::output::Output;
use crate::writer::{EachNulled, Origin, RowWriter, WrittenPart};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tercet_dynamic::{Error, NodeId, View};

/// A table that records become rows of: what its rows look like.
#[derive(Debug)]
pub(crate) struct TableForm<'p> {
    form: FormOptions,
    shown: Shown<'p>,
    node: NodeId,
}

/// Returns the tables of a conversion: that of the records first, then its children.
pub(crate) fn tables<'p>(prepared: &'p Prepared, form: &FormOptions) -> Vec<TableForm<'p>> {
    let (shown, node) = prepared.rows();
    let Some(children) = &prepared.children else {
        return vec![TableForm { form: form.with_columns(prepared.columns.clone()), shown, node }];
    };
    let rows = children.tables().iter().map(|table| (prepared.shown().child(children, table), table.root()));
    let columns = children.columns(&prepared.columns);
    let tables = std::iter::once((shown, node)).chain(rows).zip(columns);
    tables
        .map(|((shown, node), columns)| TableForm { form: form.with_columns(columns), shown, node })
        .collect()
}

impl<'p> TableForm<'p> {
    fn writer(&self, format: Format) -> Box<dyn RowWriter + Send + 'p> {
        format.writer(&self.form, self.shown, self.node)
    }

    fn part_writer(&self, format: Format) -> Box<dyn RowWriter + Send + 'p> {
        format.part_writer(&self.form, self.shown, self.node)
    }

    /// Checks that the rows have the columns that are asked for.
    pub(crate) fn check_columns(&self, format: Format) -> Result<(), OptionFault> {
        self.form.check_columns(format, self.shown, self.node)
    }
}

/// Makes what writes the rows of a conversion; children have their outputs in the order of their tables.
pub(crate) fn writer<'o>(
    prepared: &'o Prepared,
    form: &FormOptions,
    format: Format,
    outputs: &'o mut [Output],
) -> Box<dyn RowWriter + Send + 'o> {
    let tables = tables(prepared, form);
    let Some((records, children)) = tables.split_first() else {
        return format.writer(form, prepared.shown(), prepared.record);
    };
    let records = records.writer(format);
    if children.is_empty() {
        return records;
    }
    let child = |(table, output): (&TableForm<'o>, _)| Child::new(table.writer(format), Some(output));
    let children = children.iter().zip(outputs).map(child).collect();
    Box::new(WithChildren { records, children })
}

/// Makes the same for a thread whose rows the writer of [`writer`] takes over.
pub(crate) fn part_writer<'p>(
    prepared: &'p Prepared,
    form: &FormOptions,
    format: Format,
) -> Box<dyn RowWriter + Send + 'p> {
    let tables = tables(prepared, form);
    let Some((records, children)) = tables.split_first() else {
        return format.part_writer(form, prepared.shown(), prepared.record);
    };
    let records = records.part_writer(format);
    let children: Vec<Child<'p>> =
        children.iter().map(|table| Child::new(table.part_writer(format), None)).collect();
    if children.is_empty() { records } else { Box::new(WithChildren { records, children }) }
}

/// Returns the fields of records that have to be decoded for the rows of a conversion, or `None` for all.
pub(crate) fn fields(prepared: &Prepared, form: &FormOptions, format: Format) -> Option<Vec<bool>> {
    if prepared.columns.is_empty() {
        return None;
    }
    let Some(children) = &prepared.children else {
        let (rows, node) = prepared.rows();
        let wanted = form.with_columns(prepared.columns.clone()).fields(format, rows, node)?;
        return Some(match &prepared.explode {
            Some(explode) => explode.wanted(&wanted),
            None => wanted,
        });
    };
    let mut all = vec![false; children.shape().fields.len()];
    for table in tables(prepared, form) {
        let wanted = table.form.fields(format, table.shown, table.node)?;
        all.iter_mut().zip(wanted).for_each(|(all, wanted)| *all |= wanted);
    }
    Some(children.wanted(&all))
}

/// Returns where child tables go, beside the output of the records: `calls.csv` has `calls.data.volumes.csv`.
pub(crate) fn paths(children: Option<&Children>, output: &Path) -> Vec<PathBuf> {
    let tables = children.map_or(&[][..], Children::tables);
    let path = |table: &str| {
        let mut name = output.file_stem().unwrap_or_default().to_owned();
        name.push(".");
        name.push(table);
        if let Some(suffix) = output.extension() {
            name.push(".");
            name.push(suffix);
        }
        output.with_file_name(name)
    };
    tables.iter().map(|table| path(table.path())).collect()
}

/// Renders the rows of records, and those of their lists to other outputs.
struct WithChildren<'p> {
    records: Box<dyn RowWriter + Send + 'p>,
    children: Vec<Child<'p>>,
}

struct Child<'p> {
    render: Box<dyn RowWriter + Send + 'p>,
    rows: Vec<u8>,
    /// Where the rows of the record at hand begin, if it has any.
    begin: Option<usize>,
    /// Where the rows go; nowhere, if another renderer takes them over.
    output: Option<&'p mut Output>,
}

/// What another renderer takes over.
struct Parts {
    records: Option<WrittenPart>,
    children: Vec<(Vec<u8>, Option<WrittenPart>)>,
}

impl<'p> Child<'p> {
    fn new(render: Box<dyn RowWriter + Send + 'p>, output: Option<&'p mut Output>) -> Self {
        Self { render, rows: Vec::new(), begin: None, output }
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        output.write_all(&self.rows)?;
        self.rows.clear();
        Ok(())
    }
}

impl RowWriter for WithChildren<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.records.begin(out);
        for Child { render, rows, .. } in &mut self.children {
            render.begin(rows);
        }
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.records.record(value, origin, out)
    }

    fn child(&mut self, table: usize, value: View<'_>, origin: &Origin<'_>) -> Result<(), Error> {
        let Child { render, rows, begin, .. } = &mut self.children[table];
        if begin.is_none() {
            render.begin_record(rows);
            *begin = Some(rows.len());
        }
        render.record(value, origin, rows)
    }

    fn check(&mut self) -> io::Result<()> {
        self.records.check()?;
        for child in &mut self.children {
            child.render.check()?;
            child.flush()?;
        }
        Ok(())
    }

    fn begin_record(&mut self, out: &mut Vec<u8>) {
        self.records.begin_record(out);
        for child in &mut self.children {
            child.begin = None;
        }
    }

    fn take_nulled(&mut self, each: &mut EachNulled<'_>) {
        self.records.take_nulled(each);
        for child in self.children.iter_mut().filter(|child| child.begin.is_some()) {
            child.render.take_nulled(each);
        }
    }

    fn drop_record(&mut self) {
        self.records.drop_record();
        for Child { render, rows, begin, .. } in &mut self.children {
            if let Some(begin) = begin.take() {
                rows.truncate(begin);
                render.drop_record();
            }
        }
    }

    fn part(&mut self) -> io::Result<Option<WrittenPart>> {
        let records = self.records.part()?;
        let part = |child: &mut Child<'_>| Ok((std::mem::take(&mut child.rows), child.render.part()?));
        let children = self.children.iter_mut().map(part).collect::<io::Result<_>>()?;
        Ok(Some(Box::new(Parts { records, children })))
    }

    fn join(&mut self, part: WrittenPart, out: &mut Vec<u8>) -> io::Result<()> {
        let part = part.downcast::<Parts>().map_err(|_| io::Error::other("rows of other tables"))?;
        if let Some(part) = part.records {
            self.records.join(part, out)?;
        }
        for (child, (rows, part)) in self.children.iter_mut().zip(part.children) {
            child.rows.extend_from_slice(&rows);
            if let Some(part) = part {
                child.render.join(part, &mut child.rows)?;
            }
            child.flush()?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.records.end(out)?;
        for child in &mut self.children {
            child.render.end(&mut child.rows)?;
            child.flush()?;
        }
        Ok(())
    }
}
