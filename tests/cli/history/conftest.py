"""A fixture that visits several versions of one page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer

VisitVersions = Callable[..., str]


@pytest.fixture
def visit_versions(home: Path, server: LocalServer, call: Call) -> VisitVersions:
    """Visit each body as a version of one page of `home`; returns the URL of the page."""

    def visit(kind: str, *bodies: str | bytes, path: str = "/") -> str:
        call("--home", home, "watch", server.url(path))
        for body in bodies:
            server.pages[path] = (kind, body.encode() if isinstance(body, str) else body)
            result = call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)
            assert result.code == 0, result.err
        return server.url(path)

    return visit
