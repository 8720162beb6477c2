"""The exit code of captures in which some or most pages could not be reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, LocalServer

NAMES = [f"p{number}" for number in range(8)]


class Resetting(dict[str, tuple[str, bytes]]):
    """Pages of which some close the connection instead of an answer."""

    def __init__(self, closed: set[str]) -> None:
        super().__init__()
        self.closed = closed

    def get(self, path: str, default: object = None) -> tuple[str, bytes] | None:  # type: ignore[override]
        if path in self.closed:
            raise ConnectionResetError
        return super().get(path)


def answer_500(server: LocalServer, paths: set[str]) -> None:
    """Answer requests for these paths with the status 500."""
    handler: Any = server.server.RequestHandlerClass

    class Failing(handler):  # type: ignore[misc]
        def do_GET(self) -> None:  # noqa: N802 - the library's name
            if self.path in paths:
                self.send_error(500)
            else:
                super().do_GET()

    server.server.RequestHandlerClass = Failing


def site(server: LocalServer, failing: int, how: str) -> None:
    """A home page and eight other pages, of which so many fail."""
    paths = {f"/{name}" for name in NAMES[:failing]}
    server.pages = pages = Resetting(paths if how == "closed" else set())
    vars(server.server)["handle_error"] = lambda *_: None  # by default it prints a traceback
    if how == "500":
        answer_500(server, paths)
    anchors = "".join(f'<p><a href="/{name}">to {name}</a>' for name in NAMES)
    pages["/"] = ("text/html", f"<title>t</title><main>{anchors}</main>".encode())
    for name in NAMES:
        pages[f"/{name}"] = ("text/html", f"<title>t</title><main><p>words of {name}</main>".encode())


@pytest.mark.parametrize("sharp", [(), ("--sharp",)], ids=["single", "sharp"])
@pytest.mark.parametrize(
    ("failing", "how", "verdict", "result", "code"),
    [
        (0, "closed", "unreachable", "complete", 0),
        (2, "closed", "unreachable", "partial", 3),
        (6, "closed", "unreachable", "failed", 1),
        (2, "500", "error", "complete", 0),
        (6, "500", "error", "failed", 1),
    ],
)
def test_pages_that_cannot_be_reached(
    failing: int,
    how: str,
    verdict: str,
    result: str,
    code: int,
    sharp: tuple[str, ...],
    home: Path,
    server: LocalServer,
    call: Call,
) -> None:
    """If most pages were unreachable or answered with 5xx the capture failed (1); if some were not reached, it is
    partial (3); some errors are facts about the site (0)."""
    site(server, failing, how)
    words = ("--home", home, "capture", server.url(), *sharp, "--delay", "0.01s", "-q", "--json")
    done = call(*words, **server.settings)
    (one,) = done.json["captures"]
    assert one["counts"][verdict] == failing
    assert (one["result"], done.code) == (result, code)


def test_a_site_that_stops_answering(home: Path, server: LocalServer, call: Call) -> None:
    """Pages that were not requested because the site had stopped answering count as unreachable."""
    listed = [server.url("/p0"), *(server.url(f"/x{number}") for number in range(30))]
    server.pages = pages = Resetting({f"/x{number}" for number in range(30)})
    vars(server.server)["handle_error"] = lambda *_: None
    pages["/p0"] = ("text/html", b"<title>t</title><main><p>words</main>")
    words = ("--home", home, "capture", server.url(), "--seeds", "-", "--delay", "0.01s", "-q", "--json")
    done = call(*words, stdin="\n".join(listed).encode(), **server.settings)
    (one,) = done.json["captures"]
    assert "the site stopped answering" in one["stopped"]
    assert one["counts"]["unvisited"] > 15
    assert (one["result"], done.code) == ("failed", 1)
