//! Parquet files: row groups, whose columns are encoded one after the other when all rows of the group are there.
//!
//! A specification may have thousands of columns, of which a row group has some hundreds. Writers of all of them would
//! take more memory than the rows, each with the context of its compression; so there is one at a time. And a column
//! without values is as long as its neighbours without values: it is encoded once for all of them. MSC records, of 2,157
//! columns, take a fifth of the time and half of the memory that they take with writers for all.

use crate::files::Compression;
use crate::{ArrowError, RecordBatch, SchemaRef};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Octets of rows after which a row group ends: what a writer holds in memory.
const GROUP: usize = 64 << 20;
/// Rows after which it ends.
const GROUP_ROWS: usize = 1 << 20;
/// Octets before the first column of a file.
const MAGIC: usize = 4;

/// The columns of a row group, encoded.
pub(crate) type Chunks = Vec<Chunk>;

pub(crate) enum Chunk {
    Full(ArrowColumnChunk),
    Empty(Bytes, ColumnCloseResult),
}

/// A file in the making.
pub(crate) struct ParquetFile {
    file: SerializedFileWriter<Vec<u8>>,
    group: RowGroup,
}

/// Rows that become a row group.
pub(crate) struct RowGroup {
    columns: Arc<Columns>,
    batches: Vec<RecordBatch>,
    rows: usize,
    octets: usize,
}

/// How the columns of a file are written.
struct Columns {
    each: Vec<Column>,
    full: WriterPropertiesPtr,
    empty: WriterPropertiesPtr,
}

/// A column, as if it were the only one of its file.
struct Column {
    descriptor: ColumnDescPtr,
    root: TypePtr,
    schema: SchemaRef,
    /// Where it is: the column of the batch, and the part of each struct.
    path: Vec<usize>,
    /// The first column that is the same if it is empty: of the same kind, and beside it.
    like: usize,
}

impl ParquetFile {
    pub(crate) fn new(schema: &SchemaRef, compression: Compression) -> Result<Self, ArrowError> {
        let codec = match compression {
            Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(1).map_err(from_parquet)?),
            Compression::Snappy => Codec::SNAPPY,
            Compression::None => Codec::UNCOMPRESSED,
        };
        let full = properties(codec, true);
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(schema), Some(full.clone()));
        let (file, _) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(from_parquet)?;
        let descriptors = file.schema_descr().columns().iter();
        let roots = alone(&file.schema_descr().root_schema_ptr()).map_err(from_parquet)?;
        let mut likes = HashMap::new();
        let each = descriptors.zip(roots).zip(leaves_of(schema)).enumerate().map(
            |(index, ((descriptor, root), leaf))| {
                let steps = descriptor.path().parts();
                let beside = steps[..steps.len() - 1].to_vec();
                let like = *likes.entry((beside, descriptor.physical_type())).or_insert(index);
                let schema = Arc::new(Schema::new(vec![leaf.field]));
                Column { descriptor: Arc::clone(descriptor), root, schema, path: leaf.path, like }
            },
        );
        let each = each.collect();
        let empty = Arc::new(properties(codec, false));
        let columns = Columns { each, full: Arc::new(full), empty };
        Ok(Self { file, group: RowGroup::new(Arc::new(columns)) })
    }

    /// A row group for a file of the same schema.
    pub(crate) fn into_group(self) -> RowGroup {
        self.group
    }

    pub(crate) fn write(&mut self, batch: RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        if let Some(chunks) = self.group.add(batch)? {
            self.append(chunks)?;
        }
        out.append(self.file.inner_mut());
        Ok(())
    }

    /// Adds a row group behind the rows so far.
    pub(crate) fn write_group(&mut self, chunks: Chunks, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        if let Some(before) = self.group.close()? {
            self.append(before)?;
        }
        self.append(chunks)?;
        out.append(self.file.inner_mut());
        Ok(())
    }

    fn append(&mut self, chunks: Chunks) -> Result<(), ArrowError> {
        let mut group = self.file.next_row_group().map_err(from_parquet)?;
        for chunk in chunks {
            match chunk {
                Chunk::Full(chunk) => chunk.append_to_row_group(&mut group),
                Chunk::Empty(octets, close) => group.append_column(&octets, close),
            }
            .map_err(from_parquet)?;
        }
        group.close().map_err(from_parquet)?;
        Ok(())
    }

    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        if let Some(chunks) = self.group.close()? {
            self.append(chunks)?;
        }
        out.append(&mut self.file.into_inner().map_err(from_parquet)?);
        Ok(())
    }
}

