"""How numbers are said, and what is known of engines."""

from __future__ import annotations

import re

#: The language that an engine's user writes in, by the first word of its name.
LANGUAGES = {
    "floor": "Rust",
    "rasn": "Rust",
    "hampi": "Rust",
    "rust-asn1": "Rust",
    "x509-cert": "Rust",
    "x509-parser": "Rust",
    "rustls-webpki": "Rust",
    "ldap3-rs": "Rust",
    "asn1c": "C",
    "openssl": "C",
    "ldapsearch": "C",
    "libldap": "C",
    "asn1bean": "Java",
    "tercet-java": "Java",
    "unboundid": "Java",
    "bouncy": "Java",
    "erlang": "Erlang",
    "erlang/otp": "Erlang",
    "go-ldap": "Go",
    "net::ldap": "Perl",
    "ocamldap": "OCaml",
    "pyarrow": "Python",
    "duckdb": "Python",
    "asn1tools": "Python",
    "orjson": "Python",
    "tercet-python": "Python",
    "pycrate": "Python",
    "python-ldap": "Python",
    "ldap3": "Python",
    "bonsai": "Python",
}

GENERATED = "tercet-generated"


def first(engine: str) -> str:
    return engine.split()[0].rstrip(",").lower()


def language(engine: str) -> str:
    return LANGUAGES.get(first(engine), "other")


def ours(engine: str) -> bool:
    return engine.startswith("tercet")


def short(engine: str) -> str:
    """An engine's name without its version."""
    name = engine.split(",")[0]
    words = [word for word in name.split() if not word[0].isdigit()]
    return " ".join(words)


def ns(value: float) -> str:
    """Nanoseconds, three digits at least."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def rate(value: float) -> str:
    """A number of things a second, with three digits."""
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= limit:
            return digits(value / limit) + unit
    return digits(value)


def digits(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(value: float) -> str:
    """A ratio."""
    return f"{value:,.0f}×" if value >= 10 else f"{value:.1f}×" if value >= 1.05 else f"{value:.2f}×"


def size(octets: float) -> str:
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if octets >= limit:
            return f"{digits(octets / limit)} {unit}"
    return f"{octets:.0f} B"


def refusal(note: str) -> str:
    """Why an engine has no figure, in our words: what a peer says when it fails is its makers' business."""
    if re.search(r"^(not built|not installed|not compiled within|other values|no such|cannot)", note):
        return note.replace("|", "\\|")
    if re.search(r"CompileError|ParseError|NotImplemented|(?<!Asn1)Exception|syntax error|compile", note):
        return "does not compile the specification"
    return "does not read these records"


def absent(note: str) -> bool:
    """Whether a peer was not there when the record was taken."""
    return note.startswith(("not built", "not installed"))


def bold(text: str, whether: bool) -> str:
    return f"**{text}**" if whether else text
