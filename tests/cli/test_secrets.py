"""The password of the database is never printed, by any command, whatever is wrong with the URL."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.cli import every_command
from tests.cli.conftest import Call, CommandResult, call_process, environment
from tests.remember.conftest import one_at_a_time, postgres, postgres_database  # noqa: F401 - fixtures
from webstrata.cli.app import COMMANDS

SECRET = "S3cret-of-the-d8base"
FORMS = {
    "refused connection": f"postgresql+psycopg://user:{SECRET}@127.0.0.1:1/db",
    "password in the query": f"postgresql+psycopg://user@127.0.0.1:1/db?password={SECRET}",
    "port that is not a number": f"postgresql+psycopg://user:{SECRET}@127.0.0.1:port/db",
    "other kind of database": f"mysql://user:{SECRET}@127.0.0.1:1/db",
    "driver that does not exist": f"postgresql+nosuch://user:{SECRET}@127.0.0.1:1/db",
    "no @": f"postgresql+psycopg://user:{SECRET}.127.0.0.1/db",
    "no scheme": f"user:{SECRET}@127.0.0.1/db",
    "unknown option": f"postgresql+psycopg://user:{SECRET}@127.0.0.1:1/db?nosuch=1",
    "unencoded characters": f"postgresql+psycopg://user:x@{SECRET}/y@127.0.0.1:1/db",
}


def run_all(home: Path, *options: str, **more: str) -> CommandResult:
    """Every command in a process of its own, one after the other."""
    done = subprocess.run(
        [sys.executable, every_command.__file__, str(home), *options],
        capture_output=True,
        check=False,
        timeout=500,
        env=environment(**more),
        cwd=Path(__file__).parents[2],
    )
    return CommandResult(done.returncode, done.stdout, done.stderr.decode())


def require_hidden(result: CommandResult, *secrets: str) -> None:
    for secret in secrets:
        assert secret not in result.text
        assert secret not in result.err


def with_url(home: Path, url: str) -> Path:
    """The home, with this database in its settings file."""
    (home / "database").unlink()  # the record that the home was made for another one
    (home / "webstrata.toml").write_text(f'[store]\nurl = "{url}"\n', encoding="utf-8")
    return home


def test_every_command_is_tried() -> None:
    """A new command is added to the list of the commands that are tried."""
    assert set(every_command.ARGUMENTS) == set(COMMANDS)


@pytest.mark.parametrize("options", [(), ("--debug",)], ids=["plain", "debug"])
def test_every_command(options: tuple[str, ...], home: Path) -> None:
    """No command prints the password, with or without --debug, as text or JSON."""
    result = run_all(with_url(home, FORMS["refused connection"]), *options)
    assert "[status: 1]" in result.text
    assert "[settings: 0]" in result.text
    assert "user:***@127.0.0.1:1/db" in result.text, "`settings` shows the rest of the URL"
    assert "user:***@127.0.0.1:1/db" in result.err
    assert "internal error" not in result.err
    require_hidden(result, SECRET)


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str, home: Path) -> None:
    """The password stays hidden in URLs that cannot be parsed, in the settings file as in the environment."""
    by_file = run_all(with_url(home, FORMS[form]), "--debug")
    assert "[status: 0]" not in by_file.text
    assert "internal error" not in by_file.err
    require_hidden(by_file, SECRET)


def test_an_encoded_password(home: Path) -> None:
    """A percent-encoded password is hidden as it is written, and decoded."""
    url = "postgresql+psycopg://user:p%40ss%2Fw0rd%3Along@127.0.0.1:1/db"
    result = run_all(home, "--debug", WEBSTRATA_STORE_URL=url)
    assert "[status: 1]" in result.text
    require_hidden(result, "p%40ss%2Fw0rd%3Along", "p@ss/w0rd:long", "w0rd")


def test_a_host_that_does_not_exist(home: Path, call: Call) -> None:
    """The error about a host name shows the URL without its password."""
    words = ("--home", home, "--debug", "status")
    (home / "database").unlink()
    result = call(*words, WEBSTRATA_STORE_URL=f"postgresql+psycopg://user:{SECRET}@nosuch.invalid/db")
    assert result.code == 1
    assert "user:***@nosuch.invalid/db" in result.err
    require_hidden(result, SECRET)


def refuses(uri: str, user: str) -> bool:
    """Whether the server refuses a wrong password of this user."""
    try:
        psycopg.connect(uri, user=user, password="wrong").close()
    except psycopg.OperationalError:
        return True
    return False


@pytest.fixture
def role(postgres_database: str) -> Iterator[str]:  # noqa: F811
    """The name of a user of the database who needs the password SECRET."""
    uri = postgres_database.replace("+psycopg", "")
    name = f"archiver{uuid.uuid4().hex[:12]}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'")
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {name}")
        ((file,),) = connection.execute("SHOW hba_file").fetchall()
        rules = Path(file)
        with one_at_a_time("webstrata-hba"):
            rules.write_text(f"local all {name} scram-sha-256\nhost all {name} all scram-sha-256\n{rules.read_text()}")
        connection.execute("SELECT pg_reload_conf()")
        while not refuses(uri, name):  # the server reads the file when it receives a signal
            pass
        yield name
        connection.execute(f"DROP OWNED BY {name} CASCADE")
        connection.execute(f"DROP ROLE {name}")


def test_a_real_server(tmp_path: Path, call: Call, postgres_database: str, role: str) -> None:  # noqa: F811
    """With the right password the home works, with a wrong one the server refuses; neither shows the password."""
    home = tmp_path / "home"
    parts = urlsplit(postgres_database)
    place = f"/{parts.path.strip('/')}?{parts.query}"
    right = f"postgresql+psycopg://{role}:{SECRET}@{place}"
    for words in (
        ("init",),
        ("watch", "http://a.example/"),
        ("status",),
        ("settings",),
        ("check",),
        ("settings", "--json"),
    ):
        result = call("--home", home, "--debug", *words, WEBSTRATA_STORE_URL=right)
        assert result.code == 0, result.err
        require_hidden(result, SECRET)
    wrong = f"postgresql+psycopg://{role}:{SECRET[::-1]}@{place}"
    refused = call("--home", home, "--debug", "status", WEBSTRATA_STORE_URL=wrong)
    assert refused.code == 1
    assert "password authentication failed" in refused.err
    assert f"{role}:***@" in refused.err
    require_hidden(refused, SECRET[::-1])


FAULTY = """
import logging
import os
from urllib.parse import unquote, urlsplit


