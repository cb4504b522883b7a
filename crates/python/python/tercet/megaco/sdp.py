"""Session descriptions (SDP, RFC 8866 and RFC 4566) as H.248 has them: several sessions, and ``$`` for what the gateway
chooses.

>>> from tercet.megaco import sdp
>>> text = sdp.text([("v", "0"), ("c", "IN IP4 $"), ("m", "audio $ RTP/AVP 4"), ("a", "ptime:30")])
>>> [session] = sdp.read(text)
>>> [section] = session.media
>>> section.media.said["port"], section.attributes
('$', [{'name': 'ptime', 'value': 30}])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tercet._errors import ArgumentError
from tercet.megaco import _megaco

if TYPE_CHECKING:
    from tercet.megaco._megaco import Data

__all__ = ["Fault", "Line", "Section", "Session", "read", "text"]


@dataclass(frozen=True)
class Fault:
    """A fault in the value of a line."""

    at: int
    """The byte of the value with the fault."""
    expected: str
    """The expected text."""


@dataclass(frozen=True)
class Line:
    """A line ``name=value``."""

    name: str
    """The text before the ``=``."""
    value: str
    """The text after it. Bytes that are not UTF-8 are lone surrogates, as ``os.fsdecode`` makes them."""
    said: Any
    """The value as text, a number, or a dictionary with the parts of the line; ``None`` if the name is not
    known or the value is faulty. A number that the gateway chooses is ``"$"``; spans of time are seconds."""
    fault: Fault | None = None
    """The fault in the value of a known name."""


@dataclass(frozen=True)
class Section:
    """A medium with the lines that are about it."""

    media: Line
    """The line ``m=``."""
    lines: list[Line]
    """The lines after it."""

    @property
    def connection(self) -> dict[str, Any] | None:
        """The address of the medium, if the medium has a line for it."""
        return _connection(self.lines)

    @property
    def attributes(self) -> list[dict[str, Any]]:
        """Its attributes: a name with a value, or with the parts of ``rtpmap`` and ``fmtp``."""
        return [line.said for line in self.lines if line.name == "a" and line.said is not None]


@dataclass(frozen=True)
class Session:
    """A session: lines from one ``v=`` up to the next."""

    lines: list[Line]
    """Its lines, in order."""

    @property
    def connection(self) -> dict[str, Any] | None:
        """The address of all media without such a line."""
        return _connection(self.lines[: self._first()])

    @property
    def media(self) -> list[Section]:
        """The media, each with the lines that are about it."""
        sections: list[Section] = []
        for line in self.lines[self._first() :]:
            if line.name == "m" and line.said is not None:
                sections.append(Section(line, []))
            else:
                sections[-1].lines.append(line)
        return sections

    def _first(self) -> int:
        """The place of the first medium."""
        places = (at for at, line in enumerate(self.lines) if line.name == "m" and line.said is not None)
        return next(places, len(self.lines))


def _connection(lines: list[Line]) -> dict[str, Any] | None:
    found = (line.said for line in lines if line.name == "c" and line.said is not None)
    return next(found, None)


def read(description: str | Data) -> list[Session]:
    """Returns the sessions of a text. A line that differs from the standard has a fault; the others are kept."""
    octets = description.encode("utf-8", "surrogateescape") if isinstance(description, str) else description
    sessions = _megaco.sdp_lines(octets)
    return [
        Session([Line(name, value, said, fault and Fault(*fault)) for name, value, said, fault in lines])
        for lines in sessions
    ]


def text(lines: Iterable[Line | tuple[str, str]]) -> bytes:
    """Returns the text of lines, or of pairs of name and value. ``v`` begins a session.

    Raises EncodeError for a line of a known name that differs from the standard, or that contains an end of line.
    """
    pairs = [(line.name, line.value) if isinstance(line, Line) else line for line in lines]
    try:
        octets = [(name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in pairs]
    except (AttributeError, TypeError, ValueError) as fault:
        raise ArgumentError(f"lines: pairs of texts expected ({fault})") from None
    return _megaco.sdp_text(octets)