impl RowGroup {
    fn new(columns: Arc<Columns>) -> Self {
        Self { columns, batches: Vec::new(), rows: 0, octets: 0 }
    }

    /// Adds rows; the row group, if it is full.
    pub(crate) fn add(&mut self, batch: RecordBatch) -> Result<Option<Chunks>, ArrowError> {
        self.rows += batch.num_rows();
        self.octets += batch.columns().iter().map(octets).sum::<usize>();
        self.batches.push(batch);
        if self.octets >= GROUP || self.rows >= GROUP_ROWS { self.close() } else { Ok(None) }
    }

    /// Encodes the rows so far, if there are any, and begins anew.
    pub(crate) fn close(&mut self) -> Result<Option<Chunks>, ArrowError> {
        let batches = std::mem::take(&mut self.batches);
        (self.rows, self.octets) = (0, 0);
        if batches.is_empty() {
            return Ok(None);
        }
        let mut known = HashMap::new();
        let columns = self.columns.each.iter();
        columns
            .map(|column| self.columns.encode(column, &batches, &mut known))
            .collect::<Result<_, _>>()
            .map(Some)
    }
}

impl Columns {
    /// Encodes a column; what those are that are empty is known for those before.
    fn encode(
        &self,
        column: &Column,
        batches: &[RecordBatch],
        known: &mut HashMap<usize, (Bytes, ColumnCloseResult)>,
    ) -> Result<Chunk, ArrowError> {
        if batches.iter().any(|batch| !is_empty(leaf(batch, &column.path))) {
            return Ok(Chunk::Full(column.encode(batches, &self.full)?));
        }
        let (octets, close) = match known.entry(column.like) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let chunk = column.encode(batches, &self.empty)?;
                entry.insert(column.octets(chunk, &self.empty).map_err(from_parquet)?)
            }
        };
        Ok(Chunk::Empty(octets.clone(), column.same(close).map_err(from_parquet)?))
    }
}

impl Column {
    fn file(&self, properties: &WriterPropertiesPtr) -> Result<SerializedFileWriter<Vec<u8>>, ParquetError> {
        SerializedFileWriter::new(Vec::new(), Arc::clone(&self.root), Arc::clone(properties))
    }

    fn encode(
        &self,
        batches: &[RecordBatch],
        properties: &WriterPropertiesPtr,
    ) -> Result<ArrowColumnChunk, ArrowError> {
        let file = self.file(properties).map_err(from_parquet)?;
        let factory = ArrowRowGroupWriterFactory::new(&file, Arc::clone(&self.schema));
        let mut writers = factory.create_column_writers(0).map_err(from_parquet)?;
        let (Some(mut writer), Some((&first, rest))) = (writers.pop(), self.path.split_first()) else {
            return Err(ArrowError::ParquetError("a column without a writer".to_owned()));
        };
        let field = self.schema.field(0);
        for batch in batches {
            let array = part(batch.column(first), field.data_type(), rest)?;
            for leaf in compute_leaves(field, &array).map_err(from_parquet)? {
                writer.write(&leaf).map_err(from_parquet)?;
            }
        }
        writer.close().map_err(from_parquet)
    }

    /// The octets of a column without a dictionary, and what is told of it.
    fn octets(
        &self,
        chunk: ArrowColumnChunk,
        properties: &WriterPropertiesPtr,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let close = chunk.close().clone();
        let mut file = self.file(properties)?;
        let mut group = file.next_row_group()?;
        chunk.append_to_row_group(&mut group)?;
        group.close()?;
        let mut octets = file.into_inner()?;
        octets.truncate(MAGIC + usize::try_from(close.metadata.compressed_size()).unwrap_or(0));
        Ok((Bytes::from(octets).slice(MAGIC..), close))
    }

    /// What is told of another column, for this one.
    fn same(&self, close: &ColumnCloseResult) -> Result<ColumnCloseResult, ParquetError> {
        let other = &close.metadata;
        let mut metadata = ColumnChunkMetaData::builder(Arc::clone(&self.descriptor))
            .set_compression_codec(other.compression_codec())
            .set_encodings_mask(*other.encodings_mask())
            .set_total_compressed_size(other.compressed_size())
            .set_total_uncompressed_size(other.uncompressed_size())
            .set_num_values(other.num_values());
        if let Some(statistics) = other.statistics() {
            metadata = metadata.set_statistics(statistics.clone());
        }
        if let Some(stats) = other.page_encoding_stats() {
            metadata = metadata.set_page_encoding_stats(stats.clone());
        }
        Ok(ColumnCloseResult { metadata: metadata.set_data_page_offset(0).build()?, ..close.clone() })
    }
}

