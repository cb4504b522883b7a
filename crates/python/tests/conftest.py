"""Schemas that several tests share."""

from pathlib import Path

import pytest

import tercet

ROOT = Path(__file__).resolve().parents[3]

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
