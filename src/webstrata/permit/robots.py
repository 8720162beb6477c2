"""`Robots`: a robots.txt by RFC 9309 with Crawl-delay and Sitemap lines (docs/decisions/0001-robots-parser.md)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from webstrata.permit.robots_match import RobotsPattern, compiled, matches, path_of_url, product_token

LIMIT = 512 * 1024
"""Bytes of a file that are parsed (RFC 9309 requires at least 500 KiB); a line cut by the limit is left out."""
_MAX_SITEMAPS = 1000

_LINE_ENDS = re.compile(r"[\r\n]+")
_BOM = b"\xef\xbb\xbf"
_NAMES = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "desallow": "disallow",
    "crawl-delay": "delay",
    "crawldelay": "delay",
    "crawl delay": "delay",
    "sitemap": "sitemap",
    "site-map": "sitemap",
}
"""Names of lines, with the misspellings that occur on the web."""


class RobotsRuling(NamedTuple):
    """Whether a URL may be visited, and the reason."""

    allowed: bool
    why: str
    """The line of robots.txt that decided, or the default that applied."""


@dataclass(slots=True)
class _Block:
    """The lines below a list of agents; stored once for all of these agents."""

    agents: int = 0
    patterns: list[RobotsPattern] = field(default_factory=list)
    delays: list[tuple[int, float]] = field(default_factory=list)
    """(number of agents named before the line, seconds)."""


class _Membership(NamedTuple):
    block: _Block
    position: int
    """Position in the block's list of agents."""


class _Group(NamedTuple):
    """The rules of the file for one product token."""

    patterns: list[tuple[str, bool, RobotsPattern]]
    """(first literal piece, allows, pattern) in order of precedence: the first match decides."""
    delay_s: float | None


class Robots:
    """What a robots.txt allows. Created by `parse`, which accepts any content."""

    __slots__ = ("_everything", "_groups", "_members", "sitemaps")

    def __init__(
        self,
        members: dict[str, list[_Membership]],
        sitemaps: tuple[str, ...],
        everything: RobotsRuling | None = None,
    ) -> None:
        self._members = members
        self._groups: dict[str, _Group] = {}
        self._everything = everything
        self.sitemaps = sitemaps
        """URLs of sitemaps as written, possibly relative, in order and without duplicates."""

    @classmethod
    def parse(cls, body: bytes, status: int = 200) -> Robots:
        """Parse the response to a request for robots.txt; `status` 0 means that there was no response.

        2xx: the file applies. 4xx, and 3xx without a usable target: everything is allowed. 429, 5xx and no response:
        everything is forbidden for now.
        """
        if 200 <= status < 300:
            return cls(*_parse(_text(body)))
        if is_temporary(status):
            why = f"status {status}" if status else "no response"
            return cls({}, (), RobotsRuling(False, f"robots.txt cannot be reached ({why}): nothing may be visited"))
        return cls({}, (), RobotsRuling(True, f"there is no robots.txt (status {status})"))

    def allows(self, agent: str, url: str) -> bool:
        """Whether `agent` (a product token, or a whole User-Agent header) may visit `url`."""
        return self.ruling(agent, url).allowed

    def ruling(self, agent: str, url: str) -> RobotsRuling:
        """Whether `agent` may visit `url`, with the reason."""
        path = path_of_url(url)
        if path.strict == "/robots.txt":
            return RobotsRuling(True, "robots.txt itself may always be fetched")
        if self._everything is not None:
            return self._everything
        group = self._group(agent)
        if group is not None:
            strict, resolved = path
            for first, allow, pattern in group.patterns:  # the first piece excludes most patterns cheaply
                if (strict if allow else resolved).startswith(first) and matches(pattern, path):
                    return RobotsRuling(pattern.allow, f"{'Allow' if pattern.allow else 'Disallow'}: {pattern.text}")
        return RobotsRuling(True, "no rule of robots.txt matches")

    def crawl_delay(self, agent: str) -> float | None:
        """The Crawl-delay of the file for `agent` in seconds; the longest if there are several."""
        group = self._group(agent)
        return None if group is None else group.delay_s

    def _group(self, agent: str) -> _Group | None:
        token = product_token(agent)
        if token not in self._members:
            token = "*"
        if token is None or token not in self._members:
            return None
        if token not in self._groups:
            self._groups[token] = _merged(self._members[token])
        return self._groups[token]


