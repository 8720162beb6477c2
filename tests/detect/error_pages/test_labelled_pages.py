"""The labelled error pages are recognised, and no ordinary page of theirs or of the recorded sites is."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.detection.error_pages import DATA, KINDS, ORDINARY, JudgedPage, document, first_visit, read_pages, score
from webstrata.flows.crawl.parse import ParseJob, parse_content

ROOT = Path(__file__).parents[3]
SITES = ROOT / "src/webstrata/lab/data/sites"
PAIRS = ROOT / "tests/data/labelled-pairs"
ARTICLES = ROOT / "tests/data/conformance"
PAGES_OF_A_SITE = 100
MIN_PAGES = 500


@pytest.fixture(scope="module")
def judged() -> list[JudgedPage]:
    return [first_visit(page) for page in read_pages(ROOT / DATA)]


def test_the_set(judged: list[JudgedPage]) -> None:
    """The set is large enough, each row has a content, and the split follows its rule."""
    labels = Counter(one.page.label for one in judged)
    assert sum(labels[kind] for kind in KINDS) >= 60
    assert labels[ORDINARY] >= 40
    reported = sum(one.page.split == "report" for one in judged)
    assert reported >= len(judged) / 3
    for one in judged:
        is_report = hashlib.sha256(one.page.family.encode()).digest()[0] % 5 < 2
        assert one.page.split in ("fresh", "report" if is_report else "tune"), one.page.page
    with gzip.open(ROOT / DATA / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        names = [json.loads(line)["page"] for line in lines]
    assert names == sorted({one.page.page for one in judged})


def test_recognition(judged: list[JudgedPage]) -> None:
    """All pages that rules were fitted to are recognised, and of the others at least the measured share."""
    tuned = [one for one in judged if one.page.split == "tune"]
    assert [one.page.page for one in tuned if one.kind != one.page.label] == []
    reported = [one for one in judged if one.page.split == "report"]
    for kind, measured in {"soft-404": 25, "block-page": 18, "login-wall": 23, "placeholder": 32}.items():
        assert score(reported, kind).found >= measured, kind
        assert score(reported, kind).precision == 1.0, kind
    assert [one.page.page for one in reported if one.page.label == ORDINARY and one.kind != ORDINARY] == []


def test_details(judged: list[JudgedPage]) -> None:
    """The detail of each failure is a short text without control characters."""
    for one in judged:
        if one.kind in KINDS:
            assert 0 < len(one.detail) < 120, one.page.page
            assert one.detail.isprintable(), one.page.page


def test_figures(judged: list[JudgedPage]) -> None:
    """The document has recall and precision for each split, each kind, and each way of making pages."""
    rows = document(judged)
    assert len(rows) == 3 * 3 * len(KINDS)
    assert {row["split"] for row in rows} == {"fresh", "report", "tune"}
    assert all(row["recall"] is None or 0 <= row["recall"] <= 1 for row in rows)


def ordinary_pages() -> Iterator[tuple[str, bytes]]:
    """(name, content) of real pages: recorded sites, labelled pairs, articles."""
    for file in sorted(SITES.glob("*.versions.parquet")):
        table = pq.read_table(file, columns=["path", "blob"])
        paths = {
            blob: path
            for path, blob in zip(table["path"].to_pylist(), table["blob"].to_pylist(), strict=True)
            if blob is not None and path.endswith((".html", ".htm"))
        }
        chosen = set(sorted(paths)[:PAGES_OF_A_SITE])
        blobs = pq.read_table(str(file).replace(".versions.", ".blobs."))
        for blob, content in zip(blobs["blob"].to_pylist(), blobs["content"], strict=True):
            if blob in chosen:
                yield f"{file.name.partition('.')[0]}.example/{paths[blob]}", content.as_py()
    with (PAIRS / "pairs.csv").open(newline="", encoding="utf-8") as rows:
        pairs = [row for row in csv.DictReader(rows) if row["kind"] == "html"]
    names = {row[side]: f"{row['site']}.example/{row['path']}" for row in pairs for side in ("before", "after")}
    contents = pq.read_table(PAIRS / "contents.parquet")
    for blob, content in zip(contents["blob"].to_pylist(), contents["content"], strict=True):
        if blob in names:
            yield names[blob], content.as_py()
    for file in sorted(ARTICLES.rglob("*.html.gz")):
        yield f"articles.example/{file.name[:12]}", gzip.decompress(file.read_bytes())


def test_ordinary_pages() -> None:
    """No real page is taken for an error page at a first visit."""
    alarms, contents = [], set()
    for name, body in ordinary_pages():
        contents.add(body)
        job = ParseJob(url=f"https://{name}", body=body, content_type="text/html", max_decoded=50_000_000)
        failure = parse_content(job).error_page
        if failure is not None:
            alarms.append((name, failure))
    assert alarms == []
    assert len(contents) >= MIN_PAGES
