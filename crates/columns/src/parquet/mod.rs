//! Parquet files (Apache Parquet, format version 1): rows as the builder has them become row groups.
//!
//! A specification may have thousands of columns, of which a record has some tens. So the cost goes by values: columns have
//! no place for what is absent, levels are runs, and columns without values that are beside one another share their pages.

mod chunk;
mod leaf;
mod levels;
mod runs;
mod schema;
mod thrift;

use crate::builder::{Builder, Rows};
use crate::files::Compression;
use crate::layout::{ROOT, What};
use crate::store::{Store, Values};
use crate::{ArrowError, SchemaRef};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chunk::{Chunk, Pages};
use leaf::{Alternatives, Booleans, Leaf, Numbers, Strings};
use levels::Levels;
use schema::Column;
use thrift::Struct;

/// Rows of a row group, encoded.
#[derive(Debug)]
pub(crate) struct RowGroup {
    chunks: Vec<Chunk>,
    rows: usize,
}

/// Makes row groups.
pub(crate) struct GroupEncoder {
    pages: Pages,
}

/// A file in the making.
pub(crate) struct ParquetFile {
    columns: Vec<Column>,
    /// The elements of the schema in the footer.
    elements: (usize, Vec<u8>),
    /// The schema of Arrow, from which its readers make the same columns.
    arrow: String,
    /// Octets so far, and rows.
    len: usize,
    rows: usize,
    /// Row groups so far, and what is told of them in the footer.
    groups: (usize, Vec<u8>),
}

const MAGIC: &[u8; 4] = b"PAR1";

impl GroupEncoder {
    pub(crate) fn new(compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self { pages: Pages::new(compression)? })
    }

    /// The rows of a builder as a row group, if there are any; the builder begins anew.
    pub(crate) fn encode(&mut self, builder: &mut Builder<'_>) -> Result<Option<RowGroup>, ArrowError> {
        let rows = builder.take();
        let count = rows.count - rows.dropped.len();
        if count == 0 {
            return Ok(None);
        }
        let mut walk = Walk {
            pages: &mut self.pages,
            builder: &*builder,
            rows: &rows,
            chunks: Vec::new(),
            empty: Vec::new(),
        };
        walk.rows()?;
        Ok(Some(RowGroup { chunks: walk.chunks, rows: count }))
    }
}

/// A walk over the columns of a row group.
struct Walk<'w> {
    pages: &'w mut Pages,
    builder: &'w Builder<'w>,
    rows: &'w Rows,
    chunks: Vec<Chunk>,
    /// Chunks of columns without values, and the levels of these.
    empty: Vec<(Levels, Chunk)>,
}

/// Chunks without values that are kept for others.
const EMPTY: usize = 64;

