"""Gateways and controllers of Megaco/H.248 over the loopback, ours and Erlang/OTP's: CPU time of both sides.

A gateway registers with a controller and sends it requests, as many at once as the row has. The requests of both are
alike: one action, the same descriptors. Each side is a process; what it spends between two looks at its threads counts,
without its start.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import commands, definitions, records
from .megaco import _erlang as erlang
from .records import Row

KIND = "gateways"

#: Actions of a request, with the names of terminations that an encoding has.
ACTIONS = {
    "notify": "C=-{{N={name}{{OE=2009{{20260101T10102200:al/of}}}}}}",
    "add": "C=${{A={name}{{M{{ST=1{{O{{MO=RC}},L{{v=0\nc=IN IP4 127.0.0.1\nm=audio 2222 RTP/AVP 4\n}}}}}}}}}}",
}
NAMES = {"ber": "00001001/00000000/00000001", "per": "00001001/00000000/00000001"}


@dataclass(frozen=True)
class Lane:
    """A row of the table: options of Erlang's sides and of ours."""

    name: str
    transport: str = "udp"
    codec: str = "compact"
    kind: str = "notify"
    at_once: int = 16
    #: Transactions of a message.
    together: int = 1
    their_gateway: str = ""
    their_controller: str = ""
    our_gateway: str = ""
    our_controller: str = ""


BATCHED = "--set auto_ack=true --set trans_ack=true --set trans_timer=50"
LANES = [
    Lane("compact Notify, one at a time", at_once=1),
    Lane("compact Notify"),
    Lane("compact Notify, TCP", "tcp"),
    Lane("compact Add", kind="add"),
    Lane("BER Notify", codec="ber"),
    Lane("BER Add", codec="ber", kind="add"),
    Lane("BER Add, TCP", "tcp", codec="ber", kind="add"),
    Lane("PER Add", codec="per", kind="add"),
    Lane("Erlang terms Add", codec="erl_dist_mc", kind="add"),
    Lane("compact Notify, 10 transactions a message", together=10),
    Lane("compact Notify, replies acknowledged", their_controller="--reply ack", our_controller="--reply-ack handle"),
    Lane("compact Notify, gathered acknowledgements", their_gateway=BATCHED, our_gateway="--batch-acks 10"),
    Lane("compact Notify, cast", their_gateway="--cast"),
    Lane("compact Notify, threaded", their_controller="--set threaded=true", our_controller="--threaded"),
    Lane("compact Notify, scanner in C", their_gateway="--flex", their_controller="--flex"),
    Lane("compact Add, scanner in C", kind="add", their_gateway="--flex", their_controller="--flex"),
    Lane("compact Add, scanner in C, TCP", "tcp", kind="add", their_gateway="--flex", their_controller="--flex"),
]  # fmt: skip


@dataclass
class Sample:
    """Nanoseconds of a transaction on each side."""

    gateway: float
    controller: float
    wall: float
    transactions: int
    #: Octets of a request.
    octets: float
    #: Nanoseconds from a request to its reply at half the rate that was reached: the median, and the 99th in 100.
    latency: tuple[float, float] | None = None


