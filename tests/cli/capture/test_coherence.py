"""`webstrata coherence` for archive files and for the home's own visits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archive.conftest import write_family
from tests.archive.foreign_warc import response, revisit, sha1_base32, write_warc
from tests.cli.conftest import Call, Demo, LocalServer

A, B, C, D, E = (f"http://example.org/{name}" for name in "abcde")
EARLY, LATE = "2026-09-01T10:00:00Z", "2026-09-01T11:00:00Z"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Two passes: an unchanged page, a changed one, one that failed in between, one that moved, one that is missing."""
    records = [
        response(A, EARLY, b"a"),
        response(A, LATE, b"a", WARC_Payload_Digest=sha1_base32(b"not a")),
        response(B, EARLY, b"b"),
        response(B, LATE, b"bb"),
        response(C, EARLY, b"c"),
        response(C, "2026-09-01T10:30:00Z", b"busy", 503),
        response(C, LATE, b"c"),
        response(D, EARLY, b"", 301, "Location: /a"),
        response(D, LATE, b"", 301, "Location: /a"),
        response(E, EARLY, b"none", 404),
        response(E, LATE, b"none", 404),
    ]
    return write_warc(tmp_path / "crawl.warc.gz", records)


def test_the_document(call: Call, crawl: Path) -> None:
    """Each page with its status and windows; the instant, its uncertainty, and the number of proved pages."""
    result = call("coherence", crawl, "--json").json

    assert result["instant"] == {"from": "2026-09-01T10:00:02Z", "to": "2026-09-01T11:00:00Z"}
    assert (result["proved"], result["uncertainty_s"], result["single_pass"]) == (2, 1.0, False)
    window = ["2026-09-01T10:00:02Z", "2026-09-01T11:00:00Z"]
    rows = {
        page["url"]: (page["status"], page["windows"], page["proved"], page["standing"]) for page in result["pages"]
    }
    assert rows == {
        A: (200, [window], True, "proved"),
        B: (200, [], False, "changed"),
        C: (200, [], False, "interrupted"),
        D: (301, [window], True, "proved"),
        E: (404, [], False, "error"),
    }
    assert [page["statuses"] for page in result["pages"]][2] == [200, 503]
    assert result["wrong_digests"] == [{"url": A, "at": LATE}]
    assert (result["sightings"], result["unknown_durations"], result["declared_digests"]) == (11, 11, 0)


def test_the_report(call: Call, crawl: Path) -> None:
    """The text says the same: instant, uncertainty, statuses, wrong digests."""
    shown = call("coherence", crawl).text

    assert "instant       2026-09-01 10:00:02 to 2026-09-01 11:00:00" in shown
    assert "2 of 5 provably coexisted; 1 changed, 1 with something else in between, 1 never seen with content" in shown
    assert "uncertainty   1s, the resolution of the dates" in shown
    assert "1 record with a declared digest that the payload does not have" in shown
    assert "interrupted  200 503" in shown


def test_a_single_pass(call: Call, tmp_path: Path) -> None:
    """Forty pages, each seen once: no page is proved, and the report says what a single pass proves."""
    pages = [response(f"{A}{number}", EARLY, str(number).encode()) for number in range(40)]
    file = write_warc(tmp_path / "one.warc.gz", pages)

    result = call("coherence", file, "--json").json
    assert (result["proved"], result["instant"], result["single_pass"], len(result["pages"])) == (0, None, True, 40)
    assert len(result["revisit"]) == 40
    shown = call("coherence", file).text
    assert "instant       none: no page was certainly seen" in shown
    assert "nothing about two pages together" in shown


def test_the_longest_download(call: Call, tmp_path: Path) -> None:
    """A limit that the user knows better widens or narrows the windows."""
    dates = "2026-09-01T10:00:00.250Z", "2026-09-01T10:00:01.125Z"
    file = write_warc(tmp_path / "a.warc.gz", [response(A, date, b"a") for date in dates])

    assert call("coherence", file, "--json").json["proved"] == 0
    quick = call("coherence", file, "--longest-download", "0.5s", "--json").json
    assert (quick["proved"], quick["uncertainty_s"]) == (1, 0.001)
    assert "not a duration" in call("coherence", file, "--longest-download", "soon").err


