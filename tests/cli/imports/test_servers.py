"""`import wayback` and `import timemap` as users call them: real processes of a server, documents, messages."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Call, call_process, started
from tests.fetch.local_site import Answer, Asked, serving
from tests.history.played_archive import Importer, PlayedArchive, capture, captures
from webstrata.node import Node
from webstrata.ports import CopySource

FAST = {"WEBSTRATA_FETCH_ALLOW_PRIVATE": "127.0.0.0/8:*", "WEBSTRATA_POLITE_DELAY_FACTOR": "0"}
RATE = ("--per-minute", 6000)
PAGE = "http://foo.example/"
LINKS = f'<{PAGE}>; rel="original",\n' + ",\n".join(
    f'<http://archive.example/{day}000000/{PAGE}>; rel="memento"; datetime="{date} 00:00:00 GMT"'
    for day, date in [("20150101", "Thu, 01 Jan 2015"), ("20150102", "Fri, 02 Jan 2015"), ("20150230", "30 Feb 2015")]
)


@pytest.fixture
def home(tmp_path: Path, call: Call) -> Path:
    assert call("init", "--home", tmp_path / "home").code == 0
    return tmp_path / "home"


def test_wayback(home: Path, call: Call) -> None:
    """A page's copies come in; the document has the counts, and the second call reads nothing."""
    with serving(PlayedArchive([*captures(30), capture(PAGE, "20250101000000", "A", "404")])) as site:
        words = ("import", "wayback", PAGE, "--server", f"{site.url}/cdx", *RATE, "--home", home)
        first = call(*words, "--json", **FAST)
        again = call(*words, **FAST)

    assert first.code == 0, first.err
    assert {name: first.json[name] for name in ("read", "kept", "skipped")} == {
        "read": 31,
        "kept": 30,
        "skipped": {"error-status": 1},
    }
    assert f"127.0.0.1 {PAGE}:31: error-status: 404" in first.err
    assert again.code == 0
    assert "was imported before" in again.text
    assert len(site.asked) == 1


def test_depth(home: Path, call: Call) -> None:
    """--depth counts levels below the homepage, or below the folder of the pattern, with or without `www.`."""
    rows = [
        capture(f"http://{host}foo.example/{path}", f"201501{day:02d}000000", "A")
        for host in ("", "www.")
        for day, path in enumerate(("", "a", "a/b", "a/b/c"), 1)
    ]
    with serving(PlayedArchive(rows)) as site:
        server = ("--server", f"{site.url}/cdx", *RATE, "--home", home, "--dry-run", "--json")
        site_level = call("import", "wayback", "foo.example/*", "--depth", 1, *server, **FAST)
        folder = call("import", "wayback", "http://foo.example/a/*", "--depth", 1, *server, **FAST)

    assert (site_level.json["kept"], site_level.json["skipped"]) == (4, {"too-deep": 4})
    assert (folder.json["kept"], folder.json["skipped"]) == (4, {"too-deep": 2})


def test_a_dry_run_stores_nothing(home: Path, call: Call) -> None:
    """--dry-run gives the counts; the import then starts at the beginning, and is answered by the cache."""
    with serving(PlayedArchive(captures(30))) as site:
        words = ("import", "wayback", PAGE, "--server", f"{site.url}/cdx", *RATE, "--home", home)
        dry = call(*words, "--dry-run", "--json", **FAST)
        assert call("import", "list", "--home", home, "--json").json == {"imports": []}
        real = call(*words, "--json", **FAST)

    assert dry.json["kept"] == real.json["kept"] == 30
    assert len(site.asked) == 1


def test_refresh_reads_again(home: Path, call: Call) -> None:
    """--refresh requests everything again and adds what is new."""
    archive = PlayedArchive(captures(30))
    with serving(archive) as site:
        words = ("import", "wayback", PAGE, "--server", f"{site.url}/cdx", *RATE, "--home", home, "--json")
        call(*words, **FAST)
        archive.rows = captures(31)
        result = call(*words, "--refresh", **FAST).json

    assert (result["kept"], result["skipped"]) == (1, {"duplicate": 30})


def test_a_server_that_forbids(home: Path, call: Call) -> None:
    """A refusal ends the command with exit code 1, one sentence and what to do; stdout stays empty."""
    with serving(lambda asked: Answer(403, body=b"Blocked Site Error")) as site:
        result = call("import", "wayback", PAGE, "--server", f"{site.url}/cdx", *RATE, "--home", home, "--json", **FAST)

    assert result.code == 1
    assert result.out == b""
    assert "HTTP status 403 (Blocked Site Error)" in result.err
    assert "the same command continues" in result.err


