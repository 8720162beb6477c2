"""Two homes on one PostgreSQL database: own pages, one politeness; and two homes that share their pages."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer, started
from tests.flows.crawl.requests.counting_origin import TOLERANCE_S, Arrival, CountingOrigin, response
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures

DELAY_S = 0.4
PAGES = 5


@pytest.fixture
def homes(tmp_path: Path, call: Call, postgres_database: str) -> tuple[Path, Path]:  # noqa: F811
    """Two homes on one database, each with its own pages."""
    made = tmp_path / "one", tmp_path / "two"
    for home in made:
        assert call("--home", home, "init", "--store", postgres_database).code == 0
    return made


@pytest.fixture
def sharing(tmp_path: Path, call: Call, postgres_database: str) -> tuple[Path, Path]:  # noqa: F811
    """Two homes that share their pages."""
    made = tmp_path / "one", tmp_path / "two"
    for home in made:
        words = ("--store", postgres_database, "--set", "store.schema=together")
        assert call("--home", home, "init", *words).code == 0
    return made


def polite(port: int) -> dict[str, str]:
    return {
        "WEBSTRATA_FETCH_ALLOW_PRIVATE": f"127.0.0.1/32:{port}",
        "WEBSTRATA_POLITE_DELAY": f"{DELAY_S}s",
        "WEBSTRATA_POLITE_DELAY_FACTOR": "0",
        "WEBSTRATA_POLITE_ADDRESS_DELAY": "0s",
        "WEBSTRATA_CRAWL_WORKERS": "0",
    }


def warcs(home: Path) -> set[str]:
    return {file.name for file in (home / "archive").glob("*.warc.gz")}


def test_each_home_has_its_own_pages_and_history(
    homes: tuple[Path, Path],
    call: Call,
    server: LocalServer,
    postgres_database: str,  # noqa: F811
) -> None:
    """Lists differ, the same page has two histories, names of WARC files differ, and both homes are sound; without the
    schema of one, the other is as before."""
    for path in ("/both", "/0", "/1"):
        server.pages[path] = ("text/html", b"<title>t</title><p>words of " + path.encode())
    where = {**server.settings, **ALWAYS_DUE}
    for number, home in enumerate(homes):
        assert call("--home", home, "watch", server.url("/both"), server.url(f"/{number}")).code == 0
    for home in (homes[0], homes[0], homes[1]):
        assert call("--home", home, "crawl", **where).code == 0

    for number, home in enumerate(homes):
        listed = {page["url"] for page in call("--home", home, "list", "--json").json["pages"]}
        assert listed == {server.url("/both"), server.url(f"/{number}")}
        checked = call("--home", home, "check", "--deep", "--json")
        assert (checked.code, checked.json["elsewhere"]) == (0, 0), checked.text
        assert call("--home", home, "cat", server.url("/both")).out == server.pages["/both"][1]
    visits = [len(call("--home", home, "log", server.url("/both"), "--json").json["visits"]) for home in homes]
    assert visits == [2, 1]
    assert not warcs(homes[0]) & warcs(homes[1])

    schema = call("--home", homes[0], "status", "--json").json["database"]["schema"]
    with psycopg.connect(postgres_database.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    assert "are missing" in call("--home", homes[0], "list").err
    assert call("--home", homes[1], "check", "--deep").code == 0
    assert call("--home", homes[1], "crawl", **where).code == 0


def test_both_keep_the_gap_of_a_host_together(homes: tuple[Path, Path], call: Call) -> None:
    """Two crawls at once: the server never sees two requests closer than the delay, whoever sent them."""
    with CountingOrigin() as origin, ExitStack() as stack:
        for name, home in zip("ab", homes, strict=True):
            urls = [f"http://127.0.0.1:{origin.port}/{name}{n}" for n in range(PAGES)]
            assert call("--home", home, "watch", *urls).code == 0
        running = [stack.enter_context(started("--home", home, "run", **polite(origin.port))) for home in homes]
        for name in "ab":
            for number in range(PAGES):
                origin.wait_for(1, path=f"/{name}{number}", timeout_s=120.0)
        for process in running:
            process.terminate()
        for process in running:
            process.communicate(timeout=100)
        assert [process.returncode for process in running] == [0, 0]
        assert min(origin.gaps_s()) >= DELAY_S - TOLERANCE_S
    for name, home in zip("ab", homes, strict=True):
        assert call("--home", home, "check", "--deep").code == 0
        visited = {page["url"][-2] for page in call("--home", home, "list", "--json").json["pages"]}
        assert visited == {name}


def _refusing(arrival: Arrival) -> bytes | None:
    if arrival.path == "/robots.txt":
        return response(status=404)
    return response(b"", 503, "Retry-After: 3600")


def test_a_refusal_is_obeyed_by_the_other_home(homes: tuple[Path, Path], call: Call) -> None:
    """After a server has told one home to wait an hour, the other one sends it nothing, not even for robots.txt."""
    with CountingOrigin(_refusing) as origin:
        for name, home in zip("ab", homes, strict=True):
            assert call("--home", home, "watch", f"http://127.0.0.1:{origin.port}/{name}").code == 0
        assert call("--home", homes[0], "crawl", **polite(origin.port)).code == 0
        before = [arrival.path for arrival in origin.arrivals]
        assert before[:2] == ["/robots.txt", "/a"]
        assert call("--home", homes[1], "crawl", **polite(origin.port)).code == 0
        assert [arrival.path for arrival in origin.arrivals] == before
        why = call("--home", homes[1], "why", f"http://127.0.0.1:{origin.port}/b", "--json", **polite(origin.port))
        assert why.code == 0


# ── homes that share their pages ────────────────────────────────────────────────────────────────────────────────


def test_an_archive_is_readable_without_the_other_one(
    sharing: tuple[Path, Path], call: Call, server: LocalServer
) -> None:
    """The second home keeps the page in full, although the database knows its content; `check` of each home counts the
    records of the other, and `cat` of a version that lies there says where it is."""
    server.pages["/"] = ("text/html", b"<title>t</title><p>always the same words")
    where = {**server.settings, **ALWAYS_DUE}
    assert call("--home", sharing[0], "watch", server.url()).code == 0
    for home in (*sharing, *sharing):
        assert call("--home", home, "crawl", **where).code == 0
    visits = call("--home", sharing[1], "log", server.url(), "--json").json["visits"]
    assert len(visits) == 4
    for home in sharing:
        checked = call("--home", home, "check", "--deep", "--json")
        assert (checked.code, checked.json["elsewhere"]) == (0, 2), checked.text
        said = "2 records of the database in the archives of other homes: not checked here"
        assert said in call("--home", home, "check").text
    node = (sharing[1] / "node").read_text().strip()
    latest = call("--home", sharing[0], "cat", server.url())
    assert (latest.code, f"in the archive of another home ({node})" in latest.err) == (1, True), latest.err
    assert call("--home", sharing[1], "cat", server.url()).out == server.pages["/"][1]

    for file in (sharing[1] / "archive").iterdir():  # names never meet, so the archives can be put together
        shutil.copy(file, sharing[0] / "archive")
    assert call("--home", sharing[0], "reindex").code == 0
    assert call("--home", sharing[0], "cat", server.url()).out == server.pages["/"][1]
    checked = call("--home", sharing[0], "check", "--deep", "--json")
    assert (checked.code, checked.json["elsewhere"]) == (0, 0)
