"""`webstrata init`: a new home, and one that exists already."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_init_twice(tmp_path: Path, call: Call) -> None:
    """The second `init` changes nothing and says where the contact is set."""
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
    """Without a contact, `init` asks the user to set it."""
    assert "polite.contact" in call("init", "--home", tmp_path / "home").text
