"""`capture --resume` uses the options of the first run, whether this was interrupted or killed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cli.capture.capturing import certificate, verdicts
from tests.cli.conftest import Call, LocalServer, started

NAMES = [f"p{number}" for number in range(5)]


class Held(dict[str, tuple[str, bytes]]):
    """Pages of which one is answered only when the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.requested, self.released = Event(), Event()

    def get(self, path: str, default: object = None) -> tuple[str, bytes] | None:  # type: ignore[override]
        if path == "/p2":
            self.requested.set()
            self.released.wait(60)
        return super().get(path)


@pytest.fixture
def pages(server: LocalServer) -> Iterator[Held]:
    server.pages = held = Held()
    vars(server.server)["handle_error"] = lambda *_: None  # a killed client is no fault of the server
    anchors = "".join(f'<p><a href="/{name}">to {name}</a>' for name in NAMES)
    head = '<title>t</title><link rel="stylesheet" href="/s.css">'
    held["/"] = ("text/html", f"{head}<main>{anchors}</main>".encode())
    for name in NAMES:
        held[f"/{name}"] = ("text/html", f"{head}<main><p>words of {name}</main>".encode())
    held["/s.css"] = ("text/css", b"p { color: red }")
    yield held
    held.released.set()


def environment_of(server: LocalServer) -> dict[str, str]:
    """The settings of the server without the permission to visit it, which the first run gets by --set."""
    return {name: value for name, value in server.settings.items() if "ALLOW_PRIVATE" not in name}


def interrupt(home: Path, server: LocalServer, pages: Held, number: signal.Signals, *words: object) -> None:
    """Run a capture, and stop it by a signal while a request is in flight."""
    allowed = f"fetch.allow_private=127.0.0.1/32:{server.port}"
    command = ("--home", home, "capture", server.url(), "--set", allowed, *words)
    with started(*command, **environment_of(server)) as process:
        assert process.stderr is not None
        assert pages.requested.wait(60)
        process.send_signal(number)
        if number is signal.SIGINT:
            while b"finishing the requests in flight" not in process.stderr.readline():
                pass
            pages.released.set()
        process.communicate(timeout=60)
    pages.released.set()
    assert process.returncode == (3 if number is signal.SIGINT else -signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("name", ["ID", "last"])
def test_the_options_of_the_first_run(
    number: signal.Signals, name: str, home: Path, server: LocalServer, pages: Held, call: Call, tmp_path: Path
) -> None:
    """Without further options the result is the package that the first run was to make, at the same place."""
    out, report, chart = (tmp_path / file for file in ("my.wacz", "my.html", "my.svg"))
    words = ("--sharp", "--delay", "0s", "--tau", "0.8", "--scope", "host", "--layer", "raw", "--max-pages", "5")
    more = ("--no-requisites", "--out", out, "--report", report, "--picture", chart, "--max-time", "1h")
    interrupt(home, server, pages, number, *words, *more)
    for file in (out, report, chart):
        file.unlink(missing_ok=True)
    (journal,) = (home / "captures").glob("2*.jsonl")

    capture = journal.stem if name == "ID" else "last"
    result = call("--home", home, "capture", "--resume", capture, "--json", **environment_of(server))

    assert result.code == 0, result.err
    (one,) = result.json["captures"]
    assert (one["id"], one["file"], one["layer"], one["sharp"]) == (journal.stem, str(out), "raw", True)
    assert one["counts"] == verdicts(sharp=5)
    assert one["requisites"]["captured"] == 0
    assert report.read_text().startswith("<!doctype html>")
    assert b"<svg" in chart.read_bytes()
    assert certificate(out)["capture"] == journal.stem
    assert call("certificate", "verify", out).code == 0
    nothing = call("--home", home, "capture", "--resume", "last", **environment_of(server))
    assert (nothing.code, "no capture that did not reach its end" in nothing.err) == (2, True)


@pytest.fixture
def interrupted(home: Path, server: LocalServer, pages: Held) -> str:
    """The name of a capture that was killed."""
    interrupt(home, server, pages, signal.SIGKILL, "--delay", "0s", "-q", "--max-pages", "4")
    (journal,) = (home / "captures").glob("2*.jsonl")
    return journal.stem


CONTRADICTING = [
    (("--sharp",), "--sharp is not as in the capture that is to be resumed (not given)"),
    (("--layer", "raw"), "--layer is not as in the capture that is to be resumed (visible)"),
    (("--scope", "domain"), "(prefix)"),
    (("--tau", "0.5"), "(0.9)"),
    (("--max-pages", "9"), "(4)"),
    (("--no-requisites",), "(given)"),
    (("--sitemap",), "(not given)"),
    (("--seeds", "-"), "(not given)"),
    (("--weights", "-"), "(0 lines)"),
    (("--when", "best"), "--when is for the start of a capture"),
]


def test_options_that_contradict(interrupted: str, home: Path, call: Call, server: LocalServer) -> None:
    """An option that cannot change and differs from the first run is refused."""
    listed = f"{server.url('/p1')}\t2\n".encode()
    for words, says in CONTRADICTING:
        result = call("--home", home, "capture", "--resume", interrupted, *words, stdin=listed)
        assert (result.code, result.out) == (2, b""), words
        assert says in result.err


def test_options_that_may_change(
    interrupted: str, home: Path, server: LocalServer, pages: Held, call: Call, tmp_path: Path
) -> None:
    """Options that do not change the order replace those of the first run; equal ones may be repeated."""
    out = tmp_path / "other.wacz"
    words = ("--max-pages", "4", "--scope", "prefix", "--out", out, "--max-time", "none", "--set", "polite.delay=0s")
    result = call("--home", home, "capture", "--resume", interrupted, *words, "--json", **environment_of(server))
    assert result.code == 0, result.err
    (one,) = result.json["captures"]
    assert one["file"] == str(out)
    assert one["pages"] == 4


def test_the_journal_has_no_password(home: Path, server: LocalServer, call: Call) -> None:
    """Settings of the database are not written to the journal."""
    server.pages["/"] = ("text/html", b"<title>t</title><p>hello")
    database = f"sqlite:///{home}/webstrata.db"
    settings: dict[str, Any] = server.settings
    words = ("--set", f"store.url={database}", "--set", "capture.patience=1m", "--delay", "0.01s")
    assert call("--home", home, "capture", server.url(), *words, **settings).code == 0
    (journal,) = (home / "captures").glob("2*.jsonl")
    first = journal.read_bytes().partition(b"\n")[0]
    assert b"capture.patience=1m" in first
    assert b"store.url" not in first