def is_temporary(status: int) -> bool:
    """Whether the status means that robots.txt is unavailable for now, so that its rules are unknown."""
    return status == 429 or status >= 500 or status < 200


def _text(body: bytes) -> str:
    """Decode leniently; bytes that are not UTF-8 become lone surrogates, which `robots_match` encodes again."""
    head = body[:LIMIT]
    encoding = _utf16(head)
    if encoding:
        text = head[: len(head) & ~1].decode(encoding, "replace").lstrip("\ufeff")
    else:
        text = head[_bom_length(head) :].decode("utf-8", "surrogateescape")
    if len(body) > LIMIT:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _utf16(body: bytes) -> str | None:
    if body.startswith(b"\xff\xfe") or (len(body) > 3 and body[1] == body[3] == 0):
        return "utf-16-le"
    if body.startswith(b"\xfe\xff") or (len(body) > 3 and body[0] == body[2] == 0):
        return "utf-16-be"
    return None


def _bom_length(body: bytes) -> int:
    """The length of the byte order mark, even of an incomplete one."""
    length = 0
    while length < len(_BOM) and body[length : length + 1] == _BOM[length : length + 1]:
        length += 1
    return length


def _parse(text: str) -> tuple[dict[str, list[_Membership]], tuple[str, ...]]:
    members: dict[str, list[_Membership]] = {}
    sitemaps: dict[str, None] = {}
    block = _Block()
    in_agent_list = False  # consecutive agent lines form one list; a rule ends it
    for line in _LINE_ENDS.split(text):
        name, value = _name_and_value(line)
        if name == "agent":
            if not in_agent_list:
                block, in_agent_list = _Block(), True
            _join(members, block, _agent_token(value))
        elif name in ("allow", "disallow"):
            in_agent_list = False
            if value:
                block.patterns.append(compiled(value, name == "allow"))
        elif name == "delay":
            seconds = _delay(value)
            if seconds is not None:
                block.delays.append((block.agents, seconds))
        elif name == "sitemap" and value and len(sitemaps) < _MAX_SITEMAPS:
            sitemaps[value] = None
    return members, tuple(sitemaps)


def _join(members: dict[str, list[_Membership]], block: _Block, token: str | None) -> None:
    if token is None:
        return
    memberships = members.setdefault(token, [])
    if not memberships or memberships[-1].block is not block:
        memberships.append(_Membership(block, block.agents))
        block.agents += 1


def _merged(memberships: list[_Membership]) -> _Group:
    patterns = sorted(pattern for block, _ in memberships for pattern in block.patterns)
    delays = [s for block, position in memberships for named, s in block.delays if position < named]
    rows = [(pattern.pieces[0], pattern.allow, pattern) for pattern in patterns]
    return _Group(rows, max(delays, default=None))


def _name_and_value(line: str) -> tuple[str | None, str]:
    line = line.partition("#")[0].strip()
    name, colon, value = line.partition(":")
    if not colon:  # `disallow /x`: accepted without a colon
        words = line.split()
        if len(words) != 2:
            return None, ""
        name, value = words
    return _NAMES.get(name.strip().lower()), value.strip()


def _agent_token(value: str) -> str | None:
    if value == "*" or value.startswith(("* ", "*\t")):
        return "*"
    return product_token(value)


def _delay(value: str) -> float | None:
    """The seconds of a Crawl-delay line, if it is a finite number that is not negative."""
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
