"""The commands of the guide to forecasts, as they are written there."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.forecasts.conftest import add_to, copies_of

_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "forecast-and-select.md"


def test_every_command_of_the_guide_succeeds(
    home: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them ends with code 0, and the files that they name are written."""
    add_to(home, copies_of("https://example.org/news", time.time(), [30.0, 20.0, 10.0], "abc"))
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    text = _GUIDE.read_text(encoding="utf-8")
    commands = [line.removeprefix("$ ") for block in _BLOCK.findall(text) for line in block.splitlines()]
    for command in commands:
        program, *words = shlex.split(command)
        result = call("--home", home, *words)
        assert (program, result.code) == ("webstrata", 0), f"{command}: {result.err}"
    assert len(commands) >= 8
    assert {path.name for path in folder.iterdir()} == {"forecast.svg", "seeds.txt"}