fn properties(codec: Codec, dictionary: bool) -> WriterProperties {
    WriterProperties::builder()
        .set_compression(codec)
        .set_dictionary_enabled(dictionary)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Places of pages serve no reader without statistics of pages; they are held up to the end of the file.
        .set_offset_index_disabled(true)
        .set_created_by(concat!("tercet ", env!("CARGO_PKG_VERSION")).to_owned())
        .build()
}

/// For each column of a type, that type with this column alone.
fn alone(whole: &TypePtr) -> Result<Vec<TypePtr>, ParquetError> {
    if whole.is_primitive() {
        return Ok(vec![Arc::clone(whole)]);
    }
    let info = whole.get_basic_info();
    let mut found = Vec::new();
    for part in whole.get_fields() {
        for column in alone(part)? {
            let mut group = Type::group_type_builder(info.name()).with_fields(vec![column]);
            if info.has_repetition() {
                group = group.with_repetition(info.repetition());
            }
            found.push(Arc::new(group.with_converted_type(info.converted_type()).build()?));
        }
    }
    Ok(found)
}

/// A column of a schema: where it is, and the field around it with this column alone.
struct LeafOf {
    field: FieldRef,
    path: Vec<usize>,
}

fn leaves_of(schema: &Schema) -> impl Iterator<Item = LeafOf> {
    let fields = schema.fields().iter().enumerate();
    fields.flat_map(|(index, field)| leaves_in(field).into_iter().map(move |leaf| leaf.inside(index)))
}

fn leaves_in(field: &FieldRef) -> Vec<LeafOf> {
    let around = |leaf: LeafOf, wrap: &dyn Fn(FieldRef) -> DataType| LeafOf {
        field: Arc::new(Field::new(field.name(), wrap(leaf.field), field.is_nullable())),
        ..leaf
    };
    match field.data_type() {
        DataType::Struct(fields) => {
            let parts = fields.iter().enumerate();
            let leaves =
                parts.flat_map(|(index, part)| leaves_in(part).into_iter().map(move |l| l.inside(index)));
            leaves.map(|leaf| around(leaf, &|part| DataType::Struct(vec![part].into()))).collect()
        }
        DataType::List(element) => {
            leaves_in(element).into_iter().map(|leaf| around(leaf, &DataType::List)).collect()
        }
        _ => vec![LeafOf { field: Arc::clone(field), path: Vec::new() }],
    }
}

impl LeafOf {
    fn inside(mut self, index: usize) -> Self {
        self.path.insert(0, index);
        self
    }
}

/// The leaf at the end of a path.
fn leaf<'b>(batch: &'b RecordBatch, path: &[usize]) -> &'b ArrayRef {
    let mut steps = path.iter();
    let mut array = batch.column(steps.next().copied().unwrap_or(0));
    loop {
        match array.data_type() {
            DataType::Struct(_) => array = array.as_struct().column(steps.next().copied().unwrap_or(0)),
            DataType::List(_) => array = array.as_list::<i32>().values(),
            _ => return array,
        }
    }
}

/// An array with the leaf alone that is at the end of a path.
fn part(array: &ArrayRef, data_type: &DataType, path: &[usize]) -> Result<ArrayRef, ArrowError> {
    Ok(match (data_type, path) {
        (DataType::Struct(fields), [index, rest @ ..]) => {
            let whole = array.as_struct();
            let inside = part(whole.column(*index), fields[0].data_type(), rest)?;
            Arc::new(StructArray::try_new(fields.clone(), vec![inside], whole.nulls().cloned())?)
        }
        (DataType::List(element), _) => {
            let whole = array.as_list::<i32>();
            let inside = part(whole.values(), element.data_type(), path)?;
            let (offsets, nulls) = (whole.offsets().clone(), whole.nulls().cloned());
            Arc::new(ListArray::try_new(Arc::clone(element), offsets, inside, nulls)?)
        }
        _ => Arc::clone(array),
    })
}

/// Octets of all leaves that have values.
fn octets(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::Struct(_) => array.as_struct().columns().iter().map(octets).sum(),
        DataType::List(_) => octets(array.as_list::<i32>().values()),
        _ if is_empty(array) => 0,
        _ => array.get_buffer_memory_size(),
    }
}

fn is_empty(leaf: &ArrayRef) -> bool {
    leaf.null_count() == leaf.len()
}

