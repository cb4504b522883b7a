"""python-ldap: HOST PORT discard|ldif. Takes entries as they come, so that memory stays small."""

import sys

import ldif

import ldap

host, port, work = sys.argv[1:]
connection = ldap.initialize(f"ldap://{host}:{port}")
connection.simple_bind_s("", "")
writer = ldif.LDIFWriter(sys.stdout) if work == "ldif" else None
message = connection.search("o=test", ldap.SCOPE_SUBTREE)
count = 0
while True:
    kind, entries = connection.result(message, 0)
    if kind == ldap.RES_SEARCH_RESULT:
        break
    for name, attributes in entries:
        count += 1
        if writer:
            writer.unparse(name, attributes)
if not writer:
    print(count)
