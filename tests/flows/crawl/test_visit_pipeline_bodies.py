"""Unusual, broken and hostile responses are archived as received and classified; none is a false change."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import Reply, reply

TEXT = "<html><body><p>" + "words of the page " * 200 + "</p></body></html>"
PACKED = gzip.compress(TEXT.encode(), mtime=0)
BOMB = zlib.compress(b"A" * 20_000_000, 9)

# between two whole answers: path, odd answer, what the second visit says of it
ODD: dict[str, tuple[Reply, str]] = {
    "disconnect": (reply(TEXT[:500], length=len(TEXT), after="close"), "reset"),
    "stalled": (reply(TEXT[:500], length=len(TEXT), after="stall"), "timeout-total"),
    "half-a-head": (Reply(b"HTTP/1.1 200 O", "close"), "reset"),
    "no-http": (Reply(b"SSH-2.0-OpenSSH\r\n\r\n", "close"), "malformed"),
    "bad-length": (Reply(b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nabcde", "close"), "malformed"),
    "bad-chunks": (Reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", "close"), "malformed"),
    "long-head": (reply(TEXT, X_Long="y" * 70_000), "headers-too-large"),
    "torn-gzip": (reply(PACKED[: len(PACKED) // 2], Content_Encoding="gzip"), "malformed"),
    "broken-gzip": (reply(PACKED[:60] + b"\xff" * 40, Content_Encoding="gzip"), "malformed"),
    "plain-called-gzip": (reply(TEXT, Content_Encoding="gzip"), "same"),
    "packed": (reply(PACKED, Content_Encoding="gzip"), "same"),
    "unauthorised": (reply("who?", 401), "denied"),
    "forbidden": (reply("no", 403), "denied"),
    "payment": (reply("pay", 402), "denied"),
    "teapot": (reply("tea", 418), "denied"),
    "error": (reply("oops", 500), "server-error"),
    "gateway": (reply("oops", 504), "server-error"),
    "partial": (reply(TEXT[:50], 206), "denied"),
    "strange-status": (reply("?", 799), "denied"),
}  # fmt: skip

# answers that are a content of their own, the same at every visit
STEADY: dict[str, Reply] = {
    "empty": reply(""),
    "none": reply(status=204, kind=""),
    "nul": reply(b"<p>a\0b\0</p>\0"),
    "wrong-charset": reply(b"<p>\xff\xfe caf\xe9 \x80</p>", kind="text/html; charset=utf-8"),
    "unknown-charset": reply(b"<p>caf\xe9</p>", kind="text/html; charset=klingon"),
    "unknown-coding": reply(TEXT, Content_Encoding="rot13"),
    "no-type": reply(TEXT, kind=""),
    "odd-type": reply(TEXT, kind="\x01;;;=text"),
    "binary": reply(bytes(range(256)) * 8, kind="application/octet-stream"),
    "bomb": reply(BOMB, Content_Encoding="deflate"),
    "nested": reply("<div>" * 20_000 + "deep"),
    "too-long": reply("z" * 3_000_000),
}


def test_broken_responses_between_complete_ones_are_no_changes(run_scenario: Callable[..., None]) -> None:
    """A broken response between two equal contents is logged with its failure kind; the second content is `same`."""
    urls = {name: f"http://{name}.test/" for name in ODD}

    async def scenario(archiver: Archiver) -> None:
        for name, url in urls.items():
            archiver.servers.serve(url, reply(TEXT), ODD[name][0], reply(TEXT))
        await archiver.watch(*urls.values())
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert {name: (await archiver.outcomes(url)) for name, url in urls.items()} == {
            name: ["new", said, "same"] for name, (_, said) in ODD.items()
        }
        pages = await archiver.pages()
        assert {page.changes for page in pages.values()} == {0}
        for name in ("unauthorised", "forbidden", "error", "torn-gzip", "disconnect", "stalled"):
            _, odd, _ = archiver.records(urls[name])
            assert odd.status in ("200", "401", "403", "500")
        assert archiver.records(urls["disconnect"])[1].headers["WARC-Truncated"] == "disconnect"
        assert archiver.records(urls["stalled"])[1].headers["WARC-Truncated"] == "time"
        assert archiver.records(urls["disconnect"])[1].body.endswith(TEXT[:500].encode())
        assert (await archiver.visits(urls["disconnect"]))[1].truncated == "disconnect"

    hosts = {f"{name}.test": f"127.0.2.{n}" for n, name in enumerate(ODD, 1)}
    run_scenario(scenario, "fetch.total_timeout=0.6s", "fetch.first_byte_timeout=0.5s", hosts=hosts)


def test_unusual_contents_are_versions(run_scenario: Callable[..., None]) -> None:
    """Empty, undecodable, mislabelled, truncated contents and decompression bombs are new once and then the same."""
    urls = {name: f"http://{name}.test/" for name in STEADY}

    async def scenario(archiver: Archiver) -> None:
        for name, url in urls.items():
            archiver.servers.serve(url, STEADY[name])
        await archiver.watch(*urls.values())
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert {name: (await archiver.outcomes(url)) for name, url in urls.items()} == {
            name: ["new", "same"] for name in STEADY
        }
        bomb = await archiver.page(urls["bomb"])
        assert bomb.fingerprint is not None
        assert bomb.fingerprint.size <= 5_000_000
        assert (await archiver.last(urls["bomb"])).bytes == len(BOMB)
        assert (await archiver.last(urls["too-long"])).truncated == "length"
        assert (await archiver.last(urls["too-long"])).bytes == 2_000_000
        assert (await archiver.last(urls["none"])).status == 204

    hosts = {f"{name}.test": f"127.0.2.{n}" for n, name in enumerate(STEADY, 1)}
    run_scenario(scenario, "fetch.max_body=2MB", "fetch.max_decoded=5MB", hosts=hosts)
