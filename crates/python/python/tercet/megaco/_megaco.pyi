from collections.abc import Sequence
from typing import Any, Literal, final

__all__ = ["DigitMap", "Engine", "Evaluation", "check", "detect", "encodings", "sdp_lines", "sdp_text", "transcode"]

Data = bytes | bytearray | memoryview
Ended = tuple[Literal["UM", "FM", "PM"], str | None]
Way = tuple[str, int, str, int]

def encodings() -> list[str]:
    """Returns the names of all encodings."""

def detect(data: Data) -> str:
    """Returns the encoding that the first bytes of a message look like."""

def transcode(data: Data, to: str, *, encoding: str | None = None) -> bytes:
    """Returns a message in another encoding.

    `encoding` names that of `data`; by default it is found by their first bytes.

    Raises DecodeError for data that is not a message, EncodeError for a value that the other encoding does not have.
    """

def check(data: Data, *, encoding: str | None = None) -> list[tuple[str, str, bool]]:
    """Returns the differences from the public packages, each with its path in the message, its text, and whether it is
    only information: about a package that is not known, or known in part.

    Raises DecodeError for data that is not a message.
    """

def sdp_lines(description: Data) -> list[list[tuple[str, str, object, tuple[int, str] | None]]]:
    """Returns the sessions of a text, each a list of lines: name, value, parsed value, and the fault with its byte in
    the value."""

def sdp_text(lines: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Returns the text of lines of a name and a value each.

    Raises EncodeError for a line of a known name that differs from RFC 8866 and H.248.1.
    """

@final
class DigitMap:
    """A digit map (H.248.1 7.1.14): the numbers that a caller may dial, and how long the gateway waits for digits.

    `body` is the map as in a message, such as `(2xxx|8xxxxxxx)`. `start`, `short` and `long` are seconds (0 to 99); by
    default 16, 4 and 16. `duration` is how long a digit of `Z` has to be held down, in tenths of a second, by default
    10.

    Raises DecodeError for text that is not a digit map.
    """
    def __new__(
        cls,
        body: str,
        *,
        start: int | None = None,
        short: int | None = None,
        long: int | None = None,
        duration: int | None = None,
    ) -> DigitMap: ...
    @property
    def long_digit(self) -> int:
        """How long a digit has to be held down to be a long one, in milliseconds."""
    def begin(self, now: int = 0) -> Evaluation:
        """Begins to collect digits at a time in milliseconds, from any point. The start timer runs from then."""
    def evaluate(self, digits: str) -> Ended:
        """Returns how the evaluation of digits without delays ends: the method and the digit that belongs to no number,
        as `Evaluation.digit` returns them; after the last digit the time runs out."""

@final
class Evaluation:
    """Digits as they come, compared with a digit map. It reads no clock: times are given, in milliseconds."""

    @property
    def digits(self) -> str:
        """The digits so far."""
    @property
    def deadline(self) -> int:
        """The time at which the wait for the next digit is over, in milliseconds."""
    def digit(self, now: int, digit: str, held: int = 0) -> Ended | None:
        """Takes a digit, which was held down for `held` milliseconds.

        Returns how the evaluation ends, or nothing as long as it goes on: `UM`, one number is complete and no other can
        be; `FM`, a number is complete, and the time for another is over or the digit that is returned belongs to none;
        `PM`, no number is complete.
        """
    def time(self, now: int) -> Ended | None:
        """Returns how the evaluation ends if the time for the next digit is over."""

@final
class Engine:
    """Requests and replies of one gateway or controller. It does no input and output and reads no clock: times are in
    seconds.

    `mid` is its message identifier, such as `<mgc>`. `items` are the configuration items of the engine, such as
    `request_timer` and `encoding`, with their values as text.

    Raises ArgumentError for an unknown item and for a bad value.
    """
    def __new__(cls, mid: str, *, seed: int = 0, items: dict[str, str] | None = None) -> Engine: ...
    def connect(self, now: float, way: Way) -> int:
        """Connects to a peer, and returns the number of the connection."""
    def disconnect(self, now: float, connection: int) -> None:
        """Ends a connection."""
    def cancel(self, now: float, connection: int) -> None:
        """Ends the requests that wait on a connection."""
    def request(self, now: float, connection: int, actions: str) -> int:
        """Sends a request, actions in compact text such as `C=-{AV=root{AT{PG}}}`, and returns its transaction id.

        Raises DecodeError for text that is not the actions of one request, EncodeError for actions that the encoding or
        the version of the connection does not have.
        """
    def reply(self, now: float, request: int, actions: str) -> None:
        """Answers a request by action replies in compact text such as `C=1{A=rtp1}`.

        Raises DecodeError for text that is not the actions of one reply, ArgumentError if the request has its answer.
        """
    def accept(self, now: float, request: int) -> None:
        """Answers a request by success of all its commands: what `$` leaves open is chosen."""
    def refuse(self, now: float, request: int, code: int, text: str | None) -> None:
        """Answers a request by an error of the transaction (H.248.8)."""
    def receive(self, now: float, way: Way, data: Data) -> None:
        """Takes a message that came."""
    def closed(self, now: float, way: Way) -> None:
        """Takes away a stream that is closed."""
    def tick(self, now: float) -> None:
        """Does what is due."""
    def deadline(self) -> float | None:
        """Returns the time at which `tick` has something to do."""
    def version(self, connection: int) -> int:
        """Returns the version of a connection."""
    def mid(self, connection: int) -> str:
        """Returns the message identifier of the peer, `preliminary` if it has not sent anything."""
    def counters(self) -> dict[str, int]:
        """Returns all counters by their names."""
    def transmits(self) -> list[tuple[Way, bytes]]:
        """Returns the messages to send, each with its way."""
    def events(self) -> list[dict[str, Any]]:
        """Returns what has happened, each a dictionary with its name as `event`."""
