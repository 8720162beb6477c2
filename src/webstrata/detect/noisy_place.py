"""A place of a page that changes, its counts, and where it is in a version.

| kind | what it is | how it is found in a version |
|---|---|---|
| `stamp` | a run that keeps its shape: a clock, a counter | by its place; ages and view counts by the shape alone |
| `link` | a link whose address keeps its shape: a session id | by its place |
| `data` | a field of data, or an attribute | by its name |
| `gap` | runs between two neighbours that stay: an advertisement, a quotation | by the shapes of the neighbours |
| `order` | a list that is shuffled | by its items |
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

from webstrata.columns import Part, RunFlag
from webstrata.detect.figure_range import FigureRange
from webstrata.detect.runs import TextRuns

MAX_GAP_RUNS = 24
Kind = Literal["stamp", "link", "data", "gap", "order"]
SINGLE_RUN_KINDS = ("stamp", "link", "data")
"""Kinds of places that consist of one run."""
State = Literal["watched", "learned", "denied"]
_LINK_PARTS = (Part.MAIN_LINK, Part.OTHER_LINK)
_TRIVIAL, _TRIVIAL_OR_BLOCK = int(RunFlag.TRIVIAL), int(RunFlag.TRIVIAL | RunFlag.BLOCK)
_IN_SOME = int(RunFlag.WATCHED | RunFlag.BLOCK)
"""Flags as plain integers, because there are many runs."""


class NoisyPlace(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A place of a page that changes: its counts of changes, and whether they count."""

    key: int
    """Identifies the place."""
    kind: Kind
    state: State = "watched"
    """`watched`: changes still count. `learned`: they do not. `denied`: the user wants them to count."""
    number: int = 0
    """The number by which the user names the place; 0 until it is learned for the first time."""
    since: float = 0.0
    """Time at which the place was learned; before that, time of its first change."""
    changed: int = 0
    """Visits at which it had changed."""
    same: int = 0
    """Visits at which it had not changed; of dates, only if the last change was more than a day earlier."""
    changed_within_hour: int = 0
    """The same for visits less than an hour after the previous one."""
    same_within_hour: int = 0
    same_in_a_row: int = 0
    """Latest visits without a change."""
    changed_at: float = 0.0
    """Time of the last change."""
    flags: int = 0
    """The `RunFlag`s of a single run that it had in all versions."""
    figure: FigureRange | None = None
    """The range of a single run's figure."""
    returns: int = 0
    """Changes of a gap at which a run came back that had been away."""
    returned: tuple[int, ...] = ()
    """Runs of a gap that came back, by their shapes: a figure that has an earlier value again does not come back."""
    long_returned: tuple[int, ...] = ()
    """Those that had been away at two visits or more. Two servers with different copies do not show this."""
    previous: tuple[int, ...] = ()
    """Runs of a gap at the visit before the last one."""
    recent: tuple[int, ...] = ()
    """Runs that a gap had, by their shapes; items that a list had (`shuffles.item_ids`)."""
    before: int = 0
    after: int = 0
    """Shapes of the two neighbours of a gap."""
    words: int = 0
    """Maximum number of words seen in a gap."""
    runs: int = 0
    """Maximum number of runs seen in a gap."""
    example: str = ""


def reset_place(place: NoisyPlace) -> NoisyPlace:
    """The same place, watched, with all counts at 0."""
    return NoisyPlace(
        key=place.key,
        kind=place.kind,
        number=place.number,
        since=place.since,
        flags=place.flags,
        before=place.before,
        after=place.after,
        recent=place.recent if place.kind == "order" else (),
        example=place.example,
    )


class PlaceValue(NamedTuple):
    """The value of a place in one version."""

    value: int
    rows: list[int]
    """The runs of the place."""
    flags: int
    """`RunFlag`s that all of them have; WATCHED and BLOCK if one of them has it."""
    figure: float


