"""Transactions of several entries: all changes are made, or none."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tercet import ldap
from tercet.ldap import aio

BANK = """\
dn: o=test
objectClass: organization
o: test

dn: ou=locks,o=test
objectClass: organizationalUnit
ou: locks

dn: uid=ada,o=test
objectClass: account
uid: ada
uidNumber: 100

dn: uid=bob,o=test
objectClass: account
uid: bob
uidNumber: 100
"""
ADA, BOB, LOCKS = "uid=ada,o=test", "uid=bob,o=test", "ou=locks,o=test"


@pytest.fixture
def bank() -> Iterator[ldap.Directory]:
    with ldap.Directory(BANK) as directory:
        yield directory


def balance(connection: ldap.Connection, dn: str) -> int:
    [entry] = connection.search(dn, scope="base")
    return int(entry.text("uidNumber") or "0")


def transfer(connection: ldap.Connection, journal: Path, amount: int) -> None:
    with connection.transaction(locks=LOCKS, journal=journal) as txn:
        ada, bob = txn.read(ADA), txn.read(BOB)
        ada["uidNumber"] = [int(ada["uidNumber"][0]) - amount]
        bob["uidNumber"] = [int(bob["uidNumber"][0]) + amount]
        txn.update(ada)
        txn.update(bob)


def test_changes_are_made_together(bank: ldap.Directory, tmp_path: Path) -> None:
    with ldap.connect(bank.url) as connection:
        transfer(connection, tmp_path / "j", 30)
        assert (balance(connection, ADA), balance(connection, BOB)) == (70, 130)
        with connection.transaction(locks=LOCKS, journal=str(tmp_path / "j"), engine="advisory") as txn:
            txn.add("uid=eve,o=test", {"objectClass": "account", "uid": "eve"})
            txn.modify(ADA, [("add", "mail", "ada@example.net")])
            txn.rename(BOB, "uid=rob")
            change = ldap.Modification("add", "description", [b"new"])
            txn.apply(ldap.Record("uid=eve,o=test", change="modify", modifications=[change]))
        [eve] = connection.search("o=test", "(uid=eve)")
        assert eve.text("description") == "new"
        assert [entry.dn for entry in connection.search("o=test", "(uid=rob)")] == ["uid=rob,o=test"]
        assert list(connection.search(LOCKS, scope="children")) == []
        assert list((tmp_path / "j").iterdir()) == []


def test_none_is_made_after_an_exception(bank: ldap.Directory, tmp_path: Path) -> None:
    with ldap.connect(bank.url) as connection:
        with pytest.raises(KeyError), connection.transaction(locks=LOCKS, journal=tmp_path) as txn:
            ada = txn.read(ADA)
            ada["uidNumber"] = ["0"]
            txn.update(ada)
            raise KeyError("no")
        assert balance(connection, ADA) == 100
        txn = connection.transaction(locks=LOCKS, journal=tmp_path)
        txn.modify(ADA, [("replace", "uidNumber", 0)])
        txn.rollback()
        with pytest.raises(ldap.UsageError, match="is over"):
            txn.commit()
        assert balance(connection, ADA) == 100
        assert list(connection.search(LOCKS, scope="children")) == []


def test_refused_changes_are_undone(bank: ldap.Directory, tmp_path: Path) -> None:
    with ldap.connect(bank.url) as connection:
        transaction = connection.transaction(locks=LOCKS, journal=tmp_path)
        with pytest.raises(ldap.TransactionAborted) as caught, transaction as txn:
            txn.modify(ADA, [("replace", "uidNumber", 0)])
            txn.modify("uid=nobody,o=test", [("replace", "uidNumber", 0)])
        aborted = caught.value
        assert aborted.rolled_back and aborted.conflicts == [] and aborted.journal is None
        assert isinstance(aborted.cause, ldap.NoSuchObject) and aborted.__cause__ is aborted.cause
        assert isinstance(aborted, ldap.Error)
        assert balance(connection, ADA) == 100
        transaction = connection.transaction(locks=LOCKS, journal=tmp_path)
        with pytest.raises(ldap.TransactionAborted, match="irreversible"), transaction as txn:
            txn.delete(ADA)
        with connection.transaction(locks=LOCKS, journal=tmp_path, allow_irreversible=True) as txn:
            txn.delete(ADA)
        assert list(connection.search("o=test", "(uid=ada)")) == []


def test_locks_are_waited_for(bank: ldap.Directory, tmp_path: Path) -> None:
    with ldap.connect(bank.url) as connection, ldap.connect(bank.url) as other:
        with connection.transaction(locks=LOCKS, journal=tmp_path) as txn:
            txn.read(ADA)
            with pytest.raises(ldap.Timeout), other.transaction(locks=LOCKS, journal=tmp_path, lock_wait=0) as late:
                late.read(ADA)
        for wrong in ({"locks": LOCKS}, {"journal": tmp_path}, {"engine": "server"}):
            with pytest.raises(ldap.UsageError), connection.transaction(**wrong):
                pass
        with pytest.raises(ldap.UsageError, match="engine"):
            connection.transaction(engine="other")  # type: ignore[arg-type]
        with pytest.raises(ldap.UsageError, match="lease"):
            connection.transaction(lease=-1)


def test_transfers_of_several_threads_keep_the_sum(bank: ldap.Directory, tmp_path: Path) -> None:
    def work() -> None:
        with ldap.connect(bank.url) as connection:
            for _ in range(5):
                transfer(connection, tmp_path, 1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ldap.connect(bank.url) as connection:
        assert (balance(connection, ADA), balance(connection, BOB)) == (90, 110)


def test_with_asyncio(bank: ldap.Directory, tmp_path: Path) -> None:
    async def work() -> None:
        async with aio.connect(bank.url) as connection:
            async with connection.transaction(locks=LOCKS, journal=tmp_path) as txn:
                ada = await txn.read(ADA)
                ada["uidNumber"] = ["1"]
                txn.update(ada)
            with pytest.raises(ldap.TransactionAborted):
                async with connection.transaction(locks=LOCKS, journal=tmp_path) as txn:
                    txn.modify(ADA, [("replace", "uidNumber", 2)])
                    txn.modify("uid=nobody,o=test", [("replace", "uidNumber", 0)])
            with pytest.raises(KeyError):
                async with connection.transaction(locks=LOCKS, journal=tmp_path) as txn:
                    await txn.read(ADA)
                    raise KeyError("no")
            async with connection.transaction(locks=LOCKS, journal=tmp_path) as txn:
                txn.modify(BOB, [("replace", "uidNumber", 199)])
                await txn.commit()

    asyncio.run(work())
    with ldap.connect(bank.url) as connection:
        assert (balance(connection, ADA), balance(connection, BOB)) == (1, 199)


# A process that ends in the middle of a commit: the second change waits for a server that does not answer any more.
KILLED = """
import os, sys, threading
from tercet import ldap
from tercet.ldap import server

