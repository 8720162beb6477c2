"""The lists of pages in a WACZ file: each page once, with its title and text."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.archive.conftest import START_AT, make_capture, original_of, revisit_of, write_home
from webstrata.archive.export import OpenArchive, Selection
from webstrata.archive.wacz.check import check_wacz
from webstrata.archive.wacz.pages import PackagePages
from webstrata.archive.wacz.writer import PackageOrder, export_wacz
from webstrata.clock import iso
from webstrata.observe.html.page_text import page_text
from webstrata.records import Capture

SITE = "http://example.com"
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: /home\r\nContent-Type: text/html\r\n\r\n"
IMAGE = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
ZIPPED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
NONE = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"


def page(path: str, title: str, at_s: float = 0.0, **changes: Any) -> Capture:
    body = changes.pop("body", f"<title>{title}</title><p>text of {title}".encode())
    return make_capture(SITE + path, body, START_AT + at_s, **changes)


def packed(tmp_path: Path, captures: list[Capture], **choice: Any) -> dict[str, Any]:
    """The JSON files of the package of these captures."""
    home = write_home(tmp_path, captures)
    order = PackageOrder(software="webstrata/0.1", title="A site", pages=PackagePages(describe=page_text, **choice))
    source = OpenArchive(home.archive, home.index)
    export_wacz(source, Selection(), tmp_path / "out.wacz", order, at=START_AT)
    source.close()
    assert check_wacz(tmp_path / "out.wacz") == []
    with zipfile.ZipFile(tmp_path / "out.wacz") as package:
        names = [name for name in package.namelist() if name.startswith("pages/")]
        lists = {name: [json.loads(line) for line in package.read(name).splitlines()] for name in names}
        return lists | {"about": json.loads(package.read("datapackage.json"))}


def test_seeds_and_other_pages(tmp_path: Path) -> None:
    """Seeds are listed apart; files, frames and error pages are no pages."""
    captures = [
        page("/", "Start"),
        page("/b", "B"),
        page("/a", "A", body=gzip.compress(b"<title>A</title><p>zipped"), response_head=ZIPPED),
        page("/image", "", response_head=IMAGE),
        page("/frame", "Frame"),
        page("/gone", "Gone", response_head=NONE, status=404),
    ]
    files = packed(tmp_path, captures, seeds=(f"{SITE}/",), pages={f"{SITE}/{name}" for name in ("", "a", "b", "gone")})
    header, start = files["pages/pages.jsonl"]
    assert header == {"format": "json-pages-1.0", "id": "pages", "title": "Seed Pages", "hasText": True}
    identity = start.pop("id")
    at = iso(float(int(START_AT)))
    assert start == {"url": f"{SITE}/", "ts": at, "title": "Start", "text": "Start\ntext of Start", "seed": True}
    header, *others = files["pages/extraPages.jsonl"]
    assert (header["format"], header["hasText"]) == ("json-pages-1.0", True)
    assert [(one["url"], one["title"], one["text"]) for one in others] == [
        (f"{SITE}/a", "A", "A\nzipped"),
        (f"{SITE}/b", "B", "B\ntext of B"),
    ]
    assert len({identity, *(one["id"] for one in others)}) == 3
    about = files["about"]
    assert (about["title"], about["mainPageUrl"], about["mainPageDate"]) == ("A site", f"{SITE}/", at)


@pytest.mark.parametrize(
    ("instant_s", "title", "at_s"), [(None, "first", 0), (10, "first", 0), (60, "second", 50), (999, "third", 100)]
)
def test_the_capture_nearest_to_the_instant(tmp_path: Path, instant_s: float | None, title: str, at_s: float) -> None:
    """A page with several captures is listed once, with the one nearest to the instant."""
    captures = [page("/", "first"), page("/", "second", 50), page("/", "third", 100)]
    instant = None if instant_s is None else START_AT + instant_s
    files = packed(tmp_path, captures, seeds=(f"{SITE}/",), nearest_to=instant)
    (listed,) = files["pages/pages.jsonl"][1:]
    assert (listed["title"], listed["ts"]) == (title, iso(float(int(START_AT + at_s))))
    assert "pages/extraPages.jsonl" not in files


def test_revisits(tmp_path: Path) -> None:
    """A revisit has the title of its original; a revisit of an image is no page."""
    first, image = page("/", "Start"), page("/image", "", response_head=IMAGE)
    positions = write_home(tmp_path, [first, image]).positions
    again = [
        revisit_of(original_of(one, at), one.exchange.body, START_AT + 100, response_head=one.exchange.response_head)
        for one, at in zip((first, image), positions, strict=True)
    ]
    files = packed(tmp_path, again, nearest_to=START_AT + 100)
    (listed,) = files["pages/pages.jsonl"][1:]
    assert (listed["title"], listed["ts"]) == ("Start", iso(float(int(START_AT + 100))))


def test_a_seed_that_redirects(tmp_path: Path) -> None:
    """A seed that redirects is listed, because replay begins there; a seed without a capture is not."""
    captures = [page("/", "", response_head=MOVED, status=301), page("/home", "Home")]
    files = packed(tmp_path, captures, seeds=(f"{SITE}/", f"{SITE}/other"))
    (listed,) = files["pages/pages.jsonl"][1:]
    assert listed["url"] == f"{SITE}/"
    assert [one["url"] for one in files["pages/extraPages.jsonl"][1:]] == [f"{SITE}/home"]
    assert files["about"]["mainPageUrl"] == f"{SITE}/"


def test_a_package_that_is_no_capture(tmp_path: Path) -> None:
    """All HTML pages are in one list, and no page is the main page."""
    files = packed(tmp_path, [page("/b", "B"), page("/a", "A")])
    assert [one["title"] for one in files["pages/pages.jsonl"][1:]] == ["A", "B"]
    assert "pages/extraPages.jsonl" not in files
    assert "mainPageUrl" not in files["about"]
