"""Large files from the command line: memory, kill, stop, and reading them back."""

from __future__ import annotations

import hashlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, call_process, environment, started
from tests.cli.large_files import MEASURED, LargeFiles, large_files, sha256
from webstrata.archive.warc.room import free_bytes

MB = 1_000_000
SIZE = 120 * MB


@pytest.fixture
def files() -> Iterator[LargeFiles]:
    with large_files() as served:
        yield served


def measured(home: Path, *words: object, **more: str) -> tuple[int, int, str]:
    """(exit code, largest resident memory in bytes, stderr) of a command."""
    peak = home / "peak"
    command = [*MEASURED, "--home", str(home), *map(str, words), str(peak)]
    result = subprocess.run(command, capture_output=True, env=environment(**more), check=False)
    return result.returncode, 1024 * int(peak.read_text()), result.stderr.decode()


def test_memory_does_not_depend_on_the_body(home: Path, files: LargeFiles, call: Call) -> None:
    """Crawling, checking, exporting, rebuilding and printing a body of 120 MB need little more memory than one of 3 MB.

    A command that held the body once would need 117 MB more. Half of that is allowed for buffers.
    """
    peaks: dict[int, dict[str, int]] = {}
    for size in (3 * MB, SIZE):
        call("--home", home, "watch", files.url(size=size))
        peaks[size] = {}
        for name, words in {
            "crawl": ("crawl", files.url(size=size)),
            "cat": ("cat", files.url(size=size)),
            "check": ("check",),
            "reindex": ("reindex",),
            "warc": ("export", "warc", home / f"{size}.warc.gz"),
            "wacz": ("export", "wacz", home / f"{size}.wacz"),
            "rebuild": ("rebuild", "--replace"),
        }.items():
            code, peaks[size][name], err = measured(home, *words, **files.settings)
            assert code == 0, f"{name}: {err}"
    grown = {name: peaks[SIZE][name] - peak for name, peak in peaks[3 * MB].items()}
    assert max(grown.values()) < 60 * MB, {name: f"{bytes_ / MB:.0f} MB" for name, bytes_ in grown.items()}


def test_cat_gives_the_same_bytes(home: Path, files: LargeFiles, call: Call) -> None:
    """`cat` prints the body through a pipe, also if Python does not buffer its output."""
    url = files.url(size=20 * MB)
    call("--home", home, "watch", url)
    assert call_process("--home", home, "crawl", **files.settings).code == 0
    for unbuffered in ("", "1"):
        result = call_process("--home", home, "cat", url, **files.settings, PYTHONUNBUFFERED=unbuffered)
        assert (result.code, len(result.out)) == (0, 20 * MB)
        assert hashlib.sha256(result.out).hexdigest() == sha256(20 * MB)
    shown = call("--home", home, "cat", url, "--json", **files.settings).json
    assert (shown["size"], shown["raw"], shown["truncated"]) == (20 * MB, sha256(20 * MB), None)


def test_cut_bodies_are_said_in_tables(home: Path, files: LargeFiles, call: Call) -> None:
    """`crawl`, `log`, `cat` and `diff` say that a body was cut, and why; `diff` gives sizes and digests."""
    url, torn = files.url(size=9 * MB), files.url(size=9 * MB, end=5 * MB)
    call("--home", home, "watch", url, torn)
    small = {**files.settings, **ALWAYS_DUE, "WEBSTRATA_FETCH_MAX_BODY": "4MB"}
    large = {**files.settings, **ALWAYS_DUE, "WEBSTRATA_FETCH_MAX_BODY": "7MB"}
    crawled = call_process("--home", home, "crawl", url, torn, **small)
    assert "body cut at the size limit after 4.0 MB (fetch.max_body)" in crawled.err
    assert "2 with a cut body" in crawled.err.splitlines()[-1]
    again = call_process("--home", home, "crawl", url, torn, "--json", **large)
    assert again.json["cut"] == 2
    assert call("--home", home, "status", "--json").json["cut"] == 2
    assert "2 pages have an incomplete last body" in call("--home", home, "status").text
    log = call("--home", home, "log", url).text
    assert "7.0 MB (cut)" in log
    assert "body cut at the size limit after 4.0 MB (fetch.max_body)" in log
    lost = call("--home", home, "log", torn).text
    assert "body incomplete: the connection ended after 5.0" in lost
    cat = call("--home", home, "cat", url, **large)
    assert len(cat.out) == 7 * MB
    assert "is incomplete: body cut at the size limit after 7.0 MB" in cat.err
    diff = call("--home", home, "diff", url, **large)
    assert "4.0 MB, SHA-256 " in diff.text
    assert "7.0 MB, SHA-256 " in diff.text
    assert diff.err.count("is incomplete: body cut") == 2
    assert "is incomplete: body cut" in call("--home", home, "diff", url, "--since", "1d", **large).err
    assert call_process("--home", home, "crawl", url, **files.settings, **ALWAYS_DUE).code == 0
    assert call("--home", home, "status", "--json").json["cut"] == 1


