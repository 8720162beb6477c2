"""Bodies above `fetch.max_parsed` are archived from a file and compared by their bytes."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable

from tests.flows.capture.capturing import capture
from tests.flows.conftest import DAILY, DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.records import UNPARSED, Visit

RunScenario = Callable[..., None]

URL = "http://a.test/file"
LIMITS = (DAILY, "fetch.max_parsed=200KB", "fetch.max_body=5MB", "fetch.max_decoded=1MB")
BODY = os.urandom(10_000) * 100
OTHER = BODY[:-1] + bytes([BODY[-1] ^ 1])
BINARY = "application/octet-stream"


def raw(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def test_archived_and_compared_by_bytes(run_scenario: RunScenario) -> None:
    """The first visit archives the body, an equal one becomes a revisit record, and a different one is a change."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(URL, *[reply(body, kind=BINARY) for body in (BODY, BODY, OTHER)])
        await archiver.watch(URL)
        for _ in range(3):
            await archiver.crawl(after_s=3 * DAY_S)
        assert await archiver.outcomes(URL) == ["new", "same", "changed"]
        visits = await archiver.visits(URL)
        assert [visit.raw for visit in visits] == [raw(BODY), raw(BODY), raw(OTHER)]
        assert [visit.bytes for visit in visits] == [len(BODY)] * 3
        assert [(record.kind, record.body) for record in archiver.records(URL)] == [
            ("response", BODY),
            ("revisit", b""),
            ("response", OTHER),
        ]
        fingerprint = (await archiver.page(URL)).fingerprint
        assert fingerprint is not None
        assert (fingerprint.size, fingerprint.data_kind) == (len(BODY), UNPARSED)
        assert "fetch.max_parsed" in (fingerprint.data_note or "")

    run_scenario(scenario, *LIMITS)


def test_content_coding_is_removed_for_the_comparison(run_scenario: RunScenario) -> None:
    """The same content, compressed in another way, is no change."""
    plain = BODY[:300_000]
    first, second = (gzip.compress(plain, 0, mtime=mtime) for mtime in (1, 2))
    assert first != second

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(URL, *[reply(body, kind=BINARY, Content_Encoding="gzip") for body in (first, second)])
        await archiver.watch(URL)
        for _ in range(2):
            await archiver.crawl(after_s=3 * DAY_S)
        assert await archiver.outcomes(URL) == ["new", "same"]
        assert (await archiver.last(URL)).raw == raw(plain)
        assert [record.body for record in archiver.records(URL)] == [first, second]

    run_scenario(scenario, *LIMITS)


def test_what_cannot_be_decoded_is_compared_as_sent(run_scenario: RunScenario) -> None:
    """A decompression bomb, a wrong header and a second coding: the digest is that of the bytes as sent."""
    bomb = gzip.compress(bytes(300_000_000), 1)
    assert 1_000_000 < len(bomb) < 5_000_000
    double = gzip.compress(gzip.compress(BODY, 0), 0)
    cases = {
        "bomb": (bomb, "gzip", "decoded body cut"),
        "wrong": (BODY, "gzip", "not gzip data"),
        "double": (double, "gzip, gzip", "more than one content coding"),
        "unknown": (BODY, "rot13", "unknown content coding"),
    }

    async def scenario(archiver: Archiver) -> None:
        for name, (body, coding, _) in cases.items():
            archiver.servers.serve(f"http://a.test/{name}", reply(body, kind=BINARY, Content_Encoding=coding))
            await archiver.watch(f"http://a.test/{name}")
        await archiver.crawl()
        for name, (body, _, problem) in cases.items():
            page = await archiver.page(f"http://a.test/{name}")
            assert page.fingerprint is not None
            assert (page.fingerprint.raw, page.fingerprint.size) == (raw(body), len(body)), name
            assert f"compared as sent: {problem}" in (page.fingerprint.data_note or "")

    run_scenario(scenario, *LIMITS)


