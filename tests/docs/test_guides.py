"""Code in the guides, run as it stands."""

from __future__ import annotations

import re
import shlex
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import call_here, serving
from webstrata import settings

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _blocks(document: Path, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(document.read_text(encoding="utf-8")) if kind == language]


def test_the_example_policy_keeps_the_contract(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy of the guide passes the test that the guide gives it, and is found by its name."""
    policy, test, valued = _blocks(root / "docs" / "how-to" / "write-a-policy.md", "python")
    (tmp_path / "hourly.py").write_text(policy, encoding="utf-8")
    (tmp_path / "oldest.py").write_text(valued, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, object] = {}
    exec(compile(test, "test_hourly.py", "exec"), names)

    names["test_hourly"]()  # type: ignore[operator]

    from webstrata.schedule.registry import budgeted_policy
    from webstrata.schedule.registry import policy as named
    from webstrata.testing.policy import check_policy

    assert named("hourly:Hourly").name == "hourly"
    check_policy(budgeted_policy("oldest:Oldest"))


def test_what_changed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the guide to changes succeeds on a home, and writes the files that it names."""
    guide = root / "docs" / "how-to" / "see-what-changed.md"
    commands = [line[2:] for block in _blocks(guide, "console") for line in block.splitlines()]
    home, folder = tmp_path / "home", tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    call_here("--home", home, "init")
    with serving() as server:
        call_here("--home", home, "watch", server.url("/a"), "--tag", "news")
        for word in ("one", "two"):
            server.pages["/a"] = ("text/html", f"<title>t</title><p>The word is {word}.".encode())
            environ: dict[str, Any] = dict(server.settings)
            call_here("--home", home, "crawl", "--quiet", server.url("/a"), **environ)
    for command in commands:
        program, *words = shlex.split(command)
        result = call_here(*words, WEBSTRATA_HOME=str(home))
        assert (program, result.code) == ("webstrata", 0), f"{command}: {result.err}"

    assert "The word is <del>one</del><ins>two</ins>." in unescape((folder / "changes.xml").read_text())
    assert len(commands) >= 15
    assert {path.name for path in folder.iterdir()} == {
        "changes.xml",
        "changes.csv",
        "visits.parquet",
        "forecasts.parquet",
    }


def test_example_settings_hold(documents: list[Path], tmp_path: Path) -> None:
    """Every piece of settings in the documents is taken by the program as it stands."""
    pieces = [(document, piece) for document in documents for piece in _blocks(document, "toml")]
    for document, piece in pieces:
        assert tomllib.loads(piece), document
        (tmp_path / settings.FILE_NAME).write_text(piece, encoding="utf-8")
        settings.load(tmp_path, environment={})

    assert len(pieces) >= 5
