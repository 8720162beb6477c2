"""Noise: places of a page that change at nearly every visit, learned from the page's own history.

`noisy_place.py` says which kinds of places there are, `learning.py` when they are learned and forgotten. This module
compares versions without them. These always count:

- a figure that people watch (`RunFlag.WATCHED`: a price, a stock, a score), in whatever place it is;
- a figure that jumps out of the range in which it was learned (`figure_range.py`);
- a learned stamp with another shape, or none;
- in a gap whose contents rotate among known ones, an unknown one; in any gap, more than twice its usual words;
- in a shuffled list, a new or a missing item;
- all of it, if half of the words of a page or more are noise: then the noise is its subject (`findings.py`).
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from webstrata.columns import Part, RunFlag
from webstrata.detect.figure_range import is_jump
from webstrata.detect.noisy_place import SINGLE_RUN_KINDS, NoisyPlace, PlacedRuns, reset_place
from webstrata.detect.runs import TextRuns
from webstrata.detect.shuffles import item_ids

_WATCHED = int(RunFlag.WATCHED)
MAX_FREE_RUNS = 8
"""Runs of a gap that may hold any text."""
_MIN_CHANGES_TIMES, _MIN_CHANGES_GAP, _MIN_CHANGES_OTHER = 2, 3, 5
"""Changes within the hour after which a place is noise: clocks and tokens, gaps and lists, other figures."""
_CHANGES_PER_SAME = 9
"""Changes within the hour that are needed for each visit within the hour without a change."""
_CHANGES_PER_SAME_GAP = 2
"""The same for gaps with at least one change more: an advertisement may be shown twice by chance."""
_MIN_SAMPLED, _MIN_RETURNED = 3, 2
"""Different contents of a gap, and how many runs came back, that show a random choice from many."""


def with_counted_places(places: tuple[NoisyPlace, ...], counted: Collection[int]) -> tuple[NoisyPlace, ...]:
    """The places with those whose keys are in `counted` in state `denied`: they count, whatever was learned.

    Denied places that are not in `counted` any more are reset to `watched`.
    """
    return tuple(_with_state(place, place.key in counted) for place in places)


def _with_state(place: NoisyPlace, counts: bool) -> NoisyPlace:
    if counts:
        return replace(place, state="denied")
    return reset_place(place) if place.state == "denied" else place


# ── comparing versions without noise ────────────────────────────────────────────────────────────────────────


def without_jumps(
    noise: tuple[NoisyPlace, ...], before: TextRuns, after: TextRuns, apart_s: float
) -> tuple[NoisyPlace, ...]:
    """The noise for comparing two versions: places whose figure jumped out of its range are not noise this time."""
    ranged = [place for place in noise if place.state == "learned" and place.figure is not None]
    if not ranged:
        return noise
    old, new = PlacedRuns(before), PlacedRuns(after)
    jumped = set()
    for place in ranged:
        was, now = old.value(place), new.value(place)
        if was is not None and now is not None and is_jump(place.figure, was.figure, now.figure, apart_s):
            jumped.add(place.key)
    return tuple(replace(place, state="watched") if place.key in jumped else place for place in noise)


def compared_values(runs: TextRuns, noise: tuple[NoisyPlace, ...]) -> list[int | None]:
    """The value of each run, to be compared with another version's under the same noise.

    Learned stamps, links and data are replaced by their shape, learned gaps by None, and the items of learned lists are
    sorted.
    """
    placed = PlacedRuns(runs)
    learned, in_gap = _learned_keys(noise), _in_learned_gap(placed, noise)
    values = [
        _shape_only(shape, words, part) if key in learned and not flags & _WATCHED else value
        for value, shape, words, part, flags, key in zip(
            runs.values, runs.shapes, runs.words, runs.parts, runs.flags, placed.keys, strict=True
        )
    ]
    _sort_lists(values, runs, noise)
    return [None if skip else value for value, skip in zip(values, in_gap, strict=True)]


def rows_of_lists(runs: TextRuns, noise: tuple[NoisyPlace, ...]) -> set[int]:
    """The rows of the items of learned lists, whose compared values are sorted."""
    items = {item for place in noise if place.kind == "order" and place.state == "learned" for item in place.recent}
    return {row for row, item in enumerate(item_ids(runs)) if item in items} if items else set()


def _sort_lists(values: list[int], runs: TextRuns, noise: tuple[NoisyPlace, ...]) -> None:
    lists = [set(place.recent) for place in noise if place.kind == "order" and place.state == "learned"]
    ids = item_ids(runs) if lists else []
    for items in lists:
        rows = [row for row, item in enumerate(ids) if item in items]
        for row, item in zip(rows, sorted(ids[row] for row in rows), strict=True):
            values[row] = item


def _shape_only(shape: int, words: int, part: int) -> int:
    """A value that keeps the shape, so that a removed stamp differs; of data also the number of values (rows)."""
    return -(words << 32 | shape) - 1 if part == Part.DATA else -shape - 1


def noise_share(runs: TextRuns, noise: tuple[NoisyPlace, ...], parts: frozenset[int]) -> float:
    """The share of a version's words that are in learned places. A shuffled list is not noise itself."""
    placed = PlacedRuns(runs)
    learned, in_gap = _learned_keys(noise), _in_learned_gap(placed, noise)
    noisy = total = 0
    for words, part, key, skip in zip(runs.words, runs.parts, placed.keys, in_gap, strict=True):
        if part in parts:
            total += words
            noisy += words if skip or key in learned else 0
    return noisy / total if total else 0.0


