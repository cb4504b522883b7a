"""Values without a type in Python, and reports about specifications and values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tercet._tercet import Schema


@dataclass(frozen=True, slots=True)
class Unknown:
    """An extension addition that the schema does not know."""

    encoding: bytes
    """Its complete encoding, in the rules that it came by."""
    addition: int | None = None
    """Which of the additions it is, from 0, in rules that count them; None in rules that identify it by its tag."""


class Marked(str):
    """A text or time that breaks the rules of its type, as BER keeps it: what can be shown of it.

    It encodes to the same bytes in BER; all other rules refuse it."""

    __slots__ = ("octets", "reason")

    octets: bytes
    """Its contents octets, as they came."""
    reason: str
    """The reason: ``character-invalid``."""

    def __new__(cls, text: str, octets: bytes, reason: str = "") -> Marked:
        self = super().__new__(cls, text)
        self.octets = octets
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[str, bytes, str]:  # type: ignore[override]
        return str(self), self.octets, self.reason


@dataclass(frozen=True, slots=True)
class Real:
    """A REAL that neither a ``float`` nor a ``Decimal`` is: mantissa * base ** exponent, base 2 or 10."""

    mantissa: int
    base: int
    exponent: int


class Diagnostic(NamedTuple):
    """A finding about a specification."""

    severity: str
    """``error`` or ``warning``."""
    code: str
    """A code that stays: ``E0104``."""
    message: str
    file: str
    line: int
    column: int
    text: str
    """All of it for people, with the lines of the specification."""


class Part(NamedTuple):
    """A part of an encoding: ``Shown.parts``."""

    offset: int
    """The byte that it begins in."""
    bit: int
    """The bit of that byte that it begins with; 0 is the highest."""
    bits: int
    """The number of bits."""
    part: str
    """The kind of part: ``length``, ``contents``, ``start-tag``."""
    meaning: str
    """The tag, the length or the number that the bits stand for; empty for others."""
    path: str
    """The way to the value that it belongs to: ``CallEvent.parties[2].number``."""
    type: str
    """The name of the type of that value, or of its kind."""
    value: str | None
    """The value as JSON, if this is the last part of its contents."""
    clause: str
    """The clause of the standard that defines the part: ``X.690 8.3``."""


class Violation(NamedTuple):
    """A constraint that a value does not meet."""

    path: str
    """The way to the value: ``CallEvent.parties[2].number``."""
    value: str
    """The value in ASN.1 notation, cut if it is long."""
    message: str
    """The reason: ``is not in (2 | 4 | 6)``."""
    constraint: str
    """The constraint in ASN.1 notation; empty if it is the type itself that is not met."""
    file: str | None
    """Where the constraint is written."""
    line: int | None


class Candidate(NamedTuple):
    """A way to read data: encoding rules and a type, and how well they fit."""

    rules: str
    """The transfer syntax."""
    type: str
    """The type, as ``Module.Type``."""
    fits: bool
    """True if the data is values of the type to its last byte."""
    error: str | None
    """Why it does not fit."""
    octets: int
    """Bytes before the fault; all if it fits."""
    values: int
    """Values that the data is, one after the other."""
    same: bool
    """True if the value encodes to the same bytes again."""
    violations: int
    """Constraints that are not met."""
    unknown: int
    """Components and contents of unknown type."""
    elements: int
    """Values inside of these values."""


class Way(NamedTuple):
    """A way to read a record file: ``tercet.read(file, way.schema, way.type, **way.options)``."""

    type: str
    """The type of records, or with ``options["records"]`` that of the values around them."""
    tags: str
    """The meaning of tags: ``as-written``, ``implicit`` or ``explicit``."""
    options: dict[str, Any]
    """Options of ``tercet.read`` and ``tercet.iter_records``: ``framing``, ``records``, ``unknown``."""
    decoded: int
    """Records that decode, of those that were tried."""
    tried: int
    share: float
    """Of the first bytes of the file, the share that decodes."""
    schema: Schema
    """The specifications with these tags."""


class Diagnosis(NamedTuple):
    """The kind of a file, and ways to read it."""

    file: str
    """Its name; of a file in an archive, that of the archive, ``!``, and the name in the archive."""
    input: str
    """The file or archive to read."""
    kind: str
    """The kind of file, as far as its bytes show it without a specification."""
    records: bool
    """True if it may hold records."""
    ways: list[Way]
    """The ways to read it, the best first; empty without a schema, and if nothing decodes."""


class Split(NamedTuple):
    """A stretch of a file that begins where a record does and can be read by itself; all splits of a file together are
    the file. Made by ``tercet.splits``, read by ``tercet.read`` and ``tercet.iter_records`` instead of a path."""

    file: str
    start: int = 0
    """The offset of its first byte."""
    end: int | None = None
    """The offset of the byte after it; None if it is the last of its file."""
    record: int = 0
    """The number of its first record."""
    framing: str | None = None
    """The framing found by trial, if it differs from the one given."""
    filler: bytes = b"\x00\xff"
    around: tuple[int | None, ...] = ()
    """Where the elements around its begin end, from the outside in; None for an indefinite length."""


class Balance(NamedTuple):
    """Bytes by what they were: ``read`` is the sum of the others."""

    read: int
    records: int
    filler: int
    headers: int
    rejected: int


class Reject(NamedTuple):
    """A place in a file that is not a record."""

    file: str
    offset: int
    length: int
    reason: str
    kind: str
    """A name that stays: that of the decoder's fault, or ``framing``."""
    path: str
    """The way to the fault in the record, if there was a record."""


