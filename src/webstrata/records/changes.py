"""The verdict on two versions."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Outcome(StrEnum):
    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    BACK = "back"
    ERROR = "error"


class ChangeKind(StrEnum):
    NONE = "none"
    NEW = "new"
    CONTENT = "content"
    LINKS = "links"
    MARKUP = "markup"
    """The bytes differ, nothing that a reader or a program reads does."""
    DATA = "data"
    FORM = "form"
    """The same page in another representation (another format of those on offer): there is nothing to compare."""
    GONE = "gone"
    BACK = "back"
    MOVED = "moved"
    ERROR = "error"


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """The verdict on two observations in a row."""

    outcome: Outcome
    kind: ChangeKind = ChangeKind.NONE
    size: float = 0.0
    """Share of the content that differs, 0 to 1."""
    significance: float = 0.0
    """How much it matters, 0 to 1."""
    reasons: tuple[str, ...] = ()
    layers: dict[str, bool] = {}
    """Layer -> differs; only layers that both sides have."""
    new_links: int = 0
    """Links never seen in any earlier version of the page."""
    reverted: bool = False
    """Back to an earlier version."""
    raw: bool = False
    """The bytes differ."""
    text: bool = False
    links: bool = False
    counts: bool = False
    """It counts as a change for the schedule and for telling people."""
    layer: str = "raw"
    """The layer that decided."""
    distance: int | None = None
    """Bits in which the simhashes differ, 0 to 64; none where a side has no simhash."""
    noise: int = 0
    """Places that differ but have been learned to be noise, and so did not count."""
