"""One digest for the same values, whichever tool decoded them and in whatever text it says so.

A value becomes the sorted list of its leaves, each a path of component identifiers and a text. Tools differ in the
case of hexadecimal digits, in spaces, in whether an enumeration is text or an empty XML element, and in whether they
show an absent component with a DEFAULT; none of that is in the digest. Two values that differ in anything else do not
have the same leaves.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from xml.etree import ElementTree

from .definitions import Definition


def digest(definition: Definition, values: list[Any]) -> str:
    """The digest of values in their order; each is an answer of a runner: `json`, `text`, or `xer`."""
    whole = hashlib.sha256()
    for answer in values:
        for line in sorted(leaves(definition, answer)):
            whole.update(line.encode() + b"\n")
        whole.update(b"\n")
    return whole.hexdigest()[:16]


def leaves(definition: Definition, answer: dict[str, Any]) -> list[str]:
    """The leaves of one value."""
    found: list[str] = []
    if "xer" in answer:
        _xml(definition, ElementTree.fromstring(answer["xer"]), [], found)
    else:
        value = json.loads(answer["text"]) if "text" in answer else answer["json"]
        _json(definition, value, [], found)
    return found


def _json(definition: Definition, value: Any, path: list[str], found: list[str]) -> None:
    if isinstance(value, dict) and set(value) == {"value", "length"}:
        value = value["value"]
    if isinstance(value, dict) and value:
        before = len(found)
        for name, item in value.items():
            # What CONTAINING holds is named `containing` (X.697) or by its type, which are no part of a path.
            held = len(value) == 1 and (name == "containing" or name[0].isupper())
            _json(definition, item, path if held else [*path, name], found)
        if len(found) == before:  # of a value of nothing but defaults, others show no component
            _leaf(definition, path, "", found)
    elif isinstance(value, list) and value:
        for item in value:
            _json(definition, item, path, found)
    elif value is None or value == {} or value == []:
        _leaf(definition, path, "", found)
    elif isinstance(value, bool):
        _leaf(definition, path, "true" if value else "false", found)
    else:
        _leaf(definition, path, str(value), found)


def _xml(definition: Definition, element: ElementTree.Element, path: list[str], found: list[str]) -> None:
    for child in element:
        # Elements of SEQUENCE OF have the name of their type, which is no part of a path.
        inner = [*path, child.tag] if child.tag[0].islower() else path
        _xml(definition, child, inner, found)
    if len(element) == 0:
        text = "".join((element.text or "").split())
        if path and path[-1] in definition.bit_strings and text:
            text = f"{int(text, 2) << -len(text) % 8:0{(len(text) + 7) // 8 * 2}x}"
        _leaf(definition, path, text, found)


def _leaf(definition: Definition, path: list[str], text: str, found: list[str]) -> None:
    text = "".join(text.split()).casefold()
    if re.fullmatch(r"\d{12}z", text):  # a UTCTime, of which some tools show the century (RFC 5280) and not the zone
        text = ("19" if text >= "50" else "20") + text[:-1]
    elif re.fullmatch(r"\d{14}z", text):  # the same of a GeneralizedTime
        text = text[:-1]
    steps = [*path, text] if text else path
    name = steps[-2] if len(steps) > 1 else ""
    if name in definition.defaults and definition.defaults[name].casefold() == steps[-1].casefold():
        return
    if path and path[-1] in definition.reals and text:
        steps = [*path, repr(float(text))]
    found.append("/".join(step.casefold() for step in steps))
