"""Settings: the precedence of their sources, the parsing of values, and the messages about bad values."""

from __future__ import annotations

from pathlib import Path

import pytest

from webstrata.errors import BadSettings, UsageError
from webstrata.settings import FILE_NAME, Settings, all_settings, load


def write(home: Path, text: str) -> Path:
    (home / FILE_NAME).write_text(text, encoding="utf-8")
    return home


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    """Without a file, environment variables and flags the defaults apply."""
    settings, sources = load(tmp_path, environment={})
    assert settings == Settings()
    assert sources == {}


def test_flags_beat_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    """A later source replaces the value of an earlier one, key by key, and the source of each value is known."""
    home = write(tmp_path, '[polite]\ndelay = "9s"\nmax_delay = "8m"\ncontact = "file@example.org"\n')
    environment = {"WEBSTRATA_POLITE_DELAY": "7s", "WEBSTRATA_POLITE_MAX_DELAY": "6m", "WEBSTRATA_HOME": "/else"}
    settings, sources = load(home, environment=environment, flags=["polite.delay=5s"])
    assert (settings.polite.delay, settings.polite.max_delay, settings.polite.contact) == (5, 360, "file@example.org")
    assert sources == {
        "polite.delay": "--set",
        "polite.max_delay": "environment WEBSTRATA_POLITE_MAX_DELAY",
        "polite.contact": str(home / FILE_NAME),
    }
    rows = {row.key: row for row in all_settings(settings, sources)}
    assert (rows["polite.delay"].value, rows["polite.delay"].source) == (5.0, "--set")
    assert rows["crawl.workers"].source == "default"
    assert all(row.description for row in rows.values())


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("polite.delay=1d12h", 129_600),
        ("polite.delay = 2.5", 2.5),
        ("fetch.max_body=64KB", 64_000),
        ("fetch.max_body=1.5MiB", 1_572_864),
        ("fetch.max_body=123", 123),
        ("fetch.allow_private=127.0.0.2/32:80, [::1]:*", ("127.0.0.2/32:80", "[::1]:*")),
        ("fetch.allow_private=", ()),
        ("fetch.hosts=a.test=127.0.0.2:80,b.test=[::1]:81", {"a.test": "127.0.0.2:80", "b.test": "[::1]:81"}),
        ("polite.obey_robots=false", False),
        ("crawl.workers=0", 0),
        ("polite.delay_factor=0.5", 0.5),
        ("store.url=postgresql+psycopg://u:p=w@h/db", "postgresql+psycopg://u:p=w@h/db"),
    ],
)
def test_values_are_parsed(tmp_path: Path, flag: str, value: object) -> None:
    """Durations, sizes, lists, tables and booleans are parsed alike in flags and in the environment."""
    key, _, text = flag.partition("=")
    section, _, name = key.strip().partition(".")
    by_flag, _ = load(tmp_path, environment={}, flags=[flag])
    by_environment, _ = load(tmp_path, environment={f"WEBSTRATA_{section}_{name}".upper(): text.strip()})
    assert getattr(getattr(by_flag, section), name) == value
    assert by_environment == by_flag


@pytest.mark.parametrize(
    "flag",
    [
        "polite.delay=soon",
        "polite.delay=-5",
        "polite.delay=1 5",
        "polite.delay=",
        "polite.delay_factor=-1",
        "polite.delay_factor=nan",
        "polite.connections_per_host=0",
        "polite.obey_robots=perhaps",
        "fetch.max_body=-1",
        "fetch.max_body=huge",
        "fetch.max_redirects=1000",
        "fetch.connections=many",
        "crawl.workers=65",
    ],
)
def test_bad_values_name_their_key_and_source(tmp_path: Path, flag: str) -> None:
    """A bad value is refused with the key, the source, and what to do next."""
    key = flag.partition("=")[0]
    with pytest.raises(BadSettings, match=rf"^{key} \(--set\): .*webstrata settings"):
        load(tmp_path, environment={}, flags=[flag])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[polite\n", "not valid TOML"),
        ("delay = 5\n", "'delay' is outside of any section"),
        ("[polite]\nspeed = 5\n", "there is no setting 'polite.speed'"),
        ("[politeness]\ndelay = 5\n", "there is no setting 'politeness.delay'"),
        ("[polite]\ndelay = true\n", "polite.delay"),
        ("[polite]\ndelay = nan\n", "polite.delay"),
        ("[polite]\ndelay = inf\n", "polite.delay"),
        ("[polite]\ndelay = -1\n", "polite.delay"),
        ("[polite]\ndelay = []\n", "polite.delay"),
        ("[fetch]\nmax_body = true\n", "fetch.max_body"),
        ("[fetch]\nmax_body = -1\n", "fetch.max_body"),
        ("[fetch]\nhosts = 3\n", "fetch.hosts"),
        ("[fetch.hosts]\n'a.test' = 3\n", "fetch.hosts"),
        ("[fetch]\nallow_private = [1]\n", "fetch.allow_private"),
        ("[crawl]\nworkers = 1.5\n", "crawl.workers"),
        ("[polite.delay]\nx = 1\n", "polite.delay"),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    """The message about a bad settings file names the file and the key."""
    with pytest.raises(BadSettings) as refusal:
        load(write(tmp_path, text), environment={})
    assert message in str(refusal.value)
    assert str(tmp_path / FILE_NAME) in str(refusal.value)


def test_an_unreadable_file(tmp_path: Path) -> None:
    """Bytes that are not UTF-8, and a folder instead of the file, are refused."""
    (tmp_path / FILE_NAME).write_bytes(b"[polite]\ncontact = '\xff'\n")
    with pytest.raises(BadSettings, match="not valid TOML"):
        load(tmp_path, environment={})
    (tmp_path / FILE_NAME).unlink()
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(BadSettings, match="cannot be read"):
        load(tmp_path, environment={})


@pytest.mark.parametrize("flag", ["polite.delay", "", "polite"])
def test_a_flag_without_a_value_is_explained(tmp_path: Path, flag: str) -> None:
    """`--set` requires a key and a value."""
    with pytest.raises(UsageError, match=r"section\.name=value"):
        load(tmp_path, environment={}, flags=[flag])


@pytest.mark.parametrize("flag", ["nope.x=1", "polite.nope=1", "polite=1", ".=1", "polite.delay.x=1"])
def test_an_unknown_key_is_refused(tmp_path: Path, flag: str) -> None:
    """An unknown key raises an error that names the key and its source."""
    with pytest.raises(BadSettings, match="--set: there is no setting"):
        load(tmp_path, environment={}, flags=[flag])
