"""A list of changes as an Atom 1.0 feed (RFC 4287), for feed readers.

The id of an entry is a tag URI (RFC 4151) of the page's host, the day of the visit, and a hash of the page's URL and the
time of the visit: it is the same in every feed that has the change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from html import escape

from webstrata import __version__
from webstrata.cli.history.change_rows import page_title
from webstrata.cli.history.visit_text import kind_text
from webstrata.cli.output import printable
from webstrata.clock import iso
from webstrata.detect.diff.changed_words import changed_lines
from webstrata.detect.diff.difference import Difference
from webstrata.detect.diff.lines import ShownLine
from webstrata.flows.changes import PageChange

_DNS_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*", re.IGNORECASE)
_ANY_HOST = "webstrata.invalid"
"""The authority of ids for hosts that are no names, like `[::1]`."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = {"-": "del", "+": "ins"}


def feed_id(key: str) -> str:
    """The id of the feed of one home and one selection of changes."""
    return f"tag:{_ANY_HOST},2026:changes:{_digest(key)}"


def atom_feed(
    changes: Iterable[tuple[PageChange, Difference | None]],
    *,
    title: str,
    identity: str,
    updated_at: float,
    max_lines: int,
) -> Iterator[str]:
    """The lines of the feed. `updated_at` is the time of the newest change, or the begin of the period without one."""
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<feed xmlns="http://www.w3.org/2005/Atom">'
    yield f"  <title>{_text(title)}</title>"
    yield f"  <id>{_text(identity)}</id>"
    yield f"  <updated>{iso(updated_at)}</updated>"
    yield "  <author><name>Webstrata</name></author>"
    yield f'  <generator version="{_text(__version__)}">Webstrata</generator>'
    for change, difference in changes:
        yield from _entry(change, difference, max_lines)
    yield "</feed>"


def _entry(change: PageChange, difference: Difference | None, max_lines: int) -> Iterator[str]:
    visit, url = change.visit, change.found.url
    yield "  <entry>"
    yield f"    <title>{_text(f'{page_title(change) or url}: {kind_text(visit)}')}</title>"
    yield f"    <id>{_text(entry_id(change))}</id>"
    yield f"    <updated>{iso(visit.at)}</updated>"
    yield f'    <link rel="alternate" href="{_text(url)}"/>'
    for tag in change.found.tags:
        yield f'    <category term="{_text(tag)}"/>'
    if visit.reasons:
        yield f"    <summary>{_text('; '.join(visit.reasons))}</summary>"
    yield f'    <content type="html">{_text(_html(change, difference, max_lines))}</content>'
    yield "  </entry>"


def entry_id(change: PageChange) -> str:
    """The id of a change, which depends on the page's URL and the time of the visit only."""
    host = change.found.host.partition(":")[0]
    authority = host if _DNS_NAME.fullmatch(host) else _ANY_HOST
    at = iso(change.visit.at)
    return f"tag:{authority},{at[:10]}:webstrata:{_digest(f'{change.found.url} {at}')}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _html(change: PageChange, difference: Difference | None, max_lines: int) -> str:
    """The reasons and the lines that differ, as HTML without scripts; texts of pages are escaped."""
    parts = [f"<p>{escape(printable('; '.join(change.visit.reasons)))}</p>"] if change.visit.reasons else []
    lines = [] if difference is None else list(changed_lines(difference, merged=True))
    parts += [f"<p>{_marked(line)}</p>" for line in lines[:max_lines]]
    if len(lines) > max_lines:
        parts.append(f"<p>… {len(lines) - max_lines} more lines</p>")
    return "".join(parts)


def _marked(line: ShownLine) -> str:
    pieces = []
    for run in line.runs:
        text, mark = escape(printable(run.text)), _MARKS.get(run.sign)
        pieces.append(f"<{mark}>{text}</{mark}>" if mark else text)
    return "".join(pieces)


def _text(text: str) -> str:
    """Text or an attribute value of XML, without characters that XML 1.0 forbids or a terminal interprets."""
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text)))
