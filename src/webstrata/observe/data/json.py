"""JSON -> digest, in the sense of RFC 8785: white space, the order of members and how a value is written do not count.

Beyond RFC 8785 (docs/reference/data-layers.md):

- Numbers are exact decimals: 1, 1.0 and 10e-1 are equal, two integers beyond 2^53 are not.
- A member name that stands twice in one object keeps all its values, in their order: readers differ in which they take.
- Members that say when the document was made (`generated`, …) are left out, and named as noise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import codec_of, encoding_of

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 200
"""Brackets in brackets. Python's own limit depends on who calls; this one does not."""
_MOST_DIGITS = 4000
"""Of a number that is written out; beyond, it stays a mantissa and an exponent."""

# Stands in for what plain JSON cannot say. No JSON document can contain it, so nothing is mistaken for anything else.
_MARK = float("nan")

_STAMPS = re.compile(
    r"(?:(?:last)?(?:generated|exported|fetched|retrieved|queried|served|rendered)(?:at|on|date|time)?"
    r"|(?:last)?(?:generation|build|export|request|response|server|query)(?:date|time|timestamp)"
    r"|date(?:generated|exported|retrieved))"
)
_HEADERS = ("meta", "metadata")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?")
_FIRST_EPOCH, _LAST_EPOCH = 10**8, 10**13


class _NotJsonError(ValueError):
    """With the reason."""


def json_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """One JSON document. Never raises."""
    return _read(body, charset, _parse)


def json_lines_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """JSON Lines: one document a line, their order counts. Never raises."""
    return _read(body, charset, _parse_lines)


def _read(body: bytes, charset: str | None, parse: Any) -> DataDigest:
    if len(body) > MAX_BYTES:
        return refused("json", f"longer than {MAX_BYTES} bytes")
    try:
        document = parse(json_text(body, charset))
        size = _count(document)
        noise = tuple(_take_out_stamps(document))
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), check_circular=False)
    except RecursionError:
        return refused("json", f"nested deeper than {MAX_DEPTH}")
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError and our own are all of this kind
        return refused("json", f"not JSON: {error}" if not isinstance(error, _NotJsonError) else error)
    return DataDigest(kind="json", digest=digest_of("json", [canonical.encode()]), size=size, noise=noise)


def json_text(body: bytes, charset: str | None) -> str:
    """JSON is UTF-8; old documents are in UTF-16 or UTF-32, which their first bytes tell; some servers name others."""
    try:
        return body.decode(json.detect_encoding(body))
    except UnicodeDecodeError:
        encoding = encoding_of(charset)
        if encoding in (None, "utf-8", "replacement"):
            raise
        return body.decode(codec_of(encoding))


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_members, parse_float=_number, parse_constant=_refuse_constant)


def _parse_lines(text: str) -> list[Any]:
    return [_parse(line) for line in text.split("\n") if line.strip()]


def _members(pairs: list[tuple[str, Any]]) -> Any:
    members = dict(pairs)
    return members if len(members) == len(pairs) else [_MARK, sorted(pairs, key=_name)]


def _name(pair: tuple[str, Any]) -> str:
    return pair[0]


def _number(text: str) -> Any:
    """A number with a fraction or an exponent: an integer where it is one, else mantissa and exponent."""
    mantissa, _, power = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    sign = "-" if whole.startswith("-") else ""
    digits = (whole.removeprefix("-") + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return 0
    exponent = int(power or 0) - len(fraction) + len(digits) - len(significant)
    if exponent >= 0 and len(significant) + exponent <= _MOST_DIGITS:
        return int(sign + significant + "0" * exponent)
    return [_MARK, f"{sign}{significant}e{exponent}"]


def _refuse_constant(name: str) -> Any:
    raise _NotJsonError(f"not JSON: {name} is no number")


def _count(document: Any) -> int:
    """Values in the document; refuses what is nested too deeply."""
    size, level = 1, [document]
    for _ in range(MAX_DEPTH + 1):
        children: list[Any] = []
        for value in level:
            if type(value) is dict:
                children.extend(value.values())
            elif type(value) is list:
                children.extend(value)
        if not children:
            return size
        size += len(children)
        level = children
    raise RecursionError


def _take_out_stamps(document: Any) -> Iterator[str]:
    """Removes the members of the document, and of its header, that say when it was made; unless nothing is left."""
    if not isinstance(document, dict):
        return
    for header in (*_HEADERS, ""):
        members = document.get(header) if header else document
        if not isinstance(members, dict):
            continue
        stamps = [name for name, value in members.items() if _is_stamp(name, value)]
        if len(stamps) == len(members):
            continue
        for name in stamps:
            del members[name]
            yield f"{header}.{name}" if header else name


def _is_stamp(name: str, value: Any) -> bool:
    if not _STAMPS.fullmatch(name[:40].lower().replace("_", "").replace("-", "").replace(" ", "")):
        return False
    if isinstance(value, str):
        return _INSTANT.fullmatch(value) is not None
    return type(value) is int and _FIRST_EPOCH < value < _LAST_EPOCH
