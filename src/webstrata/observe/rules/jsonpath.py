"""JSONPath rules (RFC 9535): the parts of a JSON document that are to be compared, one line for each value.

The functions `match` and `search` run on RE2, so no expression can be slow; there is none that reads anything but the
document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from jsonpath import JSONPathEnvironment, JSONPathError, JSONPathMatch
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.path import JSONPath

from webstrata.errors import UsageError
from webstrata.observe.rules.regex import pattern

_LF = "\n"
_LONGEST = 500
_MOST_MATCHES = 5_000
_MOST_LINES = 100_000


class _Regex(FilterFunction):
    """`match(value, pattern)` (whole) and `search(value, pattern)` (anywhere)."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as the library declares it
    return_type = ExpressionType.LOGICAL

    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def __call__(self, value: object, expression: object) -> bool:
        if not isinstance(value, str) or not isinstance(expression, str):
            return False
        try:
            made = pattern(f"^(?:{expression})$" if self._whole else expression)
        except UsageError:  # the expression came from the document
            return False
        return made.search(value) is not None


class _Sandbox(JSONPathEnvironment):
    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["match"] = _Regex(whole=True)
        self.function_extensions["search"] = _Regex(whole=False)


_ENVIRONMENT = _Sandbox(strict=True)


@lru_cache(maxsize=256)
def jsonpath(expression: str) -> JSONPath:
    """The compiled expression; a `UsageError` says what is wrong with it."""
    if not expression.strip() or len(expression) > _LONGEST:
        raise UsageError(f"an expression must have 1 to {_LONGEST} characters: {expression[:80]!r}")
    try:
        made = _ENVIRONMENT.compile(expression)
    except (JSONPathError, RecursionError) as wrong:
        raise UsageError(f"{expression!r} is no JSONPath (RFC 9535): {str(wrong).partition(_LF)[0]}") from wrong
    if not isinstance(made, JSONPath):
        raise UsageError(f"{expression!r} is more than one JSONPath; give each as a rule of its own")
    return made


def select_json(body: str, include: list[str], ignore: list[str]) -> tuple[str, list[str]] | None:
    """(Lines `path: value`, rules that matched nothing); None where it is no JSON, or too deep."""
    try:
        document: Any = msgspec.json.decode(body)
        unwanted = {rule: _found(document, rule) for rule in ignore}
        missed = [f"jsonpath:{rule}" for rule, found in unwanted.items() if not found]
        _drop(document, [one.parts for found in unwanted.values() for one in found])
        lines: list[str] = [] if include else list(_lines("$", document))
        for rule in include:
            found = _found(document, rule)
            if not found:
                missed.append(f"jsonpath:{rule}")
            for one in found:
                lines += _lines("$" + "".join(map(_step, one.parts)), one.obj)
    except (msgspec.DecodeError, JSONPathError, RecursionError):
        return None
    return "\n".join(lines[:_MOST_LINES]), missed


def _found(document: Any, rule: str) -> list[JSONPathMatch]:
    return list(islice(jsonpath(rule).finditer(document), _MOST_MATCHES))


def _drop(document: object, places: list[tuple[int | str, ...]]) -> None:
    """Take places out of the document; from the end, so that the places before keep their numbers."""
    for parts in sorted(set(places), key=lambda parts: [(isinstance(part, str), part) for part in parts], reverse=True):
        _delete(document, parts)


def _delete(document: object, parts: tuple[int | str, ...]) -> None:
    holder = document
    for part in parts[:-1]:
        if isinstance(holder, dict | list):
            holder = holder[part]  # type: ignore[index]
    if not parts and isinstance(document, dict | list):
        document.clear()
    elif isinstance(holder, dict):
        holder.pop(parts[-1], None)
    elif isinstance(holder, list) and isinstance(parts[-1], int) and parts[-1] < len(holder):
        del holder[parts[-1]]


def _lines(path: str, value: object) -> Iterator[str]:
    """Every value that holds no others, with its path; members in the order of their names."""
    waiting: list[tuple[str, object]] = [(path, value)]
    for _ in range(_MOST_LINES):
        if not waiting:
            return
        place, one = waiting.pop()
        if isinstance(one, dict) and one:
            waiting += [(place + _step(name), one[name]) for name in sorted(one)[::-1]]
        elif isinstance(one, list) and one:
            waiting += [(place + _step(i), one[i]) for i in reversed(range(len(one)))]
        else:
            yield f"{place}: {json.dumps(one, ensure_ascii=False)}"


def _step(part: int | str) -> str:
    return f"[{json.dumps(part, ensure_ascii=False)}]"
