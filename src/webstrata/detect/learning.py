"""Learning of noise: counts the changes of each place, visit by visit, until they suffice to call it noise.

| place | learned after |
|---|---|
| watched figure (price, stock, score) | never |
| ages, view counts, load times | 2 changes |
| dates, times of day, tokens | 2 changes within the hour; or 5, at practically every visit (of a date: every day) |
| other figures and links | 5 changes, at practically every visit; never a figure that is the subject of the page |
| other data | 5 changes within the hour, at practically every visit |
| gap | 3 changes within the hour; or 4, a third of them with runs that came back, two of more than two contents |
| order | 4 changes (less than four items: 5), at three of four visits |

News texts change at every visit, too, but do not come back. A status that always comes back to "all is well" is one
run that comes back, not two; and two states that alternate (open, closed) are not more than two contents.

A learned place is forgotten, and its next change counts, after as many visits without a change as it had changes (at
least 6, of dates and gaps 12, at most 60). Ages, view counts and load times are never forgotten: their form says what
they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from webstrata.columns import RunFlag
from webstrata.detect.diff.matching import matching_lines
from webstrata.detect.figure_range import with_figure
from webstrata.detect.noise import changes_within_hour, list_order
from webstrata.detect.noisy_place import (
    MAX_GAP_RUNS,
    SINGLE_RUN_KINDS,
    NoisyPlace,
    PlacedRuns,
    PlaceValue,
    gap_key,
    reset_place,
)
from webstrata.detect.runs import MAIN_PARTS, TextRuns
from webstrata.detect.shuffles import item_ids, shuffled_lists

HOUR_S, _DAY_S = 3600.0, 26 * 3600.0
"""Visits closer than an hour are within the hour: the content of real pages rarely changes between them. A date that
changes every day does so within 26 hours."""
_MIN_CHANGES, _MIN_CHANGES_TRIVIAL = 5, 2
"""Changes at practically every visit after which a single run is noise; of ages and view counts, changes at all."""
_CHANGES_PER_SAME = 9
"""Changes that are needed for each visit without a change."""
_MIN_ROTATIONS, _MIN_RETURNED = 3, 2
"""Changes of a gap, and how many different runs must have come back."""
_MIN_SHUFFLES, _MIN_SHUFFLES_SHORT, _SHORT_LIST, _SHUFFLES_PER_SAME = 4, 5, 4, 3
"""Changes of a list's order; in a list of less than four items two may exchange their ranks."""
_MIN_STILL, _MIN_STILL_LONG, _MAX_STILL = 6, 12, 60
"""Visits without a change after which a place is no longer noise."""
_MAX_PLACES = 48
_MAX_NEW_PLACES = 24
"""Places that change for the first time at one visit. If there are more, the page was rewritten: nothing is learned."""
_MAX_RECENT, _MAX_RETURNED = 96, 12
_MAX_NEAR = 3
"""Runs between two gaps that may be one gap of which some runs happened to stay."""
_SHORT_PAGE_WORDS = 40
_SUBJECT_SHARE = 1 / 3
"""Share of the words, or of the runs, of the main content from which on figures are the subject of the page."""


def learn(
    noise: tuple[NoisyPlace, ...],
    before: TextRuns,
    after: TextRuns,
    *,
    at: float,
    apart_s: float,
    excerpts: dict[int, str],
) -> tuple[NoisyPlace, ...]:
    """The noise of a page after comparing a version with the previous one, `apart_s` seconds earlier."""
    return _Visit(before, after, at, apart_s, excerpts).learned(noise)


def learn_unchanged(noise: tuple[NoisyPlace, ...], *, at: float, apart_s: float) -> tuple[NoisyPlace, ...]:
    """The noise of a page after a visit that found identical bytes."""
    return _bounded([_counted(place, changed=False, at=at, apart_s=apart_s) for place in noise])


