"""A home keeps to the database for which `init` made it, and no command opens an empty one instead."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from tests.cli.conftest import Call
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures

COMMANDS = (
    "list", "status", "crawl", "run --for 1s", "check", "rebuild", "init", "watch http://a.test/", "log http://a.test/",
    "why http://a.test/", "plan", "cat http://a.test/", "diff http://a.test/", "unwatch http://a.test/", "tag",
    "interval", "boost news", "rules http://a.test/", "capture http://a.test/",
)  # fmt: skip


def store_section(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((home / "webstrata.toml").read_text()).get("store", {})
    return found


def tables_in(url: str) -> list[Any]:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE 'webstrata%' ORDER BY 1, 2"
        ).fetchall()


def without_store(home: Path) -> None:
    """Delete the address of the database from the settings."""
    file = home / "webstrata.toml"
    file.write_text(file.read_text().partition("[store]")[0])


@pytest.fixture
def on_postgres(tmp_path: Path, call: Call, postgres_database: str) -> Path:  # noqa: F811
    home = tmp_path / "home"
    assert call("--home", home, "init", "--store", postgres_database).code == 0
    assert call("--home", home, "watch", "http://a.test/").code == 0
    return home


@pytest.mark.parametrize("way", ["--store", "--set", "environment"])
def test_the_address_is_written_to_the_settings(
    way: str,
    tmp_path: Path,
    call: Call,
    postgres_database: str,  # noqa: F811
) -> None:
    """`init` writes the address, from wherever it comes, and creates the tables; later commands need no more."""
    home = tmp_path / "home"
    options = {"--store": ["--store", postgres_database], "--set": ["--set", f"store.url={postgres_database}"]}
    words = options.get(way, [])
    more = {"WEBSTRATA_STORE_URL": postgres_database} if way == "environment" else {}
    assert call("--home", home, "init", *words, **more).code == 0
    assert store_section(home) == {"url": postgres_database}
    assert len(tables_in(postgres_database)) > 20
    assert call("--home", home, "list").code == 0
    assert not (home / "webstrata.db").exists()


def test_a_schema_is_written_to_the_settings(tmp_path: Path, call: Call, postgres_database: str) -> None:  # noqa: F811
    """`--set store.schema` is kept, and the status shows it with the size of the tables."""
    home = tmp_path / "home"
    words = ("--store", postgres_database, "--set", "store.schema=together")
    assert call("--home", home, "init", *words).code == 0
    assert store_section(home)["schema"] == "together"
    status = call("--home", home, "status", "--json").json
    assert status["database"]["schema"] == "together"
    assert status["disk"]["database"] > 100_000
    shown = call("--home", home, "status").text
    assert "(schema together)" in shown
    assert "database 0 B" not in shown


def test_status_shows_the_size_of_the_tables(on_postgres: Path, call: Call, postgres_database: str) -> None:  # noqa: F811
    """The size is that of the schema of the home: it grows with its rows, and is not that of the database."""
    before = call("--home", on_postgres, "status", "--json").json
    assert before["database"]["kind"] == "postgresql"
    with psycopg.connect(postgres_database.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE TABLE public.big AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 5000)")
        assert call("--home", on_postgres, "status", "--json").json["disk"]["database"] == before["disk"]["database"]
        schema = before["database"]["schema"]
        connection.execute(f"CREATE TABLE {schema}.more AS TABLE public.big")
    assert call("--home", on_postgres, "status", "--json").json["disk"]["database"] > before["disk"]["database"] + 10**6


@pytest.mark.parametrize(
    ("url", "words", "code"),
    [
        ("postgresql://someone:secret@127.0.0.1:1/none", "cannot be reached", 1),
        ("mysql://x/y", "unknown kind of database", 2),
        ("nonsense", "not a database URL", 2),
        ("sqlite:////proc/none/x.db", "cannot be opened", 1),
    ],
)
def test_a_database_that_cannot_be_used_leaves_nothing(
    url: str, words: str, code: int, tmp_path: Path, call: Call
) -> None:
    """The message says why, without the password; no folder is left, and one that was there is as before."""
    result = call("--home", tmp_path / "deep" / "home", "init", "--store", url)
    assert (result.code, words in result.err, "secret" in result.err) == (code, True, False), result.err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    assert call("--home", tmp_path / "there", "init", "--store", url).code == code
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["notes.txt"]


def test_a_password_is_readable_by_the_owner_only(
    tmp_path: Path,
    call: Call,
    postgres_database: str,  # noqa: F811
) -> None:
    """An address with a password may be used; only the settings file contains it, and only its owner can read it."""
    url = make_url(postgres_database).set(password="topsecret").render_as_string(hide_password=False)
    home = tmp_path / "home"
    assert call("--home", home, "init", "--store", url).code == 0
    assert store_section(home)["url"] == url
    assert stat.S_IMODE((home / "webstrata.toml").stat().st_mode) == 0o600
    assert [file.name for file in home.iterdir() if file.is_file() and b"topsecret" in file.read_bytes()] == [
        "webstrata.toml"
    ]
    status = call("--home", home, "status", "--json")
    assert "topsecret" not in status.text


@pytest.mark.parametrize("words", COMMANDS)
def test_a_home_on_postgresql_never_opens_sqlite(words: str, on_postgres: Path, call: Call) -> None:
    """Without the address every command fails, names the database, and creates no other one."""
    without_store(on_postgres)
    result = call("--home", on_postgres, *words.split())
    assert result.code == 1
    assert "was made for the database postgresql+psycopg://postgres@/" in result.err, result.err
    assert "store.url" in result.err
    assert list(on_postgres.glob("webstrata.db*")) == []


def test_another_postgresql_database(on_postgres: Path, call: Call, postgres: Any) -> None:  # noqa: F811
    """An address of another database is an error that names the right one, and nothing is created there."""
    other = postgres.get_uri(driver="psycopg")
    before = tables_in(other)
    result = call("--home", on_postgres, "list", WEBSTRATA_STORE_URL=other)
    assert (result.code, "This home was made for" in result.err) == (1, True), result.err
    assert tables_in(other) == before
    (on_postgres / "webstrata.toml").write_text("")
    assert call("--home", on_postgres, "list").code == 1
    assert not (on_postgres / "webstrata.db").exists()


def test_another_schema(on_postgres: Path, call: Call, postgres_database: str) -> None:  # noqa: F811
    """A home does not change to another schema, nor does it create one."""
    before = tables_in(postgres_database)
    result = call("--home", on_postgres, "list", WEBSTRATA_STORE_SCHEMA="webstrata_other")
    assert (result.code, "was made for" in result.err) == (1, True), result.err
    assert tables_in(postgres_database) == before
    assert "cannot be the name of a schema" in call("--home", on_postgres, "list", WEBSTRATA_STORE_SCHEMA="A b").err


def test_a_home_on_sqlite_never_opens_postgresql(home: Path, call: Call, postgres_database: str) -> None:  # noqa: F811
    """An address that is set later is an error, and no table is created."""
    result = call("--home", home, "list", WEBSTRATA_STORE_URL=postgres_database)
    assert (result.code, "was made for the database webstrata.db" in result.err) == (1, True), result.err
    assert tables_in(postgres_database) == []


def test_init_does_not_change_the_database(
    home: Path,
    on_postgres: Path,
    call: Call,
    postgres_database: str,  # noqa: F811
) -> None:
    """`init --store` on a home with another database is refused; with its own it does nothing."""
    for path, url in ((home, postgres_database), (on_postgres, "sqlite:///other.db")):
        result = call("--home", path, "init", "--store", url)
        assert (result.code, "does not change its database" in result.err) == (1, True), result.err
    again = call("--home", on_postgres, "init", "--store", postgres_database)
    assert (again.code, "nothing was changed" in again.text) == (0, True)


@pytest.mark.parametrize("words", ["list", "status", "watch http://a.test/", "crawl"])
def test_only_init_creates_a_database(
    words: str,
    tmp_path: Path,
    call: Call,
    postgres_database: str,  # noqa: F811
) -> None:
    """With settings written by hand, other commands name `init`, and create neither tables nor files."""
    for name, text in (("one", f'[store]\nurl = "{postgres_database}"\n'), ("two", "")):
        home = tmp_path / name
        assert call("--home", home, "init").code == 0
        (home / "database").unlink()
        (home / "webstrata.db").unlink()
        (home / "webstrata.toml").write_text(text)
        result = call("--home", home, *words.split())
        assert (result.code, "webstrata init" in result.err) == (1, True), result.err
        assert not (home / "webstrata.db").exists()
        assert not (home / "database").exists()
        assert tables_in(postgres_database) == []
    assert call("--home", tmp_path / "one", "init").code == 0
    assert call("--home", tmp_path / "one", *words.split()).code == 0


def test_a_lost_name(on_postgres: Path, call: Call) -> None:
    """A home whose file `node` was lost does not get empty tables under a new name; the message has the old name."""
    name = (on_postgres / "node").read_text().strip()
    (on_postgres / "node").unlink()
    assert "`node`" in call("--home", on_postgres, "list").err
    result = call("--home", on_postgres, "init")
    assert (result.code, f"({name})" in result.err, "write that name into it" in result.err) == (1, True, True)
    (on_postgres / "node").write_text(name)
    assert len(call("--home", on_postgres, "list", "--json").json["pages"]) == 1


def test_a_damaged_record_is_an_error(home: Path, call: Call) -> None:
    """A file `database` that cannot be parsed is not taken for a new home."""
    for content in (b"\xff\x00 nothing", b"", b'{"kind":"postgresql","schema":"x; DROP SCHEMA y"}'):
        (home / "database").write_bytes(content)
        result = call("--home", home, "list")
        assert (result.code, "is damaged" in result.err) == (1, True), content


def test_a_schema_needs_postgresql(home: Path, call: Call) -> None:
    """A schema without a PostgreSQL database is not ignored."""
    assert "needs a PostgreSQL database" in call("--home", home, "list", WEBSTRATA_STORE_SCHEMA="mine").err


def test_a_file_outside_of_the_home(tmp_path: Path, call: Call) -> None:
    """An SQLite file elsewhere is named by its absolute path, belongs to one home, and its size is shown."""
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    assert call("--home", tmp_path / "one", "init", "--store", url).code == 0
    second = call("--home", tmp_path / "two", "init", "--store", url)
    assert (second.code, "belongs to another home" in second.err) == (1, True), second.err
    assert not (tmp_path / "two").exists()
    assert call("--home", tmp_path / "one", "status", "--json").json["disk"]["database"] > 100_000
    inside = f"sqlite:///{tmp_path / 'one' / 'webstrata.db'}"
    assert "does not change" in call("--home", tmp_path / "one", "init", "--store", inside).err


def test_a_home_is_made_for_another_database_by_rebuild(
    home: Path,
    call: Call,
    postgres_database: str,  # noqa: F811
) -> None:
    """The documented way: delete the file `database`, name the other database, and rebuild from the archive."""
    (home / "database").unlink()
    with (home / "webstrata.toml").open("a") as file:
        file.write(f'\n[store]\nurl = "{postgres_database}"\n')
    assert call("--home", home, "rebuild").code == 0
    assert call("--home", home, "list").code == 0
    assert call("--home", home, "status", "--json").json["database"]["kind"] == "postgresql"
