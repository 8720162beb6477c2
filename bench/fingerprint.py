"""Speed of fingerprints with all layers, compared with parsing only and with text extractors of other projects.

CPU time of one process on real pages of the shipped sites, decoding and parsing included. The contenders take turns,
and each ratio is computed within one turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser

from bench.contenders.extractors import extracted
from bench.figures import Figure
from bench.pages import real_pages
from webstrata.lab.livingweb.recording import load_shipped
from webstrata.observe.page import observe

Page = TypeVar("Page", str, bytes)
_URL = "https://site.example/folder/page.html"
_EVERY, _EVERY_QUICK = 4, 16
_TURNS, _TURNS_QUICK = 5, 2
_LARGE = 1_000_000


def run(quick: bool) -> list[Figure]:
    pages = html_pages()[:: _EVERY_QUICK if quick else _EVERY]
    texts = [page.decode("utf-8", "replace") for page in pages]
    megabytes = sum(map(len, pages)) / len(pages) / 1e6
    ours: list[float] = []
    ratios: dict[str, list[float]] = {"parse": [], "trafilatura": [], "resiliparse": []}
    for _ in range(_TURNS_QUICK if quick else _TURNS):
        parse = cpu_us(lambda text: LexborHTMLParser(text, scripting=True), texts)
        own = cpu_us(lambda page: observe(page, "text/html; charset=utf-8", _URL), pages)
        ours.append(1e6 / own)
        ratios["parse"].append(parse / own)
        for name in ("trafilatura", "resiliparse"):
            ratios[name].append(extracted(name, pages, repeats=1)[1][0] / own)

    def figure(title: str, values: list[float], unit: str = "x", **target: float) -> Figure:
        return Figure(bench="fingerprint", name=title, values=values, unit=unit, **target)

    return [
        figure(f"pages per second ({megabytes * 1e3:.0f} KB each)", ours, "/s"),
        figure("megabytes per second", [rate * megabytes for rate in ours], "MB/s"),
        figure("fingerprint : selectolax parsing only", ratios["parse"], at_least=0.1),
        figure("fingerprint : trafilatura", ratios["trafilatura"], at_least=10.0),
        figure("fingerprint : resiliparse main content", ratios["resiliparse"], at_least=0.5),
        figure("a page of 1 MB, 36,000 tags (best of 9)", [large_ms(_prose)], "ms", at_most=50.0),
        figure("a table of 1 MB, 110,000 tags (best of 9)", [large_ms(_rows)], "ms", at_most=50.0),
    ]


def html_pages() -> list[bytes]:
    """All HTML contents of the shipped sites."""
    contents = (body for recording in load_shipped() for body in recording.contents.values())
    return [body for body in contents if b"<html" in body[:2000].lower()]


def cpu_us(work: Callable[[Page], object], pages: Sequence[Page]) -> float:
    """CPU time per page in microseconds."""
    start = time.process_time()
    for page in pages:
        work(page)
    return 1e6 * (time.process_time() - start) / len(pages)


def large_ms(make: Callable[[int], bytes]) -> float:
    """The shortest of several runs, each on a different page; longer ones are due to the load of the machine."""
    pages = [make(turn) for turn in range(9)]
    return min(cpu_us(lambda body: observe(body, "text/html; charset=utf-8", _URL), [page]) for page in pages) / 1e3


def _prose(turn: int) -> bytes:
    """A page of concatenated real bodies."""
    bodies = b"".join(page.partition(b"<body")[2].partition(b">")[2] for page in real_pages()[turn : turn + 200])
    return b"<!doctype html><title>Large</title><body>" + bodies[:_LARGE]


def _rows(turn: int) -> bytes:
    """A table of links that differ from run to run, so that no cache contains them."""
    row = b"<tr><td class=c>%d</td><td><a href=/%dtem/%d>Item %d</a></td></tr>\n"
    rows = b"".join(row % (number, turn, number, number) for number in range(_LARGE // 70))
    return b"<!doctype html><title>Large</title><table>" + rows[:_LARGE]
