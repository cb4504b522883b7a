"""A server of LDAP that answers every search with octets made beforehand, so that the client is the limit."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: The messageID that the octets are made with; others are put in their place when they are asked for.
ID = 2


def entries(ldif: Path) -> Iterator[tuple[bytes, dict[bytes, list[bytes]]]]:
    """Names and attributes of LDIF, as they stand there."""
    name, attributes = b"", dict[bytes, list[bytes]]()
    for line in [*ldif.read_bytes().replace(b"\r\n", b"\n").replace(b"\n ", b"").split(b"\n"), b""]:
        if not line:
            if name:
                yield name, attributes
            name, attributes = b"", {}
        elif not line.startswith((b"#", b"version:")):
            key, _, value = line.partition(b":")
            value = base64.b64decode(value[1:]) if value.startswith(b":") else value.removeprefix(b" ")
            if key.lower() == b"dn":
                name = value
            else:
                attributes.setdefault(key, []).append(value)


@dataclass
class Answer:
    """All messages of one answer."""

    octets: bytearray = field(default_factory=bytearray)
    #: Where the messageID of each message stands.
    places: list[int] = field(default_factory=list)
    count: int = 0

    @classmethod
    def of(cls, ldif: Path) -> Answer:
        answer = cls()
        for name, attributes in entries(ldif):
            lists = b"".join(
                _tlv(0x30, _tlv(4, key) + _tlv(0x31, b"".join(_tlv(4, value) for value in values)))
                for key, values in attributes.items()
            )
            answer._add(_tlv(0x64, _tlv(4, name) + _tlv(0x30, lists)))
            answer.count += 1
        answer._add(DONE)
        return answer

    def _add(self, operation: bytes) -> None:
        message = _message(ID, operation)
        self.places.append(len(self.octets) + len(message) - len(operation) - 1)
        self.octets += message

    def numbered(self, number: int) -> bytes:
        """The octets for a search with this messageID, which stays one octet."""
        if number > 127:
            raise ValueError("no more than 127 messages a connection")
        copy = bytearray(self.octets)
        for place in self.places:
            copy[place] = number
        return bytes(copy)


DONE = b"\x65\x07\x0a\x01\x00\x04\x00\x04\x00"


def _length(count: int) -> bytes:
    if count < 128:
        return bytes([count])
    octets = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(octets)]) + octets


def _tlv(tag: int, contents: bytes) -> bytes:
    return bytes([tag]) + _length(len(contents)) + contents


def _message(number: int, operation: bytes) -> bytes:
    return _tlv(0x30, bytes([2, 1, number]) + operation)


class Server:
    """Answers binds with success and searches with the octets, on a free port of the loopback."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.ready = {ID: bytes(answer.octets)}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            for number, operation in _requests(connection):
                try:
                    if operation == 0x60:
                        connection.sendall(_message(number, b"\x61" + DONE[1:]))
                    elif operation == 0x63:
                        if number not in self.ready:
                            self.ready[number] = self.answer.numbered(number)
                        connection.sendall(self.ready[number])
                    elif operation == 0x42:
                        return
                except OSError:
                    return


def _requests(connection: socket.socket) -> Iterator[tuple[int, int]]:
    """MessageID and identifier of the operation of each request, until the connection ends."""
    data = b""
    while True:
        while len(data) < 2 or len(data) < 2 + _head(data) or len(data) < _whole(data):
            try:
                more = connection.recv(65536)
            except OSError:
                return
            if not more:
                return
            data += more
        at = 2 + _head(data)
        digits = data[at + 1]
        yield int.from_bytes(data[at + 2 : at + 2 + digits], "big"), data[at + 2 + digits]
        data = data[_whole(data) :]


def _head(data: bytes) -> int:
    """Octets of the length behind its first."""
    return data[1] & 0x7F if data[1] & 0x80 else 0


def _whole(data: bytes) -> int:
    more = _head(data)
    contents = int.from_bytes(data[2 : 2 + more], "big") if more else data[1]
    return 2 + more + contents
