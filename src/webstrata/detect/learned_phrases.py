"""Says what a visit taught about a page's noise: which places do not count from now on, and which count again."""

from __future__ import annotations

from collections.abc import Iterator

from webstrata.columns import RunFlag
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.wording import counted

_MAX_EXAMPLE = 60
_NAMES = {"order": "the order of the list", "gap": "the text", "link": "the link", "data": "the field", "stamp": ""}
_WITHOUT_EXAMPLE = {"gap": "what stands between two links that stay", "link": "the address of a link"}


def learned_phrases(
    before: tuple[NoisyPlace, ...], after: tuple[NoisyPlace, ...], url: str, *, with_stamps: bool = True
) -> tuple[str, ...]:
    """One phrase for each place that was learned or forgotten, with the command that undoes a learning.

    `with_stamps`: also of stamps ("last updated"), which count only on pages with a layer of their own.
    """
    said = after if with_stamps else tuple(place for place in after if not place.flags & RunFlag.STAMP)
    return tuple(_phrases({place.key: place for place in before}, said, url))


def _phrases(before: dict[int, NoisyPlace], after: tuple[NoisyPlace, ...], url: str) -> Iterator[str]:
    for place in after:
        old = before.get(place.key)
        was_learned = old is not None and old.state == "learned"
        if place.state == "learned" and not was_learned:
            visits = counted(place.changed + place.same, "visit")
            yield (
                f"from now on {_named(place)} does not count (changed at {place.changed} of {visits}; "
                f"undo: webstrata noise {url} --count {place.number})"
            )
        elif old is not None and was_learned and place.state == "watched":
            yield f"{_named(old)} counts again (it did not change at {counted(place.same_in_a_row, 'visit')})"


def _named(place: NoisyPlace) -> str:
    example = place.example if len(place.example) <= _MAX_EXAMPLE else place.example[: _MAX_EXAMPLE - 1] + "…"
    if example:
        return f'{_NAMES[place.kind]} "{example}"'.strip()
    if place.kind == "order":
        return f"the order of a list of {len(place.recent)} lines or links"
    return _WITHOUT_EXAMPLE.get(place.kind, f"place {place.number}")
