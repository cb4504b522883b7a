//! Rows come back from Parquet files as record batches have them.
#![cfg(feature = "files")]

use arrow_array::{ArrayRef, RecordBatch};
use arrow_select::concat::concat_batches;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression as Codec;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;
use tercet_columns::{
    Builder, Compression, Encoder, FileFormat, Integers, Keys, Options, PartEncoder, Provenance,
};
use tercet_dynamic::{NodeId, Plan, Rules, Tape, sample};

/// Components of all kinds, lists in lists, types inside themselves, an open type, and many components that are seldom there.
const SPECIFICATION: &str = "Zoo DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    Record ::= CHOICE { call Call, numbers SEQUENCE OF INTEGER (-5..5), nothing NULL, text UTF8String }
    Call ::= SEQUENCE {
        id INTEGER (0..4294967295), big INTEGER OPTIONAL, wide INTEGER (0..99999999999999999999) OPTIONAL,
        flag BOOLEAN, real REAL OPTIONAL, octets OCTET STRING (SIZE (0..40)) OPTIONAL, empty SEQUENCE {} OPTIONAL,
        item ENUMERATED { one, two, three }, bits BIT STRING OPTIONAL, oid OBJECT IDENTIFIER OPTIONAL,
        tree Tree OPTIONAL,
        parties SEQUENCE (SIZE (0..4)) OF SEQUENCE {
            name IA5String OPTIONAL, tags SET (SIZE (0..3)) OF UTF8String (SIZE (0..5)) OPTIONAL,
            kind CHOICE { a INTEGER (0..9), b SEQUENCE { c BOOLEAN OPTIONAL, d VisibleString OPTIONAL } } OPTIONAL
        } OPTIONAL,
        lists SEQUENCE (SIZE (0..3)) OF SEQUENCE (SIZE (0..3)) OF INTEGER (0..7) OPTIONAL,
        rare SEQUENCE { x1 INTEGER (0..1) OPTIONAL, x2 INTEGER (0..1) OPTIONAL, x3 UTF8String OPTIONAL,
            x4 SEQUENCE { y1 BOOLEAN OPTIONAL, y2 BOOLEAN OPTIONAL, y3 SEQUENCE OF BOOLEAN OPTIONAL } OPTIONAL } OPTIONAL
    }
    Tree ::= SEQUENCE { left Tree OPTIONAL, value INTEGER (0..9) }
    END";

fn plan() -> Plan {
    let mut map = tercet_syntax::SourceMap::new();
    let file = map.add("zoo.asn", SPECIFICATION);
    let (modules, found) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
    assert!(found.is_empty(), "{found:?}");
    let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
    tercet_lower::plan(&model, Rules::Ber, &tercet_lower::all_roots(&model)).0
}

/// Appends values to a builder. Every seventh row is taken back; the last one of a stretch too.
struct Filler {
    /// Values that come again and again.
    tapes: Vec<Tape>,
    number: u64,
}

/// Values that differ.
const SAMPLES: u64 = 400;

impl Filler {
    fn new(plan: &Plan, root: NodeId) -> Self {
        let mut sampler = sample::Sampler::new(&plan.shape, sample::Options::default());
        let mut sample = |_| {
            let mut tape = Tape::new();
            sampler.sample(root, &mut tape).unwrap();
            tape
        };
        Self { tapes: (0..SAMPLES).map(&mut sample).collect(), number: 0 }
    }

    fn fill(&mut self, builder: &mut Builder<'_>, rows: u64) {
        for _ in 0..rows {
            self.number += 1;
            let before = builder.appended();
            let from = Provenance {
                file: if self.number % 50 < 30 { "one.ber" } else { "two.ber" },
                record: self.number,
                offset: self.number * 100,
                length: 100,
                sha256: Some([self.number as u8; 32]),
                elements: &[],
            };
            let from = (!self.number.is_multiple_of(3)).then_some(&from);
            let appended = builder.append(self.tapes[(self.number % SAMPLES) as usize].view(b""), from);
            if appended.is_ok() && self.number.is_multiple_of(7) {
                builder.drop_behind(before);
            }
        }
    }
}

/// A file of three stretches of rows, the second one a part of its own, and the same rows as one batch.
fn both(plan: &Plan, root: NodeId, options: &Options, compression: Compression) -> (Vec<u8>, RecordBatch) {
    let mut filler = Filler::new(plan, root);
    let mut builder = Builder::new(&plan.shape, root, options);
    let mut encoder = Encoder::new(FileFormat::Parquet, &builder.schema(), compression).unwrap();
    let mut out = Vec::new();
    filler.fill(&mut builder, 300);
    encoder.write(&mut builder, &mut out).unwrap();
    filler.fill(&mut builder, 40);
    let mut part = PartEncoder::new(FileFormat::Parquet, compression).unwrap();
    part.write(&mut builder).unwrap();
    encoder.append(part.take().unwrap().unwrap(), &mut out).unwrap();
    filler.fill(&mut builder, 700);
    encoder.write(&mut builder, &mut out).unwrap();
    encoder.write(&mut builder, &mut out).unwrap();
    encoder.finish(&mut out).unwrap();
    filler.number = 0;
    filler.fill(&mut builder, 1040);
    (out, builder.finish().unwrap())
}

