from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, final, overload

from typing_extensions import Buffer, Self, Unpack

from tercet._values import Candidate, Diagnosis, Diagnostic, Part, Report, Split, Violation

__version__: str

Tags: TypeAlias = Literal["as-written", "auto", "implicit", "explicit"]

class SupportsRead(Protocol):
    """A file object in binary mode."""

    def read(self, length: int, /) -> bytes: ...

class DecodeOptions(TypedDict, total=False):
    """How to decode."""

    strict: bool
    """Take for a fault whatever the standard forbids, constraints included."""
    defaults: bool
    """Fill in the components with a DEFAULT that are absent."""
    constraints: bool
    """Values must meet their constraints."""
    values: Literal["keep", "bytes", "strict"]
    """Handling of texts and times that break the rules of their type in BER: `keep` them, by default, as `Marked`;
    as the `bytes` that came, where Python values are made; or `strict`, take them for an error."""
    unknown: Literal["error", "extensible", "keep"]
    """Handling of components that the schema does not know: an error everywhere, kept where the type has `...`
    (as by default), kept everywhere."""
    open_types: bool
    """Decode what is inside of open types and of strings with CONTAINING, as by default."""
    trailing: Literal["error", "zeros", "any"]
    """Bytes allowed after the value: none (by default), zeros (padding), any."""
    max_depth: int
    """Values inside one another; 64 by default, at most 1,000."""
    max_elements: int | None
    """Elements altogether."""
    max_size: int | None
    """Bytes in the contents of one element."""

class ValueOptions(DecodeOptions, total=False):
    """How to decode, and what values look like in Python."""

    times: Literal["text", "datetime"]
    """Form of times: `text`, by default, as in the value notation; `datetime`, objects of Python's `datetime`, except
    for those that it cannot express exactly (a leap second, the year 0, parts of a microsecond), which stay text."""
    oids: Literal["text", "tuple"]
    """Form of object identifiers: `text`, by default, or `tuple`, tuples of the numbers of their arcs."""
    lazy: bool
    """A SEQUENCE or SET is a `LazyDict`, which makes the values of its components when they are asked for."""
    render: str | Sequence[str] | Mapping[str, str] | None
    """How bytes that are numbers, times and places are shown: `none`, by default for single values, keeps them, so that
    the value can be encoded again; `auto` shows them by the profile that fits the specification; `PATH=KIND`, or a
    mapping from paths to kinds, for single components."""
    profile: str | PathLike[str] | None
    """The profile instead of the one that fits: `tap3`, `ts32298`, `msc`, `scp`, `common` or a TOML file."""

@final
class BitString:
    """A BIT STRING: a sequence of bits.

    >>> bits = BitString(b"\\xa0", 3)
    >>> str(bits), len(bits), bits[0]
    ('101', 3, True)
    """

    def __new__(cls, octets: Buffer, length: int | None = None) -> Self: ...
    @classmethod
    def from_digits(cls, digits: str) -> Self:
        """Makes a bit string of the digits `0` and `1`."""
    @property
    def octets(self) -> bytes:
        """The bits, the first in the highest place of the first byte; the last byte is filled with zeros."""
    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bits that are one, of a decoded value whose type names bits."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Codec:
    """A type in a transfer syntax, ready for many values.

    A codec can be pickled: it is made again of the pickled schema, type, rules and options.
    """

    @property
    def type(self) -> str:
        """The name of the type, as it was given."""
    @property
    def rules(self) -> str:
        """The name of the transfer syntax."""
    def decode(self, data: Buffer | str) -> Any:
        """Decodes data that is one value; text may be `str`.

        Raises DecodeError.
        """
    def decode_from(self, data: Buffer | str, offset: int = 0) -> tuple[Any, int]:
        """Decodes the value that begins at an offset. Returns the value and the offset of its end.

        Raises DecodeError.
        """
    def encode(self, value: Any) -> bytes:
        """Encodes a value.

        Raises EncodeError.
        """