class Process:
    """A side: events are JSON lines of its standard output."""

    def __init__(self, *command: str) -> None:
        environment = {**os.environ, "ERL_AFLAGS": "+S 1:1"}
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def event(self, name: str) -> dict[str, object]:
        """The next event of this name."""
        assert self.child.stdout
        for line in self.child.stdout:
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and event.get("event") == name:
                    return event
        raise commands.Failed(f"ended without the event {name}")

    def spent(self) -> int:
        """Nanoseconds that its threads have run."""
        total = 0
        for task in Path(f"/proc/{self.child.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError):
                total += int((task / "schedstat").read_text().split()[0])
        return total

    def tell(self, line: str) -> None:
        """Writes a line to its standard input."""
        assert self.child.stdin
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def end(self) -> None:
        """Ends it."""
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


@contextlib.contextmanager
def started(*command: str) -> Iterator[Process]:
    """A process that ends with the block."""
    process = Process(*command)
    try:
        yield process
    finally:
        process.end()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench/gateways", description="Measures gateways and controllers of Megaco, ours and Erlang's."
    )
    parser.add_argument("--peer", type=Path, metavar="FILE", help="Erlang's gateway and controller, an escript")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each row (default %(default)s)")
    parser.add_argument("--seconds", type=int, default=4, help="how long each side is measured (default %(default)s)")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="only rows whose name has this in it")
    records.arguments(parser)
    options = parser.parse_args()
    peer = options.peer or definitions.corpora().parent / "tools" / "megaco_peer" / "megaco_peer"
    mine, theirs = commands.said(commands.tercet(), "--version"), erlang()
    note = ""
    if not theirs or not shutil.which("escript"):
        note = "not installed: run bench/setup"
    elif not peer.is_file():
        note = "its gateway is not there: give --peer"
    lanes = [lane for lane in LANES if not options.rows or any(word in lane.name for word in options.rows)]
    samples: dict[tuple[str, bool], list[Sample]] = {}
    for turn in range(options.rounds):
        for lane in lanes:
            for ours in (True, False):
                if not ours and note:
                    continue
                print(f"{turn + 1}: {lane.name}, {'ours' if ours else theirs}", file=sys.stderr)
                sample = _ours(lane, options.seconds) if ours else _theirs(lane, options.seconds, str(peer))
                samples.setdefault((lane.name, ours), []).append(sample)
    rows = []
    for lane in lanes:
        for ours in (True, False):
            found = samples.get((lane.name, ours), [])
            for work in ("gateway", "controller", "both"):
                row = Row(lane.name, work, mine if ours else theirs or "Erlang/OTP megaco", workers=lane.at_once)
                if not ours:
                    row.note = note
                if found:
                    _summarize(row, found)
                rows.append(row)
            rows += _latencies(lane, mine, found) if ours else []
        # The peer numbers its terminations and transactions in its own way: some octets are others. How many
        # acknowledgements a message has is a matter of time.
        pair = [row for row in rows if row.input == lane.name and row.octets]
        sizes = [row.octets for row in pair]
        counts = "acknowledge" not in lane.name
        if sizes and counts and max(sizes) > 1.05 * min(sizes):
            for row in pair:
                row.digest = f"{row.octets:.0f} octets"
            records.refuse_unlike(pair)
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return 0


