"""Regular expressions of users, compiled with RE2, which takes linear time for every expression and text.

Separate from `select.py`, so that RE2 is loaded only for pages with rules, and without the JSONPath library.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2

from webstrata.errors import UsageError

_MAX_LENGTH = 1_000
_MAX_MEMORY = 8 << 20


def pattern(expression: str) -> Any:
    """The compiled expression. Raises `UsageError` with the reason if it is invalid."""
    if not expression or len(expression) > _MAX_LENGTH:
        raise UsageError(f"a regular expression must have 1 to {_MAX_LENGTH} characters: {expression[:80]!r}")
    return _compiled(expression)


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(f"(?m){expression}", options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        reason = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        raise UsageError(
            f"{expression!r} is not a regular expression of RE2: {reason}. Look-around and back-references are not"
            " supported; see https://github.com/google/re2/wiki/Syntax"
        ) from error


def without(text: str, expressions: Sequence[str]) -> str:
    """The lines of a text without the matches of the expressions, and without lines that become empty."""
    for expression in expressions:
        text = pattern(expression).sub(" ", text)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
