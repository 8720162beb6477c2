"""Segments of pages that a main text must keep, and others that it must drop (after trafilatura's evaluation).

Each page is a row: it fails if the F1 of its segments is below `PAGE_FLOOR`. Wanted segments that no line of the page
contains (they cross the end of a line, or are not in the markup) do not count in its row. Two more rows are the suite's
own figures, if it has at least `MIN_PAGES`: recall and F1 of all segments of all pages.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conformance.families.article_extraction import Scores, body_text
from tests.conformance.verdict import Verdict
from webstrata.observe.page import observe

FAMILY = "extraction-segments"

PAGE_FLOOR = 0.6
"""A page below it lost more than half of its segments, or kept more unwanted than wanted ones."""
MIN_PAGES = 20
"""Means of fewer pages say nothing."""
LOWEST_F1 = 0.9
LOWEST_RECALL = 0.9
"""Of all segments. docs/why/extraction.md has the present figures."""


class Segmented(NamedTuple):
    name: str
    url: str
    html: bytes
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]


def run(folder: Path) -> Verdict:
    """Compare the body part of each page, and the means of all pages, with their floors."""
    verdict = Verdict()
    pages = list(read_segmented(folder))
    texts = [body_text(page.html, page.url) for page in pages]
    for page, text in zip(pages, texts, strict=True):
        lines = observe(page.html, "text/html; charset=utf-8", page.url).text or ""
        present = page._replace(wanted=tuple(segment for segment in page.wanted if segment in lines))
        f1 = scores([text], [present]).f1
        verdict.check(f"{page.name} F1 {f1:.3f}", True, f1 >= PAGE_FLOOR or not present.wanted)
    if len(pages) < MIN_PAGES:
        return verdict
    whole = scores(texts, pages)
    verdict.check(f"F1 {whole.f1:.3f} of all segments", True, whole.f1 >= LOWEST_F1)
    verdict.check(f"recall {whole.recall:.3f} of all segments", True, whole.recall >= LOWEST_RECALL)
    return verdict


def read_segmented(folder: Path) -> Iterator[Segmented]:
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        html = gzip.decompress((folder / "html" / case["file"]).read_bytes())
        yield Segmented(case["file"], case["url"], html, tuple(case["with"]), tuple(case["without"]))


def measure(extract: Callable[[Segmented], str], pages: list[Segmented]) -> Scores:
    return scores([extract(page) for page in pages], pages)


def scores(texts: list[str], pages: list[Segmented]) -> Scores:
    pairs = list(zip(texts, pages, strict=True))
    kept = sum(segment in text for text, page in pairs for segment in page.wanted)
    noise = sum(segment in text for text, page in pairs for segment in page.unwanted)
    wanted = sum(len(page.wanted) for page in pages)
    return Scores(kept / (kept + noise) if kept else 0.0, kept / wanted if wanted else 0.0)
