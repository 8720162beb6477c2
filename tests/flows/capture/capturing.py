"""Captures of scripted sites for tests, from the order to the certificate, which is compared with the records."""

from __future__ import annotations

import hashlib
import json
import runpy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import msgspec

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, Script, reply
from webstrata import verifier
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.wacz.writer import CERTIFICATE
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record import WarcRecord, bare_uri
from webstrata.clock import parse_instant
from webstrata.coding import decode
from webstrata.flows.capture.events import CaptureOrder
from webstrata.flows.capture.proof import FinishedCapture
from webstrata.flows.capture.site_capture import OnEvent, SiteCapture
from webstrata.flows.verify.signer_check import TrustOptions
from webstrata.flows.verify.verification import verify
from webstrata.observe.visible import is_html, visible_content
from webstrata.sharp.proof.page_observation import PageObservation
from webstrata.sharp.proof.verdicts import Instant, judged_page

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

    def observations(self, path: str) -> list[dict[str, Any]]:
        return list(self.page(path)["observations"])

    def visit(self, path: str) -> dict[str, Any]:
        """The nearest observation before the instant."""
        page = self.page(path)
        return dict(page["observations"][page["visit"]])

    def revisit(self, path: str) -> dict[str, Any]:
        """The nearest observation after the instant."""
        page = self.page(path)
        return dict(page["observations"][page["revisit"]])


async def capture(
    archiver: Archiver,
    order: CaptureOrder | None = None,
    *,
    resume: str = "",
    on_event: OnEvent = lambda capture, event: None,
    **options: Any,
) -> Taken:
    """Run a capture to its end; its certificate must follow from the records of its file."""
    order = order or CaptureOrder(url=SITE, **options)
    out = archiver.home.path / "out.wacz"
    async with archiver.node.capturing() as service:
        running = await service.resume(resume, on_event) if resume else await service.begin(order, on_event)
        await running.run()
        finished = await service.finish(running, out)
    assert evidence_faults(out) == []
    assert faults(out) == []
    # The second verifier does not compute the layers main, data and selected.
    assert [text for text in second_check(str(out))[1] if "not confirmed" not in text] == []
    return Taken(running, finished, certificate(out))


def certificate(file: Path) -> dict[str, Any]:
    with ZipFile(file) as package:
        return dict(json.loads(package.read(CERTIFICATE)))


def evidence_faults(file: Path) -> list[str]:
    """What the certificate states about records without being so: times, status, layers, verdicts."""
    stated = certificate(file)
    with WaczReader(file) as package:
        records = {record.record_id: record for record, _ in _readable(package)}
    entries = [*stated["pages"], *stated["requisites"], *stated["others"]]
    named = Counter(
        seen[name] for entry in entries for seen in entry["observations"] for name in _NAMES if name in seen
    )
    faults = [f"{name} is named {number} times" for name, number in named.items() if number > 1]
    captured = {name for name, record in records.items() if record.kind in ("response", "revisit", "resource")}
    if captured != {*named, *stated["archive"]["originals"]}:
        faults.append("the records are not those that the observations name")
    for entry in entries:
        starts = [seen["started"] for seen in entry["observations"]]
        faults += [] if starts == sorted(starts) else [f"{entry['url']}: not in order"]
        for seen in entry["observations"]:
            faults += _observation_faults(entry["url"], seen, records)
    instant = stated["instant"]
    joint = Instant(parse_instant(instant["from"]), parse_instant(instant["to"])) if instant else None
    for page in stated["pages"]:
        judged = judged_page([_parsed(seen) for seen in page["observations"]], joint, stated["policy"]["layer"])
        if (judged.verdict, judged.visit, judged.revisit) != (page["verdict"], page["visit"], page["revisit"]):
            faults.append(f"{page['url']}: {page['verdict']}, not {judged.verdict}")
    return faults


_NAMES = ("record", "rendered", "view")


def _readable(package: WaczReader) -> Iterator[tuple[WarcRecord, str]]:
    for item in package.records():
        assert not isinstance(item, DamagedBytes)
        yield item


def _observation_faults(url: str, seen: dict[str, Any], records: dict[str, WarcRecord]) -> Iterator[str]:
    if "record" not in seen:
        if seen["kind"] != "failure":
            yield f"{url}: {seen['kind']} without a record"
        return
    record = records[seen["record"]]
    if (record.url, record.field("warc-date")) != (url, seen["started"]):
        yield f"{url}: the record is of {record.url} at {record.field('warc-date')}"
    if record.field("warc-payload-digest") != seen["payload"]:
        yield f"{url}: another payload"
    if seen["kind"] == "content" and "rendered" not in seen:
        original = bare_uri(record.field("warc-refers-to") or "")
        holder = records[original] if original else record
        body = decode(_payload(holder), _header(holder, "content-encoding"), max_bytes=10**8).body
        layers = {"raw": hashlib.sha256(body).hexdigest()}
        if is_html(seen.get("content_type", "")):
            found = visible_content(body)
            layers |= {"visible_text": found.text, "links": found.links}
            if found.is_script_shell != seen.get("script_shell", False):
                yield f"{url}: script shell"
        if not layers.items() <= seen["layers"].items():
            yield f"{url}: other layers {seen['layers']}"


def _payload(record: WarcRecord) -> bytes:
    return record.block.partition(b"\r\n\r\n")[2]


def _header(record: WarcRecord, name: str) -> str | None:
    for line in record.block.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.lower() == name:
            return value.strip()
    return None


def _parsed(seen: dict[str, Any]) -> PageObservation:
    times = {name: parse_instant(seen[name]) for name in ("started", "ended", "last_modified") if name in seen}
    return msgspec.convert(seen | times, PageObservation)


def envelope(file: Path) -> dict[str, Any]:
    with ZipFile(file) as package:
        return dict(json.loads(package.read(CERTIFICATE)))


def faults(file: Path, *, authorities: Sequence[bytes] = ()) -> list[str]:
    with WaczReader(file) as package:
        failures = verify(package, TrustOptions(authorities=tuple(authorities))).failures
        return [f"{failure.page}: {failure.what}" for failure in failures]


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
