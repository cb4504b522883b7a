"""LDAP clients, ours and others, each fetching every entry of a directory: see bench/README.md."""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import commands, people, records, replay
from .definitions import BENCH, BUILD
from .records import Row
from .slapd import Slapd

KIND = "ldap"
LDAP = BUILD / "ldap"
CLIENTS = BENCH / "ldap" / "clients"

#: Seconds of CPU time after which a client has no further rounds than three, and after which it has only one.
SLOW, SLOWEST = 4.0, 20.0


@dataclass
class Client:
    """A client as a command for each work; none for a work that it does not do."""

    name: str
    discard: list[str] | None
    ldif: list[str] | None
    #: Whether it is a program whose allocations valgrind can count.
    native: bool = False
    missing: str = ""

    def command(self, work: str) -> list[str] | None:
        return self.discard if work == "discard" else self.ldif


def clients(port: int) -> list[Client]:
    """All clients that the report has a row for, whether they are there or not."""
    url, tercet, python = f"ldap://127.0.0.1:{port}", commands.tercet(), str(LDAP / "venv" / "bin" / "python")
    search = ["-x", "-H", url, "-b", "o=test", "-LLL"]
    mine = [tercet, "ldap", "bench", "-x", "-H", url, "-b", "o=test", "-n", "1"]
    found = [
        Client(commands.said(tercet, "--version") or "tercet", mine, [tercet, "ldap", "search", *search], native=True),
        _client(
            f"{commands.said(tercet, '--version') or 'tercet'} (Python)",
            [commands.python(), str(CLIENTS / "tercet_python.py")],
            port,
        ),
        Client(_ldapsearch(), None, ["ldapsearch", *search], native=True),
        _client("ocamldap 2.4.2", [str(LDAP / "ocamldap")], port),
        _client("ldap3-rs 0.12.1", [str(LDAP / "rust" / "release" / "client")], port, native=True),
        _client("UnboundID 7.0.5, warm", ["java", "-cp", f"{LDAP / 'java'}/*:{LDAP / 'java'}", "Client"], port),
        _client("go-ldap 3.4.15", [str(LDAP / "go-ldap")], port),
        _client("python-ldap 3.4.8", [python, str(CLIENTS / "python_ldap.py")], port),
        _client("Net::LDAP 0.68", ["perl", str(CLIENTS / "net_ldap.pl")], port),
        _client("ldap3 2.9.1 (Python)", [python, str(CLIENTS / "ldap3_python.py")], port),
    ]
    for client in found:
        command = client.ldif or [""]
        checks = {
            "tercet": [commands.python(), "-c", "import tercet.ldap"],
            "python-ldap": [python, "-c", "import ldap.ldapobject"],
            "ldap3 2": [python, "-c", "import ldap3"],
            "Net::LDAP": ["perl", "-MNet::LDAP", "-e", "1"],
            "UnboundID": ["java", "-cp", f"{LDAP / 'java'}/*", "-version"],
        }
        names = [] if client.native else [name for name in checks if client.name.startswith(name)]
        check = checks[names[0]] if names else None
        there = shutil.which(command[0]) is not None
        if there and check:
            there = subprocess.run(check, capture_output=True, check=False).returncode == 0
        if client.name.startswith("UnboundID"):
            there = there and (LDAP / "java" / "Client.class").exists()
        client.missing = "" if there else "not installed: run bench/ldap/setup"
    return found


def _client(name: str, start: list[str], port: int, native: bool = False) -> Client:
    words = [*start, "127.0.0.1", str(port)]
    return Client(name, [*words, "discard"], [*words, "ldif"], native)


def _ldapsearch() -> str:
    version = re.search(r"ldapsearch (\d+(\.\d+)+)", commands.said("ldapsearch", "-VV"))
    return f"ldapsearch {version[1]}" if version else "ldapsearch"


@dataclass
class Lane:
    """One client with one work, and what its rounds took."""

    client: Client
    row: Row
    samples: list[tuple[float, float]] = field(default_factory=list)

    def wants(self, turn: int) -> bool:
        """Whether it has another round: figures of slow clients do not change by more of them."""
        if not self.samples:
            return True
        seconds = min(cpu for cpu, _ in self.samples) / 1e9
        return seconds < SLOW or (turn < 3 and seconds < SLOWEST)

    def once(self) -> commands.Spent:
        command = self.client.command(self.row.work)
        assert command
        said = LDAP / "said"
        spent = commands.run(command, limit=600.0, errors=said)
        # A client that has warmed up says itself what one search took.
        told = re.search(r"^cpu (\d+) wall (\d+)$", said.read_text(errors="replace"), re.M)
        return commands.Spent(int(told[1]), int(told[2]), spent.peak) if told else spent


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/ldap/run", description="Measures LDAP clients, ours and others.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds A B C A B C … (default 7)")
    parser.add_argument("--data", default="people", choices=["people", "small", "blob", "group"], help="the entries")
    parser.add_argument("--entries", type=int, default=0, help="how many (default: 35 MiB of LDIF)")
    parser.add_argument("--client", action="append", help="only clients whose name begins so")
    parser.add_argument("--no-slapd", action="store_true", help="only the server that replays")
    records.arguments(parser)
    options = parser.parse_args()
    LDAP.mkdir(parents=True, exist_ok=True)
    ldif = people.ldif(options.data, options.entries, LDAP)
    answer = replay.Answer.of(ldif)
    print(f"{ldif.name}: {answer.count} entries, {len(answer.octets)} octets", file=sys.stderr)
    server = replay.Server(answer)
    rows = _measure(options.data, answer, server.port, options) + [
        _limit(options.data, answer, server.port, options.rounds)
    ]
    if not options.client or any("tercet".startswith(name) for name in options.client):
        _allocations(rows, options.data)
    server.close()
    if not options.no_slapd:
        try:
            real = Slapd(ldif, LDAP / "slapd")
        except OSError as error:
            print(f"bench/ldap/run: no slapd: {error}", file=sys.stderr)
        else:
            try:
                rows += _measure(f"{options.data} (slapd)", answer, real.port, options)
            finally:
                real.close()
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return records.verdict(rows)


