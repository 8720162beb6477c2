"""The words in the names of a box (its attributes class, id and role) that tell additions from the main text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

NAMING: Final = ("class", "id", "role")
"""The attributes whose values name a box."""

REMARKS: Final = ("comment", "consent", "cookie", "disqus", "gdpr", "kommentar", "replies", "reply", "respond")
"""Words of boxes with comments and notices, which may be longer than the article. words.c has the same lists."""

ADDITIONS: Final = (
    "addthis", "ads", "advert", "author", "banner", "breadcrumb", "byline", "caption", "categories", "complementary",
    "contentinfo", "copyright", "credit", "disclaimer", "follow", "footer", "gallery", "latest", "login", "masthead",
    "menu", "meta", "modal", "nav", "newsletter", "outbrain", "pager", "pagination", "popular", "popup", "print",
    "promo", "rating", "recent", "recommend", "related", "search", "share", "sharing", "sidebar", "signup", "similar",
    "social", "sponsor", "subscribe", "taboola", "tags", "toolbar", "trending",
)  # fmt: skip
"""Words of other boxes around an article; a box with at least half of the text is none of them."""


REMARK, ADDITION = 1, 2
"""The lists in which a word was found: the sum of these."""

_REMARK = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(REMARKS)})", re.ASCII)
_ADDITION = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(ADDITIONS)})", re.ASCII)
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def words_in(values: Iterable[str]) -> int:
    """The lists that have a word with which a name begins. A name is a run of ASCII letters and digits."""
    names = " ".join(values).translate(_LOWER)
    return REMARK * (_REMARK.search(names) is not None) + ADDITION * (_ADDITION.search(names) is not None)
