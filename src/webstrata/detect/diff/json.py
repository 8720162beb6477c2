"""The difference of two JSON documents as a list of values with their paths."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from msgspec import Struct

from webstrata.detect.diff.matching import MatchingLines, matching_lines

_MAX_EDITS = 10_000
_MAX_DEPTH = 200
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class JsonEdit(Struct, frozen=True, kw_only=True):
    """A value that was added, removed or changed, with its JSONPath."""

    path: str
    change: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None


def json_difference(before: Any, after: Any) -> list[JsonEdit]:
    """The first 10,000 differences. Values deeper than 200 levels are compared as a whole."""
    edits: list[JsonEdit] = []
    _compare(before, after, "$", edits, 0)
    return edits[:_MAX_EDITS]


def _compare(before: Any, after: Any, path: str, edits: list[JsonEdit], depth: int) -> None:
    if len(edits) >= _MAX_EDITS:
        return
    if isinstance(before, dict) and isinstance(after, dict) and depth < _MAX_DEPTH:
        _compare_objects(before, after, path, edits, depth)
    elif isinstance(before, list) and isinstance(after, list) and depth < _MAX_DEPTH:
        _compare_arrays(before, after, path, edits, depth)
    elif _canonical(before) != _canonical(after):
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
    """Match equal elements in order. Between two matches, compare elements pairwise; the rest was added or removed."""
    runs = matching_lines([_canonical(value) for value in before], [_canonical(value) for value in after])
    i = j = 0
    for run in [*runs, MatchingLines(len(before), len(after), 0)]:
        while i < run.before and j < run.after:
            _compare(before[i], after[j], f"{path}[{j}]", edits, depth + 1)
            i, j = i + 1, j + 1
        edits += [
            JsonEdit(path=f"{path}[{index}]", change="removed", before=before[index]) for index in range(i, run.before)
        ]
        edits += [
            JsonEdit(path=f"{path}[{index}]", change="added", after=after[index]) for index in range(j, run.after)
        ]
        i, j = run.before + run.length, run.after + run.length


def _member(path: str, name: str) -> str:
    if _PLAIN_NAME.fullmatch(name):
        return f"{path}.{name}"
    return f"{path}[{json.dumps(name)}]"


def _canonical(value: Any) -> str:
    """A JSON text that is equal for equal values, independently of the order of members."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