@final
class LazyDict(Mapping[str, Any]):
    """The components of a SEQUENCE or SET by their names: a mapping that makes the value of a component each time it is
    asked for.

    `dict(it)` makes those of one level, `to_dict()` those inside of them too.
    """

    def __getitem__(self, key: str, /) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_dict(self) -> dict[str, Any]:
        """Makes the `dict` that decoding without `lazy` makes."""

@final
class Shown:
    """One encoding, part by part: `Schema.show()`. Notebooks show it as a table."""

    @property
    def type(self) -> str:
        """The name of the type, as it was given."""
    @property
    def rules(self) -> str:
        """The name of the transfer syntax."""
    @property
    def error(self) -> str | None:
        """The fault in the data; None if it is one value."""
    @property
    def parts(self) -> list[Part]:
        """The parts in the order of the data: all bits, each once, up to the first fault."""
    def _repr_html_(self) -> str:
        """Returns the parts as a table of HTML, for notebooks."""

@final
class Schema:
    """Specifications, ready to decode and encode. Many threads may use one schema at the same time.

    A schema can be pickled: it is read again from the same paths or text, with the same options.
    """

    @classmethod
    def load(
        cls,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        strict: bool = False,
        aliases: Mapping[str, str] | None = None,
        tags: Tags = "as-written",
        allow_errors: bool = False,
        allow_missing: bool = False,
    ) -> Self:
        """Reads files, and directories with all specifications in them.

        `strict` takes the slips found in vendors' specifications as errors. `aliases` lets imports from a module find
        another: `{"TAP-03XX": "TAP-0312"}`. `tags` sets the meaning of tags where text and data differ. `allow_errors`
        uses what could be understood.

        Types that use names without a definition, or a module that was given twice with different texts, raise
        SchemaError in PER and OER; other rules warn once with `warnings.warn`. `allow_missing` allows both.

        Raises SchemaError, OSError.
        """
    @classmethod
    def parse(
        cls,
        text: str,
        *,
        name: str = "text",
        strict: bool = False,
        aliases: Mapping[str, str] | None = None,
        tags: Tags = "as-written",
        allow_errors: bool = False,
        allow_missing: bool = False,
    ) -> Self:
        """Reads one text, as `load` does."""
    @property
    def types(self) -> list[str]:
        """The named types, as `Module.Type`."""
    @property
    def outermost(self) -> list[str]:
        """The named types that no other refers to: those that a file may consist of."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The errors and warnings about the specifications."""
    def codec(self, type: str, rules: str = "ber", **options: Unpack[ValueOptions]) -> Codec:
        """Returns a type in a transfer syntax, ready for many values.

        Raises SchemaError for an unknown type.
        """
    def decode(self, type: str, rules: str, data: Buffer | str, **options: Unpack[ValueOptions]) -> Any:
        """Decodes data that is one value of a type (`Type` or `Module.Type`) by rules: `ber`, `der`, `cer`, `aper`,
        `uper`, `canonical-aper`, `canonical-uper`, `oer`, `coer`, `xer`, `cxer`, `exer`, `jer`, `gser`.

        Raises DecodeError, SchemaError for an unknown type.
        """
    def show(self, type: str, rules: str, data: Buffer | str, **options: Unpack[ValueOptions]) -> Shown:
        """Reads data that is one value of a type, part by part: the place, the meaning and the clause of each.
        Data that is cut or damaged is shown up to the fault.

        Raises SchemaError for an unknown type.
        """
    def encode(self, type: str, rules: str, value: Any) -> bytes:
        """Encodes a value; text is in UTF-8.

        Raises EncodeError.
        """
    def transcode(
        self, type: str, from_rules: str, to_rules: str, data: Buffer | str, **options: Unpack[DecodeOptions]
    ) -> bytes:
        """Converts a value from one transfer syntax to another, without making Python objects."""
    def validate(self, type: str, rules: str, data: Buffer | str, **options: Unpack[DecodeOptions]) -> list[Violation]:
        """Returns the constraints that a value does not meet, in the order of its components."""
    @overload
    def sample(
        self,
        type: str,
        count: int = 1,
        *,
        rules: None = None,
        seed: int = 1,
        depth: int = 24,
        elements: int = 500,
        large: bool = False,
    ) -> list[Any]:
        """Makes valid values: first the limits of the type, then random ones. With `rules`, their
        encodings. A seed gives the same values each time."""
    @overload
    def sample(
        self,
        type: str,
        count: int = 1,
        *,
        rules: str,
        seed: int = 1,
        depth: int = 24,
        elements: int = 500,
        large: bool = False,
    ) -> list[bytes]: ...

