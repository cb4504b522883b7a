"""Errors of a directory. All are a ``tercet.Error`` too; those that Python has a class for are of that
class: ``ConnectionError``, ``TimeoutError``."""

from __future__ import annotations

from tercet import _errors
from tercet.ldap._values import Result, ResultCode


class Error(_errors.Error):
    """Any fault of LDAP."""

    offset: int | None
    """The offset of a received byte in its message, or of a character in its text."""

    def __init__(self, message: str, *, offset: int | None = None) -> None:
        super().__init__(message)
        self.offset = offset


class ProtocolError(Error):
    """The received data is not LDAP; the connection cannot be used any more."""


class LimitError(Error):
    """A limit was exceeded: the size of a message, hops of referrals, rounds of SASL."""


class NetworkError(Error, ConnectionError):
    """There is no connection, or it has broken."""


class ClosedError(NetworkError):
    """The connection has ended."""


class TlsError(NetworkError):
    """TLS could not be established, or the server's certificate is not trusted."""


class Timeout(Error, TimeoutError):
    """A time limit of the client has passed. The operation is abandoned."""


class AuthError(Error):
    """Authentication failed without the server saying so: its signature is wrong, a mechanism cannot be used."""


class ParseError(Error):
    """A text (filter, name, URL, LDIF) is not of its grammar."""


class UsageError(Error):
    """The call makes no sense, or would be unsafe: a password on a connection without encryption."""


class ResultError(Error):
    """The server has answered with a result code other than success."""

    result: Result
    """The whole answer, with its controls."""

    def __init__(self, message: str, *, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result or Result(ResultCode.OTHER, "", "", [], [])

    @property
    def code(self) -> int:
        """A ``ResultCode``, or a number that is none."""
        return self.result.code

    @property
    def matched_dn(self) -> str:
        """As far as the name that was asked for is there."""
        return self.result.matched_dn

    @property
    def diagnostic_message(self) -> str:
        """The server's message for people."""
        return self.result.message

    @property
    def referrals(self) -> list[str]:
        """Servers that have what was asked for."""
        return self.result.referrals


class NoSuchObject(ResultError):
    """There is no entry of that name (32)."""


class NoSuchAttribute(ResultError):
    """The entry has no such attribute or value (16)."""


class AlreadyExists(ResultError):
    """The entry (68), attribute or value (20) is there already."""


class InvalidCredentials(ResultError):
    """The name or the password is wrong (49)."""


class InsufficientAccess(ResultError):
    """The user may not do that (50)."""


class SizeLimitExceeded(ResultError):
    """There are more entries than were asked for, or than the server gives (4, 11). Received entries are valid."""


class TimeLimitExceeded(ResultError):
    """The server's time limit has passed (3). Received entries are valid."""


class SchemaViolation(ResultError):
    """The entry would not meet the schema (17, 19, 21, 64, 65, 67, 69)."""


class AssertionFailed(ResultError):
    """The entry does not match the assertion control of the request (122)."""


class ReferralReceived(ResultError):
    """Other servers have what was asked for, and referrals are not followed (10)."""


class Unavailable(ResultError):
    """The server is busy, or shuts down (51, 52)."""


class TransactionAborted(Error):
    """A transaction was not made. Its cause is the exception of what went wrong."""

    cause: BaseException
    """The exception for the fault."""
    rolled_back: bool
    """Everything is as before. Otherwise there are conflicts, or `tercet ldap recover` has to finish it."""
    conflicts: list[str]
    """Changes that were not undone, because somebody else has changed their entries."""
    journal: str | None
    """The journal, if it is still there."""

    def __init__(
        self,
        message: str,
        cause: BaseException | None = None,
        rolled_back: bool = True,
        conflicts: list[str] | None = None,
        journal: str | None = None,
    ) -> None:
        super().__init__(message)
        self.cause = cause if cause is not None else self
        self.rolled_back = rolled_back
        self.conflicts = conflicts or []
        self.journal = journal


_KINDS: dict[str, type[Error]] = {
    "protocol": ProtocolError,
    "limit": LimitError,
    "closed": ClosedError,
    "timeout": Timeout,
    "network": NetworkError,
    "tls": TlsError,
    "auth": AuthError,
    "syntax": ParseError,
    "usage": UsageError,
}

_CODES: dict[int, type[ResultError]] = {
    3: TimeLimitExceeded,
    4: SizeLimitExceeded,
    10: ReferralReceived,
    11: SizeLimitExceeded,
    16: NoSuchAttribute,
    17: SchemaViolation,
    19: SchemaViolation,
    20: AlreadyExists,
    21: SchemaViolation,
    32: NoSuchObject,
    49: InvalidCredentials,
    50: InsufficientAccess,
    51: Unavailable,
    52: Unavailable,
    64: SchemaViolation,
    65: SchemaViolation,
    67: SchemaViolation,
    68: AlreadyExists,
    69: SchemaViolation,
    122: AssertionFailed,
}


def make(kind: str, message: str, offset: int | None, result: Result | None) -> Error:
    """The exception for a fault."""
    if result is not None:
        return _CODES.get(result.code, ResultError)(message, result=result)
    return _KINDS.get(kind, Error)(message, offset=offset)
