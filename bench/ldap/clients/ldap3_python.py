"""ldap3 for Python: HOST PORT discard|ldif. Its synchronous strategy collects the answer."""

import sys

import ldap3
from ldap3.protocol.rfc2849 import operation_to_ldif

host, port, work = sys.argv[1:]
server = ldap3.Server(host, port=int(port), get_info=ldap3.NONE)
connection = ldap3.Connection(server, auto_bind=True)
connection.search("o=test", "(objectClass=*)", attributes=ldap3.ALL_ATTRIBUTES)
if work == "ldif":
    print("\n".join(operation_to_ldif("searchResponse", connection.response)))
else:
    print(sum(entry["type"] == "searchResEntry" for entry in connection.response))
