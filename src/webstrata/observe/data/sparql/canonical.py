"""SPARQL results in one order with one set of blank labels: two answers that say the same become the same bytes.

Blank labels live in one answer only. Each blank is told from the others by the rows that it stands in, round by
round; what no round can tell apart is told apart by taking one, and again. Equal bytes always mean equal results; a
result whose blanks are tangled like a regular graph may, rarely, be written in two ways.

SPARQL results as data: the order of rows and the labels of blanks do not count.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import msgspec

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.sparql.results import JSON, NotResultsError, Results, Row, Term, read_results

_MOST_ROUNDS = 64
_MOST_TAKEN = 1000
"""Blanks told apart by taking one, at most."""
_MOST_WORK = 10_000
"""Rows looked at for that, at most. Results that stop here are mostly many small knots of one shape, which the last
walk over the rows (`_walked`) names the same way whichever comes first."""
_MOST_REFINED = 2_000_000
"""Rows looked at for one refinement, at most."""

Piece = bytes | str
"""A fixed part of a row as the digest of its spelling, or the name of a blank."""
_START = bytes(16)
_OWN = b"O" + bytes(16)


def canonical_results(results: Results) -> bytes:
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
    prepared = [pieces for pieces in map(_pieces, rows) if any(type(piece) is str for piece in pieces)]
    if not prepared:
        return {}
    colours = _refined(prepared, {piece: _START for pieces in prepared for piece in pieces if isinstance(piece, str)})
    knotted = {blank for pieces in prepared for blank in _knot(pieces)}
    for _ in range(min(_MOST_TAKEN, _MOST_WORK // len(prepared))):
        tied = _first_tie({blank: colours[blank] for blank in knotted})
        if tied is None:
            break
        colours[tied] = _digest(colours[tied], b"taken")
        colours = _refined(prepared, colours)
    return _walked(prepared, colours)


def _pieces(row: Row) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for value in row:
        if value is None:
            found.append(_START)
        else:
            _spell(value, found)
    return tuple(found)


def _spell(value: Term, into: list[Piece]) -> None:
    if value.kind == "bnode":
        into.append(value.value)
    elif value.kind == "triple":
        into.append(_digest(b"triple"))
        for part in value.inner:
            _spell(part, into)
    else:
        text = f"{value.kind}\0{value.value}\0{value.language}\0{value.datatype}"
        into.append(_digest(text.encode("utf-8", "surrogatepass")))


def _knot(pieces: tuple[Piece, ...]) -> set[str]:
    """Blanks that stand beside another one; those that stand alone need not be told apart from their likes."""
    here = {piece for piece in pieces if isinstance(piece, str)}
    return here if len(here) > 1 else set()


def _first_tie(colours: dict[str, bytes]) -> str | None:
    counts = Counter(colours.values())
    smallest = min((colour for colour, count in counts.items() if count > 1), default=None)
    return None if smallest is None else min(blank for blank, colour in colours.items() if colour == smallest)


def _refined(rows: list[tuple[Piece, ...]], colours: dict[str, bytes]) -> dict[str, bytes]:
    """Colours by the rows that each blank stands in, until no further two are told apart."""
    groups = len(set(colours.values()))
    for _ in range(max(2, min(_MOST_ROUNDS, _MOST_REFINED // len(rows)))):
        met: dict[str, list[bytes]] = {blank: [] for blank in colours}
        for pieces in rows:
            for blank in {piece for piece in pieces if type(piece) is str}:
                met[blank].append(_coloured(pieces, colours, blank))
        colours = {blank: _digest(colours[blank], *sorted(seen)) for blank, seen in met.items()}
        now = len(set(colours.values()))
        if now == groups:
            break
        groups = now
    return colours


def _coloured(pieces: tuple[Piece, ...], colours: dict[str, bytes], own: str = "") -> bytes:
    """A row with colours for blanks; every piece takes seventeen bytes, so that no two rows read the same."""
    return b"".join(
        [
            b"F" + piece if isinstance(piece, bytes) else _OWN if piece == own else b"B" + colours[piece]
            for piece in pieces
        ]
    )


def _walked(rows: list[tuple[Piece, ...]], colours: dict[str, bytes]) -> dict[str, str]:
    """Labels in the order in which rows, sorted by colour, mention blanks; of like rows those named before first."""
    groups: dict[bytes, list[list[str]]] = {}
    for pieces in rows:
        mentioned = [piece for piece in pieces if isinstance(piece, str)]
        groups.setdefault(_coloured(pieces, colours), []).append(mentioned)
    numbers: dict[str, int] = {}
    for colour in sorted(groups):
        for mentioned in sorted(groups[colour], key=lambda names: [numbers.get(name, len(colours)) for name in names]):
            for blank in mentioned:
                numbers.setdefault(blank, len(numbers))
    return {blank: f"b{number}" for blank, number in numbers.items()}


def _digest(*parts: bytes) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


MAX_BYTES = 100_000_000


def results_digest(body: bytes, charset: str | None, url: str, media_type: str = JSON) -> DataDigest:
    """The results in a body. Never raises."""
    if len(body) > MAX_BYTES:
        return refused("bindings", f"longer than {MAX_BYTES} bytes")
    try:
        results = read_results(body, media_type)
    except NotResultsError as why:
        return refused("bindings", why)
    return DataDigest(
        kind="bindings", digest=digest_of("bindings", [canonical_results(results)]), size=len(results.rows)
    )
