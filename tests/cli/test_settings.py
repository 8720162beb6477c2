"""`webstrata settings` and `init`: what holds, from where, and a home that is never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call
from webstrata.cli.output import print_table
from webstrata.settings import Settings, all_settings


def test_sources(home: Path, call: Call) -> None:
    """Flags win over the environment, the environment over the file, the file over the defaults, and each is named."""
    told = call("--home", home, "settings", "--set", "polite.delay=9s", "--json", WEBSTRATA_FETCH_CONNECTIONS="7").json

    rows = {row["key"]: (row["value"], row["source"]) for row in told["settings"]}
    assert rows["polite.delay"] == (9.0, "--set")
    assert rows["fetch.connections"] == (7, "environment WEBSTRATA_FETCH_CONNECTIONS")
    assert rows["polite.contact"] == ("someone@example.org", told["file"])
    assert rows["polite.obey_robots"] == (True, "default")


def test_shown_as_written(home: Path, call: Call) -> None:
    """What is shown of a value can be given back with --set."""
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


def test_init_twice(tmp_path: Path, call: Call) -> None:
    """The second `init` changes nothing and says where to change the contact."""
    home = tmp_path / "home"
    first = call("init", "--home", home, "--contact", 'me "and" you\\')
    written = (home / "webstrata.toml").read_bytes()

    second = call("init", "--home", home, "--contact", "another")

    assert "webstrata watch URL" in first.text
    assert "nothing was changed" in second.text
    assert "set polite.contact" in second.err
    assert (home / "webstrata.toml").read_bytes() == written
    rows = call("--home", home, "settings", "--json").json["settings"]
    assert next(row["value"] for row in rows if row["key"] == "polite.contact") == 'me "and" you\\'


def test_init_asks_for_a_contact(tmp_path: Path, call: Call) -> None:
    """Without a contact, `init` asks for one: site owners should be able to write."""
    assert "polite.contact" in call("init", "--home", tmp_path / "home").text


def test_empty_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A table without rows is its heading."""
    print_table(("a", "b"), [])

    assert capsys.readouterr().out == "a  b\n"