class _Visit:
    """Two versions of a page, and what one visit shows about its noise."""

    def __init__(self, before: TextRuns, after: TextRuns, at: float, apart_s: float, excerpts: dict[int, str]) -> None:
        self._old, self._new = PlacedRuns(before), PlacedRuns(after)
        self._at, self._apart_s, self._excerpts = at, apart_s, excerpts
        self._old_values, self._new_values = set(before.values), set(after.values)
        self._lists = list(shuffled_lists(before, after))
        self._shuffled = {row for rows in self._lists for row in rows}

    def learned(self, noise: tuple[NoisyPlace, ...]) -> tuple[NoisyPlace, ...]:
        places = [self._updated(place) for place in noise]
        places += self._new_lists(noise)
        known = {place.key for place in noise}
        new = [place for place in (*self._new_singles(), *self._new_gaps()) if place.key not in known]
        if len(new) <= _MAX_NEW_PLACES:
            places += new
        return _bounded(_numbered(self._judged(places)))

    # ── places that are known ───────────────────────────────────────────────────────────────────────────────

    def _updated(self, place: NoisyPlace) -> NoisyPlace:
        if place.kind == "order":
            return self._updated_list(place)
        old, new = self._old.value(place), self._new.value(place)
        if old is None or new is None:
            return place
        if place.kind in SINGLE_RUN_KINDS:
            return self._updated_single(place, old, new)
        return self._updated_gap(place, old, new)

    def _updated_single(self, place: NoisyPlace, old: PlaceValue, new: PlaceValue) -> NoisyPlace:
        changed = old.value != new.value
        if changed and not self._is_replaced(old, new):
            return place
        place = replace(
            place,
            flags=place.flags & old.flags & new.flags | (old.flags | new.flags) & RunFlag.WATCHED,
            figure=with_figure(place.figure, old.figure, new.figure, self._apart_s) if changed else place.figure,
            example=self._example(new.rows) or place.example,
        )
        return _counted(place, changed=changed, at=self._at, apart_s=self._apart_s)

    def _is_replaced(self, old: PlaceValue, new: PlaceValue) -> bool:
        """Whether a run got a value that no run had. Otherwise runs moved, as in a list with a new entry at its top."""
        if new.flags & RunFlag.TRIVIAL or len(new.rows) != 1 or len(old.rows) != 1:
            return True
        before, after = self._old.runs.values[old.rows[0]], self._new.runs.values[new.rows[0]]
        return after not in self._old_values and before not in self._new_values

    def _updated_gap(self, place: NoisyPlace, old: PlaceValue, new: PlaceValue) -> NoisyPlace:
        changed = old.value != new.value
        were, are = (self._items(side, value.rows) for side, value in ((self._old, old), (self._new, new)))
        back = [item for item in are if item not in were and item in place.recent]
        long_back = [item for item in back if item not in place.previous]
        place = replace(
            place,
            returns=place.returns + bool(back),
            returned=tuple(dict.fromkeys((*place.returned, *back)))[-_MAX_RETURNED:],
            long_returned=tuple(dict.fromkeys((*place.long_returned, *long_back)))[-_MAX_RETURNED:],
            previous=tuple(were),
            recent=tuple(dict.fromkeys((*place.recent, *are)))[-_MAX_RECENT:],
            words=max(place.words, self._words(new.rows)) if place.state != "learned" or changed else place.words,
            runs=max(place.runs, len(new.rows)),
            flags=place.flags | new.flags & RunFlag.WATCHED,
            example=self._example(new.rows) or place.example,
        )
        return _counted(place, changed=changed, at=self._at, apart_s=self._apart_s)

    def _updated_list(self, place: NoisyPlace) -> NoisyPlace:
        items = set(place.recent)
        for rows in self._lists:
            found = self._list_items(rows)
            if 2 * len(items & set(found)) >= len(found):
                recent = tuple(dict.fromkeys((*place.recent, *found)))[-2 * _MAX_RECENT :]
                place = replace(place, recent=recent, example=self._example(list(rows)) or place.example)
                return _counted(place, changed=True, at=self._at, apart_s=self._apart_s)
        if len(items) > 1 and list_order(self._old.runs, place) == list_order(self._new.runs, place):
            return _counted(place, changed=False, at=self._at, apart_s=self._apart_s)
        return place

    # ── places that change for the first time ───────────────────────────────────────────────────────────────

    def _first_change(self, place: NoisyPlace) -> NoisyPlace:
        return _counted(replace(place, since=self._at), changed=True, at=self._at, apart_s=self._apart_s)

    def _new_lists(self, noise: tuple[NoisyPlace, ...]) -> list[NoisyPlace]:
        known = {item for place in noise if place.kind == "order" for item in place.recent}
        new = []
        for rows in self._lists:
            found = self._list_items(rows)
            if 2 * len(known & set(found)) < len(found):
                key = gap_key(min(found), max(found))
                place = NoisyPlace(key=key, kind="order", recent=tuple(found), example=self._example(list(rows)))
                new.append(self._first_change(place))
        return new

    def _new_singles(self) -> Iterable[NoisyPlace]:
        for key, rows in self._new.rows.items():
            old_rows = self._old.rows.get(key)
            if old_rows is None or not self._shuffled.isdisjoint(rows):
                continue
            if [self._old.runs.values[row] for row in old_rows] != [self._new.runs.values[row] for row in rows]:
                old = self._old.value_of(old_rows, self._old.runs.values)
                new = self._new.value_of(rows, self._new.runs.values)
                if not (old.flags | new.flags) & RunFlag.WATCHED and self._is_replaced(old, new):
                    place = NoisyPlace(
                        key=key,
                        kind=self._new.kind(rows[0]),
                        flags=old.flags & new.flags,
                        figure=with_figure(None, old.figure, new.figure, self._apart_s),
                        example=self._example(rows),
                    )
                    yield self._first_change(place)

    def _new_gaps(self) -> Iterable[NoisyPlace]:
        """Short sequences of runs with other shapes between neighbours that stayed the same."""
        for part in sorted(set(self._new.runs.parts)):
            new_rows = _part_rows(self._new.runs, part)
            old_rows = _part_rows(self._old.runs, part)
            if not new_rows or not old_rows or self._new.kind(new_rows[0]) == "data":
                continue
            changes = _differences(self._old.runs, old_rows, self._new.runs, new_rows)
            for old, new in dict.fromkeys((*changes, *_joined(changes))):
                if max(len(old), len(new)) > MAX_GAP_RUNS:
                    continue
                if not self._shuffled.isdisjoint(range(new.start - 1, new.stop + 1)):
                    continue  # an item of a shuffled list is no neighbour that stays
                gap = self._new_gap(new, part)
                if gap is not None:
                    yield gap

    def _new_gap(self, new: range, part: int) -> NoisyPlace | None:
        before, after = self._new.edges(new, part)
        place = NoisyPlace(key=gap_key(before, after), kind="gap", before=before, after=after)
        was, now = self._old.value(place), self._new.value(place)
        if was is None or now is None or (was.flags | now.flags) & RunFlag.WATCHED:
            return None
        items = (*self._items(self._old, was.rows), *self._items(self._new, now.rows))
        place = replace(
            place,
            recent=tuple(dict.fromkeys(items)),
            words=max(sum(self._old.runs.words[row] for row in was.rows), self._words(now.rows)),
            runs=max(len(was.rows), len(now.rows)),
            example=self._example(now.rows),
        )
        return self._first_change(place)

    # ── contents ────────────────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def _items(side: PlacedRuns, rows: Iterable[int]) -> list[int]:
        return [side.runs.shapes[row] for row in rows]

    def _list_items(self, rows: range) -> list[int]:
        ids = item_ids(self._new.runs)
        return [ids[row] for row in rows]

    def _words(self, rows: Iterable[int]) -> int:
        return sum(self._new.runs.words[row] for row in rows)

    def _example(self, rows: list[int]) -> str:
        found = (self._excerpts.get(self._new.runs.values[row], "") for row in rows)
        return " / ".join(list(dict.fromkeys(filter(None, found)))[:3])

    # ── the judgement ───────────────────────────────────────────────────────────────────────────────────────

    def _judged(self, places: list[NoisyPlace]) -> list[NoisyPlace]:
        figures = [place for place in places if _is_figure(place) and place.changed >= _MIN_ROTATIONS]
        is_subject = self._is_subject({place.key for place in figures})
        return [
            replace(place, state="learned", since=self._at)
            if place.state == "watched"
            and place.changed_at == self._at
            and _is_noise(place)
            and not (is_subject and _is_figure(place) and self._is_main(place))
            else place
            for place in places
        ]

    def _is_main(self, place: NoisyPlace) -> bool:
        return any(self._new.runs.parts[row] in MAIN_PARTS for row in self._new.rows.get(place.key, ()))

    def _is_subject(self, keys: set[int]) -> bool:
        """Whether the figures in these places are the subject of the page: it is short, or they are much of it."""
        runs = self._new.runs
        main = [row for row, part in enumerate(runs.parts) if part in MAIN_PARTS]
        chosen = [row for row in main if self._new.keys[row] in keys]
        words = sum(runs.words[row] for row in main)
        return bool(chosen) and (
            words < _SHORT_PAGE_WORDS
            or sum(runs.words[row] for row in chosen) >= _SUBJECT_SHARE * words
            or len(chosen) >= _SUBJECT_SHARE * len(main)
        )


