"""tercet for Python: HOST PORT discard|ldif. Entries that are thrown away are objects, for LDIF there are none."""

import sys

from tercet import ldap

host, port, work = sys.argv[1:]
with ldap.connect(f"ldap://{host}:{port}") as connection:
    connection.bind()
    if work == "ldif":
        connection.search_ldif(sys.stdout.buffer, "o=test")
    else:
        print(sum(1 for _ in connection.search("o=test")))
