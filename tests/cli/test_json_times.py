"""Instants in JSON documents are ISO 8601 texts, in every command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, LocalServer
from tests.cli.test_app import ARGUMENTS, changed_home, words_for
from webstrata.clock import iso, parse_instant

__all__ = ["changed_home"]

NAMES = ("at", "since", "until", "from", "to", "next", "last")
"""A key with such a name, or that ends in `_` and such a name, is an instant if its value is one value."""

_YEAR_2002, _YEAR_2100 = parse_instant("2002"), parse_instant("2100")


def numbers_for_instants(value: Any, path: str = "") -> Iterator[str]:
    """Paths of numbers that are instants by their name, or by their size: seconds or milliseconds since 1970."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_for_instants(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers_for_instants(inner, f"{path}[{index}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        name = path.rpartition(".")[2].partition("[")[0]
        named = name in NAMES or name.endswith(tuple(f"_{ending}" for ending in NAMES))
        if named or any(_YEAR_2002 <= value / unit <= _YEAR_2100 for unit in (1, 1000)):
            yield f"{path}: {value}"


@pytest.mark.parametrize("command", [name for name in ARGUMENTS if name not in ("crawl", "run")])
def test_no_numbers(command: str, changed_home: Path, tmp_path: Path, call: Call) -> None:
    """No command prints an instant as a number."""
    result = call("--home", changed_home, *command.split(), *words_for(command, tmp_path), "--json")

    assert result.code == 0, result.err
    assert list(numbers_for_instants(result.json)) == []


def test_no_numbers_under_a_budget(seen: Path, server: LocalServer, call: Call) -> None:
    """The same under the policy `value`, with its evidence."""
    url = server.url("/a")
    call("--home", seen, "snooze", server.url("/b"), "1d")
    for words in (["why", url], ["why", server.url("/b")], ["status"], ["list"], ["plan", "--offline"], ["snooze"]):
        result = call("--home", seen, *words, "--json")

        assert result.code == 0, result.err
        assert list(numbers_for_instants(result.json)) == []

    explained = call("--home", seen, "why", url, "--json").json
    assert parse_instant(explained["evidence"]["worth_it_at"]) > parse_instant(explained["evidence"]["last_visit"])
    assert parse_instant(explained["politeness"]["earliest_at"]) > 0
    shown = call("--home", seen, "why", url).text
    assert re.search(r"worth it at +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$", shown, re.MULTILINE)
    assert re.search(r"earliest at +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$", shown, re.MULTILINE)


def test_the_check_itself() -> None:
    """The check finds numbers by their name and by their size, and no others."""
    assert list(numbers_for_instants({"a": {"next_at": 1.0}, "b": [{"until": 3}], "c": 1_790_000_000.5})) == [
        ".a.next_at: 1.0",
        ".b[0].until: 3",
        ".c: 1790000000.5",
    ]
    assert list(numbers_for_instants({"at": iso(0.0), "that": 5, "every_s": 3600.0, "since": None, "last": True})) == []
