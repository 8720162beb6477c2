"""Learning of noise: counts the changes of each place, visit by visit, until they suffice to call it noise."""

from __future__ import annotations

from itertools import pairwise

from msgspec.structs import replace

from webstrata.columns import Part, RunFlag
from webstrata.detect.diff.matching import matching_lines
from webstrata.detect.noise import (
    MAX_GAP_RUNS,
    SINGLE_RUN_KINDS,
    NoisyPlace,
    changes_within_hour,
    gap_range,
    place_value,
    reset_place,
    word_count,
)
from webstrata.detect.runs import TextRuns

HOUR_S = 3600.0
"""Visits closer than this are within the hour: the content of real pages rarely changes between them."""
_MIN_CHANGES = 6
"""Changes at practically every visit after which a stamp is noise."""
_CHANGES_PER_SAME = 9
"""Changes that are needed for each visit without a change."""
_MIN_ROTATIONS, _MIN_RETURNS = 5, 3
"""Changes of a gap, and how many of them must have returned to an earlier value."""
_MAX_SAME, _MAX_SAME_ROTATION = 3, 12
"""Visits without a change after which a place is no longer noise; a rotation may repeat a value by chance."""
_MAX_PLACES = 48
_MAX_NEW_PLACES = 24
"""Places that change for the first time at one visit. If there are more, the page was rewritten: nothing is learned."""
_MAX_RECENT = 12


def learn(
    noise: tuple[NoisyPlace, ...],
    before: TextRuns,
    after: TextRuns,
    *,
    at: float,
    apart_s: float,
    links_changed: bool,
    excerpts: dict[int, str],
) -> tuple[NoisyPlace, ...]:
    """The noise of a page after comparing a version with the previous one, `apart_s` seconds earlier."""
    within_hour = apart_s <= HOUR_S
    places = [_updated(place, before, after, at, within_hour, links_changed, excerpts) for place in noise]
    if links_changed and not any(place.kind == "links" for place in noise):
        links = NoisyPlace(key=0, kind="links", since=at, changed=1, changed_within_hour=int(within_hour))
        places.append(_judged(links, at))
    known = {place.key for place in noise}
    new = [place for place in _new_places(before, after, at, within_hour, excerpts) if place.key not in known]
    if len(new) <= _MAX_NEW_PLACES:
        places += new
    return _bounded(places)


def learn_unchanged(noise: tuple[NoisyPlace, ...], *, at: float, apart_s: float) -> tuple[NoisyPlace, ...]:
    """The noise of a page after a visit that found identical bytes."""
    within_hour = apart_s <= HOUR_S
    return _bounded([_counted(place, changed=False, within_hour=within_hour, at=at) for place in noise])


def _updated(
    place: NoisyPlace,
    before: TextRuns,
    after: TextRuns,
    at: float,
    within_hour: bool,
    links_changed: bool,
    excerpts: dict[int, str],
) -> NoisyPlace:
    if place.kind == "links":
        return _counted(place, changed=links_changed, within_hour=within_hour, at=at)
    old, new = place_value(before, place), place_value(after, place)
    if old is None or new is None:
        return place
    value = new.value & 0xFFFFFFFF
    changed = old.value != new.value
    returned = changed and value in place.recent
    recent = place.recent if not changed or returned else (*place.recent, value)[-_MAX_RECENT:]
    place = replace(
        place,
        returns=place.returns + returned,
        recent=recent,
        words=max(place.words, new.words) if place.state != "learned" or changed else place.words,
        example=_example(place, after, excerpts) or place.example,
        only_times=place.only_times and place.key in _time_places(after),
    )
    return _counted(place, changed=changed, within_hour=within_hour, at=at)


def _counted(place: NoisyPlace, *, changed: bool, within_hour: bool, at: float) -> NoisyPlace:
    place = replace(
        place,
        changed=place.changed + changed,
        same=place.same + (not changed),
        changed_within_hour=place.changed_within_hour + (changed and within_hour),
        same_within_hour=place.same_within_hour + (not changed and within_hour),
        same_in_a_row=0 if changed else place.same_in_a_row + 1,
    )
    is_rotation = place.kind == "gap" and place.returns >= _MIN_RETURNS
    if place.same_in_a_row >= (_MAX_SAME_ROTATION if is_rotation else _MAX_SAME) and place.state != "denied":
        return replace(reset_place(place), since=at, same_in_a_row=place.same_in_a_row)
    return _judged(place, at)


