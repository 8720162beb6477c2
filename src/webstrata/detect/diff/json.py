"""The difference of two JSON documents as a list of values with their paths."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any, Literal

from msgspec import Struct

from webstrata.detect.diff.matching import MatchingLines, matching_lines

_MAX_EDITS = 10_000
_MAX_DEPTH = 200
_IDENTIFIERS = ("id", "@id", "_id", "uuid", "guid", "key", "code", "slug", "url", "name", "title")
"""Names of members that identify an object among its siblings, the most reliable first."""
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
    """Match objects by their identifying member, if they have one, else equal elements in order.

    Between two matches, elements are compared pairwise; the rest was added or removed.
    """
    by_id = _by_identifier(before, after)
    if by_id is not None:
        _compare_identified(before, after, *by_id, path=path, edits=edits, depth=depth)
        return
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


def _by_identifier(before: list[Any], after: list[Any]) -> tuple[dict[str, int], dict[str, int]] | None:
    """Positions of the objects of both arrays by the first member that identifies them; None if no member does.

    At least half of the values are in both arrays, and in the same order: an order that changed is not hidden.
    """
    if not before or not after or not all(isinstance(value, dict) for value in (*before, *after)):
        return None
    for name in _IDENTIFIERS:
        sides = [[value.get(name) for value in array] for array in (before, after)]
        if not all(type(value) in (str, int) for side in sides for value in side):
            continue
        old, new = ({_canonical(value): index for index, value in enumerate(side)} for side in sides)
        common = [key for key in new if key in old]
        is_ordered = all(old[first] < old[second] for first, second in pairwise(common))
        is_unique = len(old) == len(before) and len(new) == len(after)
        if is_unique and is_ordered and 2 * len(common) >= min(len(old), len(new)):
            return old, new
    return None


def _compare_identified(
    before: list[Any],
    after: list[Any],
    old: dict[str, int],
    new: dict[str, int],
    *,
    path: str,
    edits: list[JsonEdit],
    depth: int,
) -> None:
    edits += [
        JsonEdit(path=f"{path}[{index}]", change="removed", before=before[index])
        for key, index in old.items()
        if key not in new
    ]
    for key, index in new.items():
        if key in old:
            _compare(before[old[key]], after[index], f"{path}[{index}]", edits, depth + 1)
        else:
            edits.append(JsonEdit(path=f"{path}[{index}]", change="added", after=after[index]))


def _member(path: str, name: str) -> str:
    if _PLAIN_NAME.fullmatch(name):
        return f"{path}.{name}"
    return f"{path}[{json.dumps(name)}]"


def _canonical(value: Any) -> str:
    """A JSON text that is equal for equal values, independently of the order of members."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