class Relay(ldap.Handler):
    def __init__(self, target):
        self.target, self.changes = target, 0
    def search(self, cx, request):
        return list(self.target.search(request.base, request.filter, scope=request.scope, attributes=["*", "+"]))
    def add(self, cx, request):
        self.target.add(request.dn, {name: request.entry[name] for name in request.entry})
    def delete(self, cx, request):
        self.target.delete(request.dn)
    def modify(self, cx, request):
        if request.dn.startswith("uid="):
            self.changes += 1
            if self.changes == 2:
                os._exit(9)
        self.target.modify(request.dn, request.modifications)

with ldap.connect(sys.argv[1]) as target, ldap.Server(Relay(target)) as relay:
    with ldap.connect(relay.url) as connection:
        with connection.transaction(locks="ou=locks,o=test", journal=sys.argv[2], engine="advisory", lease=1) as txn:
            txn.modify("uid=ada,o=test", [("increment", "uidNumber", -30)])
            txn.modify("uid=bob,o=test", [("increment", "uidNumber", 30)])
"""


def test_interrupted_transactions_are_recovered(bank: ldap.Directory, tmp_path: Path) -> None:
    journal = tmp_path / "j"
    with ldap.connect(bank.url) as connection:
        assert subprocess.run([sys.executable, "-c", KILLED, bank.url, str(journal)]).returncode == 9
        assert (balance(connection, ADA), balance(connection, BOB)) == (70, 100)
        [left] = ldap.pending(journal)
        assert (left.state, left.operations) == ("committing", 2)
        assert json.loads(Path(left.journal).read_text().splitlines()[0])
        assert connection.recover(journal) == [ldap.Recovered(left.transaction, "undone", [])]
        assert (balance(connection, ADA), balance(connection, BOB)) == (100, 100)
        assert ldap.pending(journal) == [] and connection.recover(journal) == []
        assert list(connection.search(LOCKS, scope="children")) == []
        with pytest.raises(ldap.UsageError, match="lock_wait"):
            connection.recover(journal, lock_wait=-1)


def test_conflicts_stay(bank: ldap.Directory, tmp_path: Path) -> None:
    journal = tmp_path / "j"

    async def work() -> None:
        async with aio.connect(bank.url) as connection:
            [recovered] = await connection.recover(journal)
            assert (recovered.outcome, recovered.conflicts) == ("undone", [])

    with ldap.connect(bank.url) as connection:
        assert subprocess.run([sys.executable, "-c", KILLED, bank.url, str(journal)]).returncode == 9
        connection.modify(ADA, [("replace", "uidNumber", 5)])
        [left] = ldap.pending(journal)
        [conflict] = connection.recover(left.journal)
        assert conflict.outcome == "conflicts" and "uid=ada,o=test" in conflict.conflicts[0]
        assert [one.state for one in ldap.pending(journal)] == ["conflict"]
        connection.modify(ADA, [("replace", "uidNumber", 70)])
        asyncio.run(work())
        assert balance(connection, ADA) == 100