def _summarize(row: Row, found: list[Sample]) -> None:
    work = {
        "gateway": lambda sample: sample.gateway,
        "controller": lambda sample: sample.controller,
        "both": lambda sample: sample.gateway + sample.controller,
    }[row.work]
    # The best of the runs: the machine has other work.
    each = sorted(work(sample) for sample in found)
    row.low, row.median, row.high = each[0], each[len(each) // 2], each[-1]
    row.wall = min(sample.wall for sample in found)
    row.octets = found[0].octets
    row.records = found[0].transactions


#: How much of the requests take no longer than the latency of a row.
QUANTILES = ("p50 at half load", "p99 at half load")


def _latencies(lane: Lane, engine: str, found: list[Sample]) -> list[Row]:
    """Latencies at half load. Erlang's gateway has no rate."""
    rows = []
    for place, work in enumerate(QUANTILES):
        each = sorted(sample.latency[place] for sample in found if sample.latency)
        if each:
            row = Row(lane.name, work, engine, workers=lane.at_once, records=found[0].transactions)
            row.low, row.median, row.high = each[0], each[len(each) // 2], each[-1]
            rows.append(row)
    return rows


def _port() -> int:
    """A port that is free for both transports."""
    while True:
        with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
            stream.bind(("127.0.0.1", 0))
            port = int(stream.getsockname()[1])
            with contextlib.suppress(OSError):
                datagrams.bind(("127.0.0.1", port))
                return port


def _ours(lane: Lane, seconds: int) -> Sample:
    port, tercet = _port(), commands.tercet()
    encoding = "etf-mc" if lane.codec == "erl_dist_mc" else lane.codec
    text = ACTIONS[lane.kind].format(name=NAMES.get(lane.codec, "t9.1"))
    url = f"{lane.transport}://127.0.0.1:{port}"
    controller = [tercet, "megaco", "mgc", "--listen", url, "--events", os.devnull, *lane.our_controller.split()]
    load = [tercet, "megaco", "load", "--connect", url, "--mid", "mg", "--encoding", encoding, "--text", text]
    load += ["--for", f"{seconds}s", *lane.our_gateway.split()]
    gateway = [*load, "--in-flight", str(lane.at_once * lane.together)]
    if lane.together > 1:
        gateway += ["--batch-requests", str(lane.together), "--batch-size", "65000"]
    latency = None
    with started(*controller) as mgc:
        _listening(lane.transport, port)
        with started(*gateway) as mg:
            mg.event("registered")
            at_begin, begin = (mg.spent(), mgc.spent()), time.perf_counter()
            report = mg.event("report")
            # It is there until it has been waited for.
            at_end, wall = (mg.spent(), mgc.spent()), time.perf_counter() - begin
            stats = mg.event("stats")
        # What is gathered waits for the others: that is no latency of the sides.
        if lane.together == 1 and not lane.our_gateway:
            rate = max(1, round(float(str(report["tps"])) / 2))
            with started(*load, "--rate", f"{rate}/s") as mg:
                half = mg.event("report")
            latency = float(str(half["p50_ms"])) * 1e6, float(str(half["p99_ms"])) * 1e6
    count = int(str(report["ok"]))
    if report["failed"] or not count:
        raise commands.Failed(f"{lane.name}: {report}")
    octets = float(str(stats["out_octets"])) / float(str(stats["requests_sent"]))
    spent = [(end - begin) / count for begin, end in zip(at_begin, at_end, strict=True)]
    return Sample(spent[0], spent[1], wall * 1e9 / count, count, octets, latency)


def _listening(transport: str, port: int) -> None:
    """Waits until a port is taken."""
    kind = socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket(type=kind) as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                return
        time.sleep(0.05)
    raise commands.Failed("the controller does not listen")


def _theirs(lane: Lane, seconds: int, peer: str) -> Sample:
    port = _port()
    address = f"{lane.transport}:127.0.0.1:{port}"
    common = ["--codec", lane.codec, "--quiet"]
    controller = ["escript", peer, "mgc", "--listen", address, "--stay", *common, *lane.their_controller.split()]
    gateway = ["escript", peer, "mg", "--connect", address, *common, *lane.their_gateway.split()]
    gateway += ["--kind", lane.kind, "--conc", str(lane.at_once), "--trans", str(lane.together)]
    gateway += ["--seconds", str(seconds), "--stay"]
    with started(*controller) as mgc:
        mgc.event("listening")
        with started(*gateway) as mg:
            mg.event("service_change_reply")
            at_begin, begin = (mg.spent(), mgc.spent()), time.perf_counter()
            result = mg.event("result")
            at_end, wall = (mg.spent(), mgc.spent()), time.perf_counter() - begin
            octets = _octets(mg.event("stats"), lane.transport)
    count = int(str(result["transactions"]))
    if result["calls_failed"] or not count:
        raise commands.Failed(f"{lane.name}: {result}")
    spent = [(end - begin) / count for begin, end in zip(at_begin, at_end, strict=True)]
    return Sample(spent[0], spent[1], wall * 1e9 / count, count, octets / count)


def _octets(stats: dict[str, object], transport: str) -> float:
    """Octets that a gateway of Erlang's has sent, from its counters as a term."""
    _, _, rest = str(stats[transport]).partition("NumOutOctets,")
    digits = rest.partition("}")[0]
    octets = float(digits) if digits.isdigit() else 0.0
    _, _, rest = str(stats[transport]).partition("NumOutMessages,")
    messages = rest.partition("}")[0]
    # The header of TPKT is counted there.
    return octets - 4 * float(messages) if transport == "tcp" and messages.isdigit() else octets


if __name__ == "__main__":
    sys.exit(main())