Input: TypeAlias = str | PathLike[str] | bytes | bytearray | memoryview | SupportsRead | Split
"""A path, glob, directory or URL; the bytes themselves; a binary file that is open; a split."""
Specification: TypeAlias = Schema | str | PathLike[str] | Sequence[str | PathLike[str]]

class FileOptions(DecodeOptions, total=False):
    """How records are found in files, and what to do with what is none."""

    records: str | None
    """The path to the list of records inside of values of the type: `TransferBatch.callEventDetails`."""
    framing: str
    """`auto`, by trial, by default: `plain`, `block:2048`, `u16be`, `rdw`, … as `tercet convert --framing` takes."""
    rules: Literal["auto", "ber", "uper", "aper", "xer"] | None
    """The encoding rules of records: those that headers of TS 32.297 say, and BER, by default."""
    filler: Buffer
    """Bytes that may be between records: 00 and FF by default."""
    record_limit: int
    """Bytes that a record may have: 64 MiB by default."""
    render: str | Sequence[str] | Mapping[str, str] | None
    """How bytes that are numbers, times and places are shown, as `tercet convert --render` does: `auto`, by default, by
    the profile that fits the specification; `none` or None, as bytes; `PATH=KIND`, or a mapping from paths to kinds,
    for single components."""
    profile: str | PathLike[str] | None
    """The profile instead of the one that fits: `tap3`, `ts32298`, `msc`, `scp`, `common` or a TOML file."""
    where: str | Sequence[str] | None
    """Keeps the records that match: a condition, or several that a record must match all. `duration >= 60 and choice in
    (moCall, mtCall)`, `answerTime is null`, `accessPoint like 'internet%'`; values are compared as they are shown."""
    explode: str | None
    """The path of a list: each of its elements makes a row, with the components around it repeated."""
    child: str | None
    """The path of a list, or of a component with parts: its elements, or itself, are the rows, with their record
    and their index in each list on the way to them."""
    max_rejects: int | None
    """Damaged or undecodable places after which it is an error to go on: 0 by default, or any number if
    `max_reject_ratio` is given; None for no limit."""
    max_reject_ratio: float | None
    """The share of rejects, of these and the records, beyond which a file is given up: from the first thousand on, and
    at its end. Of a split likewise."""
    rejects: str | PathLike[str] | None
    """A file for the rejected bytes; another with `.jsonl` added has places and reasons."""

    allow_empty: bool
    """Allow an empty list of files, a directory without files, and inputs of 0 bytes: errors by default."""

class RowOptions(FileOptions, total=False):
    """Options of `FileOptions`, and the one of several tables that the rows are of."""

    children: str | Sequence[str] | bool | None
    by_type: bool
    """As those of `read_tables`: the rows are those of one of its tables."""
    table: str | None
    """Which table that is: `records` by default, or the path of a list or component."""

class RecordOptions(RowOptions, ValueOptions, total=False):
    """The same, and what values look like in Python."""