def test_a_killed_import_continues(home: Path) -> None:
    """After `kill -9` in the middle the same import goes on: nothing is read twice, and nothing is lost.

    It goes on with a clock of its own, so that it does not wait until the host lease of the killed process has ended.
    """
    archive = PlayedArchive(captures(22_000))
    with serving(archive) as site:
        server = f"{site.url}/cdx"
        with started("import", "wayback", PAGE, "--server", server, *RATE, "--home", home, **FAST) as process:

            def kill(asked: Asked) -> Answer | None:
                if len(archive.queries) < 4:
                    return None
                process.kill()
                return Answer(500)

            archive.faults.append(kill)
            assert process.wait(100) == -signal.SIGKILL
        archive.faults.clear()

        @asynccontextmanager
        async def open_source(node: Node) -> AsyncIterator[CopySource]:
            async with node.cdx_servers(server, [PAGE]) as (source,):
                yield source

        result = Importer(home.parent).run(open_source)

    assert (result.read, result.kept, result.skipped) == (22_000, 22_000, {})
    assert result.continued_from == 15_000
    assert len(site.asked) == 6


def test_politeness_survives_the_process(home: Path) -> None:
    """The gap to the last request of an earlier process is kept, and so is a pause that the server asked for."""
    times: list[float] = []
    answers = iter([Answer(body=b"[]"), Answer(429, {"Retry-After": "3600"})])

    def answer(asked: Asked) -> Answer:
        times.append(time.monotonic())
        return next(answers)

    with serving(answer) as site:
        words = ("import", "wayback", "--server", f"{site.url}/cdx", "--per-minute", 40, "--home", home)
        first, *refused = [call_process(*words, f"{PAGE}{name}", **FAST) for name in "abc"]

    assert first.code == 0, first.err
    assert len(times) == 2
    assert times[1] - times[0] >= 1.4
    for result in refused:
        assert result.code == 1
        assert "until 20" in result.err


def test_private_addresses_need_the_setting(home: Path, call: Call) -> None:
    """The address guard holds for archives too."""
    with serving(PlayedArchive(captures(3))) as site:
        result = call("import", "wayback", PAGE, "--server", f"{site.url}/cdx", "--home", home)

    assert result.code == 1
    assert "is not public" in result.err
    assert site.asked == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("wayback",), "Missing argument"),
        (("wayback", "ftp://foo.example/"), "only http and https"),
        (("wayback", PAGE, "--server", "nowhere"), "not a URL"),
        (("wayback", PAGE, "--from", "2020", "--to", "2019"), "--from is later than --to"),
        (("wayback", PAGE, "--from", "soon"), "not a time"),
        (("wayback", PAGE, "--per-minute", "60"), "web.archive.org allows 24 requests per minute"),
        (("timemap", PAGE, "--server", "https://web.archive.org/web/timemap/link/", "--per-minute", "60"), "allows 24"),
        (("timemap", "missing.link"), "cannot read"),
        (("timemap", "foo.example/*", "--server", "http://a.example/"), "of one page"),
    ],
)
def test_wrong_calls(home: Path, call: Call, words: tuple[str, ...], told: str) -> None:
    """Errors of use have exit code 2 and say what is wrong, before anything is requested."""
    result = call("import", *words, "--home", home)

    assert result.code == 2
    assert told in " ".join(result.err.replace("│", " ").split())


def test_timemap_file(home: Path, call: Call, tmp_path: Path) -> None:
    """A saved TimeMap comes in; a row with an invalid date is listed and counted."""
    file = tmp_path / "saved.link"
    file.write_text(LINKS)
    result = call("import", "timemap", file, "--home", home, "--json")

    assert result.code == 0, result.err
    assert {name: result.json[name] for name in ("read", "kept", "skipped")} == {
        "read": 3,
        "kept": 2,
        "skipped": {"invalid-date": 1},
    }
    assert "saved.link:4: invalid-date: 30 Feb 2015 00:00:00 GMT" in result.err


def test_timemaps_of_pages(home: Path, call: Call) -> None:
    """With --server the TimeMaps of several pages are requested; a page without one is no error."""

    def answer(asked: Asked) -> Answer:
        return Answer(body=LINKS.encode()) if asked.target.endswith(PAGE) else Answer(404)

    with serving(answer) as site:
        server = ("--server", f"{site.url}/timemap/link/", *RATE, "--home", home, "--json")
        result = call("import", "timemap", PAGE, "http://none.example/", *server, **FAST)

    assert result.code == 0, result.err
    assert [one["kept"] for one in result.json["imports"]] == [2, 0]
    assert site.targets == [f"/timemap/link/{PAGE}", "/timemap/link/http://none.example/"]


def test_json_timemap_of_an_aggregator(home: Path, call: Call, tmp_path: Path) -> None:
    """The JSON of an aggregator is recognised by its content, whatever the file is called."""
    memento = {"datetime": "2015-01-01T00:00:00Z", "uri": f"http://one.example/20150101000000/{PAGE}"}
    file = tmp_path / "x.txt"
    file.write_text(json.dumps({"original_uri": PAGE, "mementos": {"list": [memento]}}))

    assert call("import", "timemap", file, "--home", home, "--json").json["kept"] == 1