fn from_parquet(error: ParquetError) -> ArrowError {
    ArrowError::ParquetError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, StringArray, new_null_array};
    use arrow_buffer::{NullBuffer, OffsetBuffer};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    /// `{a, b, c, d: {e, f: [{g, h, i}]}, j}`, of which `b`, `c`, `h` and `i` are empty.
    fn batch(rows: i64) -> RecordBatch {
        let number = |name| Arc::new(Field::new(name, DataType::Int64, true));
        let text = |name| Arc::new(Field::new(name, DataType::Utf8, true));
        let len = rows as usize;
        let some = |from: i64, len: usize| -> ArrayRef {
            Arc::new((from..).take(len).map(|n| (n % 3 > 0).then_some(n)).collect::<Int64Array>())
        };
        let none = |data_type: &DataType, len| new_null_array(data_type, len);
        let third = |len| Some((0..len).map(|n| n % 3 > 0).collect::<NullBuffer>());
        let ghi = vec![number("g"), number("h"), text("i")];
        let inside = vec![some(5, 2 * len), none(&DataType::Int64, 2 * len), none(&DataType::Utf8, 2 * len)];
        let ghi = StructArray::new(ghi.into(), inside, third(2 * len));
        let item = Arc::new(Field::new("item", ghi.data_type().clone(), true));
        let f = ListArray::new(
            item,
            OffsetBuffer::from_lengths(std::iter::repeat_n(2, len)),
            Arc::new(ghi),
            third(len),
        );
        let ef = vec![text("e"), Arc::new(Field::new("f", f.data_type().clone(), true))];
        let e: StringArray = (0..rows).map(|n| (n % 2 > 0).then(|| n.to_string())).collect();
        let d = StructArray::new(ef.into(), vec![Arc::new(e), Arc::new(f)], third(len));
        let fields = [
            number("a"),
            number("b"),
            number("c"),
            Arc::new(Field::new("d", d.data_type().clone(), true)),
            text("j"),
        ];
        let none = |data_type| new_null_array(&data_type, len);
        let columns = vec![
            some(0, len),
            none(DataType::Int64),
            none(DataType::Int64),
            Arc::new(d),
            none(DataType::Utf8),
        ];
        RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns).unwrap()
    }

    #[test]
    fn rows_come_back_from_a_file_with_empty_columns_and_without() {
        let batches = [batch(10), batch(3), batch(1000)];
        let schema = batches[0].schema();
        for compression in [Compression::Zstd, Compression::Snappy, Compression::None] {
            let (mut file, mut octets) = (ParquetFile::new(&schema, compression).unwrap(), Vec::new());
            let mut group = ParquetFile::new(&schema, compression).unwrap().into_group();
            file.write(batches[0].clone(), &mut octets).unwrap();
            assert!(
                group.add(batches[1].clone()).unwrap().is_none()
                    && group.add(batches[2].clone()).unwrap().is_none()
            );
            file.write_group(group.close().unwrap().unwrap(), &mut octets).unwrap();
            file.write(batches[1].clone(), &mut octets).unwrap();
            file.finish(&mut octets).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(octets)).unwrap();
            let groups: Vec<i64> =
                reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
            assert_eq!(groups, [10, 1003, 3]);
            let nulls =
                reader.metadata().row_group(1).column(2).statistics().and_then(|all| all.null_count_opt());
            assert_eq!(nulls, Some(1003), "of a column that is the same as the one before");
            let read: Vec<RecordBatch> =
                reader.with_batch_size(2000).build().unwrap().map(Result::unwrap).collect();
            let read = read.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.slice(row, 1)));
            let [a, b, c] = &batches;
            let wanted = [a, b, c, b]
                .into_iter()
                .flat_map(|batch| (0..batch.num_rows()).map(|row| batch.slice(row, 1)));
            assert!(read.eq(wanted));
        }
    }

    #[test]
    fn a_row_group_ends_when_it_has_many_rows() {
        let one = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        let column: ArrayRef = Arc::new(Int64Array::from_iter(std::iter::repeat_n(Some(7), GROUP_ROWS)));
        assert_eq!(column.as_primitive::<Int64Type>().value(9), 7);
        let batch = RecordBatch::try_new(Arc::clone(&one), vec![column]).unwrap();
        let mut group = ParquetFile::new(&one, Compression::None).unwrap().into_group();
        assert!(group.add(batch).unwrap().is_some_and(|chunks| chunks.len() == 1));
        assert!(group.close().unwrap().is_none());
    }
}
