//! Child tables: an output for each, beside that of the records.

use crate::exit::{Failure, Outcome};
use crate::job::Job;
use crate::render::{Format, FormatOption, RenderArgs, Shown};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tercet::dynamic::{Error, NodeId, View};
use tercet::records::{Children, EachNulled, Origin, Output, Render, RenderedPart};

/// A table that records become rows of: what its rows look like.
pub struct Table<'p> {
    render: RenderArgs,
    shown: Shown<'p>,
    node: NodeId,
}

impl<'p> Table<'p> {
    /// The tables of a job: that of the records first, then its children.
    pub fn all(job: &'p Job, render: &RenderArgs) -> Vec<Self> {
        let (shown, node) = job.rows();
        let Some(children) = &job.children else {
            return vec![Self { render: render.with_columns(job.columns.clone()), shown, node }];
        };
        let rows = children.tables().iter().map(|table| (job.shown().child(children, table), table.root()));
        let columns = children.columns(&job.columns);
        let tables = std::iter::once((shown, node)).chain(rows).zip(columns);
        tables
            .map(|((shown, node), columns)| Self { render: render.with_columns(columns), shown, node })
            .collect()
    }

    fn renderer(&self, format: Format) -> Box<dyn Render + Send + 'p> {
        self.render.renderer(format, self.shown, self.node)
    }

    fn part_renderer(&self, format: Format) -> Box<dyn Render + Send + 'p> {
        self.render.part_renderer(format, self.shown, self.node)
    }

    /// Refuses columns that the rows do not have.
    pub fn check_columns(&self, format: Format) -> Outcome<()> {
        self.render.check_columns(format, self.shown, self.node)
    }
}

/// Makes the renderer of a job's rows; children have their outputs in the order of [`Children::tables`].
pub fn renderer<'o>(
    job: &'o Job,
    render: &RenderArgs,
    format: Format,
    outputs: &'o mut [Output],
) -> Box<dyn Render + Send + 'o> {
    let tables = Table::all(job, render);
    let [records, children @ ..] = &tables[..] else {
        return render.renderer(format, job.shown(), job.record);
    };
    if children.is_empty() {
        return records.renderer(format);
    }
    let child = |(table, output): (&Table<'o>, _)| Child::new(table.renderer(format), Some(output));
    let children = children.iter().zip(outputs).map(child).collect();
    Box::new(WithChildren { records: records.renderer(format), children })
}

/// The same for a thread whose rows the renderer of [`renderer`] takes over.
pub fn part_renderer<'p>(job: &'p Job, render: &RenderArgs, format: Format) -> Box<dyn Render + Send + 'p> {
    let tables = Table::all(job, render);
    let mut parts = tables.iter().map(|table| table.part_renderer(format));
    let records = parts.next().unwrap_or_else(|| render.part_renderer(format, job.shown(), job.record));
    let children: Vec<Child<'p>> = parts.map(|render| Child::new(render, None)).collect();
    if children.is_empty() { records } else { Box::new(WithChildren { records, children }) }
}

/// Which fields of records have to be decoded for the rows of a job; all if there is no answer.
pub fn wanted(job: &Job, render: &RenderArgs, format: Format) -> Option<Vec<bool>> {
    if job.columns.is_empty() {
        return None;
    }
    let Some(children) = &job.children else {
        let (rows, node) = job.rows();
        let wanted = render.with_columns(job.columns.clone()).fields(format, rows, node)?;
        return Some(match &job.explode {
            Some(explode) => explode.wanted(&wanted),
            None => wanted,
        });
    };
    let mut all = vec![false; children.shape().fields.len()];
    for table in Table::all(job, render) {
        let wanted = table.render.fields(format, table.shown, table.node)?;
        all.iter_mut().zip(wanted).for_each(|(all, wanted)| *all |= wanted);
    }
    Some(children.wanted(&all))
}

/// Where child tables go, beside the output of the records: `calls.csv` has `calls.data.volumes.csv`.
pub fn paths(children: Option<&Children>, output: &Path) -> Vec<PathBuf> {
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

/// Refuses what child tables cannot be written as.
pub fn check(option: &'static str, format: Format, output: Option<&PathBuf>) -> Outcome<()> {
    FormatOption { name: option, is_given: true, is_for: Format::is_open }.check(Some(format))?;
    match output {
        Some(_) => Ok(()),
        None => Err(Failure::usage("child tables are separate files: use `-o FILE`")),
    }
}

/// Renders the rows of records, and those of their lists to other outputs.
struct WithChildren<'p> {
    records: Box<dyn Render + Send + 'p>,
    children: Vec<Child<'p>>,
}

struct Child<'p> {
    render: Box<dyn Render + Send + 'p>,
    rows: Vec<u8>,
    /// Where the rows of the record at hand begin, if it has any.
    begin: Option<usize>,
    /// Where the rows go; nowhere, if another renderer takes them over.
    output: Option<&'p mut Output>,
}

/// What another renderer takes over.
struct Parts {
    records: Option<RenderedPart>,
    children: Vec<(Vec<u8>, Option<RenderedPart>)>,
}

impl<'p> Child<'p> {
    fn new(render: Box<dyn Render + Send + 'p>, output: Option<&'p mut Output>) -> Self {
        Self { render, rows: Vec::new(), begin: None, output }
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        output.write_all(&self.rows)?;
        self.rows.clear();
        Ok(())
    }
}

impl Render for WithChildren<'_> {
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

    fn part(&mut self) -> io::Result<Option<RenderedPart>> {
        let records = self.records.part()?;
        let part = |child: &mut Child<'_>| Ok((std::mem::take(&mut child.rows), child.render.part()?));
        let children = self.children.iter_mut().map(part).collect::<io::Result<_>>()?;
        Ok(Some(Box::new(Parts { records, children })))
    }

    fn join(&mut self, part: RenderedPart, out: &mut Vec<u8>) -> io::Result<()> {
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
