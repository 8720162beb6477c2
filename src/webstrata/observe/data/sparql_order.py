"""SPARQL results in one order with one set of blank labels: two answers that say the same become the same bytes.

Blank labels live in one answer only. Each blank is told from the others by the rows that it stands in, round by
round; what no round can tell apart is told apart by taking one, and again. Equal bytes always mean equal results; a
result whose blanks are tangled like a regular graph may, rarely, be written in two ways.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import msgspec

from webstrata.observe.data.sparql_results import Results, Row, Term

_MOST_ROUNDS = 64
_MOST_TAKEN = 1000
"""Blanks taken by hand, at most; further ones stay in the order in which they came."""


def canonical(results: Results) -> bytes:
    """SPARQL 1.1 JSON results, one row on each line, sorted; the same for the same results in any order."""
    if results.boolean is not None:
        return msgspec.json.encode({"head": {}, "boolean": results.boolean}) + b"\n"
    names = sorted(set(results.vars))
    places = [results.vars.index(name) for name in names]
    rows = [tuple([row[place] for place in places]) for row in results.rows]
    labels = _labels(rows)
    lines = sorted(_line(names, row, labels) for row in rows)
    head = msgspec.json.encode({"vars": names})
    return b'{"head":' + head + b',"results":{"bindings":[\n' + b",\n".join(lines) + b"\n]}}\n"


def _line(names: list[str], row: Row, labels: dict[str, str]) -> bytes:
    return msgspec.json.encode(
        {name: _json(value, labels) for name, value in zip(names, row, strict=True) if value is not None}
    )


def _json(value: Term, labels: dict[str, str]) -> dict[str, object]:
    if value.kind == "triple":
        parts = (_json(part, labels) for part in value.inner)
        return {"type": "triple", "value": dict(zip(("subject", "predicate", "object"), parts, strict=True))}
    if value.kind == "bnode":
        return {"type": "bnode", "value": labels[value.value]}
    made: dict[str, object] = {"type": value.kind, "value": value.value}
    if value.language:
        made["xml:lang"] = value.language
    if value.datatype:
        made["datatype"] = value.datatype
    return made


def _labels(rows: list[Row]) -> dict[str, str]:
    """Canonical label of every blank."""
    with_blanks = [row for row in rows if any(value is not None and _blanks(value) for value in row)]
    found = {blank for row in with_blanks for value in row if value is not None for blank in _blanks(value)}
    if not found:
        return {}
    colours = _refined(with_blanks, dict.fromkeys(found, b""))
    taken = 0
    while taken < _MOST_TAKEN and (tied := _first_tie(colours)) is not None:
        taken += 1
        colours[tied] = _digest(colours[tied], b"taken")
        colours = _refined(with_blanks, colours)
    order = sorted(found, key=lambda blank: (colours[blank], blank))
    return {blank: f"b{number}" for number, blank in enumerate(order)}


def _blanks(value: Term) -> list[str]:
    if value.kind == "bnode":
        return [value.value]
    return [blank for part in value.inner for blank in _blanks(part)]


def _first_tie(colours: dict[str, bytes]) -> str | None:
    counts = Counter(colours.values())
    tied = [colour for colour, count in counts.items() if count > 1]
    if not tied:
        return None
    smallest = min(tied)
    return min(blank for blank, colour in colours.items() if colour == smallest)


def _refined(rows: list[Row], colours: dict[str, bytes]) -> dict[str, bytes]:
    """Colours by the rows that each blank stands in, until no further two are told apart."""
    groups = len(set(colours.values()))
    for _ in range(_MOST_ROUNDS):
        met: dict[str, list[bytes]] = {blank: [] for blank in colours}
        for row in rows:
            _meet(row, colours, met)
        colours = {blank: _digest(colours[blank], *sorted(seen)) for blank, seen in met.items()}
        now = len(set(colours.values()))
        if now == groups:
            break
        groups = now
    return colours


def _meet(row: Row, colours: dict[str, bytes], met: dict[str, list[bytes]]) -> None:
    cells = [b"-" if value is None else _spelled(value, colours, "") for value in row]
    here = {blank for value in row if value is not None for blank in _blanks(value)}
    whole = _digest(*cells)
    for blank in here:
        own = [b"-" if value is None else _spelled(value, colours, blank) for value in row]
        met[blank].append(_digest(whole, *own))


def _spelled(value: Term, colours: dict[str, bytes], own: str) -> bytes:
    if value.kind == "bnode":
        return b"_own" if value.value == own else b"_" + colours[value.value]
    if value.kind == "triple":
        return b"<<" + _digest(*[_spelled(part, colours, own) for part in value.inner])
    return f"{value.kind}\0{value.value}\0{value.language}\0{value.datatype}".encode("utf-8", "surrogatepass")


def _digest(*parts: bytes) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()
