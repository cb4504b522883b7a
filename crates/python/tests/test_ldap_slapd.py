"""A real server: slapd of OpenLDAP, on loopback, with a directory of its own."""

import asyncio
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from test_ldap import people
from test_ldap_aio import synchronizes

from tercet import ldap
from tercet.ldap import controls

SLAPD = shutil.which("slapd", path="/usr/sbin:/usr/local/sbin")

pytestmark = pytest.mark.skipif(
    SLAPD is None or not Path("/usr/lib/ldap").exists(), reason="slapd: no slapd on this machine"
)

CONF = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload syncprov
moduleload deref
pidfile {folder}/pid
loglevel none
threads 4
sasl-secprops none
authz-regexp "gidNumber=.*,cn=peercred,cn=external,cn=auth" "uid=local,o=test"
authz-regexp "uid=([^,]*),cn=.*,cn=auth" "uid=$1,o=test"
database mdb
suffix "o=test"
rootdn "o=test"
rootpw secret
directory {folder}/data
maxsize 268435456
envflags nosync
overlay syncprov
overlay deref
"""


class Slapd:
    def __init__(self, folder: Path) -> None:
        assert SLAPD is not None
        (folder / "data").mkdir()
        conf = folder / "slapd.conf"
        conf.write_text(CONF.format(folder=folder))
        # Its schema has no uidNumber for a person.
        entries = people(1500).replace("uidNumber: 41\n", "").encode()
        subprocess.run([SLAPD, "-T", "add", "-q", "-f", str(conf)], input=entries, check=True, capture_output=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"ldap://127.0.0.1:{port}"
        self.local_url = f"ldapi://{quote(str(folder / 'socket'), safe='')}"
        self.process = subprocess.Popen(
            [SLAPD, "-d", "0", "-f", str(conf), "-h", f"{self.url} {self.local_url}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise OSError("slapd does not answer")


@pytest.fixture(scope="module")
def slapd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    server = Slapd(tmp_path_factory.mktemp("slapd"))
    yield server
    server.process.terminate()
    server.process.wait(30)


def test_operations(slapd: Slapd) -> None:
    with ldap.connect(slapd.url) as connection:
        connection.bind("o=test", "secret")
        assert connection.who_am_i() == "dn:o=test"
        new = ldap.Dn("o=test").child("cn", "new")
        connection.add(new, {"objectClass": "device", "cn": "new", "serialNumber": 7})
        with pytest.raises(ldap.AlreadyExists):
            connection.add(new, {"objectClass": "device", "cn": "new"})
        with pytest.raises(ldap.SchemaViolation):
            connection.modify(new, [("add", "mail", "x@example.net")])
        connection.modify(new, [("replace", "serialNumber", ["8", "9"]), ("add", "l", "here")])
        assert connection.compare(new, "serialNumber", "9")
        connection.rename(new, "cn=newer")
        connection.delete("cn=newer,o=test")
        assert connection.modify_password("uid=bob,o=test")
        connection.bind("uid=ada,o=test", "engine")
        with pytest.raises(ldap.InvalidCredentials):
            connection.bind("uid=ada,o=test", "difference")


def test_searches(slapd: Slapd) -> None:
    with ldap.connect(slapd.url) as connection:
        connection.bind("o=test", "secret")
        whole = [entry.dn for entry in connection.search("o=test", "(uid=p*)", page_size=100)]
        assert len(whole) == 1500 and len(set(whole)) == 1500
        assert [entry.dn for entry in connection.search("o=test", "(uid=p*)")] == whole
        with pytest.raises(ldap.SizeLimitExceeded):
            list(connection.search("o=test", size_limit=10))
        [root] = connection.search("", scope="base", attributes=["+"])
        assert root["namingContexts"] == [b"o=test"]


def test_names_are_followed(slapd: Slapd) -> None:
    with ldap.connect(slapd.url) as connection:
        connection.bind("o=test", "secret")
        names = ["uid=ada,o=test", "uid=nobody,o=test"]
        connection.modify("uid=p00001,o=test", [("add", "manager", names)])
        wanted = controls.dereference({"manager": ["sn", "uid"], "seeAlso": ["cn"]})
        tracked = controls.session_tracking("ada", host="here", format="radius-session")
        [entry] = connection.search("o=test", "(uid=p00001)", controls=[wanted, tracked])
        told = controls.find(entry.controls, controls.Dereferenced)
        assert told is not None and [one.dn for one in told.referents] == names
        assert told.referents[0].attributes == {"sn": [b"Lovelace"], "uid": [b"ada"]}
        assert told.referents[1] == controls.Referent("manager", names[1], {})
        with pytest.raises(TypeError):
            controls.dereference({"manager": "sn"})
        with pytest.raises(ValueError):
            controls.session_tracking("ada", format="other")  # type: ignore[arg-type]


def test_mechanisms(slapd: Slapd) -> None:
    with ldap.connect(slapd.local_url) as connection:
        connection.bind_sasl("EXTERNAL")
        assert connection.who_am_i() == "dn:uid=local,o=test"
    with ldap.connect(slapd.url) as connection:
        [root] = connection.search("", scope="base", attributes=["supportedSASLMechanisms"])
        offered = root.texts("supportedSASLMechanisms")
        tried = 0
        for name in ("DIGEST-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN"):
            if name in offered:
                connection.bind_sasl(name, "ada", "engine")
                assert connection.who_am_i() == "dn:uid=ada,o=test"
                tried += 1
        assert tried == len({"DIGEST-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN"} & set(offered))


def test_synchronization(slapd: Slapd) -> None:
    asyncio.run(asyncio.wait_for(synchronizes(slapd.url), 60))