class ScanOptions(RowOptions, total=False):
    """The arguments of `read` but `columns` and `rename`."""

    provenance: bool | Literal["sha256"]
    batch_rows: int
    integers: Literal["text", "int64", "decimal"]
    octets: Literal["binary", "hex", "HEX", "base64"]
    numbers: bool
    item: str
    reals: Literal["float64", "text"]
    flat: bool

@final
class ArrowSchema:
    """The columns of a table, by Arrow's C schema interface."""

    @property
    def names(self) -> list[str]:
        """The names of the outermost columns."""
    def __arrow_c_schema__(self) -> object: ...

@final
class Batch:
    """A record batch, by Arrow's C data interface: `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)`."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class Batches:
    """`Table.batches()`."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Batch: ...

@final
class Table:
    """Record files as Arrow record batches: `pyarrow.table(it)`, `polars.DataFrame(it)`, `duckdb.sql("FROM it")`.

    The files are read again each time that the batches are asked for, by a thread.
    """

    @property
    def schema(self) -> ArrowSchema:
        """The columns: `pyarrow.schema(table.schema)`."""
    @property
    def report(self) -> Report:
        """The report of the latest reading, so far."""
    def batches(self) -> Batches:
        """Returns the batches, one after the other.

        Raises RejectError, OSError.
        """
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def head(self, count: int = 5) -> HeldTable:
        """Reads the first rows, and no more of the files than they take.

        Raises RejectError, OSError.
        """
    def read(self) -> HeldTable:
        """Reads all rows into memory.

        Raises RejectError, OSError.
        """
    def to_arrow(self) -> Any:
        """Reads all rows as a table of PyArrow.

        Raises RejectError, OSError; PackageError without PyArrow.
        """
    def to_pandas(self) -> Any:
        """Reads all rows as a data frame of pandas.

        Raises RejectError, OSError; PackageError without pandas and PyArrow.
        """
    def to_polars(self) -> Any:
        """Reads all rows as a data frame of Polars.

        Raises RejectError, OSError; PackageError without Polars.
        """
    def _repr_html_(self) -> str:
        """Reads the first rows and returns them as HTML, for notebooks."""
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class HeldTable:
    """The rows of a table, held in memory: `pyarrow.table(it)`, `polars.DataFrame(it)`, `duckdb.sql("FROM it")`."""

    @property
    def schema(self) -> ArrowSchema:
        """The columns: `pyarrow.schema(table.schema)`."""
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def head(self, count: int = 5) -> HeldTable:
        """Returns the first rows."""
    def batches(self) -> list[Batch]:
        """Returns the batches."""
    def to_arrow(self) -> Any:
        """Returns the rows as a table of PyArrow.

        Raises PackageError without PyArrow.
        """
    def to_pandas(self) -> Any:
        """Returns the rows as a data frame of pandas.

        Raises PackageError without pandas and PyArrow.
        """
    def to_polars(self) -> Any:
        """Returns the rows as a data frame of Polars.

        Raises PackageError without Polars.
        """
    def _repr_html_(self) -> str:
        """Returns the first rows as HTML, for notebooks."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class TableBatches:
    """`Tables.batches()`."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[str, Batch]: ...

@final
class Tables:
    """Record files as several tables that join: that of the records, and those of lists or components inside of them.

    The files are read again each time that the batches are asked for, once for all tables, by a thread.
    """

    @property
    def names(self) -> list[str]:
        """`records`, and the paths of lists and components."""
    @property
    def schemas(self) -> dict[str, ArrowSchema]:
        """The columns of each table."""
    @property
    def report(self) -> Report:
        """The report of the latest reading, so far."""
    def batches(self) -> TableBatches:
        """Returns the batches of all tables as they become complete, each with the name of its table.

        Raises RejectError, OSError.
        """
    def read(self) -> dict[str, HeldTable]:
        """Reads all rows of all tables into memory.

        Raises RejectError, OSError.
        """