def changed_noise_count(before: TextRuns, after: TextRuns, noise: tuple[NoisyPlace, ...]) -> int:
    """The number of learned places that differ between two versions."""
    learned = [place for place in noise if place.state == "learned"]
    old, new = PlacedRuns(before), PlacedRuns(after)
    changed = 0
    for place in learned:
        if place.kind == "order":
            changed += list_order(before, place) != list_order(after, place)
        else:
            was, now = old.value(place), new.value(place)
            changed += was is not None and now is not None and was.value != now.value
    return changed


def list_order(runs: TextRuns, place: NoisyPlace) -> list[int]:
    """The items of a list in the order of this version."""
    items = set(place.recent)
    return [item for item in item_ids(runs) if item in items]


def _learned_keys(noise: tuple[NoisyPlace, ...]) -> set[int]:
    return {place.key for place in noise if place.kind in SINGLE_RUN_KINDS and place.state == "learned"}


def _in_learned_gap(placed: PlacedRuns, noise: tuple[NoisyPlace, ...]) -> list[bool]:
    """For each run, whether it is in a learned gap."""
    in_gap = [False] * len(placed.keys)
    for place in noise:
        if place.kind == "gap" and place.state == "learned":
            gap = placed.gap(place)
            if gap is not None and _is_expected(place, placed, gap):
                in_gap[gap.start : gap.stop] = [True] * len(gap)
    return in_gap


def _is_expected(place: NoisyPlace, placed: PlacedRuns, gap: range) -> bool:
    """Whether the content of a gap is noise: known runs, or any text of usual length if its content is arbitrary."""
    runs = placed.runs
    if any(runs.flags[row] & _WATCHED for row in gap):
        return False
    known = set(place.recent)
    if all(runs.shapes[row] in known for row in gap):
        return True
    if any(runs.flags[row] & RunFlag.BLOCK for row in gap) or not (changes_within_hour(place) or is_sampled(place)):
        return False
    return sum(runs.words[row] for row in gap) <= 2 * place.words and len(gap) <= max(place.runs, 1)


def is_sampled(place: NoisyPlace) -> bool:
    """Whether a gap shows a random choice from many contents: several different ones came back."""
    if place.runs > MAX_FREE_RUNS:
        return False
    return len(place.recent) > _MIN_SAMPLED * place.runs and len(place.long_returned) >= _MIN_RETURNED


def changes_within_hour(place: NoisyPlace) -> bool:
    """Whether a place changes at practically every visit less than an hour after the previous one."""
    if place.kind == "gap" and place.runs > MAX_FREE_RUNS:
        return False
    if place.kind in SINGLE_RUN_KINDS:
        min_changes = _MIN_CHANGES_TIMES if place.flags & RunFlag.TIMES else _MIN_CHANGES_OTHER
    else:
        min_changes = _MIN_CHANGES_GAP
    changed, same = place.changed_within_hour, place.same_within_hour
    if place.kind == "gap" and changed > min_changes and changed >= _CHANGES_PER_SAME_GAP * same:
        return True
    return changed >= min_changes and changed >= _CHANGES_PER_SAME * same
