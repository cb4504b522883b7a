//! A column of a row group: its pages, and what is told of them.

use super::leaf::{Bounds, Leaf};
use super::levels::Levels;
use super::runs::{Runs, width};
use super::schema::Column;
use super::thrift::Struct;
use crate::files::Compression;
use arrow_schema::ArrowError;
use std::sync::Arc;
use zstd::bulk::Compressor;

/// Octets of the values of a page, about.
const PAGE: usize = 1 << 20;
/// Octets of pages that are not compressed, as little would come of it.
const SMALL: usize = 200;

/// The pages of a column, and what is told of them.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) octets: Arc<[u8]>,
    /// Octets of the page with the dictionary, if there is one.
    dictionary: Option<usize>,
    codec: Codec,
    /// Values, those that are absent included, and how many those are.
    count: usize,
    nulls: usize,
    /// Octets without compression.
    size: usize,
    bounds: Option<Bounds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    None = 0,
    Snappy = 1,
    Zstd = 6,
}

/// Encodings of values.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;

/// Makes pages.
pub(crate) struct Pages {
    codec: Codec,
    zstd: Option<Compressor<'static>>,
    snappy: snap::raw::Encoder,
    /// The contents of a page, and these compressed.
    body: Vec<u8>,
    packed: Vec<u8>,
}

/// What is in the header of a page.
enum Header {
    Dictionary { entries: usize },
    Data { values: usize, encoding: i32 },
}

impl Pages {
    pub(crate) fn new(compression: Compression) -> Result<Self, ArrowError> {
        let (codec, zstd) = match compression {
            Compression::Zstd => (Codec::Zstd, Some(Compressor::new(1)?)),
            Compression::Snappy => (Codec::Snappy, None),
            Compression::None => (Codec::None, None),
        };
        let (body, packed) = (Vec::new(), Vec::new());
        Ok(Self { codec, zstd, snappy: snap::raw::Encoder::new(), body, packed })
    }

    /// The chunk of a column without values.
    pub(crate) fn empty(&mut self, levels: &Levels) -> Result<Chunk, ArrowError> {
        let count = levels.definition.len();
        self.body.clear();
        self.levels(levels, 0..count);
        let mut chunk = Writer { codec: self.codec_for(self.body.len()), octets: Vec::new(), size: 0 };
        self.page(&Header::Data { values: count, encoding: PLAIN }, &mut chunk)?;
        Ok(chunk.end(None, levels, None))
    }

    /// The chunk of a column.
    pub(crate) fn chunk(&mut self, levels: &Levels, leaf: &dyn Leaf) -> Result<Chunk, ArrowError> {
        let dictionary = leaf.dictionary();
        let index_width = dictionary.as_ref().map(|it| width(it.count as u32 - 1).max(1));
        let size = match (&dictionary, index_width) {
            (Some(dictionary), Some(width)) => dictionary.plain.len() + leaf.len() * width as usize / 8,
            _ => leaf.size(),
        };
        let mut chunk = Writer { codec: self.codec_for(size), octets: Vec::new(), size: 0 };
        if let Some(dictionary) = &dictionary {
            self.body.clear();
            self.body.extend_from_slice(&dictionary.plain);
            self.page(&Header::Dictionary { entries: dictionary.count }, &mut chunk)?;
        }
        let dictionary_len = dictionary.as_ref().map(|_| chunk.octets.len());
        let mut cuts = levels.cuts(1 + size / PAGE);
        cuts.dedup();
        let mut first = 0;
        for slots in cuts.windows(2) {
            let slots = slots[0]..slots[1];
            self.body.clear();
            let last = first + self.levels(levels, slots.clone());
            let encoding = match (&dictionary, index_width) {
                (Some(dictionary), Some(width)) => {
                    self.body.push(width as u8);
                    let mut runs = Runs::default();
                    dictionary.indices[first..last].iter().for_each(|index| runs.push(1, *index));
                    runs.encode(width, &mut self.body);
                    RLE_DICTIONARY
                }
                _ => {
                    leaf.plain(first..last, &mut self.body);
                    PLAIN
                }
            };
            self.page(&Header::Data { values: slots.len(), encoding }, &mut chunk)?;
            first = last;
        }
        let bounds = dictionary.map_or_else(|| leaf.bounds(), |dictionary| dictionary.bounds);
        Ok(chunk.end(dictionary_len, levels, bounds))
    }

