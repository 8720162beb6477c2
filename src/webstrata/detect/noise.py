"""Noise: places of a page that change whenever one looks, learned from the page's own history.

Four kinds of places are watched:

- `stamp`: a run that keeps its shape while its numbers, dates or tokens change (clocks, counters, CSRF tokens);
- `gap`: up to four runs between two neighbours that stay (rotating advertisements, a quotation at random);
- `links`: the links inside the main content as a whole (session numbers, tracking addresses);
- `data`: a path of JSON, a column, a predicate, an element or attribute (times of making, counters).

A place is learned to be noise when it changed between visits less than an hour apart, time and again and never
otherwise; or, where visits are rarer, when a stamp changed at practically every one. News change at every visit too: so
free text (`gap`) that was not seen to change within the hour must also come back, time and again, to what it said
before; and then only what it said before is noise, and anything new counts. Data are mostly figures, and a price that
is another every day is no noise: so of data only times and tokens are noise by changing at every visit, and anything
else by changing within the hour.

A place that stays as it is three times running is forgotten, and its next change counts. A learned stamp that takes
another shape, or a gap that grows beyond twice what it was, counts at once: it is no longer the same place. And where
half of the words or more are noise, it is what the page is about, and counts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webstrata.detect.runs import DATA, TextRuns

MAX_GAP_RUNS = 4
"""Most runs in a gap."""
_SOON_STAMP, _SOON_GAP = 2, 3
"""Soon changes that make noise."""
_STILL = 9
"""Soon changes that outweigh one soon visit without."""

Kind = Literal["stamp", "gap", "links", "data"]
_SINGLE = ("stamp", "data")
"""Kinds of places that are one run."""
State = Literal["watched", "learned", "denied"]


class NoisyPlace(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A place of a page that changes: how often, since when, and whether it still counts."""

    key: int
    kind: Kind
    state: State = "watched"
    """`watched`: counts as yet. `learned`: does not count. `denied`: the user said that it counts."""
    since: float = 0.0
    """When it was learned; before that, when it was first seen to change."""
    changed: int = 0
    same: int = 0
    soon_changed: int = 0
    soon_same: int = 0
    quiet: int = 0
    """Visits without a change in a row."""
    returns: int = 0
    """Times that it said what it had said before."""
    recent: tuple[int, ...] = ()
    """What it said lately, hashed."""
    before: int = 0
    after: int = 0
    """Shapes of a gap's neighbours."""
    words: int = 0
    """Most words seen in a gap."""
    example: str = ""
    clock: bool = False
    """Of data: all that it ever said are times or tokens."""


class PlaceValue(NamedTuple):
    """What a place says in one version."""

    value: int
    words: int


def with_counted_places(slots: tuple[NoisyPlace, ...], counted: Collection[int]) -> tuple[NoisyPlace, ...]:
    """The places with the user's word on them: those named by their keys count, whatever was learned.

    A place that is named no more is watched again, as if new.
    """
    return tuple(_wished(slot, slot.key in counted) for slot in slots)


def _wished(slot: NoisyPlace, counts: bool) -> NoisyPlace:
    if counts:
        return replace(slot, state="denied")
    return reset_place(slot) if slot.state == "denied" else slot


def reset_place(slot: NoisyPlace) -> NoisyPlace:
    return NoisyPlace(
        key=slot.key,
        kind=slot.kind,
        since=slot.since,
        before=slot.before,
        after=slot.after,
        example=slot.example,
        clock=slot.clock,
    )


# ── leaving it out ──────────────────────────────────────────────────────────────────────────────────────────


def values_without_noise(runs: TextRuns, slots: tuple[NoisyPlace, ...], parts: frozenset[int]) -> list[int]:
    """What a version says without its noise, as a list to be compared with another's under the same `slots`."""
    stamps, hidden = _stamps(slots), _hidden(runs, slots)
    return [
        _masked(shape, words, part) if place in stamps else value
        for value, shape, words, part, place, skip in zip(
            runs.values, runs.shapes, runs.words, runs.parts, runs.places, hidden, strict=True
        )
        if part in parts and not skip
    ]


