"""The help of every command and option: complete sentences, placeholders in capitals, and examples that work."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from webstrata.cli.app import application
from webstrata.cli.examples import EXAMPLES
from webstrata.cli.placeholders import complete_help
from webstrata.settings import Settings, all_settings


def every_command(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command and every group, with the words that call it."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from every_command(inner, f"{path} {name}".strip())


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    root = typer.main.get_command(application())
    complete_help(root)
    return dict(every_command(root))


def is_sentence(text: str | None) -> bool:
    """Whether a text starts with a capital letter and ends with a period."""
    return bool(text) and bool(re.match("[A-Z]", text or "")) and (text or "").rstrip().endswith(".")


def test_sentences(commands: dict[str, Any]) -> None:
    """The help of every command, option and argument is made of sentences."""
    bad = [path for path, command in commands.items() if not is_sentence(command.help)]
    bad += [
        f"{path} {parameter.opts[0]}: {parameter.help}"
        for path, command in commands.items()
        for parameter in command.params
        if not is_sentence(parameter.help)
    ]

    assert bad == []


def test_placeholders(commands: dict[str, Any]) -> None:
    """Values are named in capitals, or by their choices, not by the types of Python."""
    shown = {
        f"{path} {parameter.opts[0]}": parameter.metavar
        for path, command in commands.items()
        for parameter in command.params
        if not getattr(parameter, "is_flag", False)
    }

    assert {
        name: value
        for name, value in shown.items()
        if not re.fullmatch(r"[^<>a-z]+|[a-z0-9|-]+|.*\.[a-z]+|T\.…", value)
    } == {}
    assert [name for name, value in shown.items() if value in ("TEXT", "STR", "INTEGER", "FLOAT")] == []


def test_every_command_has_examples(commands: dict[str, Any]) -> None:
    """Every command that does something by itself has examples, and there are no examples of other commands."""
    callable_commands = {
        path for path, command in commands.items() if not hasattr(command, "commands") or command.invoke_without_command
    }

    assert set(EXAMPLES) == callable_commands - {""}


@pytest.mark.parametrize("example", [example for examples in EXAMPLES.values() for example in examples])
def test_examples_are_valid(example: str, commands: dict[str, Any]) -> None:
    """Every example is a command line that the program accepts; redirections are for the shell."""
    words = shlex.split(example.partition(" > ")[0])
    assert words.pop(0) == "webstrata"
    if words[0] == "--home":
        del words[:2]
    path = max((path for path in commands if words[: len(path.split())] == path.split()), key=len)
    assert example in EXAMPLES[path]

    with commands[path].make_context(path, words[len(path.split()) :]) as context:
        assert context.args == []


def test_descriptions_of_settings() -> None:
    """The description of every setting is made of sentences."""
    assert [row.key for row in all_settings(Settings(), {}) if not is_sentence(row.description)] == []
