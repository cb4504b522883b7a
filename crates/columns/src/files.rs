//! Batches as octets of a file.

use crate::{ArrowError, RecordBatch, SchemaRef};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Octets of encoded columns after which a row group ends: what a writer holds in memory.
const GROUP: usize = 32 << 20;

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
    Parquet(Box<ArrowWriter<Vec<u8>>>),
    File(FileWriter<Vec<u8>>),
    Stream(StreamWriter<Vec<u8>>),
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

impl Encoder {
    /// An encoder for batches of a schema.
    ///
    /// # Errors
    /// When the format has no form for the schema.
    pub fn new(format: FileFormat, schema: &SchemaRef, compression: Compression) -> Result<Self, ArrowError> {
        Ok(Self(match format {
            FileFormat::Parquet => {
                let codec = match compression {
                    Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(1).map_err(from_parquet)?),
                    Compression::Snappy => Codec::SNAPPY,
                    Compression::None => Codec::UNCOMPRESSED,
                };
                let properties = WriterProperties::builder()
                    .set_compression(codec)
                    .set_statistics_enabled(EnabledStatistics::Chunk)
                    .set_created_by(concat!("tercet ", env!("CARGO_PKG_VERSION")).to_owned())
                    .build();
                let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties));
                Writer::Parquet(Box::new(writer.map_err(from_parquet)?))
            }
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
                writer.write(batch).map_err(from_parquet)?;
                if writer.memory_size() >= GROUP {
                    writer.flush().map_err(from_parquet)?;
                }
                out.append(writer.inner_mut());
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

    /// Appends the end of the file.
    ///
    /// # Errors
    /// Those of the format; none are known.
    pub fn finish(self, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match self.0 {
            Writer::Parquet(writer) => out.append(&mut writer.into_inner().map_err(from_parquet)?),
            Writer::File(writer) => out.append(&mut writer.into_inner()?),
            Writer::Stream(writer) => out.append(&mut writer.into_inner()?),
        }
        Ok(())
    }
}

fn from_parquet(error: ParquetError) -> ArrowError {
    ArrowError::ParquetError(error.to_string())
}
