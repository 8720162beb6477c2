"""How much a change matters, 0 to 1, with the reasons: for sorting and for telling people, never for hiding.

After the priority that EDGI's analysts sort their sheets by: shares count by f(x) = ln(1 + (e - 1) x), so that the
first per cent weighs most; one long new passage counts beside the share; a change of status counts most. The simhash
distance (wcd's 6 bits between a small and a significant change) grades on top: most true edits of real pages stay
within 6 bits, so it can lift a change and never lower it.
"""

from __future__ import annotations

from math import e, log1p

from webstrata.records import Change, ChangeKind

_TEXT, _LINKS, _PASSAGE, _TITLE = 0.65, 0.3, 0.35, 0.2
_SHORT_PASSAGE, _LONG_PASSAGE = 17, 100
"""Words of 100 and of 600 characters."""
_SIGNIFICANT_BITS = 6
_SIGNIFICANT = 0.5
_UNKNOWN = 0.5
"""Where nothing tells how much of the content differs."""
_MANY_LINKS = 10
_LEAST = 0.05
"""Of whatever counts: links that went or came back, lines in another order; as much as one new link."""


def weigh(change: Change, *, passage: int, title: bool, measured: bool) -> tuple[float, tuple[str, ...]]:
    """Significance and its reasons. `passage`: words of the longest new passage; `measured`: the size is known."""
    if change.kind is ChangeKind.MARKUP and change.noise:
        places = "one place" if change.noise == 1 else f"{change.noise} places"
        return 0.0, (f"only noise differs, in {places}",)
    if change.kind is ChangeKind.MARKUP and change.text:
        return 0.0, ("only menus, header or footer differ",)
    if change.kind in _FIXED:
        return _FIXED[change.kind]
    if not change.counts:
        return 0.0, ()
    score, reasons = 0.0, []
    if measured:
        score += _TEXT * _curve(change.size)
        reasons.append(f"{change.size:.1%} of the text differs")
    else:
        score += _UNKNOWN
        reasons.append(f"the {change.layer} differs, by how much is not known")
    if passage > _SHORT_PASSAGE:
        score += _PASSAGE * min(1.0, (passage - _SHORT_PASSAGE) / (_LONG_PASSAGE - _SHORT_PASSAGE))
        reasons.append(f"a new passage of {passage} words")
    if title:
        score += _TITLE
        reasons.append("another title")
    if change.new_links:
        score += _LINKS * _curve(min(1.0, change.new_links / _MANY_LINKS))
        reasons.append(f"{change.new_links} links never seen before")
    if change.distance is not None and change.distance > _SIGNIFICANT_BITS:
        score = max(score, _SIGNIFICANT)
        reasons.append(f"simhash distance {change.distance}, more than {_SIGNIFICANT_BITS}")
    if change.kind is ChangeKind.LINKS and not change.new_links:
        reasons.append("links went or came back")
    if change.reverted:
        reasons.append("back to an earlier version")
    return max(_LEAST, min(1.0, score)), tuple(reasons)


_FIXED: dict[ChangeKind, tuple[float, tuple[str, ...]]] = {
    ChangeKind.NONE: (0.0, ()),
    ChangeKind.NEW: (0.0, ("seen for the first time",)),
    ChangeKind.MARKUP: (0.0, ("only what nobody reads differs",)),
    ChangeKind.GONE: (1.0, ("the page is gone",)),
    ChangeKind.BACK: (1.0, ("the page is back",)),
    ChangeKind.FORM: (0.0, ("another form or language of the page; compared again from the next visit on",)),
    ChangeKind.MOVED: (0.75, ("the page leads to another address",)),
    ChangeKind.ERROR: (0.0, ()),
}


def _curve(share: float) -> float:
    return log1p((e - 1) * share)
