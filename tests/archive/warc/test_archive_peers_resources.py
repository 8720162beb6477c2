"""pywb replays derived resources (a rendered DOM, its screenshot, data) under their own URIs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.archive.conftest import write_home
from tests.archive.warc.test_archive_peers import replay
from webstrata.archive.warc.record import sha1
from webstrata.records import Resource, ResourceCapture

__all__ = ["replay"]

PAGE = "http://example.com/app?a=1"
RESOURCES = [
    Resource(
        url=f"urn:dom:{PAGE}", at=1.79e9, content_type="text/html; charset=utf-8", body=b"<p>after its scripts</p>"
    ),
    Resource(url=f"urn:view:{PAGE}", at=1.79e9, content_type="image/png", body=b"\x89PNG\r\n\x1a\n picture"),
    Resource(url=f"urn:data:{PAGE}", at=1.79e9, content_type="application/n-quads", body=b"<a:> <b:> <c:> .\n"),
]


@pytest.fixture
def family(tmp_path: Path) -> None:
    """An archive with derived resources instead of the usual captures."""
    captures: list[Any] = [ResourceCapture(resource=resource, payload=sha1(resource.body)) for resource in RESOURCES]
    write_home(tmp_path, captures)


def test_pywb_replays_resources(replay: Callable[[str], bytes]) -> None:
    """pywb finds the resources by the index and serves identical bytes."""
    for resource in RESOURCES:
        assert replay(f"all/20260921id_/{resource.url}") == resource.body
