//! Parquet and Arrow files: records are collected into batches, which are written as they become full.

use super::{FormatInfo, OutputFormat, RowKind, Shown};
use crate::conversion::{FormOptions, PageCompression};
use crate::rows::Undecoded;
use crate::writer::{EachNulled, Origin, RowWriter, WrittenPart};
use std::io;
use tercet_columns::{ArrowError, Builder, Compression, Encoder, FileFormat, Options, Part, PartEncoder};
use tercet_dynamic::{Error, NodeId, View};

/// A format of files with columns.
#[derive(Debug)]
pub(super) struct Columns {
    info: FormatInfo,
    file: FileFormat,
}

/// Options that all files with columns have a place for; that of Parquet comes last.
const OPTIONS: &[&str; 12] = &[
    "octets",
    "columns",
    "rename",
    "integers",
    "reals",
    "provenance",
    "flat",
    "hex-octets",
    "child",
    "children",
    "by-type",
    "compression",
];

const INFO: FormatInfo = FormatInfo {
    name: "parquet",
    help: "Apache Parquet, nested",
    suffixes: &["parquet"],
    family: "parquet",
    rows: RowKind::Columns,
    quotes_text: false,
    options: OPTIONS,
};

const ARROW_INFO: FormatInfo = FormatInfo {
    name: "arrow",
    help: "Arrow IPC file, nested",
    suffixes: &["arrow", "feather"],
    family: "arrow",
    options: OPTIONS.split_at(OPTIONS.len() - 1).0,
    ..INFO
};

pub(super) static PARQUET: Columns = Columns { info: INFO, file: FileFormat::Parquet };
pub(super) static ARROW: Columns = Columns { info: ARROW_INFO, file: FileFormat::Arrow };
pub(super) static ARROW_STREAM: Columns = Columns {
    info: FormatInfo {
        name: "arrow-stream",
        help: "Arrow IPC stream, nested",
        suffixes: &["arrows"],
        ..ARROW_INFO
    },
    file: FileFormat::ArrowStream,
};

impl OutputFormat for Columns {
    fn info(&self) -> &FormatInfo {
        &self.info
    }

    fn writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p> {
        Box::new(self.columnar(form, shown, node))
    }

    fn part_writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p> {
        Box::new(Columnar { is_part: true, ..self.columnar(form, shown, node) })
    }
}

impl Columns {
    fn columnar<'p>(&self, form: &FormOptions, shown: Shown<'p>, node: NodeId) -> Columnar<'p> {
        let dense = self.file != FileFormat::Parquet;
        let options = Options { dense, ..form.columns_of(shown) };
        Columnar {
            format: self.file,
            compression: match form.files.compression.unwrap_or_default() {
                PageCompression::Zstd => Compression::Zstd,
                PageCompression::Snappy => Compression::Snappy,
                PageCompression::None => Compression::None,
            },
            builder: Builder::new(shown.shape(), node, &options),
            before: 0,
            encoder: None,
            part: None,
            is_part: false,
            failed: None,
        }
    }
}

/// Collects rows and writes batches.
struct Columnar<'p> {
    format: FileFormat,
    compression: Compression,
    builder: Builder<'p>,
    /// Rows of the builder before those of the record at hand.
    before: usize,
    encoder: Option<Encoder>,
    /// Of a renderer whose rows another one takes over.
    part: Option<PartEncoder>,
    is_part: bool,
    /// What has gone wrong while a batch was written: told at the end, as no record is at fault.
    failed: Option<ArrowError>,
}

impl Columnar<'_> {
    fn batch(&mut self, out: &mut Vec<u8>) {
        let written = self.write(out);
        self.failed = self.failed.take().or_else(|| written.err());
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        let (format, compression) = (self.format, self.compression);
        if self.is_part {
            let part = match &mut self.part {
                Some(part) => part,
                none => none.insert(PartEncoder::new(format, compression)?),
            };
            return if self.builder.rows() > 0 { part.write(&mut self.builder) } else { Ok(()) };
        }
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            none => none.insert(Encoder::new(format, &self.builder.schema(), compression)?),
        };
        if self.builder.rows() > 0 {
            encoder.write(&mut self.builder, out)?;
        }
        Ok(())
    }

    /// Gives up what has gone wrong.
    fn checked(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), |failed| Err(io::Error::other(failed)))
    }
}

impl RowWriter for Columnar<'_> {
    fn begin_record(&mut self, out: &mut Vec<u8>) {
        if Encoder::is_full(self.format, &self.builder) {
            self.batch(out);
        }
        self.before = self.builder.appended();
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        let keys = self.builder.layout().keys();
        self.builder.append(value, Some(&origin.provenance(keys)))
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        _: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let keys = self.builder.layout().keys();
        let mut row = self.builder.row(Some(&origin.provenance(keys)));
        record.say(&mut row)?;
        row.end()
    }

    fn check(&mut self) -> io::Result<()> {
        self.checked()
    }

    fn take_nulled(&mut self, each: &mut EachNulled<'_>) {
        for nulled in self.builder.take_nulled() {
            each(&nulled.path, nulled.count, &nulled.octets);
        }
    }

    fn drop_record(&mut self) {
        self.builder.drop_behind(self.before);
    }

    fn part(&mut self) -> io::Result<Option<WrittenPart>> {
        self.batch(&mut Vec::new());
        self.checked()?;
        let part = self.part.as_mut().map(PartEncoder::take).transpose().map_err(io::Error::other)?;
        Ok(part.flatten().map(|part| Box::new(part) as WrittenPart))
    }

    fn join(&mut self, part: WrittenPart, out: &mut Vec<u8>) -> io::Result<()> {
        self.batch(out);
        self.checked()?;
        match (part.downcast::<Part>(), &mut self.encoder) {
            (Ok(part), Some(encoder)) => encoder.append(*part, out).map_err(io::Error::other),
            _ => Err(io::Error::other("rows of a renderer of another kind")),
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.batch(out);
        self.checked()?;
        match self.encoder.take() {
            Some(encoder) => encoder.finish(out).map_err(io::Error::other),
            None => Ok(()),
        }
    }
}