def _masked(shape: int, words: int, part: int) -> int:
    """The shape stays, so a stamp that is gone is missed; and of data how many values there are, so a row is."""
    return -(words << 32 | shape) - 1 if part == DATA else -shape - 1


def new_sentence_count(before: TextRuns, after: TextRuns, slots: tuple[NoisyPlace, ...], parts: frozenset[int]) -> int:
    """Sentences in `parts` whose like (the same shape) the version before had nowhere."""
    known, hidden = set(before.shapes), _hidden(after, slots)
    return sum(
        sentence and part in parts and shape not in known and not skip
        for shape, sentence, part, skip in zip(after.shapes, after.sentences, after.parts, hidden, strict=True)
    )


def noise_share(runs: TextRuns, slots: tuple[NoisyPlace, ...], parts: frozenset[int]) -> float:
    """How much of what a version says, by words, stands in learned places."""
    stamps, hidden = _stamps(slots), _hidden(runs, slots)
    noise = total = 0
    for words, part, place, skip in zip(runs.words, runs.parts, runs.places, hidden, strict=True):
        if part in parts:
            total += words
            noise += words if skip or place in stamps else 0
    return noise / total if total else 0.0


def _stamps(slots: tuple[NoisyPlace, ...]) -> set[int]:
    return {slot.key for slot in slots if slot.kind in _SINGLE and slot.state == "learned"}


def _hidden(runs: TextRuns, slots: tuple[NoisyPlace, ...]) -> list[bool]:
    """Which runs stand in learned gaps."""
    hidden = [False] * len(runs.values)
    for slot in slots:
        if slot.kind == "gap" and slot.state == "learned":
            found = gap_range(runs, slot)
            if found is not None and _is_expected(slot, runs, *found):
                hidden[found[0] : found[1]] = [True] * (found[1] - found[0])
    return hidden


def _is_expected(slot: NoisyPlace, runs: TextRuns, start: int, end: int) -> bool:
    """Whether a gap says what it may: anything of its usual length, or, if it only rotates, what it said before."""
    if changes_within_hour(slot):
        return word_count(runs, start, end) <= 2 * slot.words
    return _mixed(runs.values[start:end]) in slot.recent


def changes_within_hour(slot: NoisyPlace) -> bool:
    """Whether a place changes within the hour, as nothing does that is worth telling."""
    enough = _SOON_GAP if slot.kind == "gap" or (slot.kind == "data" and not slot.clock) else _SOON_STAMP
    return slot.soon_changed >= enough and slot.soon_changed >= _STILL * slot.soon_same


def changed_noise_count(before: TextRuns, after: TextRuns, slots: tuple[NoisyPlace, ...]) -> int:
    """How many learned places differ between two versions."""
    changed = 0
    for slot in slots:
        if slot.state == "learned" and slot.kind != "links":
            old, new = place_value(before, slot), place_value(after, slot)
            changed += old is not None and new is not None and old.value != new.value
    return changed


def place_value(runs: TextRuns, slot: NoisyPlace) -> PlaceValue | None:
    """What a stamp or gap says in a version; None where the version has no such place."""
    if slot.kind in _SINGLE:
        value = runs.by_place.get(slot.key)
        return None if value is None else PlaceValue(value, 0)
    found = gap_range(runs, slot)
    return None if found is None else PlaceValue(_mixed(runs.values[found[0] : found[1]]), word_count(runs, *found))


def gap_range(runs: TextRuns, slot: NoisyPlace) -> tuple[int, int] | None:
    """Start and end of the runs between a gap's neighbours; None unless there is exactly one such place."""
    shapes = runs.shapes
    found = None
    for i in [i for i, shape in enumerate(shapes) if shape == slot.before]:
        for j in range(i + 1, min(i + MAX_GAP_RUNS + 2, len(shapes))):
            if shapes[j] == slot.after and runs.parts[i] == runs.parts[j]:
                if found is not None:
                    return None
                found = (i + 1, j)
                break
    return found


def word_count(runs: TextRuns, start: int, end: int) -> int:
    return sum(runs.words[start:end])


def _mixed(values: list[int]) -> int:
    mixed = len(values)
    for value in values:
        mixed = (mixed * 0x100000001B3 ^ value) & 0xFFFFFFFF
    return mixed
