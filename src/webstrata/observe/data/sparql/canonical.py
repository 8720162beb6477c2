"""SPARQL results in a canonical form, and their digest: independent of row order and blank node labels.

Blank node labels are valid in one response only. Colour refinement distinguishes blank nodes by the rows in which they
occur; nodes that remain equal are distinguished by choosing one and refining again. Equal bytes always mean equal
results; in rare cases (blank nodes that form a regular graph) equal results have two canonical forms.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import msgspec

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.sparql.results import JSON, NotResultsError, Results, Row, Term, parse_results

MAX_BYTES = 100_000_000
_MAX_ROUNDS = 64
_MAX_CHOICES = 1000
"""Blank nodes that are distinguished by choosing one."""
_MAX_CHOICE_ROWS = 10_000
"""Rows processed for these choices. Results that reach this limit usually have many small groups of the same shape; the
final pass over the rows (`_numbered`) gives these the same labels in any order."""
_MAX_REFINED_ROWS = 2_000_000
"""Rows processed for one refinement."""

Piece = bytes | str
"""A part of a row: the digest of a fixed term, or the label of a blank node."""
_ZERO = bytes(16)
_OWN = b"O" + bytes(16)


def results_digest(body: bytes, charset: str | None, url: str, media_type: str = JSON) -> DataDigest:
    """The digest of the results in a body. Never raises."""
    if len(body) > MAX_BYTES:
        return refused("bindings", f"longer than {MAX_BYTES} bytes")
    try:
        results = parse_results(body, media_type)
    except NotResultsError as error:
        return refused("bindings", error)
    return DataDigest(
        kind="bindings", digest=digest_of("bindings", [canonical_results(results)]), size=len(results.rows)
    )


def canonical_results(results: Results) -> bytes:
    """SPARQL 1.1 JSON results with sorted rows, one per line."""
    if results.boolean is not None:
        return msgspec.json.encode({"head": {}, "boolean": results.boolean}) + b"\n"
    names = sorted(set(results.vars))
    columns = [results.vars.index(name) for name in names]
    rows = [tuple([row[column] for column in columns]) for row in results.rows]
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
    term_json: dict[str, object] = {"type": value.kind, "value": value.value}
    if value.language:
        term_json["xml:lang"] = value.language
    if value.datatype:
        term_json["datatype"] = value.datatype
    return term_json


def _labels(rows: list[Row]) -> dict[str, str]:
    """The canonical label of every blank node."""
    pieces_of_rows = [pieces for pieces in map(_pieces, rows) if any(type(piece) is str for piece in pieces)]
    if not pieces_of_rows:
        return {}
    colours = _refined(
        pieces_of_rows, {piece: _ZERO for pieces in pieces_of_rows for piece in pieces if isinstance(piece, str)}
    )
    connected = {blank for pieces in pieces_of_rows for blank in _connected(pieces)}
    for _ in range(min(_MAX_CHOICES, _MAX_CHOICE_ROWS // len(pieces_of_rows))):
        tied = _first_tie({blank: colours[blank] for blank in connected})
        if tied is None:
            break
        colours[tied] = _digest(colours[tied], b"taken")
        colours = _refined(pieces_of_rows, colours)
    return _numbered(pieces_of_rows, colours)


def _pieces(row: Row) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for value in row:
        if value is None:
            pieces.append(_ZERO)
        else:
            _add_pieces(value, pieces)
    return tuple(pieces)


def _add_pieces(value: Term, pieces: list[Piece]) -> None:
    if value.kind == "bnode":
        pieces.append(value.value)
    elif value.kind == "triple":
        pieces.append(_digest(b"triple"))
        for part in value.inner:
            _add_pieces(part, pieces)
    else:
        text = f"{value.kind}\0{value.value}\0{value.language}\0{value.datatype}"
        pieces.append(_digest(text.encode("utf-8", "surrogatepass")))


def _connected(pieces: tuple[Piece, ...]) -> set[str]:
    """The blank nodes of a row with several; a blank node that is alone in its rows needs no distinction."""
    here = {piece for piece in pieces if isinstance(piece, str)}
    return here if len(here) > 1 else set()


def _first_tie(colours: dict[str, bytes]) -> str | None:
    counts = Counter(colours.values())
    smallest = min((colour for colour, count in counts.items() if count > 1), default=None)
    return None if smallest is None else min(blank for blank, colour in colours.items() if colour == smallest)


def _refined(rows: list[tuple[Piece, ...]], colours: dict[str, bytes]) -> dict[str, bytes]:
    """Refine the colours by the rows in which each blank node occurs, until the number of colours is stable."""
    groups = len(set(colours.values()))
    for _ in range(max(2, min(_MAX_ROUNDS, _MAX_REFINED_ROWS // len(rows)))):
        rows_of: dict[str, list[bytes]] = {blank: [] for blank in colours}
        for pieces in rows:
            for blank in {piece for piece in pieces if type(piece) is str}:
                rows_of[blank].append(_coloured(pieces, colours, blank))
        colours = {blank: _digest(colours[blank], *sorted(seen)) for blank, seen in rows_of.items()}
        now = len(set(colours.values()))
        if now == groups:
            break
        groups = now
    return colours


def _coloured(pieces: tuple[Piece, ...], colours: dict[str, bytes], own: str = "") -> bytes:
    """A row with colours for blank nodes. Every piece has 17 bytes, so that different rows give different bytes."""
    return b"".join(
        [
            b"F" + piece if isinstance(piece, bytes) else _OWN if piece == own else b"B" + colours[piece]
            for piece in pieces
        ]
    )


def _numbered(rows: list[tuple[Piece, ...]], colours: dict[str, bytes]) -> dict[str, str]:
    """Number the blank nodes in the order of the rows, sorted by colour and then by the numbers given before."""
    groups: dict[bytes, list[list[str]]] = {}
    for pieces in rows:
        labels = [piece for piece in pieces if isinstance(piece, str)]
        groups.setdefault(_coloured(pieces, colours), []).append(labels)
    numbers: dict[str, int] = {}
    for colour in sorted(groups):
        for labels in sorted(groups[colour], key=lambda names: [numbers.get(name, len(colours)) for name in names]):
            for blank in labels:
                numbers.setdefault(blank, len(numbers))
    return {blank: f"b{number}" for blank, number in numbers.items()}


def _digest(*parts: bytes) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()
