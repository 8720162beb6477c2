"""JSONPath rules (RFC 9535): select the values of a JSON document to compare, one line for each.

The functions `match` and `search` use RE2, so that no expression is slow. No function accesses anything except the
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
_MAX_LENGTH = 500
_MAX_MATCHES = 5_000
_MAX_LINES = 100_000


class _Regex(FilterFunction):
    """`match(value, pattern)` (the whole value) and `search(value, pattern)` (a part of it)."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as the library declares it
    return_type = ExpressionType.LOGICAL

    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def __call__(self, value: object, expression: object) -> bool:
        if not isinstance(value, str) or not isinstance(expression, str):
            return False
        try:
            compiled = pattern(f"^(?:{expression})$" if self._whole else expression)
        except UsageError:  # the expression is a value in the document
            return False
        return compiled.search(value) is not None


class _Environment(JSONPathEnvironment):
    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["match"] = _Regex(whole=True)
        self.function_extensions["search"] = _Regex(whole=False)


_ENVIRONMENT = _Environment(strict=True)


@lru_cache(maxsize=256)
def jsonpath(expression: str) -> JSONPath:
    """The compiled expression. Raises `UsageError` with the reason if it is invalid."""
    if not expression.strip() or len(expression) > _MAX_LENGTH:
        raise UsageError(f"an expression must have 1 to {_MAX_LENGTH} characters: {expression[:80]!r}")
    try:
        compiled = _ENVIRONMENT.compile(expression)
    except (JSONPathError, RecursionError) as error:
        raise UsageError(f"{expression!r} is not a JSONPath (RFC 9535): {str(error).partition(_LF)[0]}") from error
    if not isinstance(compiled, JSONPath):
        raise UsageError(f"{expression!r} is more than one JSONPath; write each as a separate rule")
    return compiled


def select_json(body: str, include: list[str], ignore: list[str]) -> tuple[str, list[str]] | None:
    """(Lines `path: value`, rules that matched nothing); None if it is not JSON or nested too deeply."""
    try:
        document: Any = msgspec.json.decode(body)
        ignored = {rule: _matches(document, rule) for rule in ignore}
        missed = [f"jsonpath:{rule}" for rule, found in ignored.items() if not found]
        _drop(document, [match.parts for found in ignored.values() for match in found])
        lines: list[str] = [] if include else list(_lines("$", document))
        for rule in include:
            found = _matches(document, rule)
            if not found:
                missed.append(f"jsonpath:{rule}")
            for match in found:
                lines += _lines("$" + "".join(map(_step, match.parts)), match.obj)
    except (msgspec.DecodeError, JSONPathError, RecursionError):
        return None
    return "\n".join(lines[:_MAX_LINES]), missed


def _matches(document: Any, rule: str) -> list[JSONPathMatch]:
    return list(islice(jsonpath(rule).finditer(document), _MAX_MATCHES))


def _drop(document: object, paths: list[tuple[int | str, ...]]) -> None:
    """Delete paths from the document, the last first, so that the indexes of the others remain valid."""
    for parts in sorted(set(paths), key=lambda parts: [(isinstance(part, str), part) for part in parts], reverse=True):
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
    """Every value that contains no others, with its path; members sorted by name."""
    pending: list[tuple[str, object]] = [(path, value)]
    for _ in range(_MAX_LINES):
        if not pending:
            return
        path, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(path + _step(name), value[name]) for name in sorted(value)[::-1]]
        elif isinstance(value, list) and value:
            pending += [(path + _step(i), value[i]) for i in reversed(range(len(value)))]
        else:
            yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


def _step(part: int | str) -> str:
    return f"[{json.dumps(part, ensure_ascii=False)}]"
