"""The tables of a report: pages with their evidence, and the files that they load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TypeVar

import msgspec

from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedObservation, StatedPage, StatedRequisite
from webstrata.sharp.report.words import moment, pages
from webstrata.wording import agreeing, counted

MAX_ROWS = 10_000
"""Pages in a table, and files in a table."""
MAX_EVIDENCE = 2_000
"""Pages and files whose requests are listed, those that are not sharp first."""
_MAX_OBSERVATIONS = 50
_MAX_PARTS = 100
_MAX_TEXT = 2_000

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_EQUAL_NAMES = {"raw": "bytes", "visible_text": "text", "links": "links", "main": "useful content"}
_Row = TypeVar("_Row", StatedPage, StatedRequisite)
_VERDICT_ORDER = ("blurred", "violative", "error", "unreachable", "unknown", "absent", "unvisited", "coherent")


def text(value: object) -> str:
    """A value as HTML: escaped, without control characters and changes of the writing direction, and not too long."""
    plain = _UNSAFE.sub("\ufffd", str(value))
    return escape(plain if len(plain) <= _MAX_TEXT else f"{plain[:_MAX_TEXT]}… ({len(plain):,} characters)")


def link(url: str) -> str:
    """A URL as HTML. Only addresses of the web become links."""
    if not re.match(r"https?://[^/]", url) or len(url) > _MAX_TEXT or _UNSAFE.search(url):
        return f"<span>{text(url)}</span>"
    return f'<a href="{escape(url)}" rel="noreferrer nofollow">{text(url)}</a>'


def when(at: str) -> str:
    """A time as HTML, to the second."""
    read = moment(at)
    return text(f"{read:%Y-%m-%d %H:%M:%S}" if read is not None else at)


def verdict(name: str) -> str:
    """A verdict as HTML, coloured."""
    known = re.fullmatch("[a-z]+", name)
    return f'<span class="verdict {name if known else ""}">{text(name)}</span>'


class PageTables:
    """Writes the tables of one report. The evidence of the first pages is listed, up to a limit."""

    def __init__(self, capture: StatedCertificate) -> None:
        self._capture = capture
        self._evidence = MAX_EVIDENCE
        self.without_evidence = 0
        """Pages and files whose requests are not listed."""
        self.left_out = 0
        """Pages and files that are not listed at all."""

    def not_sharp(self) -> Iterator[str]:
        """The table of the pages that are not sharp."""
        rows = [page for page in self._capture.pages if page.verdict != "sharp"]
        yield from self._table(_HEAD, sorted(rows, key=_severity), self._page)

    def sharp(self) -> Iterator[str]:
        """The table of the sharp pages; those with marks or contradictions first."""
        rows = [page for page in self._capture.pages if page.verdict == "sharp"]
        yield from self._table(_HEAD, sorted(rows, key=_is_plain), self._page)

    def requisites(self) -> Iterator[str]:
        """The table of the files that pages load."""
        head = ("verdict", "file", "last download", "status", "last modified")
        yield from self._table(head, sorted(self._capture.requisites, key=_severity), self._requisite)

    def _table(self, head: Sequence[str], rows: Sequence[_Row], written: Callable[[_Row], str]) -> Iterator[str]:
        yield '<div class="wide"><table class="list">\n<thead><tr>'
        yield "".join(f"<th>{name}</th>" for name in head)
        yield "</tr></thead>\n<tbody>\n"
        for row in rows[:MAX_ROWS]:
            yield written(row)
        yield "</tbody></table></div>\n"
        if len(rows) > MAX_ROWS:
            self.left_out += len(rows) - MAX_ROWS
            yield f'<p class="note">{len(rows) - MAX_ROWS:,} more are not listed here.</p>\n'

    def _page(self, page: StatedPage) -> str:
        visit, revisit = page.observation(page.visit), page.observation(page.revisit)
        statuses = [str(seen.status or "none") for seen in (visit, revisit) if seen is not None]
        shown = statuses[:1] if len(set(statuses)) == 1 else statuses
        marks = "".join(
            f'<span class="mark">{name}</span>'
            for name, is_set in (("cached", page.cached), ("script shell", page.script_shell))
            if is_set
        )
        return (
            f'<tr><td class="few">{verdict(page.verdict)}</td><td>{link(page.url)}{marks}<br>'
            f'<span class="note">{text(page.why)}</span>{_composite_note(page)}{self._page_evidence(page)}</td>'
            f'<td class="when">{when(visit.started) if visit else "–"}</td>'
            f'<td class="when">{when(revisit.started) if revisit else "–"}</td>'
            f'<td class="few">{" → ".join(shown) or "–"}</td><td class="few">{_equal(page)}</td></tr>\n'
        )

    def _requisite(self, entry: StatedRequisite) -> str:
        last = entry.observations[-1] if entry.observations else None
        return (
            f'<tr><td class="few">{verdict(entry.verdict)}</td><td>{link(entry.url)}<br>'
            f'<span class="note">{text(entry.why)}</span>{self._listed(entry, "")}</td>'
            f'<td class="when">{when(last.started) if last else "–"}</td>'
            f'<td class="few">{last.status or "none" if last else "–"}</td>'
            f'<td class="when">{when(last.last_modified) if last and last.last_modified else "–"}</td></tr>\n'
        )

    def _page_evidence(self, page: StatedPage) -> str:
        facts = [("compared", ", ".join(page.compared)), ("changes per day", page.rate_per_day)]
        facts += [("rate from", page.rate_from), ("planned chance to be sharp", page.expected)]
        facts += [("chance of a change and back", page.changed_and_back or "")]
        if page.parts:
            facts.append(("files that it loads", f"{len(page.parts):,}"))
        return self._listed(page, _facts(facts))

    def _listed(self, entry: StatedPage | StatedRequisite, facts: str) -> str:
        if not entry.observations:
            return ""
        if not self._evidence:
            self.without_evidence += 1
            return ""
        self._evidence -= 1
        seen = entry.observations
        more = len(seen) - _MAX_OBSERVATIONS
        rest = (
            f'<p class="note">{counted(f"{more:,}", "more request")} {agreeing(more, "is", "are")} not listed.</p>'
            if more > 0
            else ""
        )
        requests = counted(f"{len(seen):,}", "request")
        return (
            f"<details><summary>evidence: {requests}</summary>{facts}"
            f"{''.join(observation(one) for one in seen[:_MAX_OBSERVATIONS])}{rest}</details>"
        )


_HEAD = ("verdict", "page", "visit (UTC)", "revisit (UTC)", "status", "equal")


def observation(seen: StatedObservation) -> str:
    """All that is stated about one request."""
    age = "" if seen.age_s is None else f"{seen.age_s} s"
    facts = [
        ("requested", f"{seen.started} to {seen.ended}"),
        ("result", f"{seen.kind}, status {seen.status}" if seen.status else f"{seen.kind}, no response"),
        ("reason", seen.why),
        ("record", seen.record),
        ("payload digest", seen.payload),
        ("content type", seen.content_type),
        ("redirects to", seen.target),
        *((f"digest of {_EQUAL_NAMES.get(name, name)}", digest) for name, digest in seen.layers.items()),
        ("record of the DOM", seen.rendered),
        ("record of the picture", seen.view),
        ("age in a cache", age),
        ("cache", seen.cache),
        ("last modified", seen.last_modified or ""),
        ("script shell", "yes" if seen.script_shell else ""),
    ]
    return f'<div class="seen">{_facts(facts)}</div>'


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts if value)
    return f"<dl>{rows}</dl>" if rows else ""


def _composite_note(page: StatedPage) -> str:
    composite = page.composite
    if composite is None or composite.verdict == "sharp":
        return ""
    note = {
        "coherent": "with its files: coherent, as their servers state",
        "violative": "with its files: contradicted by",
        "unknown": "with its files: not known for",
    }.get(composite.verdict, composite.verdict)
    listed = composite.contradicting if composite.verdict == "violative" else composite.unknown
    if not listed:
        return f'<br><span class="note">{text(note)}</span>'
    items = "".join(f"<li>{link(url)}</li>" for url in listed[:_MAX_PARTS])
    more = f"<li>and {len(listed) - _MAX_PARTS:,} more</li>" if len(listed) > _MAX_PARTS else ""
    count = counted(f"{len(listed):,}", "file")
    return f"<details><summary>{text(note)} {count}</summary><ul>{items}{more}</ul></details>"


def _equal(page: StatedPage) -> str:
    names = sorted(page.equal, key=lambda name: [*_EQUAL_NAMES, name].index(name))
    return "<br>".join(
        f'<span class="{"yes" if page.equal[name] else "no"}">{"=" if page.equal[name] else "≠"} '
        f"{text(_EQUAL_NAMES.get(name, name))}</span>"
        for name in names[:12]
    )


def _severity(entry: StatedPage | StatedRequisite) -> int:
    return _VERDICT_ORDER.index(entry.verdict) if entry.verdict in _VERDICT_ORDER else len(_VERDICT_ORDER)


def _is_plain(page: StatedPage) -> bool:
    is_contradicted = page.composite is not None and page.composite.verdict == "violative"
    return not (page.cached or page.script_shell or is_contradicted)


def rules(capture: StatedCertificate) -> Iterator[str]:
    """The rules of pages, word for word; equal rules once, with the pages that have them."""
    by_rules: dict[str, list[str]] = {}
    for page in capture.pages:
        if page.rules is not None:
            encoded = msgspec.json.encode(page.rules, order="sorted")
            by_rules.setdefault(msgspec.json.format(encoded, indent=2).decode(), []).append(page.url)
    for written, urls in list(by_rules.items())[:_MAX_PARTS]:
        items = "".join(f"<li>{link(url)}</li>" for url in urls[:_MAX_PARTS])
        more = f"<li>and {len(urls) - _MAX_PARTS:,} more</li>" if len(urls) > _MAX_PARTS else ""
        yield f"<details><summary>rules of {pages(len(urls))}</summary><ul>{items}{more}</ul></details>\n"
        yield f"<pre>{escape(_UNSAFE.sub(_kept_line_end, written))}</pre>\n"
    if len(by_rules) > _MAX_PARTS:
        yield f'<p class="note">{len(by_rules) - _MAX_PARTS:,} more sets of rules are not listed.</p>\n'


def _kept_line_end(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\n" else "\ufffd"