def _part_rows(runs: TextRuns, part: int) -> range:
    """The rows of a part; they are contiguous."""
    if part not in runs.parts:
        return range(0)
    start = runs.parts.index(part)
    stop = start
    while stop < len(runs.parts) and runs.parts[stop] == part:
        stop += 1
    return range(start, stop)


def _differences(old: TextRuns, old_rows: range, new: TextRuns, new_rows: range) -> list[tuple[range, range]]:
    """The rows of both versions between rows with equal shapes, in one part."""
    matches = matching_lines([str(old.shapes[row]) for row in old_rows], [str(new.shapes[row]) for row in new_rows])
    ends = [(0, 0), *((match.before + match.length, match.after + match.length) for match in matches)]
    starts = [*((match.before, match.after) for match in matches), (len(old_rows), len(new_rows))]
    return [
        (
            range(old_rows.start + i, old_rows.start + i_end),
            range(new_rows.start + j, new_rows.start + j_end),
        )
        for (i, j), (i_end, j_end) in zip(ends, starts, strict=True)
        if i < i_end or j < j_end
    ]


def _joined(changes: list[tuple[range, range]]) -> list[tuple[range, range]]:
    """Neighbouring differences as one: in a choice of items, some may stay by chance."""
    joined: list[tuple[range, range]] = []
    for change in changes:
        if joined and change[1].start - joined[-1][1].stop <= _MAX_NEAR:
            old, new = joined.pop()
            change = (range(old.start, change[0].stop), range(new.start, change[1].stop))
        joined.append(change)
    return joined


