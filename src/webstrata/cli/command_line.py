"""Command lines for the user to type: one line of printable characters that a shell splits into the same words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from webstrata.cli.output import printable

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "'": "\\'"}


def command_line(words: Iterable[str]) -> str:
    """The words, quoted. Words with characters that a terminal interprets are quoted as `$'…'`, with escapes.

    Bash, zsh, ksh and other shells with the dollar-quotes of POSIX (2024) read them.
    """
    return " ".join(map(_quoted, words))


def option_words(option: str, value: str | None) -> list[str]:
    """An option with its value, in one word if the value could be taken for an option; None for a flag."""
    if value is None:
        return [option]
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def _quoted(word: str) -> str:
    if printable(word) == word and "\t" not in word:
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _escaped(character: str) -> str:
    """The character as it stands in `$'…'`; the bytes of one that a terminal interprets as octal numbers."""
    if character in _ESCAPES:
        return _ESCAPES[character]
    if printable(character) == character:
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
