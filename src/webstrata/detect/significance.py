"""The significance of a change, 0 to 1, with the reasons: for sorting and reporting changes, never for hiding them.

Modelled on the priority by which the analysts of EDGI sort changes. Shares are weighted by f(x) = ln(1 + (e - 1) x), so
that the first per cent has the largest effect; a long new passage adds to the share; a change of status has the
highest score. The simhash distance (in the wcd paper, 6 bits separate small from significant changes) can only raise
the score: most real edits stay within 6 bits.
"""

from __future__ import annotations

from math import e, log1p

from webstrata.detect.findings import Findings
from webstrata.records import Change, ChangeKind

_TEXT_WEIGHT, _LINKS_WEIGHT, _PASSAGE_WEIGHT, _TITLE_WEIGHT = 0.65, 0.3, 0.35, 0.2
_SHORT_PASSAGE, _LONG_PASSAGE = 17, 100
"""In words: about 100 and 600 characters."""
_SIGNIFICANT_BITS = 6
_SIGNIFICANT_SCORE = 0.5
_UNKNOWN_SIZE_SCORE = 0.5
"""If it is not known how much of the content differs."""
_MANY_LINKS = 10
_MIN_SCORE = 0.05
"""For every change that counts, such as removed links or reordered lines; equals the score of one new link."""


def significance(change: Change, found: Findings, *, title_changed: bool) -> tuple[float, tuple[str, ...]]:
    """The score and its reasons."""
    size_known, passage_words = found.words is not None, found.words.passage if found.words is not None else 0
    if change.kind is ChangeKind.MARKUP and change.noise:
        places = "1 place" if change.noise == 1 else f"{change.noise} places"
        return 0.0, (f"only learned noise differs, in {places}",)
    if change.kind is ChangeKind.MARKUP and change.text:
        return 0.0, ("only menus, header or footer differ",)
    if change.kind in _FIXED:
        return _FIXED[change.kind]
    if not change.counts:
        return 0.0, ()
    score, reasons = 0.0, []
    if size_known:
        score += _TEXT_WEIGHT * _curve(change.size)
        if change.size > 0 or change.kind is not ChangeKind.LINKS:
            reasons.append(f"{share_phrase(change.size)} of the text differs")
    else:
        score += _UNKNOWN_SIZE_SCORE
        reasons.append(f"the {change.layer} differs; the size of the difference is not known")
    if passage_words > _SHORT_PASSAGE:
        score += _PASSAGE_WEIGHT * min(1.0, (passage_words - _SHORT_PASSAGE) / (_LONG_PASSAGE - _SHORT_PASSAGE))
        reasons.append(f"a new passage of {passage_words} words")
    if title_changed:
        score += _TITLE_WEIGHT
        reasons.append("the title differs")
    if change.new_links:
        score += _LINKS_WEIGHT * _curve(min(1.0, change.new_links / _MANY_LINKS))
        links = "1 link" if change.new_links == 1 else f"{change.new_links} links"
        reasons.append(f"{links} never seen before")
    if change.distance is not None and change.distance > _SIGNIFICANT_BITS:
        score = max(score, _SIGNIFICANT_SCORE)
        reasons.append(f"simhash distance {change.distance}, more than {_SIGNIFICANT_BITS}")
    if change.kind is ChangeKind.LINKS and not change.new_links:
        reasons.append("links were removed or restored")
    if change.reverted:
        reasons.append("back to an earlier version")
    return max(_MIN_SCORE, min(1.0, score)), tuple(reasons)


_FIXED: dict[ChangeKind, tuple[float, tuple[str, ...]]] = {
    ChangeKind.NONE: (0.0, ()),
    ChangeKind.NEW: (0.0, ("seen for the first time",)),
    ChangeKind.MARKUP: (0.0, ("only markup or other invisible parts differ",)),
    ChangeKind.GONE: (1.0, ("the page is gone",)),
    ChangeKind.BACK: (1.0, ("the page is back",)),
    ChangeKind.FORM: (0.0, ("another representation or language of the page; the next visit is compared with it",)),
    ChangeKind.MOVED: (0.75, ("the page redirects to another address",)),
    ChangeKind.ERROR: (0.0, ()),
}


_MIN_SHARE, _NEARLY_ALL = 0.001, 0.995
"""Between these, a share is not rounded to 0 or to 100 %."""


def share_phrase(share: float) -> str:
    """The share of a content that differs, for display beside a change: `12 %`, `3.4 %`, `less than 0.1 %`.

    A change is never shown with 0 %: words may differ that the measure does not count.
    """
    if share < _MIN_SHARE:
        return f"less than {_MIN_SHARE:.1%}".replace("%", " %")
    if _NEARLY_ALL <= share < 1:
        return "nearly 100 %"
    percent = 100 * share
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"


def _curve(share: float) -> float:
    return log1p((e - 1) * share)
