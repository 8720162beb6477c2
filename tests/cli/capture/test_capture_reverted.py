"""The certificate of a page that changed before the instant and changed back before its revisit."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.capture.capturing import certificate, verdicts
from tests.cli.conftest import Call, LocalServer
from webstrata.clock import parse_instant

USUAL = b"<title>flip</title><main><h1>Flip</h1><p>the words that are usually here</p></main>"
OTHER = b"<title>flip</title><main><h1>Flip</h1><p>quite another text, for a moment only</p></main>"


class Flipping(dict[str, tuple[str, bytes]]):
    """Pages of which /flip is different from the first request for /middle until the next request."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[float, bytes]] = []
        """The contents of /flip, and since when."""
        self._show(USUAL)

    def _show(self, body: bytes) -> None:
        self["/flip"] = ("text/html", body)
        self.shown.append((time.time(), body))

    def get(self, path: str, default: object = None) -> tuple[str, bytes] | None:  # type: ignore[override]
        if path == "/middle" and len(self.shown) == 1:
            self._show(OTHER)
        elif len(self.shown) == 2:
            self._show(USUAL)
        return super().get(path)

    def at(self, moment: float) -> bytes:
        return next(body for since, body in reversed(self.shown) if since <= moment)


@pytest.mark.parametrize("layer", ["visible", "raw"])
def test_changed_and_changed_back(layer: str, home: Path, server: LocalServer, call: Call, tmp_path: Path) -> None:
    """A page that changed and changed back between its downloads is sharp in every layer, whatever it had at the
    instant. The certificate is valid, has the probability of it, and states what it does not prove."""
    server.pages = pages = Flipping()
    for name in ("/middle", "/a", "/b"):
        pages[name] = ("text/html", f"<title>t</title><main><h1>{name}</h1><p>words that stay</p></main>".encode())
    weights = tmp_path / "weights"
    weights.write_text(f"{server.url('/middle')}\t100\n{server.url('/flip')}\t0.01\n")
    result = call(
        *("--home", home, "capture", server.url(), "--sharp", "--delay", "0.4s", "-q", "--json", "--layer", layer),
        *("--weights", weights, "--seeds", "-"),
        stdin="".join(f"{server.url(name)}\n" for name in ("/middle", "/a", "/b", "/flip")).encode(),
        **server.settings,
    )
    (one,) = result.json["captures"]
    assert one["counts"] == verdicts(sharp=4)
    stated = certificate(one["file"])
    by_url = {page["url"]: page for page in stated["pages"]}
    flip, middle = by_url[server.url("/flip")], by_url[server.url("/middle")]
    assert middle["revisit"] is None, "its download is the instant"
    assert pages.at(parse_instant(stated["instant"]["to"])) == OTHER, "a content that is not in the archive"
    visit, revisit = (flip["observations"][flip[name]] for name in ("visit", "revisit"))
    assert pages.at(parse_instant(visit["ended"])) == USUAL
    assert pages.at(parse_instant(revisit["started"])) == USUAL
    assert visit["layers"] == revisit["layers"]
    assert 0 < float(flip["changed_and_back"]) < 1
    assert stated["policy"]["layer"] == layer
    assert f"by the layer {layer!r}" in stated["statement"]
    assert "It does not prove that a page was never another in between" in stated["statement"]
    assert call("certificate", "verify", one["file"]).code == 0
