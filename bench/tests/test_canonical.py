"""The same values have the same digest, whatever text says them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import canonical, replay
from harness.definitions import Definition
from harness.ldap import digest

DEFINITION = Definition(
    *("x", "", Path(), "elements", [], "M", "T"),
    bit_strings={"bits"},
    reals={"real"},
    defaults={"cause": "normalRelease"},
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"json": {"a": "0AFF"}}, {"text": '{"a": "0aff"}'}),
        ({"json": {"a": "0AFF"}}, {"xer": "<T><a>0A FF</a></T>"}),
        ({"json": {"a": 1, "cause": "normalRelease"}}, {"json": {"a": 1}}),
        ({"json": {"a": 1}}, {"xer": "<T><a>1</a><cause><normalRelease/></cause></T>"}),
        ({"json": {"e": "red"}}, {"xer": "<T><e><red/></e></T>"}),
        ({"json": {"bits": {"value": "A0", "length": 3}}}, {"xer": "<T><bits>101</bits></T>"}),
        ({"json": {"real": 1.5}}, {"xer": "<T><real>1.50</real></T>"}),
        ({"json": {"l": [{"n": 1}, {"n": 2}]}}, {"xer": "<T><l><N><n>1</n></N><N><n>2</n></N></l></T>"}),
        ({"json": {"t": "20111006083956Z"}}, {"json": {"t": "20111006083956"}}),
        ({"json": {"t": "111006083956Z"}}, {"json": {"t": "20111006083956"}}),
    ],
)
def test_the_same_value(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert canonical.digest(DEFINITION, [one]) == canonical.digest(DEFINITION, [other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"json": {"a": "0AFF"}}, {"json": {"a": "0AFE"}}),
        ({"json": {"a": 1}}, {"json": {"b": 1}}),
        ({"json": {"a": 1, "cause": "busy"}}, {"json": {"a": 1}}),
        ({"json": {"l": [1, 2]}}, {"json": {"l": [1, 1, 2]}}),
    ],
)
def test_another_value(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert canonical.digest(DEFINITION, [one]) != canonical.digest(DEFINITION, [other])


def test_entries_in_any_order_of_attributes_and_values(tmp_path: Path) -> None:
    def of(text: str) -> str:
        path = tmp_path / "some.ldif"
        path.write_text(text)
        return digest(path)

    one = of("version: 1\n\ndn: o=a\ncn: Ada\ncn: Countess\n Ada\n\ndn: o=b\nsn:: w7g=\n")
    assert one == of("# comment\ndn: o=a\nCN: CountessAda\ncn: Ada\n\ndn:: bz1i\nsn: ø\n\n")
    assert one != of("dn: o=a\ncn: Ada\n\ndn: o=b\nsn: ø\n")


def test_an_answer_has_the_number_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "some.ldif"
    path.write_text(f"dn: o=a\ndescription: {'x' * 300}\n\ndn: o=b\no: b\n")
    answer = replay.Answer.of(path)
    assert answer.count == 2 and len(answer.places) == 3
    assert [answer.octets[place - 2 : place + 1] for place in answer.places] == [b"\2\1\2"] * 3
    assert [answer.numbered(7)[place] for place in answer.places] == [7] * 3
