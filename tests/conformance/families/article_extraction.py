"""Main text of articles: the body part against hand-made article bodies.

The measure is that of the suite (scrapinghub/article-extraction-benchmark): precision and recall over runs of four
words. Each page is a row: it fails if its F1 is below `PAGE_FLOOR`. Two more rows are the suite's own figures:
precision and recall averaged over the pages, and F1 of the two averages.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conformance.verdict import Verdict
from webstrata.observe.page import observe

FAMILY = "article-extraction"

PAGE_FLOOR = 0.6
"""A page below it lost its text, or has more additions than text."""
LOWEST_F1 = 0.9
LOWEST_RECALL = 0.95
"""Of all pages. docs/why/extraction.md has the present figures."""
_RUN = 4
_WORD = re.compile(r"\w+")


class Article(NamedTuple):
    name: str
    url: str
    html: bytes
    body: str


class Scores(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def run(folder: Path) -> Verdict:
    """Compare the body part of each page, and the means of all pages, with their floors."""
    verdict = Verdict()
    articles = list(read_articles(folder))
    pages = [page_scores(body_text(article.html, article.url), article.body) for article in articles]
    for article, page in zip(articles, pages, strict=True):
        verdict.check(f"{article.name} F1 {page.f1:.3f}", True, page.f1 >= PAGE_FLOOR)
    whole = mean_scores(pages)
    verdict.check(f"F1 {whole.f1:.3f} of all pages", True, whole.f1 >= LOWEST_F1)
    verdict.check(f"recall {whole.recall:.3f} of all pages", True, whole.recall >= LOWEST_RECALL)
    return verdict


def body_text(html: bytes, url: str) -> str:
    """What the fingerprint's body part is made of; the whole text where a page has no parts."""
    seen = observe(html, "text/html; charset=utf-8", url)
    return seen.part_texts.body if seen.part_texts is not None else seen.text or ""


def read_articles(folder: Path) -> Iterator[Article]:
    for name, truth in json.loads((folder / "ground-truth.json").read_text("utf-8")).items():
        html = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        yield Article(name, truth["url"], html, truth["articleBody"])


def measure(extract: Callable[[Article], str], articles: list[Article]) -> Scores:
    return mean_scores([page_scores(extract(article), article.body) for article in articles])


def page_scores(found: str, wanted: str) -> Scores:
    one, other = _runs(found), _runs(wanted)
    common = (one & other).total()
    if not one and not other:
        return Scores(1.0, 1.0)
    return Scores(common / one.total() if one else 0.0, common / other.total() if other else 0.0)


def mean_scores(pages: list[Scores]) -> Scores:
    return Scores(sum(page.precision for page in pages) / len(pages), sum(page.recall for page in pages) / len(pages))


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    length = min(_RUN, len(words))
    return (
        Counter(tuple(words[place : place + length]) for place in range(len(words) - length + 1))
        if words
        else Counter()
    )
