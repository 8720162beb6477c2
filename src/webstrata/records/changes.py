"""The verdict on two versions of a page."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Outcome(StrEnum):
    """The result of a visit, as the log shows it."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    BACK = "back"
    ERROR = "error"


class ChangeKind(StrEnum):
    """What differs between two versions."""

    NONE = "none"
    NEW = "new"
    CONTENT = "content"
    LINKS = "links"
    MARKUP = "markup"
    """The bytes differ, but no compared layer (text, links, data) does."""
    DATA = "data"
    PRODUCT = "product"
    """The price, the currency or the availability of a product that the page describes to programs."""
    METADATA = "metadata"
    """What the page states outside its text: canonical address, robots directives, other attributes that count."""
    TEMPLATE = "template"
    """Lines that stand on other pages of the site, too: menus, headers, footers."""
    FORM = "form"
    """The server sent another representation of the page (another format): the two cannot be compared."""
    GONE = "gone"
    BACK = "back"
    MOVED = "moved"
    ERROR = "error"


class ValueChange(Struct, frozen=True, kw_only=True, gc=False):
    """A value that the page states to programs, before and after; None if it did not state it."""

    name: str
    before: str | None
    after: str | None


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """The verdict on two consecutive observations of a page."""

    outcome: Outcome
    kind: ChangeKind = ChangeKind.NONE
    size: float = 0.0
    """Share of the words that differ, 0 to 1."""
    words_added: int = 0
    words_removed: int = 0
    """Estimated numbers of words that only one of the versions has."""
    product_values: tuple[ValueChange, ...] = ()
    """Values of products that differ."""
    move: ValueChange | None = None
    """The final URLs of both responses, if the page redirects to another address than before."""
    significance: float = 0.0
    """How much the change matters, 0 to 1."""
    reasons: tuple[str, ...] = ()
    """Why the significance has this value, one phrase each."""
    layers: dict[str, bool] = {}
    """Layer -> whether it differs; only layers that both versions have."""
    new_links: int = 0
    """Number of links that no earlier version of the page had."""
    reverted: bool = False
    """The content equals that of an earlier version."""
    raw: bool = False
    """The bytes differ."""
    text: bool = False
    """The text layer differs."""
    links: bool = False
    """The link layer differs."""
    counts: bool = False
    """The change counts: for the schedule, the statistics and notifications."""
    layer: str = "raw"
    """The layer that decided."""
    distance: int | None = None
    """Number of bits in which the simhashes differ, 0 to 64; None if a version has no simhash."""
    noise: int = 0
    """Number of places that differ but were ignored, because they were learned as noise."""
