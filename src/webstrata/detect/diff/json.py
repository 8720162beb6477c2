"""The difference of two JSON documents, path by path."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from msgspec import Struct

from webstrata.detect.diff.matching import MatchingLines, matching_lines

_MOST_EDITS = 10_000
_DEEPEST = 200
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class JsonEdit(Struct, frozen=True, kw_only=True):
    """One value that came, went or changed, with its JSONPath."""

    path: str
    change: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None


def json_difference(before: Any, after: Any) -> list[JsonEdit]:
    """All differences, the first ten thousand; what lies deeper than two hundred levels is compared as a whole."""
    edits: list[JsonEdit] = []
    _compare(before, after, "$", edits, 0)
    return edits[:_MOST_EDITS]


def _compare(before: Any, after: Any, path: str, edits: list[JsonEdit], depth: int) -> None:
    if len(edits) >= _MOST_EDITS:
        return
    if isinstance(before, dict) and isinstance(after, dict) and depth < _DEEPEST:
        _compare_objects(before, after, path, edits, depth)
    elif isinstance(before, list) and isinstance(after, list) and depth < _DEEPEST:
        _compare_arrays(before, after, path, edits, depth)
    elif _spelled(before) != _spelled(after):
        edits.append(JsonEdit(path=path, change="changed", before=before, after=after))


def _compare_objects(
    before: dict[str, Any], after: dict[str, Any], path: str, edits: list[JsonEdit], depth: int
) -> None:
    for name, value in before.items():
        if name in after:
            _compare(value, after[name], _member(path, name), edits, depth + 1)
        else:
            edits.append(JsonEdit(path=_member(path, name), change="removed", before=value))
    for name, value in after.items():
        if name not in before:
            edits.append(JsonEdit(path=_member(path, name), change="added", after=value))


def _compare_arrays(before: list[Any], after: list[Any], path: str, edits: list[JsonEdit], depth: int) -> None:
    """Equal elements are matched in order; between them, those of equal place are compared, the rest came or went."""
    runs = matching_lines([_spelled(value) for value in before], [_spelled(value) for value in after])
    i = j = 0
    for run in [*runs, MatchingLines(len(before), len(after), 0)]:
        while i < run.before and j < run.after:
            _compare(before[i], after[j], f"{path}[{j}]", edits, depth + 1)
            i, j = i + 1, j + 1
        edits += [
            JsonEdit(path=f"{path}[{place}]", change="removed", before=before[place]) for place in range(i, run.before)
        ]
        edits += [
            JsonEdit(path=f"{path}[{place}]", change="added", after=after[place]) for place in range(j, run.after)
        ]
        i, j = run.before + run.length, run.after + run.length


def _member(path: str, name: str) -> str:
    if _PLAIN.fullmatch(name):
        return f"{path}.{name}"
    return f"{path}[{json.dumps(name)}]"


def _spelled(value: Any) -> str:
    """Equal for equal values, whatever the order of members."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
