"""`webstrata crawl` and `run`: plain lines in a pipe, a display on a terminal, a good end on a signal."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Call, LocalServer, on_a_terminal, started


def test_crawl_in_a_pipe(home: Path, server: LocalServer, call: Call) -> None:
    """A crawl leaves a line on stderr for each visit and a summary, nothing on stdout; the next has nothing to do."""
    server.pages["/"] = ("text/html", b"<title>One</title><p>first")
    call("--home", home, "watch", server.url(), server.url("/absent"), "http://127.0.0.1:1/")

    result = call("--home", home, "crawl", **server.settings)

    assert (result.code, result.out) == (0, b"")
    lines = [re.sub(r"^\S+Z ", "", line) for line in result.err.splitlines()]
    assert f"new 200 {server.url()}" in lines
    assert f"gone 404 {server.url('/absent')}" in lines
    assert "error blocked http://127.0.0.1:1/ (127.0.0.1: 127.0.0.1 port 1 is not public)" in lines
    assert lines[-1].startswith("3 visits, 0 changed, 1 failed, ")
    again = call("--home", home, "crawl", **server.settings)
    assert "0 visits" in again.err
    assert "Nothing was due" in again.err


def test_failures_on_a_terminal(home: Path, server: LocalServer, call: Call) -> None:
    """After the display, failed visits are listed with their reasons; JSON has them too."""
    call("--home", home, "watch", "http://127.0.0.1:1/")
    shown = on_a_terminal("--home", home, "crawl", **server.settings)
    assert re.search(r"blocked: 127\.0\.0\.1: 127\.0\.0\.1 port 1 is not public +http://127\.0\.0\.1:1/\s", shown)
    result = call("--home", home, "crawl", "http://127.0.0.1:1/", "--json", "--quiet", **server.settings)
    detail = "127.0.0.1: 127.0.0.1 port 1 is not public"
    assert result.json["failures"] == [
        {"url": "http://127.0.0.1:1/", "status": None, "failure": {"kind": "blocked", "detail": detail}}
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(number: signal.Signals, home: Path, server: LocalServer, call: Call) -> None:
    """A signal ends a run well: exit code 0, the summary in JSON, nothing left in flight, the archive whole."""
    for page in range(50):
        server.pages[f"/{page}"] = ("text/html", b"<p>%d" % page)
    call("--home", home, "watch", *(server.url(f"/{page}") for page in range(50)))
    slow = {**server.settings, "WEBSTRATA_POLITE_DELAY": "0.2s"}

    with started("--home", home, "run", "--json", **slow) as process:
        assert process.stderr is not None
        while b"new 200" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=30)

    assert process.returncode == 0, err
    assert b"finishing the requests in flight" in err
    assert b'"visits"' in out
    status = call("--home", home, "status", "--json").json
    assert status["in_flight"] == 0
    assert 1 <= status["visits"] < 50
    assert call("--home", home, "check").code == 0


def test_run_for(home: Path, server: LocalServer, call: Call) -> None:
    """`run --for` ends by itself."""
    call("--home", home, "watch", server.url())

    result = call("--home", home, "run", "--for", "1s", "--quiet", "--json", **server.settings)

    assert (result.code, result.err) == (0, "")
    assert result.json["visits"] == 1
    assert 0.9 < result.json["seconds"] < 20


def test_one_at_a_time(home: Path, server: LocalServer, call: Call) -> None:
    """A second crawler of a home is told which process holds the lock; commands that only read work meanwhile."""
    call("--home", home, "watch", server.url())
    with started("--home", home, "run", **server.settings) as process:
        assert process.stderr is not None
        process.stderr.readline()
        second = call("--home", home, "crawl", **server.settings)
        assert second.code == 1
        assert f"in use by process {process.pid}" in second.err
        assert call("--home", home, "status").code == 0
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def test_crawl_on_a_terminal(home: Path, server: LocalServer, call: Call) -> None:
    """A terminal sees the counts move, not a line for each visit."""
    server.pages["/"] = ("text/html", b"<p>one")
    call("--home", home, "watch", server.url())

    shown = on_a_terminal("--home", home, "crawl", **server.settings)

    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "1 done  0 changed  0 failed" in plain
    assert "hosts waiting" in plain
    assert f"new 200 {server.url()}" not in plain