class Faulty:
    def __init__(self, bounds):
        url = os.environ["WEBSTRATA_STORE_URL"]
        password = unquote(urlsplit(url).password)
        logging.getLogger("faulty").warning("connecting to %s", url)
        logging.getLogger("faulty").debug("with %s", password)
        try:
            raise ValueError(f"bad password {password!r}")
        except ValueError as error:
            raise RuntimeError(f"cannot use {url}") from error
"""


@pytest.mark.parametrize("options", [(), ("--debug",)], ids=["plain", "debug"])
def test_an_internal_error(options: tuple[str, ...], home: Path, tmp_path: Path) -> None:
    """An exception of a part that knows the password, its cause and its log lines are printed without it."""
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    url = f"postgresql+psycopg://user:{SECRET}%40x@127.0.0.1:1/db"
    words = ("--home", home, *options, "crawl", "--policy", "faulty:Faulty")
    result = call_process(*words, PYTHONPATH=str(tmp_path), WEBSTRATA_STORE_URL=url)
    assert result.code == 1
    assert "internal error" in result.err
    assert "connecting to postgresql+psycopg://user:***@127.0.0.1:1/db" in result.err
    assert ("bad password '***'" in result.err) == bool(options)
    require_hidden(result, SECRET)


@pytest.mark.parametrize(
    "words",
    [
        ("watch", f"https://user:{SECRET}@host:port/"),
        ("watch", f"https://user:{SECRET}@a.example/"),
        ("watch", f"ftp://user:{SECRET}@a.example/"),
        ("settings", "--set", f"store.url:postgresql://user:{SECRET}@h/db"),
        ("settings", "--set", f"capture.timestamp_url=https://user:{SECRET}@tsa.example/"),
        ("capture", f"https://user:{SECRET}@a.example:99999/"),
    ],
)
def test_passwords_in_other_urls(words: tuple[str, ...], home: Path, call: Call) -> None:
    """URLs of pages and services with credentials are refused, and their passwords are not shown."""
    result = call("--home", home, *words)
    assert result.code == 2
    require_hidden(result, SECRET)
