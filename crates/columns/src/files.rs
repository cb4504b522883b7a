//! Batches as octets of a file.

use crate::{ArrowError, RecordBatch, SchemaRef};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use std::sync::Arc;

/// Octets of encoded columns after which a row group ends: what a writer holds in memory.
const GROUP: usize = 32 << 20;
/// Rows after which it ends.
const GROUP_ROWS: usize = 1 << 20;

/// Formats of files with columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file, also known as Feather version 2.
    Arrow,
    /// Arrow IPC stream.
    ArrowStream,
}

/// How the pages of Parquet files are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Zstandard of level 1.
    #[default]
    Zstd,
    /// Snappy.
    Snappy,
    /// Not at all.
    None,
}

/// Turns batches into the octets of a file, which are handed out as they come.
#[derive(Debug)]
pub struct Encoder(Writer);

enum Writer {
    Parquet(Box<ParquetWriter>),
    File(FileWriter<Vec<u8>>),
    Stream(StreamWriter<Vec<u8>>),
}

struct ParquetWriter {
    file: SerializedFileWriter<Vec<u8>>,
    factory: Arc<ArrowRowGroupWriterFactory>,
    group: Option<Group>,
}

/// A row group in the making.
struct Group {
    schema: SchemaRef,
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
}

/// Batches as a part of a file, encoded as far as that can be done without the parts before it: on any thread.
pub struct Part(Encoded);

enum Encoded {
    Group(Vec<ArrowColumnChunk>),
    Batches(Vec<RecordBatch>),
}

/// Turns batches into a [`Part`].
pub struct PartEncoder(Parts);

enum Parts {
    Parquet { factory: Arc<ArrowRowGroupWriterFactory>, group: Option<Group> },
    Arrow(Vec<RecordBatch>),
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Parquet(_) => "Parquet",
            Self::File(_) => "File",
            Self::Stream(_) => "Stream",
        })
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Part")
    }
}

impl std::fmt::Debug for PartEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PartEncoder")
    }
}

