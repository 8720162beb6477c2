"""Noise: places of a page that change at nearly every visit, learned from the page's own history.

There are four kinds of noisy places:

- `stamp`: a run that keeps its shape while its numbers, dates or tokens change (clocks, counters, CSRF tokens);
- `gap`: up to four runs between two neighbours that stay the same (rotating advertisements, random quotations);
- `links`: the links of the main content as a whole (session numbers, tracking addresses);
- `data`: a JSON path, a column, a predicate, an element or an attribute (generation times, counters).

A place is learned as noise if it changed repeatedly between visits less than an hour apart, and hardly ever stayed the
same between them. If visits are rarer, a stamp is learned if it changed at practically every visit. Two rules keep real
changes from being learned as noise:

- News texts change at every visit, too. Free text (`gap`) that did not change within the hour must also return
  repeatedly to values that it had before; then only these known values are noise, and a new value counts.
- Data are mostly figures, and a price that changes every day is not noise. Data are learned from rare visits only if
  all values were times or tokens; other data only if they change within the hour.

A learned place that stays the same at three visits in a row (a rotating gap: twelve) is forgotten, and its next change
counts. A learned stamp with another shape, or a gap with more than twice its usual number of words, is a different
place and counts at once. If half of the words of a page or more are noise, the noise is the subject of the page and
counts (`verdict.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webstrata.columns import Part
from webstrata.detect.runs import TextRuns

MAX_GAP_RUNS = 4
_MIN_CHANGES_STAMP, _MIN_CHANGES_GAP = 2, 3
"""Changes within the hour after which a place is noise."""
_CHANGES_PER_SAME = 9
"""Changes within the hour that are needed for each visit within the hour without a change."""

Kind = Literal["stamp", "gap", "links", "data"]
SINGLE_RUN_KINDS = ("stamp", "data")
"""Kinds of places that consist of one run."""
State = Literal["watched", "learned", "denied"]


class NoisyPlace(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A place of a page that changes: its counts of changes, and whether they count."""

    key: int
    """Identifies the place; of a stamp or data, its place in `TextRuns`."""
    kind: Kind
    state: State = "watched"
    """`watched`: changes still count. `learned`: they do not. `denied`: the user wants them to count."""
    since: float = 0.0
    """Time at which the place was learned; before that, time of its first change."""
    changed: int = 0
    """Visits at which it had changed."""
    same: int = 0
    """Visits at which it had not changed."""
    changed_within_hour: int = 0
    """The same for visits less than an hour after the previous one."""
    same_within_hour: int = 0
    same_in_a_row: int = 0
    """Latest visits without a change."""
    returns: int = 0
    """Changes back to one of the recent values."""
    recent: tuple[int, ...] = ()
    """Hashes of recent values."""
    before: int = 0
    after: int = 0
    """Shapes of the two neighbours of a gap."""
    words: int = 0
    """Maximum number of words seen in a gap."""
    example: str = ""
    only_times: bool = False
    """Of data: all values so far were times or tokens."""


class PlaceValue(NamedTuple):
    """The value of a place in one version."""

    value: int
    words: int


def with_counted_places(places: tuple[NoisyPlace, ...], counted: Collection[int]) -> tuple[NoisyPlace, ...]:
    """The places with those whose keys are in `counted` in state `denied`: they count, whatever was learned.

    Denied places that are not in `counted` any more are reset to `watched`.
    """
    return tuple(_with_state(place, place.key in counted) for place in places)


def _with_state(place: NoisyPlace, counts: bool) -> NoisyPlace:
    if counts:
        return replace(place, state="denied")
    return reset_place(place) if place.state == "denied" else place


def reset_place(place: NoisyPlace) -> NoisyPlace:
    """The same place, watched, with all counts at 0."""
    return NoisyPlace(
        key=place.key,
        kind=place.kind,
        since=place.since,
        before=place.before,
        after=place.after,
        example=place.example,
        only_times=place.only_times,
    )


# ── comparing versions without noise ────────────────────────────────────────────────────────────────────────


def values_without_noise(runs: TextRuns, noise: tuple[NoisyPlace, ...], parts: frozenset[int]) -> list[int]:
    """The run values of a version without learned noise, to be compared with another version's under the same noise."""
    values = compared_values(runs, noise)
    return [value for value, part in zip(values, runs.parts, strict=True) if part in parts and value is not None]


