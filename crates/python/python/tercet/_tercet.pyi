from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, final, overload

from typing_extensions import Buffer, Self, Unpack

from tercet._values import Diagnostic, Violation

__version__: str

class DecodeOptions(TypedDict, total=False):
    """How to decode."""

    strict: bool
    """Take for a fault whatever the standard forbids, constraints included."""
    defaults: bool
    """Fill in the components with a DEFAULT that are absent."""
    constraints: bool
    """Values must meet their constraints."""
    unknown: Literal["error", "extensible", "keep"]
    """What to do with components that the schema does not know: an error everywhere, kept where the type has `...`
    (as unless told), kept everywhere."""
    open_types: bool
    """Decode what is inside of open types and of strings with CONTAINING, as unless told."""
    max_depth: int
    """Values inside one another; 64 unless told, at most 1,000."""
    max_elements: int | None
    """Elements altogether."""
    max_size: int | None
    """Octets in the contents of one element."""

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
        """The bits that `0` and `1` stand for."""
    @property
    def octets(self) -> bytes:
        """The bits, the first in the highest place of the first octet; the last octet is filled with zeros."""
    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bits that are one, of a decoded value whose type names bits."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> bool: ...
    def __iter__(self) -> Iterator[bool]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Codec:
    """One type in one transfer syntax, for many values."""

    @property
    def type(self) -> str: ...
    @property
    def rules(self) -> str: ...
    def decode(self, data: Buffer | str) -> Any:
        """Decodes data that is one value; text may be `str`.

        Raises DecodeError.
        """
    def decode_from(self, data: Buffer | str, offset: int = 0) -> tuple[Any, int]:
        """Decodes the value that begins at an offset, and tells where it ends."""
    def encode(self, value: Any) -> bytes:
        """Encodes a value.

        Raises EncodeError.
        """

@final
class Schema:
    """Specifications read and resolved, ready to decode and encode. May be used by many threads at once."""

    @classmethod
    def load(
        cls,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        strict: bool = False,
        aliases: Mapping[str, str] | None = None,
        tags: Literal["as-written", "implicit", "explicit"] = "as-written",
        allow_errors: bool = False,
    ) -> Self:
        """Reads files, and directories with all specifications in them.

        `strict` takes the slips found in vendors' specifications as errors. `aliases` lets imports from a module find
        another: `{"TAP-03XX": "TAP-0312"}`. `tags` says what tags mean, where text and data disagree. `allow_errors`
        uses what could be understood.

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
        tags: Literal["as-written", "implicit", "explicit"] = "as-written",
        allow_errors: bool = False,
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
        """What there is to say about the specifications."""
    def codec(self, type: str, rules: str = "ber", **options: Unpack[DecodeOptions]) -> Codec:
        """One type in one transfer syntax, for many values."""
    def decode(self, type: str, rules: str, data: Buffer | str, **options: Unpack[DecodeOptions]) -> Any:
        """Decodes data that is one value of a type (`Type` or `Module.Type`) by rules: `ber`, `der`, `cer`, `aper`,
        `uper`, `canonical-aper`, `canonical-uper`, `oer`, `coer`, `xer`, `cxer`, `exer`, `jer`, `gser`.

        Raises DecodeError, SchemaError for a type that there is not.
        """
    def encode(self, type: str, rules: str, value: Any) -> bytes:
        """Encodes a value; text is in UTF-8.

        Raises EncodeError.
        """
    def transcode(
        self, type: str, from_rules: str, to_rules: str, data: Buffer | str, **options: Unpack[DecodeOptions]
    ) -> bytes:
        """Writes a value of one transfer syntax in another, without making Python objects of it."""
    def validate(self, type: str, rules: str, data: Buffer | str, **options: Unpack[DecodeOptions]) -> list[Violation]:
        """The constraints that a value does not meet, in the order of its parts."""
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
        """Valid values made up: the borders of the type come first, what follows is random. With `rules`, their
        encodings. The same seed gives the same values."""
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
