"""Output of commands is complete, or the command fails with a message: slow readers, full pipes, full disks."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import signal
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.cli.conftest import ALWAYS_DUE, PROGRAM, call_here, environment, serving
from webstrata.cli import output
from webstrata.cli.streams import INTERRUPTED, READER_LEFT

WATCHED = 3000
_PIPE_SIZE = 4096


class LargeHome(NamedTuple):
    """A home whose commands print much: a page of several megabytes, and thousands of pages."""

    home: Path
    url: str
    changed: str
    """A page whose versions differ in thousands of lines."""
    body: bytes
    """The newest version."""

    def words(self, command: str) -> list[str]:
        return ["--home", str(self.home), *command.replace("URL", self.url).replace("CHANGED", self.changed).split()]

    def in_a_file(self, command: str) -> bytes:
        """What a file gets if stdout is redirected to it."""
        path = self.home.parent / command.replace("/", "-")
        if not path.exists():
            with path.open("wb") as file:
                subprocess.run(
                    [*PROGRAM, *self.words(command)], stdout=file, env=environment(), check=True, timeout=100
                )
        return path.read_bytes()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> LargeHome:
    folder = tmp_path_factory.mktemp("large")
    home = folder / "home"
    others = folder / "urls.txt"
    others.write_text("".join(f"http://example.org/{'long/' * 20}{number}\n" for number in range(WATCHED)))
    with serving() as server:
        url, changed = server.url("/large"), server.url("/changed")
        call_here("--home", home, "init")
        call_here("--home", home, "watch", url, changed)
        settings: dict[str, Any] = {**server.settings, **ALWAYS_DUE}
        for version in ("old", "new"):
            body = random.Random(version).randbytes(3_000_000)
            text = "\n".join(f"{version} line {number} of the table" for number in range(5_000))
            server.pages["/large"] = ("application/octet-stream", body)
            server.pages["/changed"] = ("text/plain", text.encode())
            result = call_here("--home", home, "crawl", url, changed, **settings)
            assert "2 visits" in result.err, result.err
        result = call_here("--home", home, "watch", "--from", others)
        assert result.code == 0, result.err
    return LargeHome(home, url, changed, body)


class Arrived(NamedTuple):
    """What arrived at the reader of a pipe."""

    code: int
    out: bytes
    err: str


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    return tmp_path / "stderr"


def read_slowly(words: list[str], errors: Path, *, blocking: bool, **more: str) -> Arrived:
    """Run a command whose reader takes small pieces from a small pipe, and stop and continue it while it writes.

    The command finds the pipe full at almost every write, whatever the speed of the machine. The signals interrupt a
    write to a blocking pipe in the middle, as Ctrl-Z does.
    """
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    os.set_blocking(writing, blocking)
    with errors.open("wb") as stderr:
        process = subprocess.Popen([*PROGRAM, *words], stdout=writing, stderr=stderr, env=environment(**more))
    os.close(writing)
    pieces = [os.read(reading, 1)]
    for stop in (signal.SIGSTOP, signal.SIGCONT):
        process.send_signal(stop)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WCONTINUED | os.WEXITED | os.WNOWAIT)
    while piece := os.read(reading, 3001):
        pieces.append(piece)
    os.close(reading)
    return Arrived(process.wait(60), b"".join(pieces), errors.read_text())


COMMANDS = ("cat URL", "list --json", "log URL", "diff --html CHANGED", "settings --json", "--help")


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "non-blocking"])
@pytest.mark.parametrize("command", COMMANDS)
def test_slow_reader(command: str, blocking: bool, unbuffered: str, large: LargeHome, errors: Path) -> None:
    """A slow reader gets every byte that a file gets."""
    expected = large.in_a_file(command)

    arrived = read_slowly(large.words(command), errors, blocking=blocking, PYTHONUNBUFFERED=unbuffered)

    assert (arrived.code, arrived.err) == (0, "")
    assert len(arrived.out) == len(expected)
    assert hashlib.sha256(arrived.out).hexdigest() == hashlib.sha256(expected).hexdigest()


def test_content(large: LargeHome, errors: Path) -> None:
    """`cat` prints the stored bytes, and `list --json` every page."""
    body = read_slowly(large.words("cat URL"), errors, blocking=False, PYTHONUNBUFFERED="1")
    pages = read_slowly(large.words("list --json"), errors, blocking=False, PYTHONUNBUFFERED="1")

    assert hashlib.sha256(body.out).hexdigest() == hashlib.sha256(large.body).hexdigest()
    assert len(msgspec.json.decode(pages.out)["pages"]) == WATCHED + 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [*COMMANDS, "status", "--version", "certificate verifier", "cat --headers URL"])
def test_full_disk(command: str, unbuffered: str, large: LargeHome) -> None:
    """If the output cannot be stored, the command fails with one line that says so."""
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*PROGRAM, *large.words(command)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(PYTHONUNBUFFERED=unbuffered),
            timeout=100,
        )

    assert result.returncode == 1
    assert result.stderr.startswith("webstrata: the output is not complete, stdout cannot be written: No space left")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["cat URL", "list", "list --json", "diff --html CHANGED"])
def test_reader_leaves(command: str, unbuffered: str, large: LargeHome) -> None:
    """If the reader closes the pipe after its first line, the command ends without a message, and not as done."""
    process = subprocess.Popen(
        [*PROGRAM, *large.words(command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED=unbuffered),
        pipesize=_PIPE_SIZE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() != b""
    process.stdout.close()

    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait(60) == READER_LEFT


@pytest.mark.parametrize("command", ["list --json", "cat URL", "settings --json"])
def test_interrupted(command: str, large: LargeHome) -> None:
    """Ctrl-C ends a command whose reader does not read, at once and without a message."""
    process = subprocess.Popen(
        [*PROGRAM, *large.words(command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        pipesize=_PIPE_SIZE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout as stdout, process.stderr as stderr:
        assert stdout.read(1) != b""
        process.send_signal(signal.SIGINT)

        assert process.wait(60) == INTERRUPTED
        assert stderr.read() == b""


def test_closed_stdout(large: LargeHome) -> None:
    """A command started without stdout fails; it does not write into a file that got that descriptor."""
    shell = ["sh", "-c", '"$@" >&-', "sh", *PROGRAM, *large.words("status")]

    result = subprocess.run(shell, stderr=subprocess.PIPE, text=True, env=environment(), timeout=100)

    assert result.returncode == 1
    assert "stdout cannot be written: Bad file descriptor" in result.stderr


def test_full_stderr(large: LargeHome) -> None:
    """Messages that cannot be written change neither the output nor the exit code."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, *large.words("settings --json")], stdout=subprocess.PIPE, stderr=full, env=environment()
        )
        wrong = subprocess.run([*PROGRAM, "list", "--nonsense"], stdout=subprocess.PIPE, stderr=full, env=environment())

    assert done.returncode == 0
    assert msgspec.json.decode(done.stdout)
    assert (wrong.returncode, wrong.stdout) == (2, b"")


def test_character_that_the_encoding_does_not_have(large: LargeHome) -> None:
    """With a Latin-1 terminal, other characters are escaped; they do not end the command."""
    result = subprocess.run(
        [*PROGRAM, *large.words("list --tag ☃")], capture_output=True, env=environment(PYTHONIOENCODING="latin-1")
    )

    assert b"Traceback" not in result.stderr
    assert b"internal error" not in result.stderr


def test_one_way_out() -> None:
    """Commands write bytes with `write_bytes`: nothing else uses the buffer or the descriptor of stdout."""
    folder = Path(output.__file__).parent
    users = [
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if re.search(r"stdout\.buffer|__stdout__|os\.write|stdout\.fileno|open\(1\b", path.read_text(encoding="utf-8"))
    ]

    assert sorted(users) == ["output.py", "streams.py"]
