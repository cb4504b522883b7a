"""How what is made of specifications and files is made again: by what it was made of."""

from __future__ import annotations

from typing import Any

from tercet import _tercet


def schema(method: str, source: Any, options: dict[str, Any]) -> _tercet.Schema:
    made: _tercet.Schema = getattr(_tercet.Schema, method)(source, **options)
    return made


def codec(schema: _tercet.Schema, type: str, rules: str, options: dict[str, Any]) -> _tercet.Codec:
    return schema.codec(type, rules, **options)


def reading(function: str, paths: Any, schema: Any, type: str, options: dict[str, Any]) -> Any:
    return getattr(_tercet, function)(paths, schema, type, **options)