@final
class Record:
    """A record and its place. It can be pickled."""

    """A record and where it came from."""

    def __new__(
        cls,
        value: Any,
        file: str,
        index: int,
        offset: int,
        length: int,
        elements: tuple[int | None, ...] = (),
    ) -> Self: ...
    @property
    def value(self) -> Any:
        """The value."""
    @property
    def file(self) -> str:
        """The name of its file; of a file in an archive, that of the archive, `!`, and the name in the archive."""
    @property
    def index(self) -> int:
        """Its number in the file, from 0."""
    @property
    def offset(self) -> int:
        """The offset of its first byte in the file."""
    @property
    def length(self) -> int:
        """Its number of bytes."""
    @property
    def elements(self) -> tuple[int | None, ...]:
        """With `explode` and `child`, the index of the element in each list on the way; None where a list is empty or
        absent."""

@final
class Records:
    """An iterator of records."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Record: ...
    @property
    def report(self) -> Report:
        """The report of the files that have been read to their end."""

class CaptureError(TypedDict):
    """Why a message is not decoded as a whole."""

    stage: Literal["schema", "decode", "constraint"]
    offset: int | None
    bit: int | None
    path: str
    message: str

class CaptureWarning(TypedDict):
    """A deviation of a message from its specification."""

    path: str
    code: str
    message: str

@final
class CaptureMessage:
    """A message of a packet capture."""

    @property
    def frame(self) -> int:
        """The frame that completes the message, numbered as in Wireshark."""
    @property
    def frames(self) -> list[int]:
        """All frames that it came in."""
    @property
    def protocol(self) -> str:
        """The protocol: `ngap`."""
    @property
    def message(self) -> str | None:
        """The name of the message: `InitialUEMessage`; None if it is not decoded that far."""
    @property
    def octets(self) -> bytes:
        """The bytes that are decoded, without headers of carriers."""
    @property
    def time(self) -> str | None:
        """The time of the frame in UTC by RFC 3339, with nine digits; None if the capture has none."""
    @property
    def src(self) -> str | None:
        """The sender: `10.0.0.1:36412`."""
    @property
    def dst(self) -> str | None:
        """The receiver."""
    @property
    def stream(self) -> str | None:
        """The association and stream of SCTP, `sctp:0/3`, connection of TCP, `tcp:7`, conversation of UDP, `udp:2`."""
    @property
    def ids(self) -> dict[str, Any]:
        """Identifiers of the conversation: `{"amf": 17, "ran": 5}`."""
    @property
    def schema(self) -> str | None:
        """The module that decodes it."""
    @property
    def type(self) -> str | None:
        """The type that decodes it."""
    @property
    def rules(self) -> str | None:
        """The encoding rules."""
    @property
    def value(self) -> Any:
        """The value: dictionaries, lists, texts, numbers. Constants have the names of the specification."""
    @property
    def error(self) -> CaptureError | None:
        """Why the message is not decoded as a whole: `stage`, `offset`, `bit`, `path`, `message`; None if it is."""
    @property
    def warnings(self) -> list[CaptureWarning]:
        """Deviations from the specification, each with `path`, `code` and `message`."""
    @property
    def partial(self) -> bool:
        """True if the capture has only the begin of the message."""
    @property
    def possible_duplicate(self) -> bool:
        """True if GTP' sends a record again after a fault."""
    @property
    def sccp(self) -> dict[str, dict[str, Any]] | None:
        """Addresses of SCCP: `calling` and `called`; None for other carriers."""
    @property
    def layers(self) -> list[str]:
        """The layers that carry it."""
    @property
    def file(self) -> str:
        """The name of the capture."""
    @property
    def interface(self) -> int:
        """The number of the interface in the capture."""