def _counted(place: NoisyPlace, *, changed: bool, at: float, apart_s: float) -> NoisyPlace:
    """The place after a visit; a learned place that stays the same for long is reset."""
    within_hour = apart_s <= HOUR_S
    is_still = not changed and not (place.flags & RunFlag.TIMES and at - place.changed_at < _DAY_S)
    place = replace(
        place,
        changed=place.changed + changed,
        same=place.same + is_still,
        changed_within_hour=place.changed_within_hour + (changed and within_hour),
        same_within_hour=place.same_within_hour + (is_still and within_hour),
        same_in_a_row=0 if changed else place.same_in_a_row + 1,
        changed_at=at if changed else place.changed_at,
    )
    if place.state == "denied" or place.flags & RunFlag.TRIVIAL or place.same_in_a_row < _max_still(place):
        return place
    return replace(reset_place(place), since=at, same_in_a_row=place.same_in_a_row)


def _max_still(place: NoisyPlace) -> int:
    is_long = place.kind not in SINGLE_RUN_KINDS or place.flags & RunFlag.TIMES
    return min(_MAX_STILL, max(_MIN_STILL_LONG if is_long else _MIN_STILL, place.changed))


def _is_figure(place: NoisyPlace) -> bool:
    """A figure of text of which only its history says that it is noise."""
    return place.kind == "stamp" and not place.flags & (RunFlag.TIMES | RunFlag.TRIVIAL)


def _is_noise(place: NoisyPlace) -> bool:
    if place.flags & RunFlag.WATCHED:
        return False
    if place.flags & RunFlag.TRIVIAL:
        return place.changed >= _MIN_CHANGES_TRIVIAL
    if place.kind == "order":
        min_changes = _MIN_SHUFFLES if len(place.recent) >= _SHORT_LIST else _MIN_SHUFFLES_SHORT
        return place.changed >= min_changes and place.changed >= _SHUFFLES_PER_SAME * place.same
    if changes_within_hour(place):
        return True
    if place.kind == "gap":
        is_back = place.returns >= place.changed // 3 and len(place.returned) >= _MIN_RETURNED
        is_choice = len(place.recent) > 2 * place.runs and 3 * place.changed >= place.same
        return place.changed >= _MIN_ROTATIONS and is_back and is_choice
    if place.kind == "data" and not place.flags & RunFlag.TIMES:
        return False
    return place.changed >= _MIN_CHANGES and place.changed >= _CHANGES_PER_SAME * place.same


def _numbered(places: list[NoisyPlace]) -> list[NoisyPlace]:
    """The places with a number for each that was learned for the first time."""
    highest = max((place.number for place in places), default=0)
    numbered = []
    for place in places:
        if place.state == "learned" and not place.number:
            highest += 1
            place = replace(place, number=highest)
        numbered.append(place)
    return numbered


def _bounded(places: list[NoisyPlace]) -> tuple[NoisyPlace, ...]:
    """At most `_MAX_PLACES` places: denied ones first, then learned ones, then those with the most changes."""
    active = [place for place in places if place.state != "watched" or place.same_in_a_row < 2 * _MIN_STILL_LONG]
    if len(active) <= _MAX_PLACES:
        return tuple(active)
    order = {"denied": 0, "learned": 1, "watched": 2}
    return tuple(sorted(active, key=lambda place: (order[place.state], -place.changed, place.key))[:_MAX_PLACES])