    fn codec_for(&self, size: usize) -> Codec {
        if size < SMALL { Codec::None } else { self.codec }
    }

    /// Appends the levels of some slots to the page; how many values there are in these.
    fn levels(&mut self, levels: &Levels, slots: std::ops::Range<usize>) -> usize {
        if let Some(repetition) = &levels.repetition {
            self.level(repetition, levels.lists, &slots);
        }
        self.level(&levels.definition, levels.whole, &slots)
    }

    /// Appends levels; how many are the largest one.
    fn level(&mut self, runs: &Runs, largest: u32, slots: &std::ops::Range<usize>) -> usize {
        let start = self.body.len();
        self.body.extend_from_slice(&[0; 4]);
        let count = if slots.len() == runs.len() {
            runs.encode_once(width(largest), &mut self.body);
            runs.count(largest)
        } else {
            let part = runs.part(slots.clone());
            part.encode(width(largest), &mut self.body);
            part.count(largest)
        };
        let len = (self.body.len() - start - 4) as u32;
        self.body[start..start + 4].copy_from_slice(&len.to_le_bytes());
        count
    }

    /// Appends the page to a chunk.
    fn page(&mut self, header: &Header, chunk: &mut Writer) -> Result<(), ArrowError> {
        let packed = match chunk.codec {
            Codec::None => &self.body,
            Codec::Snappy => {
                self.packed.resize(snap::raw::max_compress_len(self.body.len()), 0);
                let len = self.snappy.compress(&self.body, &mut self.packed);
                self.packed.truncate(len.map_err(|error| ArrowError::ExternalError(Box::new(error)))?);
                &self.packed
            }
            Codec::Zstd => {
                self.packed.clear();
                self.packed.reserve(zstd::zstd_safe::compress_bound(self.body.len()));
                if let Some(zstd) = &mut self.zstd {
                    zstd.compress_to_buffer(&self.body, &mut self.packed)?;
                }
                &self.packed
            }
        };
        let start = chunk.octets.len();
        Struct::write(&mut chunk.octets, |page| {
            let kind = if matches!(header, Header::Data { .. }) { 0 } else { 2 };
            page.i32(1, kind);
            page.i32(2, self.body.len() as i32);
            page.i32(3, packed.len() as i32);
            match *header {
                Header::Data { values, encoding } => page.inner(5, |data| {
                    data.i32(1, values as i32);
                    data.i32(2, encoding);
                    data.i32(3, RLE);
                    data.i32(4, RLE);
                }),
                Header::Dictionary { entries } => page.inner(7, |dictionary| {
                    dictionary.i32(1, entries as i32);
                    dictionary.i32(2, PLAIN);
                }),
            }
        });
        chunk.size += chunk.octets.len() - start + self.body.len();
        chunk.octets.extend_from_slice(packed);
        Ok(())
    }
}

/// A chunk in the making.
struct Writer {
    codec: Codec,
    octets: Vec<u8>,
    size: usize,
}

impl Writer {
    fn end(self, dictionary: Option<usize>, levels: &Levels, bounds: Option<Bounds>) -> Chunk {
        let count = levels.definition.len();
        Chunk {
            octets: self.octets.into(),
            dictionary,
            codec: self.codec,
            count,
            nulls: count - levels.definition.count(levels.whole),
            size: self.size,
            bounds,
        }
    }
}

impl Chunk {
    /// Octets without compression.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Writes what is told of the chunk in the footer of a file.
    pub(crate) fn describe(&self, column: &Column, offset: usize, out: &mut Struct<'_>) {
        out.i64(2, 0);
        out.inner(3, |data| {
            data.i32(1, column.physical as i32);
            match self.dictionary {
                Some(_) => data.numbers(2, &[PLAIN, RLE, RLE_DICTIONARY]),
                None => data.numbers(2, &[PLAIN, RLE]),
            }
            data.texts(3, column.path.iter().map(String::as_str));
            data.i32(4, self.codec as i32);
            data.i64(5, self.count as i64);
            data.i64(6, self.size as i64);
            data.i64(7, self.octets.len() as i64);
            data.i64(9, (offset + self.dictionary.unwrap_or(0)) as i64);
            if self.dictionary.is_some() {
                data.i64(11, offset as i64);
            }
            data.inner(12, |statistics| {
                statistics.i64(3, self.nulls as i64);
                if let Some((least, greatest)) = &self.bounds {
                    statistics.binary(5, greatest);
                    statistics.binary(6, least);
                }
            });
        });
    }
}
