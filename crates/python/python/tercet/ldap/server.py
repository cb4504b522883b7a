"""Servers in Python: the handler, the requests that its methods get, and the answers that they return."""

from tercet.ldap._server import (
    Add,
    Answer,
    Answered,
    Bind,
    Compare,
    Context,
    Delete,
    Extended,
    Found,
    Handler,
    Modify,
    Refused,
    Rename,
    Search,
    Server,
)

__all__ = [
    "Add",
    "Answer",
    "Answered",
    "Bind",
    "Compare",
    "Context",
    "Delete",
    "Extended",
    "Found",
    "Handler",
    "Modify",
    "Refused",
    "Rename",
    "Search",
    "Server",
]
