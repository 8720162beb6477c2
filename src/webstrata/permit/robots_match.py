"""Matching of URL paths and patterns of robots.txt (RFC 9309, 2.2.2 and 2.2.3), both normalised first.

Octets outside ASCII are percent-encoded, and escapes are written in upper case. A Disallow line also matches the
equivalent forms of its path: escapes of unreserved characters are decoded on both sides, and a `*` or `$` in the URL
matches `%2A` or `%24`. An Allow line matches only the form that is written, so that in doubt a URL is forbidden.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_ODD = re.compile(rb"%[0-9A-Fa-f]{2}|[\x00-\x20\x7f-\xff]")
_PLAIN = re.compile(r"[!-$&-~]*")
_ESCAPE = re.compile(r"%([0-9A-F]{2})")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PATH_START = re.compile("[/?;]")
_TOKEN = re.compile(r"[A-Za-z_-]+")


class RobotsPattern(NamedTuple):
    """The path of a rule, prepared for matching. In the order of `rank` the first pattern that matches decides."""

    rank: tuple[int, bool]
    """Longest first; of two equally long patterns the one that allows."""
    allow: bool
    pieces: tuple[str, ...]
    """The literal parts between the stars."""
    anchored: bool
    """The pattern ends with `$`."""
    text: str
    """As written in the file."""


class RobotsPath(NamedTuple):
    """Path and query of a URL in both normal forms."""

    strict: str
    resolved: str


def compiled(text: str, allow: bool) -> RobotsPattern:
    """The pattern for the value of an `Allow:` or `Disallow:` line."""
    anchored = text.endswith("$")
    body = normalised(text[:-1] if anchored else text)
    length = len(body) + anchored
    while "**" in body:
        body = body.replace("**", "*")
    if not allow:
        body = _resolved(body).replace("$", "%24")
    return RobotsPattern(
        rank=(-length, not allow),
        allow=allow,
        pieces=tuple(body.split("*")),
        anchored=anchored,
        text=text,
    )


def matches(pattern: RobotsPattern, forms: RobotsPath) -> bool:
    """Whether a pattern matches a path, in time linear in the length of the path."""
    pieces = pattern.pieces
    path = forms.strict if pattern.allow else forms.resolved
    first, last = pieces[0], pieces[-1]
    if not path.startswith(first):
        return False
    if len(pieces) == 1:
        return not pattern.anchored or len(path) == len(first)
    at = len(first)
    middle = pieces[1:-1] if pattern.anchored else pieces[1:]
    for piece in middle:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return not pattern.anchored or (len(path) - len(last) >= at and path.endswith(last))


def normalised(text: str) -> str:
    """The strict normal form; lone surrogates (bytes that were not UTF-8) are encoded as the original bytes."""
    if _PLAIN.fullmatch(text):
        return text
    return _ODD.sub(_encoded, text.encode("utf-8", "surrogateescape")).decode("ascii")


def _encoded(match: re.Match[bytes]) -> bytes:
    octets = match[0]
    return b"%%%02X" % octets[0] if len(octets) == 1 else octets.upper()


def _resolved(text: str) -> str:
    return _ESCAPE.sub(_unescaped_if_unreserved, text) if "%" in text else text


def _unescaped_if_unreserved(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0]


def path_of_url(url: str) -> RobotsPath:
    """The path of a URL, prepared for matching."""
    strict = normalised(path_and_query(_SURROGATE.sub("\ufffd", url)))
    return RobotsPath(strict, _resolved(strict).replace("*", "%2A").replace("$", "%24"))


def path_and_query(url: str) -> str:
    """The part of a URL after the authority, without the fragment; at least `/`. The scheme may be missing."""
    url = url.partition("#")[0]
    before, slashes, after = url.partition("//")
    if slashes and "/" not in before and "?" not in before:
        url = after
    start = _PATH_START.search(url)
    if start is None:
        return "/"
    path = url[start.start() :]
    return path if path[0] == "/" else "/" + path


@lru_cache(maxsize=256)
def product_token(text: str) -> str | None:
    """The product token at the start of a User-agent line or header, in lower case."""
    match = _TOKEN.match(text)
    return match[0].lower() if match else None