def test_weak_evidence_is_said(call: Call, tmp_path: Path) -> None:
    """Pages that are proved by revisits, or by declared digests only, are counted."""
    digest = sha1_base32(b"elsewhere")
    records = [
        response(A, EARLY, b"a", WARC_Record_ID="<urn:uuid:1>"),
        revisit(A, LATE, WARC_Refers_To="<urn:uuid:1>"),
        *(revisit(B, date, WARC_Payload_Digest=digest) for date in (EARLY, LATE)),
    ]
    file = write_warc(tmp_path / "a.warc.gz", records)

    result = call("coherence", file, "--json").json
    assert [(page["url"], page["evidence"]) for page in result["pages"]] == [(A, "revisit"), (B, "declared")]
    assert result["declared_digests"] == 2
    shown = call("coherence", file).text
    assert "1 page proved by revisit records" in shown
    assert "2 contents known by declared digests only" in shown


def test_damage_is_said(call: Call, crawl: Path) -> None:
    data = crawl.read_bytes()
    crawl.write_bytes(data[:60] + b"XXXX" + data[64:])

    assert call("coherence", crawl, "--json").json["damaged"] == 1
    assert "1 place in the files cannot be read" in call("coherence", crawl).text


def test_own_archive_files(call: Call, tmp_path: Path) -> None:
    """A page captured three times with equal content is proved between; one captured once is open."""
    home, _ = write_family(tmp_path)

    result = call("coherence", home.warc, "--json").json
    standings = {page["url"]: page["standing"] for page in result["pages"]}
    assert standings == {"http://example.com/a": "proved", "http://example.com/b?y=2&x=1": "open"}
    assert result["spread_s"] == 7200.0
    assert result["revisit"] == ["http://example.com/b?y=2&x=1"]
    before = call("coherence", home.warc, "--at", "2026-09-20T00:00:00Z", "--json").json
    assert {page["standing"] for page in before["pages"]} == {"later"}


def test_own_visits(call: Call, demo: Demo) -> None:
    """Most pages of a demo site coexisted, by its ordinary visits."""
    result = call("--home", demo.home, "coherence", "--store", "boost.test", "--json").json
    assert len(result["pages"]) > 10
    assert 0 < result["proved"] <= len(result["pages"])
    assert result["instant"]["from"] <= result["instant"]["to"]
    assert result["unknown_durations"] == 0
    shown = call("--home", demo.home, "coherence", "--store", "boost.test").text
    assert f"{result['proved']} of {len(result['pages'])} provably coexisted" in shown


@pytest.mark.parametrize("layer", ["content", "raw"])
def test_a_failed_visit_interrupts(call: Call, seen: Path, server: LocalServer, layer: str) -> None:
    """Of two unchanged pages, one was missing at a visit in between: it is not proved across that visit."""
    visit = ("--home", seen, "crawl", server.url("/a"), server.url("/b"))
    kept = server.pages.pop("/a")
    call(*visit, **server.settings)
    server.pages["/a"] = kept
    call(*visit, **server.settings)

    result = call("--home", seen, "coherence", "--store", server.url("/"), "--layer", layer, "--json").json
    rows = {page["url"][-1]: (page["proved"], len(page["windows"]), page["statuses"]) for page in result["pages"]}
    assert rows == {"a": (False, 0, [200, 404]), "b": (True, 1, [200])}


def test_bad_input(call: Call, demo: Demo, tmp_path: Path) -> None:
    """Missing arguments, missing files and unknown hosts give one sentence each."""
    for words, said in (
        (("coherence",), "--store"),
        (("coherence", tmp_path / "no.warc.gz"), "no file"),
        (("coherence", Path(__file__)), "not a supported archive file"),
        (("--home", demo.home, "coherence", "--store", "nowhere.test"), "no page of nowhere.test"),
    ):
        result = call(*words)
        assert result.code in (1, 2), words
        assert said in result.err
