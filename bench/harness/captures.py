"""Packet captures: `tercet capture list` beside tshark, and the memory of ours on a long one.

The capture is made of the S1AP and NGAP messages of real ones, one in each packet, over SCTP."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from . import commands, convert, definitions, records
from .definitions import BUILD
from .records import Row

KIND = "captures"

#: Payload protocol identifiers and ports of SCTP.
CARRIED = {"s1ap": (18, 36412), "ngap": (60, 38412)}
SPECIFICATIONS = ["3GPP_EUTRAN_S1AP_36413", "3GPP_NR_NGAP_38413"]
ASSOCIATIONS = 50


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/captures", description="Measures packet captures.")
    parser.add_argument("--packets", type=int, default=100_000, help="packets of the capture (default %(default)s)")
    parser.add_argument("--long", type=float, default=1e9, metavar="OCTETS", help="size of the long capture; 0: none")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default %(default)s)")
    records.arguments(parser)
    options = parser.parse_args()
    corpora = definitions.corpora()
    folders = [corpora / "asn1" / "specs" / "3gpp" / name for name in SPECIFICATIONS]
    found = sorted((corpora / "captures" / "nas-ran").glob("*.pcap*"))
    sources = [path for path in found if path.suffix != ".jsonl"]
    if not sources or not all(folder.is_dir() for folder in folders):
        print(f"bench/captures: no captures and specifications in {corpora}", file=sys.stderr)
        return 1
    schemas = [word for folder in folders for word in ("-s", str(folder))]
    messages = _messages(sources)
    BUILD.mkdir(parents=True, exist_ok=True)
    # Specifications are compiled in the round that is not counted, as the peer's were when it was built.
    os.environ["TERCET_CACHE"] = str(BUILD / "cache")
    capture = BUILD / "captures.pcap"
    size = _write(capture, messages, options.packets)
    ours = [commands.tercet(), "capture", "list"]
    mine = commands.said(commands.tercet(), "--version") or "tercet"
    theirs, note = _tshark()

    def row(work: str, peer: str, note: str = "") -> Row:
        return Row("signalling", work, peer, octets=size / options.packets, records=options.packets, note=note)

    lanes = [
        (row("list", mine), [*ours, "--no-decode", str(capture)]),
        (row("list", theirs, note), ["tshark", "-n", "-r", str(capture)]),
        (row("json", mine), [*ours, "--json", *schemas, str(capture)]),
        (row("json", theirs, note), ["tshark", "-n", "-T", "json", "-r", str(capture)]),
    ]
    samples: dict[int, list[commands.Spent]] = {}
    # The first round warms caches up and is not counted.
    for turn in range(options.rounds + 1):
        for at, (lane, command) in enumerate(lanes):
            if lane.note:
                continue
            print(f"{lane.work}: {lane.peer}", file=sys.stderr)
            spent = commands.run(command)
            if turn:
                samples.setdefault(at, []).append(spent)
    for at, taken in samples.items():
        convert.summarize(lanes[at][0], taken)
    rows = [lane for lane, _ in lanes]
    if options.long:
        packets = round(options.long / size * options.packets)
        octets = _write(capture, messages, packets)
        for work, command in (("list", [*ours, "--no-decode"]), ("json", [*ours, "--json", *schemas])):
            long = Row("signalling, long", work, mine, octets=octets / packets, records=packets)
            print(f"{work}: {octets:,} octets", file=sys.stderr)
            convert.summarize(long, [commands.run([*command, str(capture)])])
            rows.append(long)
    capture.unlink()
    print(records.table(rows))
    records.keep(rows, options, KIND)
    return 0


def _tshark() -> tuple[str, str]:
    """Name and version of the peer, and why it is not measured."""
    if not shutil.which("tshark"):
        return "tshark", "not installed"
    words = commands.said("tshark", "--version").split()
    at = next((i for i, word in enumerate(words) if word[:1].isdigit()), 0)
    return f"tshark {words[at].rstrip('.')}", ""


def _messages(sources: list[Path]) -> list[tuple[str, bytes]]:
    """The messages of captures, each with its protocol."""
    found = []
    command = [commands.tercet(), "capture", "list", "--json", "--no-decode", "--protocol", ",".join(CARRIED)]
    for path in sources:
        done = subprocess.run([*command, str(path)], check=False, capture_output=True, text=True)
        for line in map(json.loads, done.stdout.splitlines()):
            # What does not fit into a packet would be another measurement.
            if len(line["octets"]) <= 2 * 1400 and not line.get("partial"):
                found.append((line["protocol"], bytes.fromhex(line["octets"])))
    return found


def _write(path: Path, messages: list[tuple[str, bytes]], packets: int) -> int:
    """Writes a capture with so many packets; its size."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        file.writelines(_packets(messages, packets))
    return os.path.getsize(path)


def _packets(messages: list[tuple[str, bytes]], packets: int) -> Iterator[bytes]:
    # The messages of all captures are mixed, in the same order each time.
    mixed = [messages[i * 7919 % len(messages)] for i in range(len(messages))]
    for i in range(packets):
        protocol, octets = mixed[i % len(mixed)]
        ppid, port = CARRIED[protocol]
        association, number = i % ASSOCIATIONS, i // ASSOCIATIONS
        chunk = struct.pack(
            ">BBHIHHI", 0, 3, 16 + len(octets), number & 0xFFFFFFFF, number % 4, number // 4 & 0xFFFF, ppid
        )
        chunk += octets + bytes(-len(octets) % 4)
        sctp = struct.pack(">HHII", port, port, association, 0) + chunk
        address = bytes([10, 0, association, 1])
        header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(sctp), 0, 0, 64, 132, 0)
        ip = header + address + bytes([10, 0, 0, 2]) + sctp
        frame = bytes.fromhex("0200000000010200000000020800") + ip
        yield struct.pack("<IIII", 1_700_000_000 + i // 1000, i % 1000 * 1000, len(frame), len(frame)) + frame


if __name__ == "__main__":
    sys.exit(main())
