//! Batches as octets of a file.

use crate::parquet::{Chunks, ParquetFile, RowGroup};
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

/// Turns batches into the octets of a file, which are handed out as they come.
#[derive(Debug)]
pub struct Encoder(Writer);

enum Writer {
    Parquet(Box<ParquetFile>),
    File(FileWriter<Vec<u8>>),
    Stream(StreamWriter<Vec<u8>>),
}

/// Batches as a part of a file, encoded as far as that can be done without the parts before it: on any thread.
pub struct Part(Encoded);

enum Encoded {
    Groups(Vec<Chunks>),
    Batches(Vec<RecordBatch>),
}

/// Turns batches into a [`Part`].
pub struct PartEncoder(Parts);

enum Parts {
    Parquet { groups: Vec<Chunks>, last: RowGroup },
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
    /// An encoder for batches of a schema.
    ///
    /// # Errors
    /// When the format has no form for the schema.
    pub fn new(format: FileFormat, schema: &SchemaRef, compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self(match format {
            FileFormat::Parquet => Writer::Parquet(Box::new(ParquetFile::new(schema, compression)?)),
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
            Writer::Parquet(writer) => writer.write(batch.clone(), out)?,
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
                groups.into_iter().try_for_each(|group| writer.write_group(group, out))
            }
            (_, Encoded::Batches(batches)) => batches.iter().try_for_each(|batch| self.write(batch, out)),
            (_, Encoded::Groups(_)) => {
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
            Writer::Parquet(writer) => writer.finish(out)?,
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
                let last = ParquetFile::new(schema, compression)?.into_group();
                Parts::Parquet { groups: Vec::new(), last }
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
            Parts::Parquet { groups, last } => {
                groups.extend(last.add(batch)?);
                Ok(())
            }
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
            Parts::Parquet { groups, last } => {
                groups.extend(last.close()?);
                (!groups.is_empty()).then(|| Part(Encoded::Groups(std::mem::take(groups))))
            }
            Parts::Arrow(batches) if batches.is_empty() => None,
            Parts::Arrow(batches) => Some(Part(Encoded::Batches(std::mem::take(batches)))),
        })
    }
}
