"""Small hand-made recordings."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1

from webstrata.lab.livingweb.recording import Recording, tidy

T0 = 1_672_531_200.0  # 2023-01-01
DAY = 86_400.0


def make_recording(site: str, history: Mapping[str, list[tuple[float, str | bytes | None]]]) -> Recording:
    """A recording from days and contents: `{"index.html": [(-10, "old"), (3, "new"), (5, None)]}`."""
    contents: dict[str, bytes] = {}
    pages: dict[str, list[tuple[float, str | None]]] = {}
    for path, versions in history.items():
        rows: list[tuple[float, str | None]] = []
        for day, content in versions:
            blob = None
            if content is not None:
                body = content.encode() if isinstance(content, str) else content
                blob = sha1(body).hexdigest()
                contents[blob] = body
            rows.append((T0 + day * DAY, blob))
        pages[path] = tidy(rows)
    return Recording(site=site, pages=pages, contents=contents)


def boost() -> Recording:
    """A site with edits, a deletion, a return, a late birth, an old charset and data."""
    return make_recording(
        "boost",
        {
            "index.html": [(-10, "<p>first" + " word" * 100), (3, "<p>second" + " word" * 100)],
            "users/index.html": [(-10, "<p>users")],
            "news/a b.html": [(-10, "<p>one"), (1, "<p>two"), (2, None), (4, "<p>three")],
            "late.html": [(5, "<p>late")],
            "latin.html": [(-10, b"<p>caf\xe9")],
            "data.csv": [(-10, "a,b\n1,2\n")],
        },
    )