@final
class CaptureMessages:
    """An iterator of messages of captures."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> CaptureMessage: ...

@final
class Capture:
    """The messages of packet captures: an iterable, and with one protocol a table.

    The captures are read again each time that the messages are asked for, by a thread.
    """
    def __iter__(self) -> CaptureMessages: ...
    @property
    def schema(self) -> ArrowSchema:
        """The columns of the table: `pyarrow.schema(capture.schema)`.

        Raises SchemaError; ArgumentError unless one protocol is given.
        """
    @property
    def columns(self) -> list[str]:
        """The names of the columns of the table.

        Raises SchemaError; ArgumentError unless one protocol is given.
        """
    def read(self) -> HeldTable:
        """Reads all messages into memory, as a table.

        Raises SchemaError, OSError; ArgumentError unless one protocol is given.
        """
    def to_arrow(self) -> Any:
        """Reads all messages as a table of PyArrow.

        Raises SchemaError, OSError; PackageError without PyArrow; ArgumentError unless one protocol is given.
        """
    def to_pandas(self) -> Any:
        """Reads all messages as a data frame of pandas.

        Raises SchemaError, OSError; PackageError without pandas and PyArrow; ArgumentError unless one
        protocol is given.
        """
    def to_polars(self) -> Any:
        """Reads all messages as a data frame of Polars.

        Raises SchemaError, OSError; PackageError without Polars; ArgumentError unless one protocol is given.
        """
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def capture(
    paths: Input | Sequence[Input],
    schema: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    *,
    protocol: str | Sequence[str] | None = None,
    where: str | Sequence[str] | None = None,
    decode_as: str | Sequence[str] | None = None,
    strict: bool = False,
    values: bool = True,
    numbers: bool = False,
    ies: Literal["map", "list"] = "map",
    memory_limit: int | None = None,
    columns: Sequence[str] | None = None,
    flat: bool = False,
    batch_rows: int = 65536,
) -> Capture:
    """Reads the messages of packet captures (pcap, pcapng), compressed or not, and decodes them.

    Iteration gives each message with its frame, time, addresses, name, identifiers and value. With one `protocol`, the
    messages are also a table: `pyarrow.table(it)`, `polars.DataFrame(it)`, `duckdb.sql("FROM it")`.

    `schema` names files and directories of specifications, by default those in the variable TERCET_SCHEMAS; each
    protocol has its own, which is found by its module. `protocol` chooses protocols, or one type of theirs:
    `lte-rrc.dl-dcch`. `where` is a condition on the attributes of messages and on `value`:
    `"message like 'Initial%' and ids.amf = 17"`. `decode_as` has rules for messages on other ports:
    `"sctp.port==5000=ngap"`. With `strict`, deviations from a specification are errors; by default they are warnings of
    the message. Without `values`, messages are named but have no value. `numbers` shows constants as numbers instead of
    their names, `ies="list"` information elements as the list of the specification. `memory_limit` is the number of
    bytes that may wait for missing fragments. `columns`, `flat` and `batch_rows` are those of `read`, for tables.

    Raises SchemaError, OSError; ArgumentError for unknown protocols.
    """

def detect(
    data: Buffer | str, schema: Specification, type: str | None = None, rules: str | None = None
) -> list[Candidate]:
    """Finds out the encoding rules and the type of data: all of them are tried. The candidate that fits best comes
    first.

    `type` and `rules` narrow the search to one of them. If data fits several types equally well, their candidates have
    the same numbers.

    Raises ArgumentError for empty data, SchemaError for an unknown type.
    """

class FramingOptions(DecodeOptions, total=False):
    """The known properties of the framing and the encoding of records."""

    framing: str
    rules: Literal["auto", "ber", "uper", "aper", "xer"] | None
    filler: Buffer
    record_limit: int

def doctor(
    paths: Input | Sequence[Input],
    schema: Specification | None = None,
    type: str | None = None,
    *,
    records: str | None = None,
    most: int = 5,
    **options: Unpack[FramingOptions],
) -> list[Diagnosis]:
    """Finds out how to read record files: types, the meaning of tags, framings and lists inside of values are tried on
    their first bytes. Returns a diagnosis for each file, with the ways to read it. The best way comes first.

    Without a schema, it only identifies the files. A schema that is given by its paths, or was read with
    `tags="auto"`, is tried with all tags. `type`, `records` and the options of `read` narrow the search.

    Raises SchemaError, OSError.
    """

def expand(path: str) -> list[str]:
    """Returns the files of a path, directory or glob. Warns of files in directories that are skipped."""

def iter_records(
    paths: Input | Sequence[Input], schema: Specification, type: str, **options: Unpack[RecordOptions]
) -> Records:
    """Reads the records of files as Python values, with their places.

    Paths are files, directories, globs and splits; compressed files and archives are read through.

    Raises RejectError, SchemaError, OSError.
    """

def read(
    paths: Input | Sequence[Input],
    schema: Specification,
    type: str,
    *,
    columns: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    provenance: bool | Literal["sha256"] = False,
    batch_rows: int = 65_536,
    integers: Literal["text", "int64", "decimal"] = "text",
    octets: Literal["binary", "hex", "HEX", "base64"] = "binary",
    numbers: bool = False,
    item: str = "item",
    reals: Literal["float64", "text"] = "float64",
    flat: bool = False,
    **options: Unpack[RowOptions],
) -> Table:
    """The records of BER files as a table for PyArrow, DuckDB, Polars, pandas.

    `columns` picks components by their paths; nothing else is decoded. `rename` gives the columns of components other
    names, by their paths. `provenance` adds the columns `_file`, `_record`, `_offset` and `_length`, and as `sha256`
    one with the hash of the record's bytes, `explode` one with the number of the element, called `_` and the list's
    name; `child` adds `_file`, `_record` and such a column for each list, and `columns` are then those of the elements.
    `integers` is the form of an INTEGER that nothing bounds to 64 bits, `octets` that of OCTET STRING; with `numbers`
    an ENUMERATED is one; `item` is what the elements of lists are called. `reals` is the form of REAL: `float64`, with
    null and a mark in the report for a number beyond its range, or `text`. With `flat`, there are no structs and
    lists: each component has a column named by its path, and a list is JSON text.

    Raises SchemaError, OSError.
    """

def read_tables(
    paths: Input | Sequence[Input],
    schema: Specification,
    type: str,
    *,
    children: str | Sequence[str] | bool | None = None,
    by_type: bool = False,
    columns: Sequence[str] | None = None,
    provenance: bool | Literal["sha256"] = False,
    batch_rows: int = 65_536,
    integers: Literal["text", "int64", "decimal"] = "text",
    octets: Literal["binary", "hex", "HEX", "base64"] = "binary",
    numbers: bool = False,
    item: str = "item",
    reals: Literal["float64", "text"] = "float64",
    flat: bool = False,
    **options: Unpack[FileOptions],
) -> Tables:
    """The records of BER files and the lists inside of them as tables, in one reading.

    `children` are the paths of lists, or of components such as types of records, that get separate tables, as do
    the lists on the way to them; by default, those are all lists that are not inside of other lists. `by_type` gives
    a table to each alternative, where the records are a CHOICE. Rows begin with `_file` and `_record`, and those of
    lists have their index in each list, `_` and its name: tables join by these. Where a list was, the record has the
    number of its elements. `columns` begin at the record and belong to the table that they go into. The other
    arguments are those of `read`.

    Raises SchemaError, OSError.
    """

def splits(
    paths: Input | Sequence[Input],
    schema: Specification,
    type: str,
    *,
    size: int = 67_108_864,
    **options: Unpack[RowOptions],
) -> list[Split]:
    """Cuts files into splits, by reading them."""

def split_key(schema: Specification, type: str, **options: Unpack[RowOptions]) -> str:
    """Returns a key of all that the splits of a file depend on besides the file."""

def unknown(kind: str, name: str, known: list[str]) -> str:
    """Describes an unknown name of a kind, with the nearest valid one: for what Python checks itself."""
