"""Quality of the extracted main content: `python -m bench.extraction DATA [--pages all] [--sites FOLDER] [--json]`.

DATA is the folder of the conformance suites `article-extraction` and `extraction-segments`. `--pages` selects the half
of the sites on which the rules were tuned, the other half (`reporting`), or both. `--sites` names a folder of
recorded sites (as `src/webstrata/lab/data/sites`) and adds the number of real edits that the extracted text misses. An
edit is a pair of versions whose words differ, of the only page published at that instant: it was written by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq

from bench.contenders.extractors import EXTRACTORS, extracted
from tests.conformance.families import article_extraction, extraction_segments
from tests.conformance.families.article_extraction import Scores, body_text
from webstrata.observe.page import observe

_SITES = ("boost", "fiveminutestats", "jena", "llvm", "spencerahill")
_MAX_EDITS = 250
"""For each site."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.extraction", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pages", choices=("tuning", "reporting", "all"), default="all")
    parser.add_argument("--sites", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = quality(options.data, options.pages)
    if options.sites:
        for name, missed in missed_edits(options.sites).items():
            rows[name] |= missed
    print(json.dumps(rows, indent=1) if options.json else table(rows))


def _main_text(html: bytes, url: str) -> str:
    """The main content: body and side. The order of their lines does not matter to the measures."""
    seen = observe(html, "text/html; charset=utf-8", url)
    return seen.text or "" if seen.part_texts is None else f"{seen.part_texts.body}\n{seen.part_texts.side}"


OWN_TEXTS: dict[str, Callable[[bytes, str], str]] = {
    "body part": body_text,
    "body and side": _main_text,
    "whole text": lambda html, url: observe(html, "text/html; charset=utf-8", url).text or "",
}
"""What of a page is taken as its main text."""


def half_of(url: str) -> str:
    """The half to which a page belongs, by its host."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return "reporting" if hashlib.sha256(f"webstrata-3:{host}".encode()).digest()[0] % 2 else "tuning"


def quality(data: Path, half: str) -> dict[str, dict[str, float]]:
    """Extractor -> precision, recall and F1 on both suites."""
    articles = list(article_extraction.read_articles(data / article_extraction.FAMILY))
    pages = list(extraction_segments.read_segmented(data / extraction_segments.FAMILY))
    articles = [page for page in articles if half in ("all", half_of(page.url))]
    pages = [page for page in pages if half in ("all", half_of(page.url))]
    rows = {}
    for name in (*OWN_TEXTS, *EXTRACTORS):
        both = [(page.html, page.url) for page in articles] + [(page.html, page.url) for page in pages]
        next_text = iter(texts_of(name, both)).__next__
        by_article = article_extraction.measure(partial(_ignore_page, next_text), articles)
        by_segment = extraction_segments.measure(partial(_ignore_page, next_text), pages)
        rows[name] = {**named("article", by_article), **named("segment", by_segment)}
    return rows


def _ignore_page(next_text: Callable[[], str], page: object) -> str:
    """The text of the next page: texts are extracted in the order in which the suites measure them."""
    return next_text()


def texts_of(name: str, pages: list[tuple[bytes, str]]) -> list[str]:
    if name in OWN_TEXTS:
        return [OWN_TEXTS[name](html, url) for html, url in pages]
    return extracted(name, [html for html, _ in pages])[0]


def named(suite: str, scores: Scores) -> dict[str, float]:
    return {f"{suite}_precision": scores.precision, f"{suite}_recall": scores.recall, f"{suite}_f1": scores.f1}


def missed_edits(folder: Path) -> dict[str, dict[str, int]]:
    """Extractor -> number of edits, and of those that its text does not show."""
    edits = [
        edit for name in _SITES if (folder / f"{name}.versions.parquet").exists() for edit in real_edits(folder, name)
    ]
    flat = [(html, "https://site.example/") for edit in edits for html in edit]
    rows = {}
    for name in (*OWN_TEXTS, *EXTRACTORS):
        texts = texts_of(name, flat)
        missed = sum(before == after for before, after in zip(texts[::2], texts[1::2], strict=True))
        rows[name] = {"edits": len(edits), "edits_missed": missed}
    return rows


def real_edits(folder: Path, name: str) -> Iterator[tuple[bytes, bytes]]:
    alone = _published_alone(pq.read_table(folder / f"{name}.versions.parquet").to_pylist())
    random.Random(7).shuffle(alone)
    alone = alone[:_MAX_EDITS]
    contents = _contents(folder / f"{name}.blobs.parquet", {blob for pair in alone for blob in pair})
    for old, new in alone:
        if old not in contents or new not in contents:
            continue
        texts = [
            observe(contents[blob], "text/html; charset=utf-8", "https://site.example/").text for blob in (old, new)
        ]
        if texts[0] != texts[1]:
            yield contents[old], contents[new]


def _published_alone(versions: list[dict[str, Any]]) -> list[tuple[str, str]]:
    last: dict[str, str | None] = {}
    by_commit: dict[int, list[tuple[str, str]]] = {}
    for row in versions:
        if row["path"].endswith((".html", ".htm")):
            before = last.get(row["path"])
            if before and row["blob"]:
                by_commit.setdefault(row["commit"], []).append((before, row["blob"]))
            last[row["path"]] = row["blob"]
    return [pairs[0] for pairs in by_commit.values() if len(pairs) == 1]


def _contents(file: Path, names: set[str]) -> dict[str, bytes]:
    contents = {}
    parquet = pq.ParquetFile(file)
    for group in range(parquet.num_row_groups):
        rows = parquet.read_row_group(group)
        for name, content in zip(rows["blob"].to_pylist(), rows["content"], strict=True):
            if name in names:
                contents[name] = content.as_py()
    return contents


def table(rows: dict[str, dict[str, float]]) -> str:
    lines = [
        f"{'extractor':14} {'articles P':>10} {'R':>6} {'F1':>6}"
        f" {'segments P':>11} {'R':>6} {'F1':>6} {'edits missed':>14}"
    ]
    for name, row in rows.items():
        scores = [
            row[f"{suite}_{score}"] for suite in ("article", "segment") for score in ("precision", "recall", "f1")
        ]
        missed = f"{row['edits_missed']} of {row['edits']}" if "edits" in row else ""
        shown = "{:>10.3f} {:>6.3f} {:>6.3f} {:>11.3f} {:>6.3f} {:>6.3f}".format(*scores)
        lines.append(f"{name:14} {shown} {missed:>14}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
