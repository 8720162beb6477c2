"""The reference pages against the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docs.pages import PAGES, REFERENCE
from webstrata.flows.exported_tables import CHANGE_COLUMNS, FORECAST_COLUMNS, VISIT_COLUMNS
from webstrata.records import FailureKind, Outcome
from webstrata.settings import Settings, all_settings

WITHOUT_JSON: dict[str, str] = {}
"""Commands that need no `--json`, and why. None so far."""


@pytest.mark.parametrize("name", sorted(PAGES))
def test_made_pages_are_current(name: str) -> None:
    """A page made from the program is what the program makes now."""
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), "run `python -m docs.pages`"


def test_every_setting_is_explained() -> None:
    """Every settings key has its row, with its meaning."""
    page = (REFERENCE / "settings.md").read_text(encoding="utf-8")

    for row in all_settings(Settings(), {}):
        assert f"| `{row.key}` |" in page
        assert row.description.strip(), row.key


def test_every_command_and_option_is_explained(called: dict[str, Any]) -> None:
    """Every command has its section, every option its row there."""
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")

    for words, command in called.items():
        _, heading, rest = page.partition(f"\n## {words}\n")
        section = rest.partition("\n## ")[0]
        assert heading, words
        for parameter in command.params:
            if parameter.param_type_name == "option":
                for name in (*parameter.opts, *parameter.secondary_opts):
                    assert f"`{name}" in section, f"{words} {name}"
                assert parameter.help, f"{words} {parameter.name} says nothing"


def test_every_command_reports_json(called: dict[str, Any]) -> None:
    """Every command that reports has `--json`, and its document is described."""
    page = (REFERENCE / "json.md").read_text(encoding="utf-8")

    for words, command in called.items():
        has_it = any("--json" in parameter.opts for parameter in command.params)
        assert has_it or words in WITHOUT_JSON, words
        if has_it:
            assert f"`{words.split()[1]}" in page, f"{words} is not in json.md"


def test_every_column_of_a_table_is_explained() -> None:
    """Every column of the exported tables has its row, with its type."""
    page = (REFERENCE / "tables.md").read_text(encoding="utf-8")
    visits, forecasts = page.split("## Forecasts")

    for column in (*VISIT_COLUMNS, *CHANGE_COLUMNS):
        assert f"| `{column.name}` | {column.kind} |" in visits, column.name
    for column in FORECAST_COLUMNS:
        assert f"`{column.name}`" in forecasts, column.name


def test_every_outcome_is_explained() -> None:
    """Every outcome of a visit and every class of failure has its place."""
    page = (REFERENCE / "outcomes.md").read_text(encoding="utf-8")

    for word in (*Outcome, *FailureKind):
        assert f"`{word}`" in page, word


def test_every_table_and_folder_of_the_home_is_named(tmp_path: Path) -> None:
    """What `init` makes is in the page on the home folder."""
    from webstrata.home import Home

    page = (REFERENCE / "home.md").read_text(encoding="utf-8")
    home, _ = Home.create(tmp_path / "home")

    for made in home.path.iterdir():
        assert f"`{made.name}" in page, made.name
