"""`tercet.capture`: messages of packet captures, of the captures that the guide has."""

import base64
import gzip
import io
import re
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import tercet

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "guide-captures.md").read_text()


def block(name: str) -> str:
    """A file of the guide."""
    found = re.search(rf"^```\w+ file={re.escape(name)}\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    assert found, name
    return found[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ["s1ap.asn", "ngap.asn", "gprs.asn"]:
        (tmp_path / name).write_text(block(name))
    for name in ["attach", "registration", "charging", "gateway"]:
        (tmp_path / f"{name}.pcap").write_bytes(base64.b64decode(block(f"{name}.base64")))
    return tmp_path


def test_messages_have_everything_that_the_command_prints(folder: Path) -> None:
    messages = list(tercet.capture(folder / "registration.pcap", folder / "ngap.asn"))
    assert [message.frame for message in messages] == list(range(1, 11))
    first = messages[0]
    assert isinstance(first, tercet.CaptureMessage)
    assert (first.protocol, first.message, first.ids) == ("ngap", "InitialUEMessage", {"ran": 1})
    assert first.octets == bytes.fromhex("000f060001037e0041")
    assert first.time == "2023-11-14T22:13:20.000000000Z"
    assert (first.src, first.dst, first.stream) == ("10.0.0.7:40001", "10.0.0.9:38412", "sctp:0/1")
    assert (first.schema, first.type, first.rules) == ("NGAP-PDU-Descriptions", "NGAP-PDU", "aper")
    assert (first.frames, first.partial, first.error, first.warnings, first.sccp) == ([1], False, None, [], None)
    assert first.layers == ["ethernet", "ipv4", "sctp"]
    assert first.file.endswith("registration.pcap")
    assert first.value == {
        "initiatingMessage": {"procedureCode": "id-InitialUEMessage", "value": {"ran": 1, "nas": "7E0041"}}
    }
    assert repr(first) == "<tercet.CaptureMessage ngap InitialUEMessage in frame 1>"


def test_numbers_and_values_can_be_chosen(folder: Path) -> None:
    def first(**options: Any) -> tercet.CaptureMessage:
        return next(iter(tercet.capture(folder / "registration.pcap", folder / "ngap.asn", **options)))

    assert first(numbers=True, ies="list").value["initiatingMessage"]["value"]["ran"] == 1
    assert first(values=False).value is None
    assert first(where="message = 'UplinkNASTransport'").frame == 4
    assert first(where=["ids.amf = 18", "src = '10.0.0.9'"]).frame == 5


def test_deviations_are_warnings_or_errors(folder: Path) -> None:
    def eighth(**options: Any) -> tercet.CaptureMessage:
        messages = tercet.capture(folder / "registration.pcap", folder / "ngap.asn", where="frame = 8", **options)
        return next(iter(messages))

    lenient = eighth()
    assert lenient.error is None
    assert [(it["code"], it["path"]) for it in lenient.warnings] == [
        ("character-invalid", "NGAP-PDU.initiatingMessage.value.amfName")
    ]
    assert lenient.value["initiatingMessage"]["value"]["amfName"] == "amf_1"
    strict = eighth(strict=True)
    assert strict.error is not None
    assert strict.error["path"] == "NGAP-PDU.initiatingMessage.value.amfName"
    assert strict.message == "InitialContextSetupRequest"


def test_a_protocol_is_a_table(folder: Path) -> None:
    capture = tercet.capture(folder / "registration.pcap", folder / "ngap.asn", protocol="ngap", batch_rows=4)
    assert capture.columns == ["frame", "time", "protocol", "src", "dst", "stream", "message", "ids", "error", "value"]
    table = pyarrow.table(capture)
    messages = list(capture)
    assert table.column("frame").to_pylist() == [message.frame for message in messages]
    assert table.column("message").to_pylist() == [message.message for message in messages]
    assert table.column("ids").to_pylist()[3] == {"amf": 17, "ran": 1}
    assert len(table.column("frame").chunks) == 3
    # It is read again each time.
    assert pyarrow.table(capture).equals(table)
    assert pyarrow.schema(capture.schema) == table.schema
    some = tercet.capture(
        folder / "registration.pcap", folder / "ngap.asn", protocol="ngap", columns=["frame", "ids.amf"], flat=True
    )
    assert pyarrow.table(some).column_names == ["frame", "ids.amf"]
    assert len(capture.to_pandas()) == len(capture.to_polars()) == 10


def test_captures_are_files_bytes_and_file_objects(folder: Path) -> None:
    octets = (folder / "charging.pcap").read_bytes()
    (folder / "charging.pcap.gz").write_bytes(gzip.compress(octets))
    given: list[Any] = [octets, io.BytesIO(octets), folder / "charging.pcap.gz", str(folder / "charging.*")]
    counts = [len(list(tercet.capture(it, folder / "gprs.asn"))) for it in given]
    assert counts == [3, 3, 3, 6]
    durations = [it.value["pgwRecord"]["duration"] for it in tercet.capture(octets, [folder / "gprs.asn"])]
    assert durations == [60, 120, 180]


def test_specifications_come_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERCET_SCHEMAS", str(folder))
    assert next(iter(tercet.capture(folder / "charging.pcap"))).message == "pgwRecord"


def test_h248_needs_no_specification(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERCET_SCHEMAS", raising=False)
    messages = list(tercet.capture(folder / "gateway.pcap"))
    assert [it.message for it in messages[:3]] == ["transactionRequest", "transactionReply", "transactionRequest"]
    assert messages[0].ids["transactions"] == [9001]
    assert messages[3].error is not None and messages[3].error["stage"] == "decode"


def test_a_missing_specification_is_a_warning(folder: Path) -> None:
    with pytest.warns(UserWarning, match="no specification of ngap: module NGAP-PDU-Descriptions"):
        messages = list(tercet.capture(folder / "registration.pcap", folder / "s1ap.asn"))
    assert [it.error["stage"] for it in messages if it.error] == ["schema"] * 10


def test_bad_packets_are_warnings(folder: Path) -> None:
    with pytest.warns(UserWarning, match="frame 4: sctp: chunk length 65535"):
        messages = list(tercet.capture(folder / "attach.pcap", folder / "s1ap.asn"))
    assert [(it.frame, it.frames) for it in messages] == [(2, [1, 2])]
    with pytest.warns(UserWarning):
        found = list(tercet.capture(folder / "attach.pcap", folder / "s1ap.asn", decode_as="sctp.port==5000=s1ap"))
    assert [it.frame for it in found] == [2, 3]


def test_faults_of_the_call_are_named(folder: Path) -> None:
    capture, asn = folder / "registration.pcap", folder / "ngap.asn"
    with pytest.raises(tercet.ArgumentError, match="ngap"):
        tercet.capture(capture, asn, protocol="ngpa")
    with pytest.raises(tercet.ArgumentError, match="where"):
        tercet.capture(capture, asn, where="frame >")
    with pytest.raises(tercet.ArgumentError, match="decode_as"):
        tercet.capture(capture, asn, decode_as="sctp.port")
    with pytest.raises(tercet.ArgumentError, match="ies"):
        tercet.capture(capture, asn, ies="both")  # type: ignore[arg-type]
    with pytest.raises(tercet.ArgumentError, match="one protocol"):
        pyarrow.table(tercet.capture(capture, asn))
    with pytest.raises(tercet.SchemaError, match="no specification of s1ap"):
        pyarrow.table(tercet.capture(capture, asn, protocol="s1ap"))
    with pytest.raises(tercet.MissingFileError):
        list(tercet.capture(folder / "nothing.pcap", asn))
    with pytest.raises(OSError, match="not a capture file"), pytest.warns(UserWarning):
        list(tercet.capture(asn, asn))
