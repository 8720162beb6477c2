"""`webstrata demo`: the scoreboard's contract, and what it leaves behind."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from tests.cli.conftest import Call, Demo, call_process, started

KEYS = {
    "changes",
    "captured",
    "missed",
    "visits",
    "wasted",
    "bytes",
    "politeness_violations",
    "recall",
    "precision",
}


def test_scoreboard(demo: Demo) -> None:
    """The JSON is one object with the promised keys, whose numbers fit together."""
    board = demo.board

    assert board.keys() >= KEYS
    assert board["politeness_violations"] == 0
    assert board["captured"] + board["missed"] == board["changes"] > 0
    assert board["captured"] + board["wasted"] == board["visits"] > 0
    assert board["recall"] == board["captured"] / board["changes"]
    assert board["precision"] == board["captured"] / board["visits"]


def test_layers(demo: Demo) -> None:
    """Both layers are shown, and the layer that counts sees no more changes than the bytes do."""
    layers = demo.board["layers"]

    assert layers["raw"].keys() == layers["counts"].keys() == KEYS
    assert layers["counts"]["changes"] <= layers["raw"]["changes"]


def test_comparison_at_equal_visits(demo: Demo) -> None:
    """The JSON holds what other policies would have captured with about the same visits, and the best possible."""
    rows = {row["policy"]: row for row in demo.board["equal_visits"]}

    assert list(rows) == ["value", "fixed", "dyn", "state-2", "best possible"]
    best = rows.pop("best possible")
    assert demo.board["captured"] <= best["captured"] <= demo.board["changes"]
    for row in rows.values():
        assert row["visits"] > 0
        assert 0 <= row["captured"] <= best["captured"]


def test_progress_in_a_pipe(demo: Demo) -> None:
    """A pipe gets plain lines about the passing time on stderr, without any control sequence."""
    lines = demo.result.err.splitlines()

    assert "crawling from 2023-01-01" in lines[0]
    assert len(lines) >= 3
    assert all(re.match(r"2023-01-\d\d  \d+ visits, ", line) for line in lines[1:])
    assert "\x1b" not in demo.result.err


def test_suggestions_work(tmp_path: Path, call: Call) -> None:
    """An older demo gives way; every command suggested runs as it is written and has something to show."""
    home = tmp_path / "a home"
    home.mkdir()
    (home / "demo").touch()
    (home / "webstrata.toml").write_text("nonsense of an older demo")
    result = call_process("--home", home, "demo", "--days", 8)
    assert result.code == 0, result.err
    assert "crawling from" not in result.text

    scoreboard, _, suggested = result.text.partition("Try next:\n")
    commands = [line.strip() for line in suggested.splitlines()]

    assert "recall" in scoreboard
    assert len(commands) >= 6
    for command in commands:
        assert command.startswith(f"webstrata --home '{home}' ")
        words = command.removeprefix(f"webstrata --home '{home}' ").split()
        words = [str(tmp_path / word) if word.endswith(".wacz") else word for word in words]
        shown = call("--home", home, *words)
        assert shown.code == 0, (command, shown.err)
        assert shown.out.strip(), command
        assert shown.text.strip() != "No difference."


def test_spares_other_folders(tmp_path: Path, call: Call) -> None:
    """A folder that the demo did not make is left alone."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")

    refused = call("demo", "--home", mine, "--days", 1)

    assert refused.code == 2
    assert "not made by the demo" in refused.err
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_home_serves_all_commands(demo: Demo, call: Call) -> None:
    """The home that stays behind holds every visit that was scored."""
    status = call("status", "--home", demo.home, "--json").json

    assert status["pages"] == demo.board["pages"]
    assert status["visits"] == demo.board["visits"] + demo.board["pages"]
    assert status["errors"] == 0
    assert status["bytes"] == demo.board["bytes"]
    assert status["disk"]["archive"] > 0


def test_stopped(tmp_path: Path) -> None:
    """A demo that is stopped says so, scores nothing, and exits as one that failed."""
    with started("demo", "--home", tmp_path / "home", "--json", "--days", 40) as process:
        assert process.stderr is not None
        assert b"crawling" in process.stderr.readline()
        assert b"visits" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (1, b"")
    assert b"nothing to score" in err
    assert b"Traceback" not in err
