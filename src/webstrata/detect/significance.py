"""The significance of a change, 0 to 1, with the reasons: for sorting and reporting changes, never for hiding them.

It follows how much is new to a reader. The *amount* of a change is the number of words added, half of the number of
words removed, and four for each link never seen before. The score is log10(amount) / 2.3, so that 0.05 is a corrected
spelling, 0.4 a new line with a link, 0.8 a new paragraph of seventy words, and 1 two hundred words or more. A change of
most of the page is significant however short the page is; a price, a stock or another figure that people watch is
never trivial. Labelled changes show how well this agrees with readers (docs/why/detection.md).
"""

from __future__ import annotations

from math import log10

from webstrata.detect.comparison import WordCounts
from webstrata.detect.findings import Findings
from webstrata.records import Change, ChangeKind
from webstrata.wording import counted

_WORDS_PER_LINK = 4
_REMOVED_WEIGHT = 0.5
_DECADES = 2.3
"""Powers of ten of the amount from 0 to 1."""
_WORDS_PER_UNIT = {"words": 1, "values": 2, "entries": 20}
"""How many words of text a value or an entry of data is worth."""
_UNIT_OF_ONE = {"words": "word", "values": "value", "entries": "entry"}
_MIN_SCORE = 0.05
"""For every change that counts, such as removed links or reordered lines."""
_MIN_SCORE_DATA = 0.2
_MIN_SCORE_WATCHED = 0.5
_PRODUCT_SCORE, _METADATA_SCORE, _TEMPLATE_SCORE = 0.6, 0.3, 0.15
_TITLE_SCORE = 0.15
_UNKNOWN_SIZE_SCORE = 0.5
"""If it is not known how much of the content differs."""
_MAX_VALUES = 5
"""Values of products that the reasons name."""


def significance(change: Change, found: Findings, *, title_changed: bool) -> tuple[float, tuple[str, ...]]:
    """The score and its reasons."""
    if not change.counts or change.kind in _FIXED:
        return _without_score(change)
    score, reasons = _amount(change, found)
    if found.product:
        score = max(score, _PRODUCT_SCORE)
        reasons += _product_phrases(change)
    if found.metadata:
        score = max(score, _METADATA_SCORE)
        reasons.append("the canonical URL, the robots directives or another attribute that counts differs")
    if found.is_watched:
        score = max(score, _MIN_SCORE_WATCHED)
        reasons.append("a figure that people watch differs")
    if title_changed:
        score += _TITLE_SCORE
        reasons.append("the title differs")
    if change.kind is ChangeKind.LINKS and not change.new_links:
        reasons.append("links were removed or restored")
    if change.reverted:
        reasons.append("back to an earlier version")
    reasons += _move_phrases(change)
    return max(_MIN_SCORE, min(1.0, score)), tuple(reasons)


def _without_score(change: Change) -> tuple[float, tuple[str, ...]]:
    """The score of a change that does not count, or whose kind alone decides."""
    if change.counts:
        score, reasons = _FIXED[change.kind]
        return score, (*reasons, *_move_phrases(change))
    if change.kind is ChangeKind.TEMPLATE:
        return 0.0, ("only menus, their links or other lines of the site's template differ",)
    if change.kind is ChangeKind.MARKUP and change.noise:
        return 0.0, (f"only learned noise differs, in {counted(change.noise, 'place')}",)
    if change.kind is ChangeKind.MARKUP and change.text and change.layer == "selected":
        return 0.0, ("only content that the rules leave out differs",)
    if change.kind is ChangeKind.MARKUP and change.text:
        return 0.0, ("only menus, header, footer or time stamps differ",)
    return _FIXED.get(change.kind, (0.0, ()))


def _amount(change: Change, found: Findings) -> tuple[float, list[str]]:
    """The score by the amount of text or data that differs, with its reasons."""
    reasons: list[str] = []
    new_links = 0 if change.layer == "selected" else change.new_links  # rules leave them out of the comparison
    if new_links:
        reasons.append(f"{counted(new_links, 'link')} never seen before")
    if change.kind in (ChangeKind.PRODUCT, ChangeKind.METADATA):
        return 0.0, reasons
    if found.words is None:
        return _UNKNOWN_SIZE_SCORE, [f"the {change.layer} differs; the size of the difference is not known", *reasons]
    words = found.words
    weight = _WORDS_PER_UNIT[found.unit]
    amount = weight * (words.added + _REMOVED_WEIGHT * words.removed) + _WORDS_PER_LINK * new_links
    score = log10(max(1.0, amount)) / _DECADES
    if change.kind is not ChangeKind.LINKS:
        score = max(score, words.share)
        reasons.insert(0, _size_phrase(found, words))
    if found.unit != "words":
        score = max(score, _MIN_SCORE_DATA)
    return score, reasons


def _size_phrase(found: Findings, words: WordCounts) -> str:
    """How much differs: `about 14 words added, 2 removed (2.9 % of the text)`."""
    if not words.added and not words.removed:
        return f"the same {found.unit} in another order"
    first = words.added or words.removed
    amount = counted(f"{first:,}", _UNIT_OF_ONE[found.unit], found.unit) + (" added" if words.added else " removed")
    if words.added and words.removed:
        amount += f", {words.removed:,} removed"
    return f"about {amount} ({share_phrase(words.share)} of the {'text' if found.unit == 'words' else 'data'})"


def _product_phrases(change: Change) -> list[str]:
    """The values of products that differ: `price: 99.00 to 4.99`."""
    named = change.product_values[:_MAX_VALUES]
    return [f"{value.name}: {value.before or 'none'} to {value.after or 'none'}" for value in named]


def _move_phrases(change: Change) -> tuple[str, ...]:
    if change.move is None:
        return ()
    return (f"the page moved: its content came from {change.move.before}, now from {change.move.after}",)


_FIXED: dict[ChangeKind, tuple[float, tuple[str, ...]]] = {
    ChangeKind.NONE: (0.0, ()),
    ChangeKind.NEW: (0.0, ("seen for the first time",)),
    ChangeKind.MARKUP: (0.0, ("only markup or other invisible parts differ",)),
    ChangeKind.GONE: (1.0, ("the page is gone",)),
    ChangeKind.BACK: (1.0, ("the page is back",)),
    ChangeKind.FORM: (0.0, ("another representation or language of the page; the next visit is compared with it",)),
    ChangeKind.TEMPLATE: (
        _TEMPLATE_SCORE,
        ("lines that stand on other pages of the site differ: its menu or template changed; told once for the site",),
    ),
    ChangeKind.MOVED: (0.75, ()),
    ChangeKind.ERROR: (0.0, ()),
}


_MIN_SHARE = 0.001


def share_phrase(share: float) -> str:
    """The share of a content that differs, for display beside a change: `12 %`, `3.4 %`, `less than 0.1 %`.

    A change is never shown with 0 %: words may differ that the measure does not count.
    """
    if share < _MIN_SHARE:
        return f"less than {_MIN_SHARE:.1%}".replace("%", " %")
    percent = 100 * share
    if percent >= 99.5 and share < 1:
        return "nearly 100 %"
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"
