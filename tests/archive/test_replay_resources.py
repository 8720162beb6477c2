"""What a handler made (a rendered DOM, its picture, data) is replayed by pywb under its own name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.archive.conftest import write_home
from tests.archive.test_second_opinions import replay
from webstrata.archive.warc.record import sha1
from webstrata.records import Resource, ResourceCapture

__all__ = ["replay"]

PAGE = "http://example.com/app?a=1"
MADE = [
    Resource(
        url=f"urn:dom:{PAGE}", at=1.79e9, content_type="text/html; charset=utf-8", body=b"<p>after its scripts</p>"
    ),
    Resource(url=f"urn:view:{PAGE}", at=1.79e9, content_type="image/png", body=b"\x89PNG\r\n\x1a\n picture"),
    Resource(url=f"urn:data:{PAGE}", at=1.79e9, content_type="application/n-quads", body=b"<a:> <b:> <c:> .\n"),
]


@pytest.fixture
def family(tmp_path: Path) -> None:
    """A home with made contents, in the place of the usual captures."""
    captures: list[Any] = [ResourceCapture(resource=one, payload=sha1(one.body)) for one in MADE]
    write_home(tmp_path, captures)


def test_pywb_replays_made_contents(replay: Callable[[str], bytes]) -> None:
    """pywb finds them by our index, byte for byte."""
    for one in MADE:
        assert replay(f"all/20260921id_/{one.url}") == one.body
