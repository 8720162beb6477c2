"""Messages with the number one: the noun and the verb are in the singular."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import ALWAYS_DUE, call_here, serving
from tests.cli.test_app import ARGUMENTS
from webstrata.wording import agreeing, counted

_NOT_PLURAL = {"is", "was", "has", "s", "its", "this", "as", "less", "process", "us", "status", "across", "does"}
_WRONG = re.compile(r"(?<![\d.,:/–-])\b1 (?:(?:more|other|new|sharp|bad|visible|recorded|due|watched) )?([a-z]+s)\b")
_WRONG_VERB = re.compile(r"(?<![\d.,:/–-])\b1 (?:[a-z]+ )?(?:are|were|have)\b|\bother 1\b|\bThese 1\b|\b1 of 1 pages\b")


class OneOfEach(NamedTuple):
    """A home with one page on one host, of one site, with two visits (one change) and one tag."""

    home: Path
    url: str
    settings: dict[str, Any]


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> OneOfEach:
    home = tmp_path_factory.mktemp("single") / "home"
    with serving() as server:
        url = server.url("/")
        settings: dict[str, Any] = {**server.settings, **ALWAYS_DUE}
        call_here("--home", home, "init")
        call_here("--home", home, "watch", url, "--tag", "news")
        for text in ("one", "two"):
            server.pages["/"] = ("text/html", f"<title>t</title><p>a sentence with the word {text}".encode())
            assert "1 visit" in call_here("--home", home, "crawl", url, **settings).err
    return OneOfEach(home, url, dict(server.settings))


def wrong(text: str) -> list[str]:
    """Parts of a text with a plural after the number one."""
    found = [match[0] for match in _WRONG.finditer(text) if match[1] not in _NOT_PLURAL]
    return found + [match[0] for match in _WRONG_VERB.finditer(text)]


COMMANDS = (
    *(
        "status",
        "list",
        "list --tag news",
        "log URL",
        "log URL --changes",
        "diff URL",
        "diff URL --since 1d",
        "why URL",
    ),
    *(
        "plan --offline",
        "plan --offline --capacity",
        "tag URL --add mine",
        "interval URL --max 1d",
        "interval",
        "noise URL",
    ),
    *("interval URL --every 1d", "snooze URL --for 1d", "snooze", "snooze URL --end", "boost news --for 1d", "status"),
    *("preview URL", "preview URL --lines 1", "rules URL --ignore css:footer", "rules URL", "check", "check --deep"),
    *("export cdxj OUT.cdxj", "export warc OUT.warc.gz", "export wacz OUT.wacz", "reindex", "rebuild --replace"),
    *("unwatch URL", "watch URL", "watch --site http://example.org/ --max-pages 1"),
)


def test_one_of_each(single: OneOfEach, tmp_path: Path) -> None:
    """No command uses a plural for the number one, on a home that has one of everything."""
    found: dict[str, list[str]] = {}
    for command in COMMANDS:
        words = command.replace("URL", single.url).replace("OUT", str(tmp_path / "out")).split()
        result = call_here("--home", single.home, *words, **single.settings)
        assert result.code in (0, 1), (command, result.err)
        if mistakes := wrong(result.text + result.err):
            found[command] = mistakes

    assert found == {}


def test_commands_exist() -> None:
    """The list above names commands that exist."""
    assert {command.split()[0] for command in COMMANDS} <= {name.split()[0] for name in ARGUMENTS}


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("1 page, 2 visits, 11 pages", []),
        ("1 pages", ["1 pages"]),
        ("the other 1 page", ["other 1"]),
        ("1 more lines", ["1 more lines"]),
        ("1 page were lost", ["1 page were"]),
        ("0.1 visits, 1.1 visits, in 0:1 days", []),
        ("1 is left, 1 has gone", []),
    ],
)
def test_the_check_itself(text: str, mistakes: list[str]) -> None:
    """The check finds plurals after the number one, and nothing else."""
    assert wrong(text) == mistakes


def test_counted() -> None:
    """The noun and the verb agree with the number, also if the number is formatted text."""
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert [counted(number, "entry", "entries") for number in ("1", "1,000", "1.0")] == [
        "1 entry",
        "1,000 entries",
        "1.0 entries",
    ]
    assert [agreeing(number, "was", "were") for number in (0, 1, 2)] == ["were", "was", "were"]
