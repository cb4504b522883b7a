"""Long-running programs that answer a line of JSON with lines of JSON, within a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

PEERS = Path(__file__).resolve().parent.parent
REPOSITORY = PEERS.parent
BUILD = PEERS / ".build"


class Gone(Exception):
    """The program has ended, or did not answer in time and was ended."""


class Process:
    """One such program. It is started when it is first asked, and again after it is gone."""

    def __init__(self, command: list[str], directory: Path | None = None) -> None:
        self._command = command
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, request: Any, seconds: float) -> Any:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._rest = b""
        try:
            assert self._process.stdin
            self._process.stdin.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._line(time.monotonic() + seconds))
        except (OSError, ValueError) as error:
            self.end()
            raise Gone(str(error)) from error

    def _line(self, until: float) -> bytes:
        assert self._process and self._process.stdout
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                raise OSError("no answer in time")
            more = os.read(pipe, 1 << 20)
            if not more:
                raise OSError("it ended")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
