"""Ctrl-C ends every long call within a fifth of a second."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# How long the call may go on. Machines under load wake threads late.
PATIENCE = 0.2
SLACK = 0.3

PRELUDE = """
import os, signal, sys, threading, time
from pathlib import Path
import tercet

EVERYTHING = '''A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  T ::= SEQUENCE { list SEQUENCE OF INTEGER, octets OCTET STRING OPTIONAL }
  S ::= SEQUENCE (SIZE (200..300)) OF SEQUENCE (SIZE (200..300)) OF UTF8String (SIZE (100))
END'''
demo = Path("schemas/demo").resolve()
record = tercet.Schema.load(demo).sample("CallRecord", rules="ber")[0]

def interrupt(delay=0.15):
    def work():
        time.sleep(delay)
        global at
        at = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=work, daemon=True).start()

class Slow:
    '''A file that never ends, and is slow to tell so.'''
    def read(self, length):
        time.sleep(0.01)
        return record * (length // len(record) or 1) if length >= len(record) else record[:length]
"""

# What to prepare, and the call that takes long.
CALLS = {
    "load": (
        "text = 'B DEFINITIONS AUTOMATIC TAGS ::= BEGIN ' + ' '.join("
        "f'T{n} ::= SEQUENCE {{ a INTEGER (0..{n}), b T{max(n - 1, 0)} OPTIONAL, c SEQUENCE OF T{n // 2} }}'"
        " for n in range(150_000)) + ' END'",
        "tercet.Schema.parse(text)",
    ),
    "decode": (
        "schema = tercet.Schema.parse(EVERYTHING); n = 12_000_000\n"
        "body = b'\\x02\\x01\\x05' * n\n"
        "from struct import pack\n"
        "inner = b'\\xa0\\x84' + pack('>I', len(body)) + body\n"
        "data = b'\\x30\\x84' + pack('>I', len(inner)) + inner",
        "schema.decode('T', 'ber', data)",
    ),
    "transcode": (
        "schema = tercet.Schema.parse(EVERYTHING); n = 12_000_000\n"
        "body = b'\\x02\\x01\\x05' * n\n"
        "from struct import pack\n"
        "inner = b'\\xa0\\x84' + pack('>I', len(body)) + body\n"
        "data = b'\\x30\\x84' + pack('>I', len(inner)) + inner",
        "schema.transcode('T', 'ber', 'jer', data, max_elements=None)",
    ),
    "encode": (
        "schema = tercet.Schema.parse(EVERYTHING); value = {'list': [1000] * 8_000_000}",
        "schema.encode('T', 'uper', value)",
    ),
    "sample": ("schema = tercet.Schema.parse(EVERYTHING)", "schema.sample('S', 10_000, elements=10**9, rules='ber')"),
    "iterate": ("", "for _ in tercet.iter_records(Slow(), demo, 'CallRecord', framing='plain'): pass"),
    "read": ("", "tercet.read(Slow(), demo, 'CallRecord', framing='plain').read()"),
    "length": ("", "len(tercet.read(Slow(), demo, 'CallRecord', framing='plain'))"),
    "tables": ("", "tercet.read_tables(Slow(), demo, 'CallRecord', framing='plain').read()"),
    "arrow": ("import pyarrow", "pyarrow.table(tercet.read(Slow(), demo, 'CallRecord', framing='plain'))"),
    "splits": (
        "import tempfile; file = tempfile.NamedTemporaryFile(); file.truncate(1 << 36)",
        "tercet.splits(file.name, demo, 'CallRecord', size=1 << 20, framing='plain')",
    ),
    "ldap": (
        "import socket; server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()\n"
        "from tercet import ldap; connection = ldap.connect(f'ldap://127.0.0.1:{server.getsockname()[1]}')",
        "connection.bind()",
    ),
    "ldap-search": (
        "import socket; server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()\n"
        "from tercet import ldap; connection = ldap.connect(f'ldap://127.0.0.1:{server.getsockname()[1]}')",
        "list(connection.search('o=test'))",
    ),
    "ldif-file": (
        "from tercet.ldap import ldif\n"
        "class Endless:\n"
        "    def read(self, length):\n"
        "        time.sleep(0.01)\n"
        "        return b'dn: cn=a,o=test\\ncn: a\\n\\n'",
        "for _ in ldif.read(Endless()): pass",
    ),
    "ldif": (
        "from tercet import ldap\n"
        "text = ''.join(f'dn: cn={n},o=test\\nobjectClass: person\\ncn: {n}\\n\\n' for n in range(400_000))",
        "ldap.Directory(text)",
    ),
}


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no signals of Unix")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_long_call(name: str) -> None:
    before, call = CALLS[name]
    script = "\n".join(
        [
            PRELUDE,
            before,
            "interrupt()",
            "try:",
            textwrap.indent(call, "    "),
            "except KeyboardInterrupt:",
            "    end = time.monotonic(); print(end - at)",
            "else:",
            "    print('ended')",
            "sys.stdout.flush(); os._exit(0)",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
    )
    assert done.stdout.strip(), done.stderr
    if done.stdout.strip() == "ended":
        pytest.skip("timing: the call ended before the interrupt")
    print(name, done.stdout)
    assert float(done.stdout) < PATIENCE + SLACK
