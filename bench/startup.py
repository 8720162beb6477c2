"""Processor time of short commands, from start to exit (user and system), next to that of `python -c pass`.

The home is small: two pages in two versions, crawled from a local server. Each command runs in turns with the empty
program, and its ratio is computed within the turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from bench.figures import Figure, compiling_once

HELP_S = 0.15
"""Target of commands that only print about the program, and of completion."""
COMMAND_S = 0.4
"""Target of commands that open a small home."""

_PROGRAM = ("-c", "from webstrata.cli import main; main()")
_TURNS, _TURNS_QUICK = 9, 3
_PAGE = "<title>Page {name}</title><h1>{name}</h1><p>Version {number} of a paragraph that is the main text.</p>"

_TEXTS = ("--version", "--help", "list --help", "diff --help", "capture --help", "demo --help")
_COMPLETIONS: dict[str, Mapping[str, str]] = {
    "completion of a command (bash)": {
        "_WEBSTRATA_COMPLETE": "complete_bash",
        "COMP_WORDS": "webstrata li",
        "COMP_CWORD": "1",
    },
    "completion of an option (bash)": {
        "_WEBSTRATA_COMPLETE": "complete_bash",
        "COMP_WORDS": "webstrata diff --",
        "COMP_CWORD": "2",
    },
    "completion of a command (zsh)": {"_WEBSTRATA_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "webstrata c"},
    "completion of a command (fish)": {
        "_WEBSTRATA_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": "webstrata c",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
}
_COMMANDS = (
    "settings",
    "list",
    "status",
    "log URL",
    "why URL",
    "diff URL",
    "cat URL",
    "rules URL",
    "noise URL",
    "tag",
    "interval",
    "snooze",
    "check",
    "plan --offline",
    "export cdxj OUT.cdxj",
    "export wacz OUT.wacz",
    "watch URL",
    "init",
    "init (new home)",
)


def run(quick: bool) -> list[Figure]:
    turns = _TURNS_QUICK if quick else _TURNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = compiling_once(folder)
        with _site() as url:
            _make_home(folder / "home", url, environment)
        figures: list[Figure] = []
        for text in _TEXTS:
            figures += _measured(f"`webstrata {text}`", text.split(), environment, turns, HELP_S)
        for title, variables in _COMPLETIONS.items():
            figures += _measured(title, [], {**environment, **variables}, turns, HELP_S)
        for command in _COMMANDS:
            words = [word.replace("URL", url).replace("OUT", f"{folder}/out") for word in command.split()]
            home = folder / "home"
            if command.endswith("(new home)"):
                words, home = words[:1], folder / "new-{turn}"
            figures += _measured(f"`webstrata {command}`", ["--home", str(home), *words], environment, turns, COMMAND_S)
    return figures


def _measured(
    title: str, words: Sequence[str], environment: Mapping[str, str], turns: int, target_s: float
) -> list[Figure]:
    """The processor time of a command and its ratio to the empty program; the first turn compiles the modules."""
    seconds, ratios = [], []
    for turn in range(turns + 1):
        empty_s = _cpu_seconds([sys.executable, "-c", "pass"], environment)
        command_s = _cpu_seconds([sys.executable, *_PROGRAM, *(word.format(turn=turn) for word in words)], environment)
        if turn:
            seconds.append(command_s)
            ratios.append(command_s / empty_s)
    return [
        Figure(bench="startup", name=title, values=seconds, unit="s", at_most=target_s),
        Figure(bench="startup", name=f"{title} : `python -c pass`", values=ratios),
    ]


def _cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """User and system time of a command and of the processes that it waited for."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed with {process.returncode}")
    return used.ru_utime + used.ru_stime


class _Pages(BaseHTTPRequestHandler):
    """Pages that differ at every request."""

    requests = 0

    def do_GET(self) -> None:
        _Pages.requests += 1
        body = _PAGE.format(name=self.path, number=_Pages.requests).encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@contextmanager
def _site() -> Iterator[str]:
    """The URL of a page on a local server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/one"
        server.shutdown()


def _make_home(home: Path, url: str, environment: Mapping[str, str]) -> None:
    """A home with two pages, each visited twice."""
    port = url.split(":")[2].split("/")[0]
    settings = {
        **environment,
        "WEBSTRATA_FETCH_ALLOW_PRIVATE": f"127.0.0.1/32:{port}",
        "WEBSTRATA_POLITE_DELAY": "0s",
        "WEBSTRATA_POLITE_ADDRESS_DELAY": "0s",
    }
    pages = [url, url.replace("/one", "/two")]
    for words in (["init"], ["watch", *pages], ["crawl", *pages], ["crawl", *pages]):
        command = [sys.executable, *_PROGRAM, "--home", str(home), *words]
        subprocess.run(command, check=True, capture_output=True, env=settings)
