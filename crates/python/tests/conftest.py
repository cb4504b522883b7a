"""Schemas and files that several tests share."""

from pathlib import Path
from typing import Any

import pytest
from tercet_skips import (  # noqa: F401
    pytest_make_collect_report,
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    pytest_sessionstart,
)

import tercet

ROOT = Path(__file__).resolve().parents[3]
COUNT = 3_000

EVERYTHING = """
Everything { 1 3 6 1 4 1 32473 9 } DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  All ::= SEQUENCE {
    flag      BOOLEAN OPTIONAL,
    number    INTEGER { one(1), two(2) } OPTIONAL,
    colour    ENUMERATED { red, green, blue, ... } OPTIONAL,
    real      REAL OPTIONAL,
    bits      BIT STRING { first(0), third(2) } OPTIONAL,
    octets    OCTET STRING OPTIONAL,
    nothing   NULL OPTIONAL,
    oid       OBJECT IDENTIFIER OPTIONAL,
    relative  RELATIVE-OID OPTIONAL,
    iri       OID-IRI OPTIONAL,
    utf8      UTF8String OPTIONAL,
    bmp       BMPString OPTIONAL,
    utc       UTCTime OPTIONAL,
    general   GeneralizedTime OPTIONAL,
    date      DATE OPTIONAL,
    list      SEQUENCE OF INTEGER OPTIONAL,
    set       SET { a INTEGER, b BOOLEAN DEFAULT TRUE } OPTIONAL,
    choice    CHOICE { text UTF8String, count INTEGER, ... } OPTIONAL,
    wrapped   OCTET STRING (CONTAINING Inner) OPTIONAL,
    level     INTEGER (0..9) DEFAULT 3,
    ...
  }
  Inner ::= SEQUENCE { x INTEGER, y UTF8String OPTIONAL }
  Tree ::= SEQUENCE { name UTF8String, below SEQUENCE OF Tree OPTIONAL }
  FRAME ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &id HOLDS &Type }
  Frames FRAME ::= { { 1 HOLDS INTEGER } | { 2 HOLDS Inner } | { 3 HOLDS UTF8String }, ... }
  Frame ::= SEQUENCE { id FRAME.&id ({Frames}), body FRAME.&Type ({Frames}{@id}) }
  Old ::= SEQUENCE { a INTEGER, ... }
  New ::= SEQUENCE { a INTEGER, ..., b UTF8String }
  OldColour ::= ENUMERATED { red, ... }
  NewColour ::= ENUMERATED { red, ..., green }
END
"""


@pytest.fixture(scope="session")
def everything() -> tercet.Schema:
    return tercet.Schema.parse(EVERYTHING, name="everything.asn")


@pytest.fixture(scope="session")
def demo() -> tercet.Schema:
    return tercet.Schema.load(ROOT / "schemas" / "demo")


@pytest.fixture(scope="session")
def records(demo: tercet.Schema) -> list[bytes]:
    def fits(value: Any) -> bool:
        if isinstance(value, (tuple, list, dict)):
            return all(map(fits, value.values() if isinstance(value, dict) else value))
        return not isinstance(value, int) or -(2**63) <= value < 2**63

    codec = demo.codec("CallRecord")
    found = [value for value in demo.sample("CallRecord", 2 * COUNT, seed=5) if fits(value)]
    return [codec.encode(value) for value in found[:COUNT]]


@pytest.fixture(scope="session")
def calls(records: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("calls") / "calls.ber"
    file.write_bytes(b"".join(records))
    return file


@pytest.fixture(scope="session")
def damaged(records: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int], list[bytes]]:
    """A file with filler, with damage in every hundredth record, and which records are left."""
    data, places, left = b"", [], []
    for number, record in enumerate(records):
        if number % 100 == 50:
            places.append(len(data))
            # The identifier of a record, and contents that are none.
            data += record[:1] + bytes([3, 0x9F, 0x70, 0])
        else:
            left.append(record)
            data += record
        data += bytes(number % 3)
    file = tmp_path_factory.mktemp("damaged") / "damaged.ber"
    file.write_bytes(data)
    return file, places, left
