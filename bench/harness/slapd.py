"""A slapd of our own, on the loopback, in a folder that goes away with it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

CONF = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
loglevel none
threads 4
sizelimit unlimited
timelimit unlimited
database mdb
suffix "o=test"
rootdn "cn=admin,o=test"
directory {folder}/data
maxsize 2147483648
"""
#: Without it, each change is on disk before it is answered.
NO_SYNC = "envflags nosync\n"


class Slapd:
    """The process; its port answers when the constructor is done."""

    def __init__(self, ldif: Path, folder: Path, more: str = "", *, sync: bool = False) -> None:
        if not shutil.which("slapd", path="/usr/sbin:/usr/local/libexec:/usr/libexec"):
            raise OSError("slapd is not installed")
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "data").mkdir(parents=True)
        conf = folder / "slapd.conf"
        conf.write_text(CONF.format(folder=folder) + ("" if sync else NO_SYNC) + more)
        loaded = subprocess.run(
            ["/usr/sbin/slapadd", "-q", "-f", str(conf), "-l", str(ldif)], capture_output=True, text=True, check=False
        )
        if loaded.returncode:
            raise OSError(f"slapadd: {loaded.stderr.strip().splitlines()[-1]}")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        command = ["/usr/sbin/slapd", "-d", "0", "-f", str(conf), "-h", f"ldap://127.0.0.1:{self.port}/"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.close()
        raise OSError("slapd does not answer")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
