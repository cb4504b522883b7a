"""The entries of a directory: those of the corpora's generator, or where it is not there, of a short one of our own."""

from __future__ import annotations

import base64
import random
import subprocess
import sys
from pathlib import Path

from .definitions import corpora

NAMES = [
    "Ada",
    "Bob",
    "Chloë",
    "Dora",
    "Émile",
    "Fatima",
    "Gösta",
    "Hana",
    "Ivo",
    "Jürgen",
    "Kim",
    "Lena",
    "Mário",
    "Nora",
    "Ömer",
    "Pia",
    "Quinn",
    "Rosa",
    "Søren",
    "Tess",
]
PLACES = [
    "Amsterdam",
    "Berlin",
    "Chicago",
    "Dublin",
    "Florence",
    "Geneva",
    "Helsinki",
    "Istanbul",
    "Kyoto",
    "Lisbon",
    "Nairobi",
    "Oslo",
    "Quito",
    "Rome",
]

#: Entries of our own generator that make 35 MiB.
COUNT = 68_400


def ldif(data: str, count: int, folder: Path) -> Path:
    """A file with so many entries (0: as many as the published page has octets), made if it is not there."""
    path = folder / f"{data}-{count or 'all'}.ldif"
    if path.exists():
        return path
    generator = corpora() / "ldap" / "gen_ldif.py"
    if generator.exists():
        arguments = [data, *([str(count)] if count else [])]
        text = subprocess.run([sys.executable, str(generator), *arguments], check=True, capture_output=True).stdout
    elif data == "people":
        text = _own(count or COUNT)
    else:
        raise SystemExit(f"bench/ldap/run: the entries {data} are of the corpora, which are not at {corpora()}")
    path.write_bytes(text)
    return path


def _own(count: int) -> bytes:
    some = random.Random(1)
    out = [
        "dn: o=test\nobjectClass: organization\no: test\n",
        "dn: ou=people,o=test\nobjectClass: organizationalUnit\n",
    ]
    out[-1] += "ou: people\n"
    for i in range(count):
        given, surname, place = some.choice(NAMES), some.choice(NAMES), some.choice(PLACES)
        lines = [f"dn: uid=u{i:07},ou=people,o=test"]
        lines += [f"objectClass: {name}" for name in ("top", "person", "organizationalPerson", "inetOrgPerson")]
        lines += [f"uid: u{i:07}", _line("cn", f"{given} {surname}"), _line("cn", f"{given} {surname} {i}")]
        lines += [_line("sn", surname), _line("givenName", given), f"mail: u{i:07}@example.test"]
        lines += [f"telephoneNumber: +1 {some.randrange(10**10):010}", f"l: {place}", "ou: people"]
        lines += [f"employeeNumber: {100_000 + i}", f"roomNumber: {some.randrange(900)}", "title: Engineer"]
        lines += [f"userPassword:: {base64.b64encode(some.randbytes(38)).decode()}"]
        lines += [f"description: {' '.join(some.choice(PLACES) for _ in range(4 + some.randrange(20)))}"]
        out.append("\n".join(lines) + "\n")
    return "\n".join(out).encode() + b"\n"


def _line(name: str, value: str) -> str:
    return f"{name}: {value}" if value.isascii() else f"{name}:: {base64.b64encode(value.encode()).decode()}"
