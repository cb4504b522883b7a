"""Two servers with the same entries, ours in memory and on disk and slapd, in one run: see bench/README.md."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import commands, people, records
from .definitions import BUILD
from .records import Row
from .slapd import Slapd

KIND = "ldap-servers"
LDAP = BUILD / "ldap"
ROOT = ["-D", "cn=admin,o=test", "-w", "secret"]
#: What slapd needs besides: the root user, and the indexes that ours has for the filters here.
SLAPD = "rootpw secret\nindex objectClass,entryUUID eq\nindex uid,mail eq\nindex cn,sn eq,sub\n"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Process:
    """A server that runs, and the CPU time that it took until it answered."""

    name: str
    pid: int
    port: int
    load: float
    wall: float
    close: Callable[[], object]

    def cpu(self) -> float:
        """Nanoseconds of CPU time until now."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1e9 / TICKS

    def own(self) -> int:
        """KiB of memory of its own now: what is not mapped from files."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"RssAnon:\s+(\d+)", text)
        return int(found[1]) if found else 0


def ours(ldif: Path, data: Path | None) -> Process:
    """`tercet ldap serve`, in memory or with a folder."""
    where: list[str] = []
    if data:
        shutil.rmtree(data, ignore_errors=True)
        where = ["--data", str(data)]
    start = time.perf_counter()
    command = [commands.tercet(), "ldap", "serve", "--ldif", str(ldif), "--listen", "127.0.0.1:0", *where, *ROOT]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert child.stderr
    for line in child.stderr:
        if found := re.search(r"ldap://127\.0\.0\.1:(\d+)", line):
            port = int(found[1])
            break
    else:
        raise OSError("tercet ldap serve does not start")
    wall = time.perf_counter() - start

    def close() -> None:
        child.terminate()
        child.wait(timeout=60)

    name = "tercet, on disk" if data else "tercet, in memory"
    process = Process(name, child.pid, port, 0.0, wall, close)
    process.load = process.cpu()
    return process


def theirs(ldif: Path, *, sync: bool = False) -> Process:
    """slapd with back-mdb, without syncs unless asked for; slapadd loads it."""
    start = time.perf_counter()
    before = os.times()
    slapd = Slapd(ldif, LDAP / "slapd", SLAPD, sync=sync)
    after = os.times()
    wall = time.perf_counter() - start
    children = after.children_user + after.children_system - before.children_user - before.children_system
    process = Process("slapd, synced" if sync else "slapd", slapd.process.pid, slapd.port, 0.0, wall, slapd.close)
    process.load = children * 1e9 + process.cpu()
    return process


#: Works whose answers are on disk, for servers that write each change: name, connections, options.
DURABLE = [
    ("add, durable, 16 clients", 16, ["--op", "add", "-b", "{parent}", "--writes"]),
    ("add, durable, one client", 1, ["--op", "add", "-b", "{parent}", "--writes"]),
    ("modify, durable, 16 clients", 16, ["--op", "modify", "-b", "{parent}", "--writes"]),
]

#: Works: name, requests in flight on each of 16 connections, options of `tercet ldap bench`.
WORKS = [
    ("search (uid=x), one in flight", 1, ["-b", "o=test", "(uid=u[{first}-{last}])"]),
    ("search (uid=x), 16 in flight", 16, ["-b", "o=test", "(uid=u[{first}-{last}])"]),
    ("bind of the root", 1, ["--op", "bind"]),
    ("add", 1, ["--op", "add", "-b", "{parent}", "--writes"]),
    ("modify", 1, ["--op", "modify", "-b", "{parent}", "--writes"]),
]


@dataclass
class Names:
    """What the works need of the entries: those below which they add, and the last of the people."""

    parent: str
    last: str

    @classmethod
    def of(cls, ldif: Path) -> Names:
        """Names in LDIF, whose people are `uid=u` and a number, in the order of these numbers."""
        people = re.findall(r"(?m)^dn: uid=u(\d+),(.*)", ldif.read_text())
        return cls(people[-1][1], people[-1][0])


def measure(
    process: Process,
    work: str,
    flight: int,
    options: list[str],
    count: int,
    rounds: int,
    names: Names,
    clients: int = 16,
) -> Row:
    """CPU time of the server for an operation, and time by the clock."""
    row = Row("people", work, process.name, workers=clients, records=count)
    words = [option.format(first="0" * len(names.last), last=names.last, parent=names.parent) for option in options]
    url = f"ldap://127.0.0.1:{process.port}"
    each, walls = [], []
    for _ in range(rounds):
        before = process.cpu()
        command = [commands.tercet(), "ldap", "bench", "-H", url, *ROOT, "-c", str(clients), "--in-flight", str(flight)]
        done = subprocess.run(
            [*command, "-n", str(count), "--json", *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            row.note = f"fails: {done.stderr.strip().rpartition(chr(10))[2][:120] or done.returncode}"
            return row
        told = json.loads(done.stdout)
        operations = sum(one["count"] for one in told["operations"].values())
        # A search finds one entry: what finds none is another work.
        wrong = [f"{name} fails {one['errors']}" for name, one in told["operations"].items() if one["errors"]]
        if wrong or (work.startswith("search") and told["operations"]["search"]["entries"] != operations):
            row.note = ", ".join(wrong) or "entries are not found"
            return row
        # What adds and modifies make and remove is in the time of the server too.
        each.append((process.cpu() - before) / operations)
        walls.append(told["seconds"] * 1e9 / operations)
    row.low, row.median, row.high = min(each), statistics.median(each), max(each)
    row.wall = statistics.median(walls)
    return row


def tree(process: Process, rounds: int, count: int) -> Row:
    """All names, by ldapsearch."""
    row = Row("people", "whole tree, dn only", process.name, records=count)
    url = f"ldap://127.0.0.1:{process.port}"
    each, walls = [], []
    for _ in range(rounds):
        before = process.cpu()
        spent = commands.run(["ldapsearch", "-x", "-H", url, "-b", "o=test", "-LLL", "1.1"], limit=600.0)
        each.append((process.cpu() - before) / count)
        walls.append(spent.wall / count)
    row.low, row.median, row.high = min(each), statistics.median(each), max(each)
    row.wall = statistics.median(walls)
    return row


@dataclass
class Goal:
    """What a work of ours is to take: microseconds of CPU time or of the clock, or its ratio to slapd."""

    work: str
    server: str
    most: float
    kind: str = "us"


MEMORY, DISK = "tercet, in memory", "tercet, on disk"
GOALS = [
    Goal("search (uid=x), one in flight", MEMORY, 12.0),
    Goal("search (uid=x), 16 in flight", MEMORY, 7.0),
    Goal("bind of the root", MEMORY, 10.5),
    Goal("add", MEMORY, 22.0),
    Goal("add", DISK, 30.0),
    Goal("modify", MEMORY, 20.0),
    # Seconds for all 68,417 entries, as microseconds for each.
    Goal("load", MEMORY, 0.7e6 / 68_417),
    Goal("whole tree, dn only", MEMORY, 0.4e6 / 68_417, "wall us"),
    Goal("add, durable, 16 clients", DISK, 5.0, "times"),
    Goal("modify, durable, 16 clients", DISK, 5.0, "times"),
    Goal("add, durable, one client", DISK, 1.0, "times"),
]
#: MB of memory of its own, after all works.
OWN = {MEMORY: 90.0, DISK: 40.0}


def goals(rows: list[Row], own: dict[str, int]) -> str:
    """A table of goals, and whether the figures meet them; beside them the ratio to slapd of the same run."""
    lines = ["| goal | at most | is | slapd | ratio | |", "|---|---:|---:|---:|---:|---|"]
    found = {(row.work, row.peer): row for row in rows}
    for goal in GOALS:
        row = found.get((goal.work, goal.server))
        other = found.get((goal.work, "slapd, synced" if goal.kind == "times" else "slapd"))
        by_clock = goal.kind != "us"
        is_, slapd = ((one.wall if by_clock else one.median) / 1e3 if one else 0.0 for one in (row, other))
        ratio = slapd / is_ if is_ else 0.0
        met = ratio >= goal.most if goal.kind == "times" else 0 < is_ <= goal.most
        limit = f">= {goal.most:g} times" if goal.kind == "times" else f"{goal.most:.1f} {goal.kind}"
        verdict = "met" if met else "not measured" if not is_ else "NOT met"
        lines.append(
            f"| {goal.work}, {goal.server} | {limit} | {is_:,.1f} us | {slapd:,.1f} us | {ratio:.1f} | {verdict} |"
        )
    for server, most in OWN.items():
        if server in own:
            megabytes = own[server] / 1024
            verdict = "met" if megabytes <= most else "NOT met"
            slapd = own.get("slapd", 0) / 1024
            figures = f"{most:.0f} MB | {megabytes:.0f} MB | {slapd:.0f} MB | {slapd / megabytes:.1f}"
            lines.append(f"| memory of its own, {server} | {figures} | {verdict} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/ldap/servers", description="Measures LDAP servers, ours and slapd.")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each work (default 3)")
    parser.add_argument("--entries", type=int, default=0, help="how many (default: 35 MiB of LDIF)")
    parser.add_argument("--operations", type=int, default=50_000, help="operations of a round (default 50000)")
    records.arguments(parser)
    options = parser.parse_args()
    LDAP.mkdir(parents=True, exist_ok=True)
    ldif = people.ldif("people", options.entries, LDAP)
    count = sum(1 for line in ldif.open("rb") if line.startswith(b"dn:"))
    names = Names.of(ldif)
    rows: list[Row] = []
    own: dict[str, int] = {}
    starts = (
        lambda: ours(ldif, None),
        lambda: ours(ldif, LDAP / "data"),
        lambda: theirs(ldif),
        lambda: theirs(ldif, sync=True),
    )
    for start in starts:
        try:
            process = start()
        except OSError as error:
            print(f"bench/ldap/servers: {error}", file=sys.stderr)
            continue
        try:
            print(process.name, file=sys.stderr)
            load = process.load / count
            rows.append(Row("people", "load", process.name, low=load, median=load, high=load, records=count))
            rows[-1].wall = process.wall * 1e9 / count
            # Few of what waits for the disk.
            slow = max(options.operations // 100, 50)
            for work, clients, words in DURABLE if process.name in (DISK, "slapd, synced") else []:
                number = max(slow // (1 if clients > 1 else 4), 10)
                rows.append(measure(process, work, 1, words, number, options.rounds, names, clients))
            for work, flight, words in [] if process.name == "slapd, synced" else WORKS:
                writes = work in ("add", "modify")
                number = options.operations // (5 if writes else 1)
                rows.append(measure(process, work, flight, words, number, options.rounds, names))
            if shutil.which("ldapsearch") and process.name != "slapd, synced":
                rows.append(tree(process, options.rounds, count))
            rows[-1].peak = records.peak(process.pid)
            own[process.name] = process.own()
            print(f"{process.name}: {own[process.name]:,} KiB of memory of its own", file=sys.stderr)
        finally:
            process.close()
    print(records.table(rows))
    print("Goals, for all entries (without --entries) and an optimised build: CPU time of the server,")
    print("and time by the clock where that is said and for durable works.")
    print(goals(rows, own))
    records.keep(rows, options, KIND)
    return records.verdict(rows)


if __name__ == "__main__":
    sys.exit(main())
