"""Values that Python has no type of its own for, and what is told about specifications and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Unknown:
    """An extension addition that the schema does not know."""

    encoding: bytes
    """Its complete encoding, in the rules that it came by."""
    addition: int | None = None
    """Which of the additions it is, from 0, in rules that count them; None in rules that tell them by their tags."""


@dataclass(frozen=True, slots=True)
class Real:
    """A REAL that neither a ``float`` nor a ``Decimal`` is: mantissa * base ** exponent, base 2 or 10."""

    mantissa: int
    base: int
    exponent: int


class Diagnostic(NamedTuple):
    """What there is to say about a specification."""

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


class Violation(NamedTuple):
    """A constraint that a value does not meet."""

    path: str
    """The way to the value: ``CallEvent.parties[2].number``."""
    value: str
    """The value in ASN.1 notation, cut if it is long."""
    message: str
    """What is wrong with it: ``is not in (2 | 4 | 6)``."""
    constraint: str
    """The constraint in ASN.1 notation; empty if it is the type itself that is not met."""
    file: str | None
    """Where the constraint is written."""
    line: int | None
