"""`tercet.megaco`: messages, digit maps, session descriptions."""

import doctest
import json
import threading
from pathlib import Path

import pytest

import tercet
from tercet import megaco
from tercet.megaco import sdp

MESSAGES = Path(__file__).resolve().parents[3] / "tests" / "corpora" / "megaco"
TEXT = b"!/1 [192.0.2.1]\nT=7{C=-{MF=line1{E=1{al/of},SG{cg/dt}}}}"


@pytest.mark.parametrize("module", [megaco, sdp])
def test_examples_of_docstrings(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 4 and result.failed == 0


@pytest.mark.parametrize("encoding", megaco.ENCODINGS)
def test_each_encoding_keeps_a_message(encoding: str) -> None:
    message = megaco.decode(TEXT)
    octets = megaco.encode(message, encoding)
    assert megaco.detect(octets) == encoding
    assert megaco.decode(octets) == megaco.decode(octets, encoding=encoding) == message
    assert megaco.transcode(octets, "compact") == TEXT


def test_own_messages_keep_their_values() -> None:
    files = sorted(path for path in MESSAGES.rglob("*") if path.suffix in (".txt", ".megaco"))
    assert files
    read = 0
    for file in files:
        octets = file.read_bytes()
        try:
            message = megaco.decode(octets)
        except megaco.DecodeError:
            continue
        read += 1
        assert megaco.decode(megaco.encode(message, "pretty")) == message, file
    assert read > 0


def test_faults_tell_the_place() -> None:
    with pytest.raises(tercet.DecodeError) as caught:
        megaco.decode(b"!/1 [192.0.2.1]\nT=x{}")
    fault = caught.value
    assert (fault.line, fault.column, fault.offset, fault.kind) == (2, 3, 18, "text")
    with pytest.raises(tercet.DecodeError) as caught:
        megaco.decode(bytes.fromhex("3080"), encoding="ber")
    assert caught.value.line is None


@pytest.mark.parametrize("octets", [b"", b"\0", b"!", b"\x30", b"\x83\x50", b"{", b"\xff" * 70_000, b"(" * 70_000])
def test_no_message_is_a_fault(octets: bytes) -> None:
    with pytest.raises(tercet.DecodeError):
        megaco.decode(octets)


def test_wrong_arguments() -> None:
    with pytest.raises(tercet.ArgumentError, match="compact"):
        megaco.encode(megaco.decode(TEXT), "compct")
    with pytest.raises(tercet.ArgumentError, match="message"):
        megaco.encode({"mess": object()})
    with pytest.raises(tercet.ArgumentError):
        megaco.decode("text")  # type: ignore[arg-type]
    with pytest.raises(tercet.DecodeError):
        megaco.encode({"mess": 1})
    endless: dict[str, object] = {}
    endless["mess"] = endless
    with pytest.raises(tercet.ArgumentError):
        megaco.encode(endless)


def test_check_tells_the_path() -> None:
    assert megaco.check(TEXT) == []
    [finding] = megaco.check(TEXT.replace(b"al/of", b"al/offf"))
    assert "al/offf" in finding.path and not finding.is_information
    [finding] = megaco.check(TEXT.replace(b"al/of", b"ours/of"))
    assert finding.is_information


def test_json_is_the_form_of_decode() -> None:
    assert json.loads(megaco.transcode(TEXT, "json")) == megaco.decode(TEXT)


def test_digit_maps() -> None:
    digit_map = megaco.DigitMap("(0|00|[1-7]xxx|8xxxxxxx|Fxxxxxxx|Exx|91xxxxxxxxxx|9011x.)")
    assert digit_map.evaluate("1234") == ("UM", None)
    assert digit_map.evaluate("0") == ("FM", None)
    assert digit_map.evaluate("05") == ("FM", "5")
    assert digit_map.evaluate("123") == ("PM", None)
    assert megaco.DigitMap(str(digit_map)) == digit_map
    with pytest.raises(tercet.DecodeError) as caught:
        megaco.DigitMap("(1x")
    assert caught.value.offset == 3
    with pytest.raises(tercet.ArgumentError):
        digit_map.evaluate("1\N{SNOWMAN}")
    with pytest.raises((tercet.Error, OverflowError)):
        megaco.DigitMap("(1)", start=1000)


def test_times_of_digits() -> None:
    evaluation = megaco.DigitMap("(Z1x|12)", duration=5, start=2, long=3).begin(100)
    assert evaluation.deadline == 2100
    assert evaluation.time(2099) is None
    assert evaluation.digit(200, "1", held=600) is None
    assert evaluation.deadline == 3200
    assert evaluation.digit(300, "2") == ("UM", None)
    assert evaluation.digits == "12"


def test_session_descriptions_keep_their_octets() -> None:
    octets = b"v=0\r\nc=IN IP4 $\r\nm=audio $ RTP/AVP 4\r\na=ptime:30\r\nx=\xff\r\nv=0\r\nt=0 0\r\n"
    sessions = sdp.read(octets)
    assert [len(session.lines) for session in sessions] == [5, 2]
    assert sdp.text(line for session in sessions for line in session.lines) == octets
    assert sessions[0].lines[4].value == "\udcff"
    [section] = sessions[0].media
    assert section.connection is None and sessions[0].connection == {
        "network": "IN",
        "family": "IP4",
        "address": "$",
        "scope": [],
    }
    with pytest.raises(tercet.EncodeError):
        sdp.text([("m", "audio many RTP/AVP 4")])
    with pytest.raises(tercet.EncodeError):
        sdp.text([("s", "two\r\nlines")])
    with pytest.raises(tercet.ArgumentError):
        sdp.text([("s", 1)])  # type: ignore[list-item]


def test_threads_may_use_one_map() -> None:
    digit_map = megaco.DigitMap("(2xxx)")
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(digit_map.evaluate("2345"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [("UM", None)] * 8