def _measure(name: str, answer: replay.Answer, port: int, options: argparse.Namespace) -> list[Row]:
    lanes = []
    for client in clients(port):
        if options.client and not any(client.name.startswith(wanted) for wanted in options.client):
            continue
        for work in ("discard", "ldif"):
            row = Row(name, work, client.name, records=answer.count, note=client.missing)
            if client.command(work):
                lanes.append(Lane(client, row))
    ready = [lane for lane in lanes if not lane.row.note]
    for lane in ready:
        print(f"{name}: {lane.client.name}, {lane.row.work}", file=sys.stderr)
        try:
            _prove(lane, answer)
        except (commands.Failed, ValueError) as error:
            lane.row.note = f"fails: {error}"
    for work in ("discard", "ldif"):
        records.refuse_unlike([lane.row for lane in ready if lane.row.work == work and not lane.row.note])
    ready = [lane for lane in ready if not lane.row.note]
    for turn in range(options.rounds):
        for lane in ready:
            if lane.row.note or not lane.wants(turn):
                continue
            try:
                spent = lane.once()
            except commands.Failed as error:
                lane.row.note = f"fails: {error}"
                continue
            lane.samples.append((spent.cpu, spent.wall))
            lane.row.peak = max(lane.row.peak, spent.peak)
    for lane in ready:
        if not lane.row.note:
            _summarize(lane.row, lane.samples, answer)
    return [lane.row for lane in lanes]


def _prove(lane: Lane, answer: replay.Answer) -> None:
    """The digest of what a client read: of LDIF, the values; where they are thrown away, how many entries came."""
    out = LDAP / "out.ldif"
    command = lane.client.command(lane.row.work)
    assert command
    commands.run(command, limit=600.0, out=out)
    if lane.row.work == "ldif":
        lane.row.digest = digest(out)
    else:
        count = (
            re.search(r"(\d+) entries", text) if "entries" in (text := out.read_text()) else re.search(r"(\d+)", text)
        )
        lane.row.digest = f"{count[1]} entries" if count else "no count"
        if lane.row.digest != f"{answer.count} entries":
            raise ValueError(f"{lane.row.digest} of {answer.count}")
    out.unlink()


def digest(ldif: Path) -> str:
    """The entries in their order; attributes, which are sets of values (RFC 4511, 4.1.7), and values in any."""
    whole = hashlib.sha256()
    for name, attributes in replay.entries(ldif):
        whole.update(b"\0" + name)
        for key, value in sorted((key.lower(), value) for key, values in attributes.items() for value in values):
            whole.update(b"\1" + key + b"\2" + len(value).to_bytes(4, "big") + value)
    return whole.hexdigest()[:16]


def _summarize(row: Row, samples: list[tuple[float, float]], answer: replay.Answer) -> None:
    each = [cpu / answer.count for cpu, _ in samples]
    row.low, row.median, row.high = min(each), statistics.median(each), max(each)
    row.wall = statistics.median(wall for _, wall in samples) / answer.count
    row.octets = len(answer.octets) / answer.count


def _limit(name: str, answer: replay.Answer, port: int, rounds: int) -> Row:
    """Octets received into a buffer, and nothing else."""
    row = Row(name, "discard", "recv into a buffer", records=answer.count)
    buffer = bytearray(1 << 18)
    samples = []
    for _ in range(rounds):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"\x30\x05\x02\x01" + bytes([replay.ID]) + b"\x63\x00")
            left, start, wall = len(answer.octets), time.thread_time_ns(), time.perf_counter_ns()
            while left:
                left -= connection.recv_into(buffer)
            samples.append((time.thread_time_ns() - start, time.perf_counter_ns() - wall))
    _summarize(row, samples, answer)
    return row


def _allocations(rows: list[Row], data: str) -> None:
    """Allocations an entry of clients that are programs, as valgrind counts them: what some more entries add."""
    if not shutil.which("valgrind"):
        return
    counted: dict[tuple[str, str], list[int]] = {}
    counts = (1000, 3000)
    for count in counts:
        server = replay.Server(replay.Answer.of(people.ldif(data, count, LDAP)))
        for client in clients(server.port):
            for work in ("discard", "ldif"):
                command = client.command(work)
                if client.native and command and not client.missing:
                    counted.setdefault((client.name, work), []).append(_heap(command))
        server.close()
    for row in rows:
        found = counted.get((row.peer, row.work), [])
        if len(found) == len(counts) and all(found):
            row.allocations = max(0.0, (found[1] - found[0]) / (counts[1] - counts[0]))


def _heap(command: list[str]) -> int:
    """Allocations of a program from its start to its end; 0 if valgrind does not say."""
    done = subprocess.run(["valgrind", *command], capture_output=True, check=False)
    found = re.search(rb"total heap usage: ([\d,]+) allocs", done.stderr)
    return int(found[1].replace(b",", b"")) if found and not done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
