"""Completes the commands that Typer builds: a placeholder in capitals for every value, and examples after the options."""

from __future__ import annotations

from typing import Any

from webstrata.cli.examples import epilog

_BY_TYPE = {"int": "N", "float": "X", "path": "PATH", "file": "FILE"}
"""Placeholders by a part of the name of a type: the names differ between releases of Typer."""

_FORMATS = {
    "TIME": "TIME is written like 2026-11-15 or 2026-11-15T08:30:00Z, in UTC.",
    "SPAN": "SPAN is written like 90s, 15m, 6h, 2d or 1w.",
}
"""Placeholders whose format the help explains."""


def complete_help(command: Any, path: str = "") -> None:
    """Set the placeholders and the examples of a command and of the commands in it; `path` are the words that call it."""
    for name, inner in getattr(command, "commands", {}).items():
        complete_help(inner, f"{path} {name}".strip())
    for parameter in command.params:
        if parameter.metavar is None and not getattr(parameter, "is_flag", False):
            parameter.metavar = _placeholder(parameter)
        if parameter.param_type_name == "argument" and parameter.nargs == -1 and "…" not in parameter.metavar:
            parameter.metavar += "…"
    used = {parameter.metavar for parameter in command.params}
    formats = "\n".join(text for name, text in _FORMATS.items() if name in used)
    command.epilog = "\n\n".join(filter(None, (formats and f"\b\n{formats}", epilog(path)))) or None
    if path and command.short_help is None and command.help:
        command.short_help = command.help.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".") + "."


def _placeholder(parameter: Any) -> str:
    """The choices, else a letter for numbers, else the name of the option: `--host HOST`."""
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return "|".join(map(str, choices))
    kind = str(parameter.type.name)
    found = next((shown for part, shown in _BY_TYPE.items() if part in kind), None)
    return found or max(parameter.opts, key=len).lstrip("-").replace("-", "_").upper()
