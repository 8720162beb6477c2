"""Captures of scripted sites for tests, from the order to the certificate, which both verifiers check."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, Script, reply
from webstrata import verifier
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.wacz.writer import CERTIFICATE
from webstrata.flows.capture.events import CaptureOrder
from webstrata.flows.capture.proof import FinishedCapture
from webstrata.flows.capture.site_capture import OnEvent, SiteCapture
from webstrata.flows.capture.verify import verify

SITE = "http://a.test/"
second_check: Callable[..., tuple[Any, list[str]]] = runpy.run_path(
    str(Path(verifier.__file__).parent / "verify_capture.py")
)["check"]


class Taken(NamedTuple):
    """A finished capture."""

    capture: SiteCapture
    finished: FinishedCapture
    certificate: dict[str, Any]

    def verdicts(self) -> dict[str, str]:
        """Verdicts by path."""
        return {_path(page["url"]): page["verdict"] for page in self.certificate["pages"]}

    def page(self, path: str) -> dict[str, Any]:
        return next(page for page in self.certificate["pages"] if _path(page["url"]) == path)


async def capture(
    archiver: Archiver,
    order: CaptureOrder | None = None,
    *,
    resume: str = "",
    on_event: OnEvent = lambda capture, event: None,
    **options: Any,
) -> Taken:
    """Run a capture to its end; both verifiers must find its certificate valid."""
    order = order or CaptureOrder(url=SITE, **options)
    out = archiver.home.path / "out.wacz"
    async with archiver.node.capturing() as service:
        running = await service.resume(resume, on_event) if resume else await service.begin(order, on_event)
        await running.run()
        finished = await service.finish(running, out)
    assert faults(out) == []
    assert second_check(str(out))[1] == []
    return Taken(running, finished, envelope(out)["certificate"])


def envelope(file: Path) -> dict[str, Any]:
    with ZipFile(file) as package:
        return dict(json.loads(package.read(CERTIFICATE)))


def faults(file: Path, **options: Any) -> list[str]:
    with WaczReader(file) as package:
        return [f"{fault.where}: {fault.what}" for fault in verify(envelope(file), package, **options)]


def links(*paths: str, text: str = "") -> Reply:
    """A page with links to these paths."""
    anchors = "".join(f'<p><a href="{path}">to {path}</a>' for path in paths)
    return reply(f"<title>page</title><main><h1>A page</h1><p>{text or 'some words'}</p>{anchors}</main>")


def changing_at(*moments: float) -> Callable[[ReceivedRequest], Reply]:
    """A page whose text changes at each of these times."""

    def script(request: ReceivedRequest) -> Reply:
        return links(text=f"version {sum(request.at >= moment for moment in moments)} of a text that changes")

    return script


def site(archiver: Archiver, **pages: Script) -> None:
    """A home page that links to all other pages."""
    archiver.servers.serve(SITE, links(*(f"/{name}" for name in pages)))
    for name, script in pages.items():
        archiver.servers.serve(f"{SITE}{name}", script)


def _path(url: str) -> str:
    return "/" + url.removeprefix(SITE)
