"""`webstrata settings`: values, sources and descriptions."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call
from webstrata.settings import Settings, all_settings


def test_sources(home: Path, call: Call) -> None:
    """--set overrides the environment, which overrides the file, which overrides the defaults; each source is named."""
    result = call(
        "--home", home, "settings", "--set", "polite.delay=9s", "--json", WEBSTRATA_FETCH_CONNECTIONS="7"
    ).json

    rows = {row["key"]: (row["value"], row["source"]) for row in result["settings"]}
    assert rows["polite.delay"] == (9.0, "--set")
    assert rows["fetch.connections"] == (7, "environment WEBSTRATA_FETCH_CONNECTIONS")
    assert rows["polite.contact"] == ("someone@example.org", result["file"])
    assert rows["polite.obey_robots"] == (True, "default")


def test_shown_as_written(home: Path, call: Call) -> None:
    """Values are shown in the format of --set."""
    lines = call("--home", home, "settings", "--set", "fetch.hosts=a.test=127.0.0.1:80,b.test=127.0.0.2").text

    keys = [line.split()[0] for line in lines.splitlines()[1:]]
    assert keys == [row.key for row in all_settings(Settings(), {})]
    again = [
        word
        for line in lines.splitlines()[1:]
        if (key := line.split()[0]) and (value := line[len(key) :].strip().split("  ")[0]) != "-"
        for word in ("--set", f"{key}={value}")
    ]
    assert call("--home", home, "settings", *again, "--json").code == 0
    second = call("--home", home, "settings", *again).text
    assert [line.split("  ")[0] for line in second.splitlines()] == [line.split("  ")[0] for line in lines.splitlines()]