fn read(file: Vec<u8>) -> (ParquetMetaData, RecordBatch) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    let metadata = reader.metadata().as_ref().clone();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    (metadata, concat_batches(&schema, &batches).unwrap())
}

#[test]
fn rows_come_back_from_a_file() {
    let plan = plan();
    for compression in [Compression::Zstd, Compression::Snappy, Compression::None] {
        for flat in [false, true] {
            for root in ["Record", "Call", "Tree"] {
                let keys = if root == "Tree" { Keys::None } else { Keys::Digest };
                let integers = if flat { Integers::Decimal } else { Integers::Text };
                let options = Options { flat, keys, integers, ..Options::default() };
                let (file, wanted) = both(&plan, plan.root(root).unwrap(), &options, compression);
                let (metadata, found) = read(file);
                assert!(wanted.num_rows() > 600, "{}", wanted.num_rows());
                assert_eq!(found.schema(), wanted.schema(), "{root}");
                for (column, field) in wanted.schema().fields().iter().enumerate() {
                    assert_eq!(found.column(column), wanted.column(column), "{root} {}", field.name());
                }
                let groups: i64 = metadata.row_groups().iter().map(|group| group.num_rows()).sum();
                assert_eq!((metadata.num_row_groups(), groups), (3, wanted.num_rows() as i64));
            }
        }
    }
}

/// What readers are told of columns agrees with the values.
#[test]
fn bounds_and_nulls_are_those_of_the_values() {
    let plan = plan();
    let options = Options { flat: true, ..Options::default() };
    let (file, _) = both(&plan, plan.root("Call").unwrap(), &options, Compression::Zstd);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    let metadata = reader.metadata().as_ref().clone();
    let schema = reader.schema().clone();
    let group = reader.with_row_groups(vec![2]).build().unwrap().map(Result::unwrap);
    let batch = concat_batches(&schema, &group.collect::<Vec<_>>()).unwrap();
    let column = |name: &str| -> (usize, &ArrayRef) {
        (schema.index_of(name).unwrap(), batch.column_by_name(name).unwrap())
    };
    let chunk = |index| metadata.row_group(2).column(index);
    for (index, array) in batch.columns().iter().enumerate() {
        let nulls = chunk(index).statistics().and_then(Statistics::null_count_opt);
        assert_eq!(nulls, Some(array.null_count() as u64), "{}", schema.field(index).name());
    }
    let (index, ids) = column("id");
    let ids = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::Int64Type>(ids).values();
    let Some(Statistics::Int64(bounds)) = chunk(index).statistics() else { panic!("no bounds") };
    assert_eq!((bounds.min_opt(), bounds.max_opt()), (ids.iter().min(), ids.iter().max()));
    let (index, items) = column("item");
    let items = arrow_array::cast::AsArray::as_string::<i32>(items);
    let Some(Statistics::ByteArray(bounds)) = chunk(index).statistics() else { panic!("no bounds") };
    assert_eq!(bounds.min_opt().map(|it| it.data()), items.iter().flatten().min().map(str::as_bytes));
    assert_eq!(bounds.max_opt().map(|it| it.data()), items.iter().flatten().max().map(str::as_bytes));
    assert_eq!(chunk(index).dictionary_page_offset().map(|at| at > 0), Some(true), "three values, 600 rows");
    // Little would come of compressing a few octets.
    assert_eq!(chunk(index).compression(), Codec::UNCOMPRESSED);
    let is_packed = |index: usize| chunk(index).compression() == Codec::ZSTD(Default::default());
    assert!((0..batch.num_columns()).any(is_packed));
}

/// A column of more values than a page holds.
#[test]
fn long_columns_have_several_pages() {
    let plan = plan();
    let root = plan.root("Call").unwrap();
    let options = Options { columns: vec!["octets".to_owned(), "parties".to_owned()], ..Options::default() };
    let mut builder = Builder::new(&plan.shape, root, &options);
    let mut encoder = Encoder::new(FileFormat::Parquet, &builder.schema(), Compression::None).unwrap();
    let mut filler = Filler::new(&plan, root);
    filler.fill(&mut builder, SAMPLES);
    let first = builder.finish().unwrap();
    let mut out = Vec::new();
    let repeated = 300;
    for _ in 0..repeated {
        filler.number = 0;
        filler.fill(&mut builder, SAMPLES);
    }
    encoder.write(&mut builder, &mut out).unwrap();
    encoder.finish(&mut out).unwrap();
    let (_, found) = read(out);
    assert_eq!(found.num_rows(), repeated * first.num_rows());
    for at in [0, 1, 150, repeated - 1] {
        assert_eq!(found.slice(at * first.num_rows(), first.num_rows()), first, "{at}");
    }
}

#[test]
fn a_file_without_rows_can_be_read() {
    let plan = plan();
    let builder = Builder::new(&plan.shape, plan.root("Call").unwrap(), &Options::default());
    let encoder = Encoder::new(FileFormat::Parquet, &builder.schema(), Compression::Zstd).unwrap();
    let mut out = Vec::new();
    encoder.finish(&mut out).unwrap();
    let (_, found) = read(out);
    assert_eq!((found.num_rows(), found.schema()), (0, builder.schema()));
}
