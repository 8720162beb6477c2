"""IRIs: resolution of references (RFC 3986, section 5.2) and the check for characters that an IRI cannot have.

The standard library's `urljoin` resolves only schemes that it knows and keeps some dot segments.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import pyoxigraph

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_MAX_CACHED = 65_536


class _Parts(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def is_absolute(text: str) -> bool:
    """Whether a text begins with a scheme."""
    return _ABSOLUTE.match(text) is not None


@lru_cache(_MAX_CACHED)
def is_well_formed(text: str) -> bool:
    """Whether a text is an absolute IRI that RDF can hold."""
    try:
        pyoxigraph.NamedNode(text)
    except ValueError:
        return False
    return True


def resolve(base: str, reference: str) -> str:
    """The IRI that a reference means in a document with this base."""
    own, other = _split(reference), _split(base)
    if own.scheme is not None:
        return _join(own._replace(path=without_dot_segments(own.path)))
    if own.authority is not None:
        return _join(own._replace(scheme=other.scheme, path=without_dot_segments(own.path)))
    if not own.path:
        path, query = other.path, own.query if own.query is not None else other.query
    else:
        path, query = without_dot_segments(_merged(other, own.path)), own.query
    return _join(_Parts(other.scheme, other.authority, path, query, own.fragment))


def without_dot_segments(path: str) -> str:
    """A path without the segments `.` and `..` (RFC 3986, section 5.2.4)."""
    if "." not in path:
        return path
    segments = path.split("/")
    kept: list[str] = []
    first = 1 if path.startswith("/") else 0
    for segment in segments[first:]:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" * first + "/".join(kept)


def _merged(base: _Parts, path: str) -> str:
    if path.startswith("/"):
        return path
    if base.authority is not None and not base.path:
        return f"/{path}"
    return base.path[: base.path.rfind("/") + 1] + path


def _split(text: str) -> _Parts:
    match = _PARTS.fullmatch(text)
    assert match is not None  # every part is optional, so that any text matches
    scheme, authority, path, query, fragment = match.groups()
    return _Parts(scheme, authority, path or "", query, fragment)


def _join(parts: _Parts) -> str:
    return "".join(
        [
            f"{parts.scheme}:" if parts.scheme is not None else "",
            f"//{parts.authority}" if parts.authority is not None else "",
            parts.path,
            f"?{parts.query}" if parts.query is not None else "",
            f"#{parts.fragment}" if parts.fragment is not None else "",
        ]
    )
