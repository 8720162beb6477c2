"""What commands import before they do their work: the start-up time, without measuring a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import PROGRAM, environment
from webstrata.cli.app import COMMANDS, application, outline
from webstrata.cli.summaries import SUMMARIES

SLOW = {
    *("alembic", "cryptography", "httptools", "lxml", "matplotlib", "numpy", "pyarrow", "pyoxigraph", "pypdfium2"),
    *("rich", "selectolax", "sqlalchemy", "sqlite3", "uvloop"),
}
"""Modules that take more than a few milliseconds to import."""

_AND_PRINT_MODULES = """
import sys
from webstrata.cli import main
try:
    main()
finally:
    print("\\n".join(name for name, module in sys.modules.items() if module is not None), file=sys.stderr)
"""

BASH = {"_WEBSTRATA_COMPLETE": "complete_bash"}
ZSH = {"_WEBSTRATA_COMPLETE": "complete_zsh"}
FISH = {"_WEBSTRATA_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}


def imported(*words: object, **more: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    command = [sys.executable, "-c", _AND_PRINT_MODULES, *map(str, words)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment(**more), timeout=100)
    assert result.returncode in (0, 2), result.stderr
    return set(result.stderr.split("\n"))


@pytest.mark.parametrize("words", [(), ("--version",), ("--help",), ("--home", "x", "--help"), ("nonsense",)], ids=str)
def test_no_command(words: tuple[str, ...]) -> None:
    """Version, help and the error for an unknown command import no command and nothing slow."""
    modules = imported(*words)

    assert modules & SLOW == set()
    assert modules & {f"webstrata.cli.{module}" for module in COMMANDS.values()} == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str) -> None:
    """The help of a command imports the options of that command, and nothing slow."""
    modules = imported(command, "--help")

    assert modules & SLOW == set()
    assert modules & {f"webstrata.cli.{module}" for module in COMMANDS.values()} >= {
        f"webstrata.cli.{COMMANDS[command]}"
    }


@pytest.mark.parametrize(
    "request_of_shell",
    [
        {**BASH, "COMP_WORDS": "webstrata li", "COMP_CWORD": "1"},
        {**BASH, "COMP_WORDS": "webstrata diff --", "COMP_CWORD": "2"},
        {**ZSH, "_TYPER_COMPLETE_ARGS": "webstrata cap"},
        {**FISH, "_TYPER_COMPLETE_ARGS": "webstrata crawl --"},
    ],
    ids=["bash", "bash-option", "zsh", "fish-option"],
)
def test_completion_imports_nothing_slow(request_of_shell: dict[str, str]) -> None:
    """Completion does not import what the work of a command needs."""
    assert imported(**request_of_shell) & SLOW == set()


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("settings", set()),
        ("list", {"sqlalchemy", "sqlite3", "uvloop"}),
        ("list --json", {"sqlalchemy", "sqlite3", "uvloop"}),
        ("tag", {"sqlalchemy", "sqlite3", "uvloop"}),
        ("check", {"sqlalchemy", "sqlite3", "uvloop"}),
        ("log http://example.org/", {"sqlalchemy", "sqlite3", "uvloop"}),
        ("status", {"numpy", "sqlalchemy", "sqlite3", "uvloop"}),
    ],
)
def test_work(words: str, needed: set[str], home: Path) -> None:
    """A command of a home imports the database, and NumPy only if it computes; a SQLite home needs no PostgreSQL."""
    modules = imported("--home", home, *words.split())

    assert modules & SLOW <= needed
    assert "sqlalchemy.dialects.postgresql" not in modules


def completions(**request_of_shell: str) -> list[str]:
    result = subprocess.run(
        PROGRAM, capture_output=True, text=True, env=environment(**request_of_shell), timeout=100, check=True
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


def test_completion() -> None:
    """Shells get the names of commands, of options and of the commands in a group; zsh and fish with summaries."""
    assert completions(**BASH, COMP_WORDS="webstrata li", COMP_CWORD="1") == ["list"]
    assert completions(**BASH, COMP_WORDS="webstrata --home x li", COMP_CWORD="3") == ["list"]
    assert completions(**BASH, COMP_WORDS="webstrata list --st", COMP_CWORD="2") == ["--state"]
    assert "keys" in completions(**BASH, COMP_WORDS="webstrata certificate ", COMP_CWORD="2")
    assert completions(**FISH, _TYPER_COMPLETE_ARGS="webstrata li") == [f"list\t{SUMMARIES['list']}"]
    assert completions(**ZSH, _TYPER_COMPLETE_ARGS="webstrata li") == [
        f"""_arguments '*: :(("list":"{SUMMARIES["list"]}"))'"""
    ]


@pytest.mark.parametrize("script", ["bash"])
def test_completion_script(script: str, tmp_path: Path) -> None:
    """The script that `--install-completion` installs completes the name of a command."""
    (tmp_path / "webstrata").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{PROGRAM[2]}" "$@"\n')
    (tmp_path / "webstrata").chmod(0o755)
    shell = (
        f"PATH={tmp_path}:$PATH; HOME={tmp_path}; export HOME; webstrata --install-completion && "
        f". {tmp_path}/.bash_completions/webstrata.sh && COMP_WORDS=(webstrata sta) && COMP_CWORD=1 && "
        '_webstrata_completion webstrata && echo "${COMPREPLY[@]}"'
    )

    result = subprocess.run([script, "-c", shell], capture_output=True, text=True, env=environment(), timeout=100)

    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "status"


def test_summaries() -> None:
    """Every command has a summary: one sentence that fits on a line. The help is the same without the commands."""
    assert list(SUMMARIES) == list(COMMANDS)
    assert [
        text for text in SUMMARIES.values() if not (text[0].isupper() and text.endswith(".") and len(text) <= 60)
    ] == []
    shown = [CliRunner().invoke(app, ["--help"]).output for app in (outline(), application())]
    assert set(shown[0].splitlines()) == set(shown[1].splitlines())
