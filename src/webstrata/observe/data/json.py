"""The digest of JSON after RFC 8785: independent of white space, order of members and notation of values.

Differences from RFC 8785 (docs/reference/data-layers.md):

- Numbers are exact decimals: 1, 1.0 and 10e-1 are equal, two different integers beyond 2^53 are not.
- If an object has a member name twice, all its values are kept in their order, because parsers differ in the choice.
- Members that state when the document was generated (`generated`, …) are left out and listed as noise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import codec_of, encoding_of

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 200
"""Nested brackets. Python's own recursion limit depends on the depth of the caller; this one does not."""
_MAX_DIGITS = 4000
"""Digits of a number that is written out; longer numbers are a mantissa and an exponent."""

# First item of a list that represents what plain JSON cannot. NaN does not occur in JSON, so the list is unambiguous.
_MARKER = float("nan")

_STAMPS = re.compile(
    r"(?:(?:last)?(?:generated|exported|fetched|retrieved|queried|served|rendered)(?:at|on|date|time)?"
    r"|(?:last)?(?:generation|build|export|request|response|server|query)(?:date|time|timestamp)"
    r"|date(?:generated|exported|retrieved))"
)
_HEADERS = ("meta", "metadata")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?")
_FIRST_EPOCH, _LAST_EPOCH = 10**8, 10**13


class _NotJsonError(ValueError):
    """The document is not JSON; the message is the reason."""


def json_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of one JSON document. Never raises."""
    return _digest(body, charset, _parse)


def json_lines_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of JSON Lines: one document per line, in order. Never raises."""
    return _digest(body, charset, _parse_lines)


def _digest(body: bytes, charset: str | None, parse: Any) -> DataDigest:
    if len(body) > MAX_BYTES:
        return refused("json", f"longer than {MAX_BYTES} bytes")
    try:
        document = parse(json_text(body, charset))
        size = _count(document)
        noise = tuple(_remove_stamps(document))
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), check_circular=False)
    except RecursionError:
        return refused("json", f"nested deeper than {MAX_DEPTH}")
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError or _NotJsonError
        return refused("json", f"not JSON: {error}" if not isinstance(error, _NotJsonError) else error)
    return DataDigest(kind="json", digest=digest_of("json", [canonical.encode()]), size=size, noise=noise)


def json_text(body: bytes, charset: str | None) -> str:
    """Decode JSON: UTF-8, UTF-16 or UTF-32 by the first bytes, else the charset that the server names.

    Raises UnicodeDecodeError.
    """
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
    return members if len(members) == len(pairs) else [_MARKER, sorted(pairs, key=itemgetter(0))]


def _number(text: str) -> Any:
    """A number with a fraction or an exponent, as an integer if it is one, else as mantissa and exponent."""
    mantissa, _, power = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    sign = "-" if whole.startswith("-") else ""
    digits = (whole.removeprefix("-") + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return 0
    exponent = int(power or 0) - len(fraction) + len(digits) - len(significant)
    if exponent >= 0 and len(significant) + exponent <= _MAX_DIGITS:
        return int(sign + significant + "0" * exponent)
    return [_MARKER, f"{sign}{significant}e{exponent}"]


def _refuse_constant(name: str) -> Any:
    raise _NotJsonError(f"not JSON: {name} is no number")


def _count(document: Any) -> int:
    """The number of values in the document. Raises RecursionError if it is nested too deeply."""
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


def _remove_stamps(document: Any) -> Iterator[str]:
    """Remove the members of the document and of its header that state when it was generated, unless all members do."""
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
