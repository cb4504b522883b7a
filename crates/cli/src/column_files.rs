//! Parquet and Arrow files: records are collected into batches, which are written as they become full.

use crate::columnar::CompressionArg;
use std::io;
use tercet::columns::{
    ArrowError, Builder, Compression, Encoder, FileFormat, Keys, Part, PartEncoder, Provenance,
};
use tercet::dynamic::{Error, View};
use tercet::records::{EachNulled, Origin, Render, RenderedPart, Undecoded};

/// Collects rows and writes batches.
pub struct Columnar<'p> {
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

impl<'p> Columnar<'p> {
    /// A renderer around a builder.
    pub fn new(format: FileFormat, builder: Builder<'p>, compression: CompressionArg) -> Self {
        let compression = match compression {
            CompressionArg::Zstd => Compression::Zstd,
            CompressionArg::Snappy => Compression::Snappy,
            CompressionArg::None => Compression::None,
        };
        Self {
            format,
            compression,
            builder,
            before: 0,
            encoder: None,
            part: None,
            is_part: false,
            failed: None,
        }
    }

    /// One whose rows another one takes over.
    pub fn for_part(self) -> Self {
        Self { is_part: true, ..self }
    }

    fn batch(&mut self, out: &mut Vec<u8>) {
        let written = self.write(out);
        self.failed = self.failed.take().or_else(|| written.err());
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        let (format, compression) = (self.format, self.compression);
        if self.is_part {
            let part = match &mut self.part {
                Some(part) => part,
                none => none.insert(PartEncoder::new(format, &self.builder.schema(), compression)?),
            };
            return if self.builder.rows() > 0 { part.write(self.builder.finish()?) } else { Ok(()) };
        }
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            none => none.insert(Encoder::new(format, &self.builder.schema(), compression)?),
        };
        if self.builder.rows() > 0 {
            encoder.write(&self.builder.finish()?, out)?;
        }
        Ok(())
    }

    /// Gives up what has gone wrong.
    fn checked(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), |failed| Err(io::Error::other(failed)))
    }
}

fn provenance<'o>(origin: &Origin<'o>, keys: Keys) -> Provenance<'o> {
    let Origin { input: file, index: record, offset, octets, elements } = *origin;
    let sha256 = (keys == Keys::Digest).then(|| origin.sha256());
    Provenance { file, record, offset, length: octets.len() as u64, sha256, elements }
}

impl Render for Columnar<'_> {
    fn begin_record(&mut self, out: &mut Vec<u8>) {
        if self.builder.is_full() {
            self.batch(out);
        }
        self.before = self.builder.appended();
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        let keys = self.builder.layout().keys();
        self.builder.append(value, Some(&provenance(origin, keys)))
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
        let mut row = self.builder.row(Some(&provenance(origin, keys)));
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

    fn part(&mut self) -> io::Result<Option<RenderedPart>> {
        self.batch(&mut Vec::new());
        self.checked()?;
        let part = self.part.as_mut().map(PartEncoder::take).transpose().map_err(io::Error::other)?;
        Ok(part.flatten().map(|part| Box::new(part) as RenderedPart))
    }

    fn join(&mut self, part: RenderedPart, out: &mut Vec<u8>) -> io::Result<()> {
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