def test_cut_and_incomplete_bodies(run_scenario: RunScenario) -> None:
    """A body that exceeds `fetch.max_body` is a version that is cut; one whose connection ended is a failure."""
    long, torn = "http://a.test/long", "http://b.test/torn"

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(long, reply(BODY * 6, kind=BINARY))
        archiver.servers.serve(torn, reply(BODY, kind=BINARY, length=2 * len(BODY), after="close"))
        await archiver.watch(long, torn)
        await archiver.crawl()
        cut, lost = await archiver.last(long), await archiver.last(torn)
        assert (cut.outcome, cut.truncated, cut.bytes, cut.raw) == ("new", "length", 5_000_000, raw(BODY * 5))
        assert lost.failure is not None
        assert (lost.failure.kind, lost.truncated, lost.bytes) == ("reset", "disconnect", len(BODY))
        (record,) = archiver.records(torn)
        assert (record.body, record.headers["WARC-Truncated"]) == (BODY, "disconnect")

    run_scenario(scenario, *LIMITS)


def test_redirected_and_changing_size(run_scenario: RunScenario) -> None:
    """A large body behind a redirect belongs to its page. A page may become small and large again: then only one of two
    versions is parsed, which is a change of form."""
    target = "http://b.test/file"
    page = "<title>t</title><p>a small page with enough words to be compared"

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(URL, reply(status=302, Location=target))
        archiver.servers.serve(target, *[reply(body) for body in (BODY, page, BODY, page.replace("small", "tiny"))])
        await archiver.watch(URL)
        for _ in range(4):
            await archiver.crawl(after_s=3 * DAY_S)
        assert [visit.kind for visit in await archiver.visits(URL)] == ["new", "form", "form", "form"]
        assert [visit.raw_changed for visit in await archiver.visits(URL)] == [False, True, True, True]
        first = archiver.records(target)[0]
        assert [record.body for record in archiver.records(target) if record.kind == "response"].count(BODY) == 1
        assert first.headers["WARC-Visit-Page"] == URL

    run_scenario(scenario, *LIMITS)


def test_rebuilt_from_the_archive(run_scenario: RunScenario) -> None:
    """`rebuild` makes the same log of large bodies again, and reads none of them into memory."""
    coded = gzip.compress(BODY[:300_000], 0)

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(URL, *[reply(body, kind=BINARY) for body in (BODY, BODY, OTHER)])
        archiver.servers.serve("http://b.test/", reply(coded, kind=BINARY, Content_Encoding="gzip"))
        await archiver.watch(URL, "http://b.test/")
        for _ in range(3):
            await archiver.crawl(after_s=3 * DAY_S)
        before = [facts(visit) for url in (URL, "http://b.test/") for visit in await archiver.visits(url)]
        await archiver.close()
        result, _ = await archiver.node.rebuild(replace=True)
        assert result.unreadable == 0
        assert [facts(visit) for url in (URL, "http://b.test/") for visit in await archiver.visits(url)] == before

    run_scenario(scenario, *LIMITS)


def facts(visit: Visit) -> tuple[object, ...]:
    return visit.url, visit.at, visit.outcome, visit.raw, visit.payload, visit.bytes, visit.truncated, visit.position


def test_captures_hold_bodies_in_memory(run_scenario: RunScenario) -> None:
    """A capture parses what it certifies: there a body is cut at `fetch.max_parsed`, and its page is an error."""
    file = "http://a.test/dump"

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/", reply(f'<p>text <a href="{file}">dump</a>'))
        archiver.servers.serve(file, reply(BODY, kind=BINARY))
        taken = await capture(archiver)
        assert taken.verdicts()["/dump"] == "error"
        assert {record.body for record in archiver.records(file)} <= {BODY[:200_000], b""}
        assert not [path for path in archiver.warcs() if "-large-" in path.name]

    run_scenario(scenario, *LIMITS)