class PlacedRuns:
    """The runs of one version, with an index of their places."""

    def __init__(self, runs: TextRuns) -> None:
        self.runs = runs
        self.keys = [
            trivial_key(shape) if flags & _TRIVIAL_OR_BLOCK == _TRIVIAL else place
            for place, shape, flags in zip(runs.places, runs.shapes, runs.flags, strict=True)
        ]
        self.rows: dict[int, list[int]] = {}
        for row, key in enumerate(self.keys):
            self.rows.setdefault(key, []).append(row)

    def kind(self, row: int) -> Kind:
        """The kind of a place that consists of this run."""
        part = self.runs.parts[row]
        if part == Part.DATA or part >= Part.DESCRIPTION:
            return "data"
        return "link" if part in _LINK_PARTS else "stamp"

    def value(self, place: NoisyPlace) -> PlaceValue | None:
        """The value of a single run or a gap; None if the version does not have the place."""
        if place.kind in SINGLE_RUN_KINDS:
            rows = self.rows.get(place.key)
            return None if rows is None else self.value_of(rows, self.runs.values)
        gap = self.gap(place)
        return None if gap is None else self.value_of(list(gap), self.runs.shapes)

    def value_of(self, rows: list[int], hashes: list[int]) -> PlaceValue:
        """The value of these rows: of a single run the hash of its words, of a gap those of the shapes."""
        runs = self.runs
        every, some = ~0, 0
        for row in rows:
            every &= runs.flags[row]
            some |= runs.flags[row]
        flags = (every if rows else 0) | some & _IN_SOME
        figure = runs.figures[rows[0]] if len(rows) == 1 else float("nan")
        return PlaceValue(_combined_hash([hashes[row] for row in rows]), rows, flags, figure)

    def gap(self, place: NoisyPlace) -> range | None:
        """The rows between a gap's neighbours; None unless the neighbours occur exactly once."""
        framed = self._framed
        gap = None
        for i in framed.positions.get(place.before, ()):
            for j in range(i + 1, min(i + MAX_GAP_RUNS + 2, len(framed.shapes))):
                if framed.shapes[j] == place.after:
                    if gap is not None:
                        return None
                    gap = range(framed.rows[i + 1], framed.rows[j])
                    break
                if framed.shapes[j] < 0:
                    break
        return gap

    @cached_property
    def _framed(self) -> _FramedShapes:
        return _framed(self.runs)

    def edges(self, rows: range, part: int) -> tuple[int, int]:
        """The shapes before and after a range of rows of a part; at the ends of the part, numbers below 0."""
        shapes, parts = self.runs.shapes, self.runs.parts
        before = shapes[rows.start - 1] if rows.start and parts[rows.start - 1] == part else -2 * part - 1
        after = shapes[rows.stop] if rows.stop < len(parts) and parts[rows.stop] == part else -2 * part - 2
        return before, after


class _FramedShapes(NamedTuple):
    """The shapes of all runs, with a number below 0 at the start and the end of each part."""

    shapes: list[int]
    rows: list[int]
    """The row of each shape; of a number below 0, the next row."""
    positions: dict[int, list[int]]
    """Shape -> where it is."""


def _framed(runs: TextRuns) -> _FramedShapes:
    framed = _FramedShapes([], [], {})

    def add(shape: int, row: int) -> None:
        framed.positions.setdefault(shape, []).append(len(framed.shapes))
        framed.shapes.append(shape)
        framed.rows.append(row)

    last = -1
    for row, (shape, part) in enumerate(zip(runs.shapes, runs.parts, strict=True)):
        if part != last:
            if last >= 0:
                add(-2 * last - 2, row)
            add(-2 * part - 1, row)
            last = part
        add(shape, row)
    if last >= 0:
        add(-2 * last - 2, len(runs.shapes))
    return framed


def trivial_key(shape: int) -> int:
    """The key of all runs with this shape whose figures are ages, view counts or load times."""
    return (shape << 24 ^ 0x5DEECE66D) & ((1 << 63) - 1)


def gap_key(before: int, after: int) -> int:
    """The key of the gap between two shapes."""
    return (before << 31 ^ after) & ((1 << 63) - 1)


def _combined_hash(values: list[int]) -> int:
    combined = len(values)
    for value in values:
        combined = (combined * 0x100000001B3 ^ value) & 0xFFFFFFFFFFFFFFFF
    return combined
