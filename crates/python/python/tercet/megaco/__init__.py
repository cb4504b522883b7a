"""Messages of Megaco/H.248 versions 1 to 3 in every encoding, digit maps, and session descriptions.

>>> from tercet import megaco
>>> message = megaco.decode(b"!/1 [192.0.2.1] T=7{C=-{AV=ROOT{AT{}}}}")
>>> message["mess"]["version"]
1
>>> megaco.encode(message, "ber").hex()[:12]
'3037a1358001'
>>> megaco.DigitMap("(2xxx|8xxxxxxx)").evaluate("2345")
('UM', None)

``tercet.megaco.sdp`` reads and writes session descriptions, ``tercet.megaco.aio`` runs gateways and controllers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tercet._errors import ArgumentError, DecodeError, EncodeError
from tercet.megaco import _megaco
from tercet.megaco._megaco import DigitMap, Evaluation, detect, transcode

if TYPE_CHECKING:
    from tercet.megaco._megaco import Data

__all__ = [
    "ENCODINGS",
    "DecodeError",
    "DigitMap",
    "EncodeError",
    "Evaluation",
    "Finding",
    "check",
    "decode",
    "detect",
    "encode",
    "transcode",
]

ENCODINGS: tuple[str, ...] = tuple(_megaco.encodings())
"""The names of the encodings: text, BER and PER, Erlang's external term format in four forms, and JSON."""


class Finding(NamedTuple):
    """A difference of a message from the public packages."""

    path: str
    """The way to it: transaction, context, command, descriptors and the name, with blanks between."""
    text: str
    """The difference."""
    is_information: bool
    """True if the package is not known, or known in part, so that it may be correct."""


def decode(data: Data, *, encoding: str | None = None) -> dict[str, Any]:
    """Returns a message as dictionaries, lists, strings and numbers: the objects of its JSON encoding.

    ``encoding`` is one of ``ENCODINGS``; by default it is found by the first bytes. Names are those of the ASN.1 module
    of H.248.1 annex A, a CHOICE is a dictionary of one item, an OCTET STRING is hexadecimal.

    Raises DecodeError with offset, and with line and column in a text.
    """
    message: dict[str, Any] = json.loads(transcode(data, "json", encoding=encoding))
    return message


def encode(message: dict[str, Any], encoding: str = "compact") -> bytes:
    """Returns the bytes of a message that has the form of ``decode``.

    Raises DecodeError for objects that are not a message, EncodeError for a value that the encoding or the version of
    the message does not have.
    """
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as fault:
        raise ArgumentError(f"message: {fault}") from None
    return transcode(text, encoding, encoding="json")


def check(data: Data, *, encoding: str | None = None) -> list[Finding]:
    """Returns the differences of a message from the public packages of H.248: names of properties, events, signals,
    statistics and parameters, and values of other types.

    Raises DecodeError for data that is not a message.
    """
    return [Finding(*finding) for finding in _megaco.check(data, encoding=encoding)]