def compared_values(runs: TextRuns, noise: tuple[NoisyPlace, ...]) -> list[int | None]:
    """The value of each run to compare: of learned stamps and data their shape, of learned gaps None."""
    learned, in_gap = _learned_keys(noise), _in_learned_gap(runs, noise)
    return [
        None if skip else _shape_only(shape, words, part) if place in learned else value
        for value, shape, words, part, place, skip in zip(
            runs.values, runs.shapes, runs.words, runs.parts, runs.places, in_gap, strict=True
        )
    ]


def _shape_only(shape: int, words: int, part: int) -> int:
    """A value that keeps the shape, so that a removed stamp differs; of data also the number of values (rows)."""
    return -(words << 32 | shape) - 1 if part == Part.DATA else -shape - 1


def noise_share(runs: TextRuns, noise: tuple[NoisyPlace, ...], parts: frozenset[int]) -> float:
    """The share of a version's words that are in learned places."""
    learned, in_gap = _learned_keys(noise), _in_learned_gap(runs, noise)
    noisy = total = 0
    for words, part, place, skip in zip(runs.words, runs.parts, runs.places, in_gap, strict=True):
        if part in parts:
            total += words
            noisy += words if skip or place in learned else 0
    return noisy / total if total else 0.0


def changed_noise_count(before: TextRuns, after: TextRuns, noise: tuple[NoisyPlace, ...]) -> int:
    """The number of learned places that differ between two versions."""
    changed = 0
    for place in noise:
        if place.state == "learned" and place.kind != "links":
            old, new = place_value(before, place), place_value(after, place)
            changed += old is not None and new is not None and old.value != new.value
    return changed


def _learned_keys(noise: tuple[NoisyPlace, ...]) -> set[int]:
    return {place.key for place in noise if place.kind in SINGLE_RUN_KINDS and place.state == "learned"}


def _in_learned_gap(runs: TextRuns, noise: tuple[NoisyPlace, ...]) -> list[bool]:
    """For each run, whether it is in a learned gap."""
    in_gap = [False] * len(runs.values)
    for place in noise:
        if place.kind == "gap" and place.state == "learned":
            gap = gap_range(runs, place)
            if gap is not None and _is_expected(place, runs, *gap):
                in_gap[gap[0] : gap[1]] = [True] * (gap[1] - gap[0])
    return in_gap


def _is_expected(place: NoisyPlace, runs: TextRuns, start: int, end: int) -> bool:
    """Whether the content of a gap is noise: any text of usual length, or, if the gap only rotates, a known value."""
    if changes_within_hour(place):
        return word_count(runs, start, end) <= 2 * place.words
    return _combined_hash(runs.values[start:end]) in place.recent


# ── the value of a place ────────────────────────────────────────────────────────────────────────────────────


def changes_within_hour(place: NoisyPlace) -> bool:
    """Whether a place changes at practically every visit less than an hour after the previous one."""
    is_free = place.kind == "gap" or (place.kind == "data" and not place.only_times)
    min_changes = _MIN_CHANGES_GAP if is_free else _MIN_CHANGES_STAMP
    changed = place.changed_within_hour
    return changed >= min_changes and changed >= _CHANGES_PER_SAME * place.same_within_hour


def place_value(runs: TextRuns, place: NoisyPlace) -> PlaceValue | None:
    """The value of a stamp, gap or data place in a version; None if the version does not have the place."""
    if place.kind in SINGLE_RUN_KINDS:
        value = runs.value_at.get(place.key)
        return None if value is None else PlaceValue(value, 0)
    gap = gap_range(runs, place)
    return None if gap is None else PlaceValue(_combined_hash(runs.values[gap[0] : gap[1]]), word_count(runs, *gap))


def gap_range(runs: TextRuns, place: NoisyPlace) -> tuple[int, int] | None:
    """Start and end of the runs between a gap's neighbours; None unless the neighbours occur exactly once."""
    shapes = runs.shapes
    gap = None
    for i in [i for i, shape in enumerate(shapes) if shape == place.before]:
        for j in range(i + 1, min(i + MAX_GAP_RUNS + 2, len(shapes))):
            if shapes[j] == place.after and runs.parts[i] == runs.parts[j]:
                if gap is not None:
                    return None
                gap = (i + 1, j)
                break
    return gap


def word_count(runs: TextRuns, start: int, end: int) -> int:
    return sum(runs.words[start:end])


def _combined_hash(values: list[int]) -> int:
    combined = len(values)
    for value in values:
        combined = (combined * 0x100000001B3 ^ value) & 0xFFFFFFFF
    return combined
