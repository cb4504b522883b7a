"""Commands as a user runs them: CPU time of the process with all its threads, time by the clock, and memory."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .definitions import REPOSITORY
from .records import peak


@dataclass
class Spent:
    """What a command took: nanoseconds, and KiB at most."""

    cpu: int
    wall: int
    peak: int
    #: The same of the largest among it and those that it started.
    largest: int = 0


class Failed(Exception):
    """The command ended with something other than success; the text is the last line of what it said."""


def run(
    command: Sequence[str],
    limit: float = 3600.0,
    out: Path | None = None,
    errors: Path | None = None,
    folder: Path | None = None,
    is_piped: bool = False,
) -> Spent:
    """Runs a command to its end, in a folder; what it prints goes to files, to a process that reads it, or nowhere."""
    with _reader() if is_piped else open(out or os.devnull, "wb") as sink:
        start = time.perf_counter_ns()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.PIPE, cwd=folder)
        assert child.stderr
        watch = _Watch(child.pid, limit)
        said = child.stderr.read()
        # The rusage of this child alone, which `subprocess` does not give.
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter_ns() - start
        watch.end()
        child.stderr.close()
        child.returncode = os.waitstatus_to_exitcode(status)
    if errors:
        errors.write_bytes(said)
    if child.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        why = lines[-1][:160] if lines else f"exit code {child.returncode}"
        raise Failed(f"not ended after {limit:.0f} seconds" if wall >= limit * 1e9 else why)
    return Spent(round((used.ru_utime + used.ru_stime) * 1e9), wall, watch.peak, max(watch.peak, used.ru_maxrss))


@contextmanager
def _reader() -> Iterator[IO[bytes]]:
    """The end to write to of a pipe that is read by another process."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        assert reader.stdin
        yield reader.stdin


class _Watch(threading.Thread):
    """Looks at the memory of a process until it ends, and ends it when its time is up.

    The rusage of a child does not tell: it begins with the memory of the process that started it.
    """

    def __init__(self, pid: int, limit: float) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak = 0
        self.limit = time.monotonic() + limit
        self.ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.ended.wait(0.004):
            self.peak = max(self.peak, peak(self.pid))
            if time.monotonic() > self.limit:
                os.kill(self.pid, signal.SIGKILL)
                return

    def end(self) -> None:
        self.ended.set()
        self.join()


def tercet() -> str:
    """Our command: `$TERCET`, or what `bench/setup` has built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return os.environ.get("TERCET") or str(target / "release" / "tercet")


def python() -> str:
    """The Python that has our package: `scripts/python build` with `PROFILE=release` puts it there."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return str(target / "python" / "bin" / "python")


def said(*command: str) -> str:
    """What a command prints; nothing if it is not there."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return (done.stdout or done.stderr).strip()
