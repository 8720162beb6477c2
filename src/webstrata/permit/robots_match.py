"""Paths and patterns of robots.txt (RFC 9309, 2.2.2 and 2.2.3), both brought to one spelling before they meet.

Always: octets outside ASCII are percent-encoded and escapes are written in capitals. A Disallow line also means
the other spellings of its path: escapes of unreserved characters are resolved on both sides, and a `*` or `$` in
the URL is met by `%2A` or `%24`. An Allow line opens only what it spells, so that no doubt ever opens a door.
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
    """A rule's path, ready for matching. Sorted by `rank`, the first that matches decides."""

    rank: tuple[int, bool]
    """Longest first; of two as long, the one that allows."""
    allow: bool
    pieces: tuple[str, ...]
    """What stands between the stars."""
    to_the_end: bool
    """It ended in `$`."""
    text: str
    """As the file says it."""


class RobotsPath(NamedTuple):
    """Path and query of a URL in both spellings."""

    strict: str
    resolved: str


def compiled(text: str, allow: bool) -> RobotsPattern:
    """A rule's pattern from what follows `Allow:` or `Disallow:`."""
    to_the_end = text.endswith("$")
    body = normalised(text[:-1] if to_the_end else text)
    length = len(body) + to_the_end
    while "**" in body:
        body = body.replace("**", "*")
    if not allow:
        body = _resolved(body).replace("$", "%24")
    return RobotsPattern(
        rank=(-length, not allow),
        allow=allow,
        pieces=tuple(body.split("*")),
        to_the_end=to_the_end,
        text=text,
    )


def matches(pattern: RobotsPattern, spelled: RobotsPath) -> bool:
    """Whether a pattern matches a path; linear in its length."""
    pieces = pattern.pieces
    path = spelled.strict if pattern.allow else spelled.resolved
    first, last = pieces[0], pieces[-1]
    if not path.startswith(first):
        return False
    if len(pieces) == 1:
        return not pattern.to_the_end or len(path) == len(first)
    at = len(first)
    middle = pieces[1:-1] if pattern.to_the_end else pieces[1:]
    for piece in middle:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return not pattern.to_the_end or (len(path) - len(last) >= at and path.endswith(last))


def normalised(text: str) -> str:
    """The strict spelling; bytes that were not UTF-8 arrive as lone surrogates and are encoded as they were."""
    if _PLAIN.fullmatch(text):
        return text
    return _ODD.sub(_respelled, text.encode("utf-8", "surrogateescape")).decode("ascii")


def _respelled(match: re.Match[bytes]) -> bytes:
    found = match[0]
    return b"%%%02X" % found[0] if len(found) == 1 else found.upper()


def _resolved(text: str) -> str:
    return _ESCAPE.sub(_unescaped_if_unreserved, text) if "%" in text else text


def _unescaped_if_unreserved(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0]


def path_of_url(url: str) -> RobotsPath:
    """The path of any URL, ready for matching."""
    strict = normalised(path_and_query(_SURROGATE.sub("\ufffd", url)))
    return RobotsPath(strict, _resolved(strict).replace("*", "%2A").replace("$", "%24"))


def path_and_query(url: str) -> str:
    """What follows the authority, without the fragment; `/` where nothing does. Takes URLs without scheme, too."""
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
    """The product token that a User-agent line or header begins with, in lower case."""
    match = _TOKEN.match(text)
    return match[0].lower() if match else None


def is_product_token(text: str) -> bool:
    """Whether the whole text is one product token."""
    return _TOKEN.fullmatch(text) is not None