def test_preview_of_a_large_body(home: Path, files: LargeFiles, call: Call) -> None:
    """`preview` says that rules do not apply to a body that is not parsed."""
    url = files.url(size=3 * MB)
    call("--home", home, "watch", url)
    assert call_process("--home", home, "crawl", **files.settings).code == 0
    result = call("--home", home, "preview", url, **files.settings)
    assert result.code == 2
    assert "fetch.max_parsed" in result.err


def test_killed_in_the_middle(home: Path, files: LargeFiles, call: Call) -> None:
    """A crawl that is killed while a body arrives leaves no file of it; the next crawl archives it."""
    url = files.url(size=30 * MB, hold=20 * MB)
    call("--home", home, "watch", url)
    with started("--home", home, "crawl", **files.settings) as process:
        assert files.held.wait(100)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=100)
    left = sum(path.stat().st_size for path in (home / "archive").iterdir())
    assert left < MB, list((home / "archive").iterdir())
    files.go.set()
    assert call_process("--home", home, "crawl", url, **files.settings).code == 0
    result = call_process("--home", home, "cat", url, **files.settings)
    assert hashlib.sha256(result.out).hexdigest() == sha256(30 * MB)
    check = call("--home", home, "check", "--json").json
    assert (check["bad"], check["dangling"], check["lost"]) == (0, 0, 0)


def test_stopped_in_the_middle(home: Path, files: LargeFiles, call: Call) -> None:
    """Ctrl-C ends a crawl whose large body does not end in time; nothing of it is kept, and its page is due."""
    url = files.url(size=30 * MB, hold=20 * MB)
    call("--home", home, "watch", url)
    with started("--home", home, "crawl", **files.settings, WEBSTRATA_CRAWL_STOP_TIMEOUT="1s") as process:
        assert files.held.wait(100)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)
    assert not [path.name for path in (home / "archive").iterdir() if "large" in path.name]
    (page,) = call("--home", home, "list", "--json").json["pages"]
    assert page["visits"] == 0
    files.go.set()
    assert call_process("--home", home, "crawl", **files.settings).code == 0
    assert call("--home", home, "cat", url, "--json", **files.settings).json["raw"] == sha256(30 * MB)


def test_body_that_does_not_fit_on_the_disk(home: Path, files: LargeFiles, call: Call) -> None:
    """A file that would leave less than `archive.reserve` is given up at once; the log says why, and others go on."""
    large, small = files.url(size=9_000 * MB), files.url(size=3 * MB)
    call("--home", home, "watch", large, small)
    reserve = free_bytes(home) - 5_000 * MB
    if reserve < 0:
        pytest.skip("the disk has less than 5 GB left")
    crawled = call_process("--home", home, "crawl", **files.settings, WEBSTRATA_ARCHIVE_RESERVE=f"{reserve}B")
    assert crawled.code == 0
    (visit,) = call("--home", home, "log", large, "--json").json["visits"]
    assert visit["failure"]["kind"] == "handler"
    assert "archive.reserve" in visit["failure"]["detail"]
    assert call("--home", home, "cat", small, "--json", **files.settings).json["raw"] == sha256(3 * MB)
    check = call("--home", home, "check", "--json").json
    assert (check["bad"], check["dangling"], check["lost"]) == (0, 0, 0)
