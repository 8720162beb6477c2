"""Code in the guides, run as it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

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


def test_example_settings_hold(documents: list[Path], tmp_path: Path) -> None:
    """Every piece of settings in the documents is taken by the program as it stands."""
    pieces = [(document, piece) for document in documents for piece in _blocks(document, "toml")]
    for document, piece in pieces:
        assert tomllib.loads(piece), document
        (tmp_path / settings.FILE_NAME).write_text(piece, encoding="utf-8")
        settings.load(tmp_path, environment={})

    assert len(pieces) >= 5