fn parquet(schema: &SchemaRef, compression: Compression) -> Result<ParquetWriter, ArrowError> {
    let codec = match compression {
        Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(1).map_err(from_parquet)?),
        Compression::Snappy => Codec::SNAPPY,
        Compression::None => Codec::UNCOMPRESSED,
    };
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Places of pages serve no reader without statistics of pages; they are held up to the end of the file.
        .set_offset_index_disabled(true)
        .set_created_by(concat!("tercet ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(schema), Some(properties));
    let (file, factory) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(from_parquet)?;
    Ok(ParquetWriter { file, factory: Arc::new(factory), group: None })
}

impl Group {
    fn new(factory: &ArrowRowGroupWriterFactory, schema: &SchemaRef) -> Result<Self, ArrowError> {
        let columns = factory.create_column_writers(0).map_err(from_parquet)?;
        Ok(Self { schema: Arc::clone(schema), columns, rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let mut columns = self.columns.iter_mut();
        for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, array).map_err(from_parquet)? {
                let Some(column) = columns.next() else { break };
                column.write(&leaf).map_err(from_parquet)?;
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    fn memory(&self) -> usize {
        self.columns.iter().map(ArrowColumnWriter::memory_size).sum()
    }

    fn close(self) -> Result<Vec<ArrowColumnChunk>, ArrowError> {
        self.columns.into_iter().map(|column| column.close().map_err(from_parquet)).collect()
    }
}

/// The row group for a batch.
fn in_the_making<'g>(
    group: &'g mut Option<Group>,
    factory: &ArrowRowGroupWriterFactory,
    batch: &RecordBatch,
) -> Result<&'g mut Group, ArrowError> {
    Ok(match group {
        Some(group) => group,
        none => none.insert(Group::new(factory, &batch.schema())?),
    })
}

impl ParquetWriter {
    /// Ends the row group in the making.
    fn flush(&mut self) -> Result<(), ArrowError> {
        match self.group.take() {
            Some(group) => self.append(group.close()?),
            None => Ok(()),
        }
    }

    fn append(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<(), ArrowError> {
        let mut group = self.file.next_row_group().map_err(from_parquet)?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group).map_err(from_parquet)?;
        }
        group.close().map_err(from_parquet)?;
        Ok(())
    }
}

impl Encoder {
    /// An encoder for batches of a schema.
    ///
    /// # Errors
    /// When the format has no form for the schema.
    pub fn new(format: FileFormat, schema: &SchemaRef, compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self(match format {
            FileFormat::Parquet => Writer::Parquet(Box::new(parquet(schema, compression)?)),
            FileFormat::Arrow => Writer::File(FileWriter::try_new(Vec::new(), schema)?),
            FileFormat::ArrowStream => Writer::Stream(StreamWriter::try_new(Vec::new(), schema)?),
        }))
    }

    /// Adds a batch, and appends what has become complete.
    ///
    /// # Errors
    /// When the batch has another schema.
    pub fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match &mut self.0 {
            Writer::Parquet(writer) => {
                let group = in_the_making(&mut writer.group, &writer.factory, batch)?;
                group.write(batch)?;
                if group.memory() >= GROUP || group.rows >= GROUP_ROWS {
                    writer.flush()?;
                }
                out.append(writer.file.inner_mut());
            }
            Writer::File(writer) => {
                writer.write(batch)?;
                out.append(writer.get_mut());
            }
            Writer::Stream(writer) => {
                writer.write(batch)?;
                out.append(writer.get_mut());
            }
        }
        Ok(())
    }

    /// Adds what has been encoded of a part of the file, and appends what has become complete. In Parquet a part is a row
    /// group.
    ///
    /// # Errors
    /// When it has another schema.
    pub fn append(&mut self, part: Part, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match (&mut self.0, part.0) {
            (Writer::Parquet(writer), Encoded::Group(chunks)) => {
                writer.flush()?;
                writer.append(chunks)?;
                out.append(writer.file.inner_mut());
                Ok(())
            }
            (_, Encoded::Batches(batches)) => batches.iter().try_for_each(|batch| self.write(batch, out)),
            (_, Encoded::Group(_)) => {
                Err(ArrowError::InvalidArgumentError("a part of a file of another format".to_owned()))
            }
        }
    }

    /// Appends the end of the file.
    ///
    /// # Errors
    /// Those of the format; none are known.
    pub fn finish(self, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match self.0 {
            Writer::Parquet(mut writer) => {
                writer.flush()?;
                out.append(&mut writer.file.into_inner().map_err(from_parquet)?);
            }
            Writer::File(writer) => out.append(&mut writer.into_inner()?),
            Writer::Stream(writer) => out.append(&mut writer.into_inner()?),
        }
        Ok(())
    }
}

impl PartEncoder {
    /// An encoder for a part of a file of this format and schema.
    ///
    /// # Errors
    /// When the format has no form for the schema.
    pub fn new(format: FileFormat, schema: &SchemaRef, compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self(match format {
            FileFormat::Parquet => {
                Parts::Parquet { factory: parquet(schema, compression)?.factory, group: None }
            }
            FileFormat::Arrow | FileFormat::ArrowStream => Parts::Arrow(Vec::new()),
        }))
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// When the batch has another schema.
    pub fn write(&mut self, batch: RecordBatch) -> Result<(), ArrowError> {
        match &mut self.0 {
            Parts::Parquet { factory, group } => in_the_making(group, factory, &batch)?.write(&batch),
            Parts::Arrow(batches) => {
                batches.push(batch);
                Ok(())
            }
        }
    }

    /// The part that the batches since the last one make, if they have any rows.
    ///
    /// # Errors
    /// Those of the format; none are known.
    pub fn take(&mut self) -> Result<Option<Part>, ArrowError> {
        Ok(match &mut self.0 {
            Parts::Parquet { group, .. } => match group.take() {
                Some(group) => Some(Part(Encoded::Group(group.close()?))),
                None => None,
            },
            Parts::Arrow(batches) if batches.is_empty() => None,
            Parts::Arrow(batches) => Some(Part(Encoded::Batches(std::mem::take(batches)))),
        })
    }
}

fn from_parquet(error: ParquetError) -> ArrowError {
    ArrowError::ParquetError(error.to_string())
}
