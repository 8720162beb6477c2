"""What a database that was made again from the WARC files does not hold, because these files do not."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class LostFact(Struct, frozen=True, kw_only=True):
    """Something that cannot be known from the WARC files."""

    name: str
    what: str
    number: int | None
    """How many there were; None if it is not known."""
    instead: str
    """What holds instead, and how to set it again."""


_FACTS = {
    "tags": ("tags of pages", "pages have no tags; `webstrata tag` sets them"),
    "rules": (
        "rules of pages and tags",
        "all versions were compared by the defaults; `webstrata rules` sets rules for the next visits",
    ),
    "weights": ("pages with a weight of their own", "all pages weigh 1; `webstrata watch --weight` sets others"),
    "visit-times": (
        "pages with a rhythm, visit windows or a snooze",
        "the policy chooses all times; `webstrata interval` and `webstrata snooze` set others",
    ),
    "sites": ("watched sites", "no new pages are discovered; `webstrata watch --site` watches a site again"),
    "boosts": ("boosts of tags", "there are none; `webstrata boost` sets them"),
    "interval-limits": ("interval limits", "those of the settings apply; `webstrata interval` sets others"),
    "paused": ("pages that were no longer watched", "they are watched; `webstrata unwatch` ends that"),
    "noise-choices": ("pages with `webstrata noise --count`", "noise is learned without these choices"),
    "unarchived-pages": ("pages that were never archived", "they are not watched; `webstrata watch` adds them"),
    "unarchived-visits": ("visits without a response", "they are not in the log"),
    "durations": ("durations of downloads", "they are 0, and are measured by the next visits"),
    "copies": (
        "copies of pages in other archives, and their links",
        "there are none, and pages that only other archives hold are unknown; `webstrata import` imports them again",
    ),
    "imports": ("the progress of imports", "each import starts from the beginning of its source"),
    "learned-states": (
        "pages whose rate was learned from copies",
        "their rates are learned from their own visits, until copies are imported again",
    ),
    "importance": (
        "pages with an importance",
        "they have none; `webstrata importance` computes it again",
    ),
    "budgets": (
        "unspent budgets and the price of a visit",
        "they start anew, so the next visits of pages may be earlier or later than before",
    ),
    "added-dates": ("when pages and sites were added", "a page counts as added at its first archived visit"),
}


def lost_facts(counts: Mapping[str, int]) -> list[LostFact]:
    """All of them, with the numbers that are known, by name."""
    return [
        LostFact(name=name, what=what, number=counts.get(name), instead=instead)
        for name, (what, instead) in _FACTS.items()
    ]
