//! Rows as octets of a file.

use crate::builder::Builder;
use crate::parquet::{GroupEncoder, ParquetFile, RowGroup};
use crate::{ArrowError, RecordBatch, SchemaRef};
use arrow_ipc::writer::{FileWriter, StreamWriter};

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

/// Turns rows into the octets of a file, which are handed out as they come.
#[derive(Debug)]
pub struct Encoder(Writer);

enum Writer {
    Parquet(Box<(GroupEncoder, ParquetFile)>),
    File(FileWriter<Vec<u8>>),
    Stream(StreamWriter<Vec<u8>>),
}

/// Rows as a part of a file, encoded as far as that can be done without the parts before it: on any thread.
pub struct Part(Encoded);

enum Encoded {
    Groups(Vec<RowGroup>),
    Batches(Vec<RecordBatch>),
}

/// Turns rows into a [`Part`].
pub struct PartEncoder(Parts);

enum Parts {
    Parquet(Vec<RowGroup>, Box<GroupEncoder>),
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

impl Encoder {
    /// An encoder for rows of a schema.
    ///
    /// # Errors
    /// When the format has no form for the schema.
    pub fn new(format: FileFormat, schema: &SchemaRef, compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self(match format {
            FileFormat::Parquet => {
                Writer::Parquet(Box::new((GroupEncoder::new(compression)?, ParquetFile::new(schema)?)))
            }
            FileFormat::Arrow => Writer::File(FileWriter::try_new(Vec::new(), schema)?),
            FileFormat::ArrowStream => Writer::Stream(StreamWriter::try_new(Vec::new(), schema)?),
        }))
    }

    /// Whether a builder has as many rows as a batch of the file, or a row group, should have.
    pub fn is_full(format: FileFormat, builder: &Builder<'_>) -> bool {
        match format {
            FileFormat::Parquet => builder.is_group(),
            FileFormat::Arrow | FileFormat::ArrowStream => builder.is_full(),
        }
    }

    /// Adds the rows of a builder, which begins anew, and appends what has become complete.
    ///
    /// # Errors
    /// When the rows have another schema.
    pub fn write(&mut self, builder: &mut Builder<'_>, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match &mut self.0 {
            Writer::Parquet(writer) => {
                let (encoder, file) = &mut **writer;
                encoder.encode(builder)?.map_or(Ok(()), |group| file.append(&group, out))
            }
            _ => self.write_batch(&builder.finish()?, out),
        }
    }

    fn write_batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match &mut self.0 {
            Writer::Parquet(_) => return Err(other_format()),
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

    /// Adds what has been encoded of a part of the file, and appends what has become complete. In Parquet a part is one or
    /// more row groups.
    ///
    /// # Errors
    /// When it has another schema.
    pub fn append(&mut self, part: Part, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match (&mut self.0, part.0) {
            (Writer::Parquet(writer), Encoded::Groups(groups)) => {
                groups.iter().try_for_each(|group| writer.1.append(group, out))
            }
            (_, Encoded::Batches(batches)) => {
                batches.iter().try_for_each(|batch| self.write_batch(batch, out))
            }
            (_, Encoded::Groups(_)) => Err(other_format()),
        }
    }

    /// Appends the end of the file.
    ///
    /// # Errors
    /// Those of the format; none are known.
    pub fn finish(self, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match self.0 {
            Writer::Parquet(writer) => writer.1.finish(out),
            Writer::File(writer) => out.append(&mut writer.into_inner()?),
            Writer::Stream(writer) => out.append(&mut writer.into_inner()?),
        }
        Ok(())
    }
}

impl PartEncoder {
    /// An encoder for a part of a file of this format.
    ///
    /// # Errors
    /// Those of the compression; none are known.
    pub fn new(format: FileFormat, compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self(match format {
            FileFormat::Parquet => Parts::Parquet(Vec::new(), Box::new(GroupEncoder::new(compression)?)),
            FileFormat::Arrow | FileFormat::ArrowStream => Parts::Arrow(Vec::new()),
        }))
    }

    /// Adds the rows of a builder, which begins anew.
    ///
    /// # Errors
    /// Those of the format; none are known.
    pub fn write(&mut self, builder: &mut Builder<'_>) -> Result<(), ArrowError> {
        match &mut self.0 {
            Parts::Parquet(groups, encoder) => groups.extend(encoder.encode(builder)?),
            Parts::Arrow(batches) => batches.push(builder.finish()?),
        }
        Ok(())
    }

    /// The part that the rows since the last one make, if they have any rows.
    ///
    /// # Errors
    /// Those of the format; none are known.
    pub fn take(&mut self) -> Result<Option<Part>, ArrowError> {
        Ok(match &mut self.0 {
            Parts::Parquet(groups, _) => {
                (!groups.is_empty()).then(|| Part(Encoded::Groups(std::mem::take(groups))))
            }
            Parts::Arrow(batches) if batches.is_empty() => None,
            Parts::Arrow(batches) => Some(Part(Encoded::Batches(std::mem::take(batches)))),
        })
    }
}

fn other_format() -> ArrowError {
    ArrowError::InvalidArgumentError("a part of a file of another format".to_owned())
}