impl Walk<'_> {
    fn rows(&mut self) -> Result<(), ArrowError> {
        let rows = self.rows;
        let around = Levels::rows(rows.count, &rows.dropped);
        for store in &rows.before {
            self.leaf(store, &around)?;
        }
        match self.builder.layout().what(ROOT) {
            What::Group | What::Choice(_) => self.parts(ROOT, &around),
            What::Skip => Ok(()),
            _ => self.place(ROOT, &around),
        }
    }

    /// The columns of the parts of a struct.
    fn parts(&mut self, place: u32, around: &Levels) -> Result<(), ArrowError> {
        let rows = self.rows;
        if let Values::Group(Some(names)) = &rows.stores[place as usize].values {
            let builder = self.builder;
            let name = |field| builder.alternative(field);
            let (levels, kept) = around.optional(&names.at);
            self.column(&levels, &Alternatives::new(names, &kept, &name))?;
        }
        for part in self.builder.layout().parts(place) {
            self.place(part, around)?;
        }
        Ok(())
    }

    fn place(&mut self, place: u32, around: &Levels) -> Result<(), ArrowError> {
        let store = &self.rows.stores[place as usize];
        match &store.values {
            // A column of its own is null wherever a struct around it is.
            Values::Group(_) if self.builder.layout().options.flat => self.parts(place, around),
            Values::Group(_) => self.parts(place, &around.optional(&store.at).0),
            Values::List(ends) => {
                let elements = around.elements(&store.at, ends);
                self.builder.layout().parts(place).next().map_or(Ok(()), |part| self.place(part, &elements))
            }
            _ => self.leaf(store, around),
        }
    }

    /// The column of a leaf, or its two columns.
    fn leaf(&mut self, store: &Store, around: &Levels) -> Result<(), ArrowError> {
        let (levels, kept) = around.optional(&store.at);
        match &store.values {
            Values::Boolean(values) => self.column(&levels, &Booleans::new(values, &kept)),
            Values::Int64(values) | Values::TimeOfDay(values) | Values::Timestamp(values, None) => {
                self.column(&levels, &Numbers::new(values, &kept))
            }
            Values::Timestamp(values, Some(minutes)) => {
                self.column(&levels, &Numbers::new(values, &kept))?;
                let minutes: Vec<i32> = minutes.iter().map(|minutes| (*minutes).into()).collect();
                self.column(&levels, &Numbers::new(&minutes, &kept))
            }
            Values::Date(values) => self.column(&levels, &Numbers::new(values, &kept)),
            Values::Decimal(values) | Values::Amount(values) => {
                self.column(&levels, &Numbers::new(values, &kept))
            }
            Values::Float64(values) => self.column(&levels, &Numbers::new(values, &kept)),
            Values::Binary(texts) | Values::Text(texts) => self.column(&levels, &Strings::new(texts, &kept)),
            Values::Group(_) | Values::List(_) | Values::None => Ok(()),
        }
    }

    fn column(&mut self, levels: &Levels, leaf: &dyn Leaf) -> Result<(), ArrowError> {
        let chunk = if leaf.len() > 0 { self.pages.chunk(levels, leaf)? } else { self.empty(levels)? };
        self.chunks.push(chunk);
        Ok(())
    }

    /// The chunk of a column without values: that of one before with the same levels, if there is one.
    fn empty(&mut self, levels: &Levels) -> Result<Chunk, ArrowError> {
        if let Some((_, chunk)) = self.empty.iter().find(|(other, _)| other.is_same(levels)) {
            return Ok(chunk.clone());
        }
        let chunk = self.pages.empty(levels)?;
        if self.empty.len() == EMPTY {
            self.empty.remove(0);
        }
        self.empty.push((levels.clone(), chunk.clone()));
        Ok(chunk)
    }
}

impl ParquetFile {
    pub(crate) fn new(schema: &SchemaRef) -> Result<Self, ArrowError> {
        let (columns, count, elements) = schema::columns(schema)?;
        let arrow = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut DictionaryTracker::new(true),
            &IpcWriteOptions::default(),
        );
        let mut message = vec![0xFF; 4];
        message.extend_from_slice(&(arrow.ipc_message.len() as u32).to_le_bytes());
        message.extend_from_slice(&arrow.ipc_message);
        Ok(Self {
            columns,
            elements: (count, elements),
            arrow: BASE64_STANDARD.encode(message),
            len: 0,
            rows: 0,
            groups: (0, Vec::new()),
        })
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.len == 0 {
            out.extend_from_slice(MAGIC);
            self.len = MAGIC.len();
        }
    }

    /// Appends a row group.
    ///
    /// # Errors
    /// When it has other columns.
    pub(crate) fn append(&mut self, group: &RowGroup, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        if group.chunks.len() != self.columns.len() {
            return Err(ArrowError::SchemaError("a row group of other columns".to_owned()));
        }
        self.begin(out);
        let start = self.len;
        let both: Vec<_> = group.chunks.iter().zip(&self.columns).collect();
        Struct::write(&mut self.groups.1, |row_group| {
            row_group.structs(1, &both, |it, (chunk, column)| {
                chunk.describe(column, self.len, it);
                self.len += chunk.octets.len();
            });
            row_group.i64(2, group.chunks.iter().map(|chunk| chunk.size() as i64).sum());
            row_group.i64(3, group.rows as i64);
            row_group.i64(5, start as i64);
            row_group.i64(6, (self.len - start) as i64);
        });
        self.groups.0 += 1;
        self.rows += group.rows;
        group.chunks.iter().for_each(|chunk| out.extend_from_slice(&chunk.octets));
        Ok(())
    }

    /// Appends the footer.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        self.begin(out);
        let start = out.len();
        Struct::write(out, |footer| {
            footer.i32(1, 1);
            footer.written(2, self.elements.0, &self.elements.1);
            footer.i64(3, self.rows as i64);
            footer.written(4, self.groups.0, &self.groups.1);
            footer.structs(5, &[self.arrow.as_str()], |pair, arrow| {
                pair.binary(1, b"ARROW:schema");
                pair.binary(2, arrow.as_bytes());
            });
            footer.binary(6, concat!("tercet ", env!("CARGO_PKG_VERSION")).as_bytes());
            // Every column has the order that its type has.
            footer.structs(7, &self.columns, |order, _| order.inner(1, |_| {}));
        });
        let len = (out.len() - start) as u32;
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(MAGIC);
    }
}
