"""TLS: who is trusted, and who is not. The certificates are made by openssl."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest
from test_ldap import PEOPLE

from tercet import ldap
from tercet.ldap import aio

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl: no openssl, which makes certificates")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CA, a server `localhost` that it has signed, and another CA."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ("ca", "other"):
        openssl(
            "req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-days", "2"
        )
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-days", "2"]
    openssl("x509", "-req", "-in", "server.csr", *signed, "-out", "server.pem")
    return folder


@pytest.mark.parametrize("ldaps", [False, True])
def test_who_is_trusted(certificates: Path, ldaps: bool) -> None:
    server = ldap.Directory(
        PEOPLE, certificate=certificates / "server.pem", key=(certificates / "server.key").read_bytes(), ldaps=ldaps
    )
    with server as directory:
        url = directory.url.replace("127.0.0.1", "localhost")
        ca = certificates / "ca.pem"
        with ldap.connect(url, start_tls=not ldaps, ca=ca) as connection:
            connection.bind("uid=ada,o=test", "engine")
            assert connection.who_am_i() == "dn:uid=ada,o=test"
        with ldap.connect(
            directory.url, start_tls=not ldaps, ca=ca.read_bytes(), server_name="localhost"
        ) as connection:
            assert connection.compare("o=test", "o", "test")
        with ldap.connect(directory.url, start_tls=not ldaps, verify=False) as connection:
            assert connection.compare("o=test", "o", "test")
        with pytest.raises(ldap.TlsError):
            ldap.connect(directory.url, start_tls=not ldaps, ca=ca)
        with pytest.raises(ldap.TlsError):
            ldap.connect(url, start_tls=not ldaps, ca=certificates / "other.pem")
        with pytest.raises(ldap.TlsError) as caught:
            ldap.connect(url, start_tls=not ldaps)
        assert isinstance(caught.value, ConnectionError)


def test_encryption_of_later(certificates: Path) -> None:
    ca, other = certificates / "ca.pem", certificates / "other.pem"
    pair = (certificates / "server.pem", certificates / "server.key")
    with ldap.Directory(PEOPLE, certificate=pair[0], key=pair[1]) as directory:
        url = directory.url.replace("127.0.0.1", "localhost")
        with ldap.connect(url, ca=ca) as connection:
            assert connection.compare("o=test", "o", "test")
            running = connection.search("o=test", page_size=1)
            with pytest.raises(ldap.UsageError, match="in flight"):
                connection.start_tls()
            running.close()
            list(running)
            assert connection.start_tls().code == 0
            connection.bind("uid=ada,o=test", "engine")
            assert connection.who_am_i() == "dn:uid=ada,o=test"
            with pytest.raises(ldap.UsageError):
                connection.start_tls()
        with ldap.connect(url, ca=other) as connection:
            with pytest.raises(ldap.TlsError):
                connection.start_tls()
            assert connection.closed

        async def main() -> None:
            async with aio.connect(url, ca=ca) as connection:
                await connection.start_tls()
                await connection.bind("uid=ada,o=test", "engine")
                assert await connection.who_am_i() == "dn:uid=ada,o=test"

        asyncio.run(main())
    with ldap.Directory(PEOPLE) as directory, ldap.connect(directory.url) as connection:
        with pytest.raises(ldap.ResultError):
            connection.start_tls()
        assert connection.closed


def test_what_makes_no_sense(certificates: Path) -> None:
    with pytest.raises(ldap.UsageError, match="`verify=False`"):
        ldap.connect("ldaps://localhost", ca=certificates / "ca.pem", verify=False)
    with pytest.raises(ldap.UsageError, match="key"):
        ldap.connect("ldaps://localhost", certificate=certificates / "server.pem")
    with pytest.raises(FileNotFoundError, match="absent"):
        ldap.connect("ldaps://localhost", ca=certificates / "absent.pem")
    with pytest.raises(ldap.UsageError, match="certificate"):
        ldap.Directory(PEOPLE, ldaps=True)
    with pytest.raises(ldap.TlsError):
        ldap.Directory(PEOPLE, certificate=b"none", key=b"none")
    with ldap.Directory(PEOPLE) as directory:
        with pytest.raises(ldap.ResultError, match=directory.url) as caught:
            ldap.connect(directory.url, start_tls=True)
        assert caught.value.code == ldap.ResultCode.PROTOCOL_ERROR
