"""Evidence for tests: a page made of a title, a main text and markup."""

from __future__ import annotations

from collections.abc import Mapping

from webstrata.detect.error_pages.evidence import PageEvidence
from webstrata.records import Fingerprint

URL = "https://www.example.org/report"
KNOWN = Fingerprint(raw="a", size=40_000, media_type="text/html", title="Annual report", text="x")


def made_evidence(
    title: str | None = None,
    main: str = "",
    markup: str = "",
    *,
    requested: str = URL,
    address: str = "",
    headers: Mapping[str, str] | None = None,
    before: Fingerprint | None = None,
    failures: int = 0,
    selects: bool = False,
    size: int = 2_000,
    media_type: str = "text/html",
    links: int = 0,
    is_short: bool = True,
) -> PageEvidence:
    return PageEvidence(
        requested=requested,
        address=address or requested,
        headers=headers or {},
        body=markup.encode(),
        title=title,
        read_text=lambda: f"{title or ''}\n{main}",
        read_main=lambda: main,
        now=Fingerprint(raw="b", size=size, media_type=media_type, title=title, link_count=links),
        is_short=is_short,
        before=before,
        failures=failures,
        selects=selects,
    )
