"""How noise is learned: the changes of each place are counted, visit by visit, until they are beyond doubt."""

from __future__ import annotations

from itertools import pairwise

from msgspec.structs import replace

from webstrata.detect.diff.matching import matching_lines
from webstrata.detect.noise import MAX_GAP_RUNS, NoisyPlace, changes_within_hour, reset_place, gap_range, place_value, word_count
from webstrata.detect.runs import DATA, TextRuns

SOON_S = 3600.0
"""Visits closer than this are `soon`: what real pages say rarely changes in between."""
_OFTEN = 6
"""Changes at practically every visit that make a stamp noise."""
_STILL = 9
"""Changes that outweigh one visit without."""
_ROTATIONS, _RETURNS = 5, 3
"""Changes of a gap, and how many of them must have come back to something it said before."""
_QUIET, _QUIET_ROTATION = 3, 12
"""Visits without a change after which a place is noise no more; a rotation may show the same by chance."""
_MOST_SLOTS = 48
_MOST_NEW = 24
"""Places that begin to change at one visit; more is a page rewritten, from which nothing is learned."""
_RECENT = 12


def learn(
    slots: tuple[NoisyPlace, ...],
    before: TextRuns,
    after: TextRuns,
    *,
    at: float,
    apart_s: float,
    links_changed: bool,
    excerpts: dict[int, str],
) -> tuple[NoisyPlace, ...]:
    """What is known of the page's noise after laying one version beside the one before it."""
    soon = apart_s <= SOON_S
    learned = [_updated(slot, before, after, at, soon, links_changed, excerpts) for slot in slots]
    if links_changed and not any(slot.kind == "links" for slot in slots):
        learned.append(_judged(NoisyPlace(key=0, kind="links", since=at, changed=1, soon_changed=int(soon)), at))
    known = {slot.key for slot in slots}
    new = [slot for slot in _candidates(before, after, at, soon, excerpts) if slot.key not in known]
    if len(new) <= _MOST_NEW:
        learned += new
    return _bounded(learned)


def nothing_changed(slots: tuple[NoisyPlace, ...], *, at: float, apart_s: float) -> tuple[NoisyPlace, ...]:
    """The same after a visit that found the page byte for byte as it was."""
    soon = apart_s <= SOON_S
    return _bounded([_counted(slot, changed=False, soon=soon, at=at) for slot in slots])


def _updated(
    slot: NoisyPlace,
    before: TextRuns,
    after: TextRuns,
    at: float,
    soon: bool,
    links_changed: bool,
    excerpts: dict[int, str],
) -> NoisyPlace:
    if slot.kind == "links":
        return _counted(slot, changed=links_changed, soon=soon, at=at)
    old, new = place_value(before, slot), place_value(after, slot)
    if old is None or new is None:
        return slot
    value = new.value & 0xFFFFFFFF
    changed = old.value != new.value
    returned = changed and value in slot.recent
    recent = slot.recent if not changed or returned else (*slot.recent, value)[-_RECENT:]
    slot = replace(
        slot,
        returns=slot.returns + returned,
        recent=recent,
        words=max(slot.words, new.words) if slot.state != "learned" or changed else slot.words,
        example=_example(slot, after, excerpts) or slot.example,
        clock=slot.clock and slot.key in _clocks(after),
    )
    return _counted(slot, changed=changed, soon=soon, at=at)


def _counted(slot: NoisyPlace, *, changed: bool, soon: bool, at: float) -> NoisyPlace:
    slot = replace(
        slot,
        changed=slot.changed + changed,
        same=slot.same + (not changed),
        soon_changed=slot.soon_changed + (changed and soon),
        soon_same=slot.soon_same + (not changed and soon),
        quiet=0 if changed else slot.quiet + 1,
    )
    if slot.quiet >= _patience(slot) and slot.state != "denied":
        return replace(reset_place(slot), since=at, quiet=slot.quiet)
    return _judged(slot, at)


def _judged(slot: NoisyPlace, at: float) -> NoisyPlace:
    if slot.state == "watched" and not slot.quiet and _is_noise(slot):
        return replace(slot, state="learned", since=at)
    return slot


def _is_noise(slot: NoisyPlace) -> bool:
    if changes_within_hour(slot):
        return True
    if slot.kind == "gap":
        return slot.changed >= _ROTATIONS and slot.returns >= max(_RETURNS, slot.changed // 2)
    if slot.kind == "data" and not slot.clock:
        return False
    return slot.changed >= _OFTEN and slot.changed >= _STILL * slot.same


def _patience(slot: NoisyPlace) -> int:
    return _QUIET_ROTATION if slot.kind == "gap" and slot.returns >= _RETURNS else _QUIET


def _candidates(before: TextRuns, after: TextRuns, at: float, soon: bool, excerpts: dict[int, str]) -> list[NoisyPlace]:
    """Places that changed between two versions for the first time."""
    old = before.by_place
    found = [
        NoisyPlace(
            key=place, kind="stamp", since=at, changed=1, soon_changed=int(soon), example=excerpts.get(value, "")
        )
        for place, value in after.by_place.items()
        if place in old and old[place] != value
    ]
    if DATA in after.parts:
        clocks = _clocks(before) & _clocks(after)
        return [replace(slot, kind="data", clock=slot.key in clocks) for slot in found]
    return found + _new_gaps(before, after, at, soon, excerpts)


def _clocks(runs: TextRuns) -> set[int]:
    """Places of data that hold times or tokens only."""
    return {place for place, clock in zip(runs.places, runs.sentences, strict=True) if clock}


def _new_gaps(before: TextRuns, after: TextRuns, at: float, soon: bool, excerpts: dict[int, str]) -> list[NoisyPlace]:
    """Short stretches of other shapes between neighbours that stayed."""
    runs = matching_lines([str(shape) for shape in before.shapes], [str(shape) for shape in after.shapes])
    found = []
    for left, right in pairwise(runs):
        i, j = left.before + left.length, left.after + left.length
        old, new = right.before - i, right.after - j
        if max(old, new) > MAX_GAP_RUNS:
            continue
        start, end = after.shapes[j - 1], after.shapes[right.after]
        slot = NoisyPlace(
            key=(start << 31 ^ end) & ((1 << 63) - 1),
            kind="gap",
            since=at,
            changed=1,
            soon_changed=int(soon),
            before=start,
            after=end,
            words=max(word_count(before, i, right.before), word_count(after, j, right.after)),
        )
        then, now = place_value(before, slot), place_value(after, slot)
        if then is not None and now is not None:
            recent = (then.value & 0xFFFFFFFF, now.value & 0xFFFFFFFF)
            found.append(replace(slot, recent=recent, example=_example(slot, after, excerpts)))
    return found


def _example(slot: NoisyPlace, runs: TextRuns, excerpts: dict[int, str]) -> str:
    if slot.kind in ("stamp", "data"):
        return excerpts.get(runs.by_place.get(slot.key, 0), "")
    found = gap_range(runs, slot)
    return "" if found is None else " / ".join(filter(None, (excerpts.get(v, "") for v in runs.values[slice(*found)])))


def _bounded(slots: list[NoisyPlace]) -> tuple[NoisyPlace, ...]:
    """Denials first, then what was learned, then what changed most: no more than are worth keeping."""
    alive = [slot for slot in slots if slot.state != "watched" or slot.quiet < 2 * _QUIET_ROTATION]
    if len(alive) <= _MOST_SLOTS:
        return tuple(alive)
    order = {"denied": 0, "learned": 1, "watched": 2}
    return tuple(sorted(alive, key=lambda slot: (order[slot.state], -slot.changed, slot.key))[:_MOST_SLOTS])