class Mark(NamedTuple):
    """A value that is kept although it breaks the rules of its type, or that has no place in its column."""

    file: str
    record: int
    """The number of its record in the file, from 0."""
    path: str
    offset: int
    """Where its bytes begin; of a number without a place in its column, where its record does."""
    octets: bytes
    """Its bytes, the first 4096 at most."""
    length: int
    """How many it has."""
    reason: str
    kind: str
    """A name that stays."""


def marks_of_lines(lines: str) -> list[Mark]:
    """Reads lines of ``--marks``."""
    found = (json.loads(line) for line in lines.splitlines())
    return [
        Mark(
            it["input"],
            it["record"],
            it["path"],
            it["offset"],
            bytes.fromhex(it["octets"]),
            it["length"],
            it["reason"],
            it["code"],
        )
        for it in found
        if "path" in it
    ]


class Total(NamedTuple):
    """A control total around the records of a file, as TAP's ``auditControlInfo``, compared with the records read."""

    file: str
    path: str
    """Its place."""
    announced: int
    """The announced value."""
    seen: int
    """The value found: the sum that agrees, or the first."""
    sum: str | None
    """Which sum that is; None for the number of records."""
    agrees: bool


class Report(NamedTuple):
    """The report of reading files."""

    complete: bool
    """True if everything has been read to its end."""
    inputs: int
    """Files, those in archives each by itself."""
    records: int
    rejects: int
    """Places that are not records."""
    by_type: dict[str, int]
    """Records by the alternative of their innermost CHOICE."""
    balance: Balance
    first_rejects: list[Reject]
    """The first five of each file, a hundred at most."""
    faults: list[str]
    """Contradictions to headers of files, such as counts and lengths, and errors that headers report."""
    framings: dict[str, str]
    """Framings found by trial, by file."""
    rows: int
    """Rows made of the records: fewer with ``where``, others with ``explode`` and ``child``."""
    left_out: int
    """Records that ``where`` skipped."""
    control_totals: list[Total]
    """Totals around the records, a hundred at most."""
    tables: dict[str, int]
    """Rows of lists and components by their paths, with ``child`` and in ``read_tables``."""
    marks: dict[str, int] = {}  # noqa: RUF012
    """How many texts and times are kept although they break the rules of their type, by path, and how many numbers are
    null as they have no place in their column."""
    first_marks: list[Mark] = []  # noqa: RUF012
    """The first of them, a hundred at most."""
