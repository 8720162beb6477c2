"""Regular expressions of users: RE2, which knows no backtracking, so no expression and no text can make it slow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2

from webstrata.errors import UsageError

_LONGEST = 1_000
_MOST_MEMORY = 8 << 20


def pattern(expression: str) -> Any:
    """The compiled expression; a `UsageError` says what is wrong with it."""
    if not expression or len(expression) > _LONGEST:
        raise UsageError(f"a regular expression must have 1 to {_LONGEST} characters: {expression[:80]!r}")
    return _compiled(expression)


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(f"(?m){expression}", options)
    except re2.error as wrong:
        said = wrong.args[0] if wrong.args else ""
        why = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise UsageError(
            f"{expression!r} is no regular expression that RE2 knows: {why}. Look-around and back-references are not"
            " among them; see https://github.com/google/re2/wiki/Syntax"
        ) from wrong


def without(text: str, expressions: Sequence[str]) -> str:
    """The lines of a text without what the expressions match; lines that this leaves empty are gone too."""
    for expression in expressions:
        text = pattern(expression).sub(" ", text)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