def _judged(place: NoisyPlace, at: float) -> NoisyPlace:
    if place.state == "watched" and not place.same_in_a_row and _is_noise(place):
        return replace(place, state="learned", since=at)
    return place


def _is_noise(place: NoisyPlace) -> bool:
    if changes_within_hour(place):
        return True
    if place.kind == "gap":
        return place.changed >= _MIN_ROTATIONS and place.returns >= max(_MIN_RETURNS, place.changed // 2)
    if place.kind == "data" and not place.only_times:
        return False
    return place.changed >= _MIN_CHANGES and place.changed >= _CHANGES_PER_SAME * place.same


def _new_places(
    before: TextRuns, after: TextRuns, at: float, within_hour: bool, excerpts: dict[int, str]
) -> list[NoisyPlace]:
    """Places that differ between two versions, with their first change counted."""
    old = before.value_at
    places = [
        NoisyPlace(
            key=key,
            kind="stamp",
            since=at,
            changed=1,
            changed_within_hour=int(within_hour),
            example=excerpts.get(value, ""),
        )
        for key, value in after.value_at.items()
        if key in old and old[key] != value
    ]
    if Part.DATA in after.parts:
        times = _time_places(before) & _time_places(after)
        return [replace(place, kind="data", only_times=place.key in times) for place in places]
    return places + _new_gaps(before, after, at, within_hour, excerpts)


def _time_places(runs: TextRuns) -> set[int]:
    """Places of data whose values are times or tokens only."""
    return {place for place, flags in zip(runs.places, runs.flags, strict=True) if flags & RunFlag.TIMES}


def _new_gaps(
    before: TextRuns, after: TextRuns, at: float, within_hour: bool, excerpts: dict[int, str]
) -> list[NoisyPlace]:
    """Short sequences of runs with other shapes between neighbours that stayed the same."""
    matches = matching_lines([str(shape) for shape in before.shapes], [str(shape) for shape in after.shapes])
    gaps = []
    for left, right in pairwise(matches):
        i, j = left.before + left.length, left.after + left.length
        old_length, new_length = right.before - i, right.after - j
        if max(old_length, new_length) > MAX_GAP_RUNS:
            continue
        start, end = after.shapes[j - 1], after.shapes[right.after]
        gap = NoisyPlace(
            key=(start << 31 ^ end) & ((1 << 63) - 1),
            kind="gap",
            since=at,
            changed=1,
            changed_within_hour=int(within_hour),
            before=start,
            after=end,
            words=max(word_count(before, i, right.before), word_count(after, j, right.after)),
        )
        old, new = place_value(before, gap), place_value(after, gap)
        if old is not None and new is not None:
            recent = (old.value & 0xFFFFFFFF, new.value & 0xFFFFFFFF)
            gaps.append(replace(gap, recent=recent, example=_example(gap, after, excerpts)))
    return gaps


def _example(place: NoisyPlace, runs: TextRuns, excerpts: dict[int, str]) -> str:
    if place.kind in SINGLE_RUN_KINDS:
        return excerpts.get(runs.value_at.get(place.key, 0), "")
    gap = gap_range(runs, place)
    return "" if gap is None else " / ".join(filter(None, (excerpts.get(v, "") for v in runs.values[slice(*gap)])))


def _bounded(places: list[NoisyPlace]) -> tuple[NoisyPlace, ...]:
    """At most `_MAX_PLACES` places: denied ones first, then learned ones, then those with the most changes."""
    active = [place for place in places if place.state != "watched" or place.same_in_a_row < 2 * _MAX_SAME_ROTATION]
    if len(active) <= _MAX_PLACES:
        return tuple(active)
    order = {"denied": 0, "learned": 1, "watched": 2}
    return tuple(sorted(active, key=lambda place: (order[place.state], -place.changed, place.key))[:_MAX_PLACES])
