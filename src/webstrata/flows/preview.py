"""One visit that leaves no trace: what would be compared, before and after a page's rules."""

from __future__ import annotations

from msgspec import Struct

from webstrata import urls
from webstrata.detect.layers import candidate_layers
from webstrata.errors import UsageError
from webstrata.flows.crawl.polite_client import Choose, PoliteClient, visit
from webstrata.observe.page import observe
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Web
from webstrata.records import Fingerprint, Page, PageRules, VisitResult, Wait

PATIENCE_S = 60.0


class Preview(Struct, frozen=True, kw_only=True):
    """What a visit would compare."""

    media_type: str
    layers: tuple[str, ...]
    """The layers that count, the first that both versions have decides."""
    before: str
    """Useful text, before the rules."""
    after: str | None
    """What the rules leave; none without rules that fit."""
    note: str | None
    fingerprint: Fingerprint


def preview(body: bytes, content_type: str | None, url: str, page_rules: PageRules | None) -> Preview:
    """Look at a content with and without the rules."""
    seen = observe(body, content_type, url, page_rules)
    return Preview(
        media_type=seen.fingerprint.media_type,
        layers=tuple(candidate_layers(page_rules)),
        before=seen.text if seen.text is not None else body.decode("utf-8", "replace"),
        after=None if seen.selected is None else seen.selected.text,
        note=(None if seen.selected is None else seen.selected.note) or seen.fingerprint.data_note,
        fingerprint=seen.fingerprint,
    )


async def visit_once(
    url: str,
    page_rules: PageRules | None,
    *,
    web: Web,
    gate: PermitGate,
    clock: Clock,
    choose: Choose,
    max_redirects: int,
) -> VisitResult:
    """Visit a page as politely as ever, and keep nothing."""
    page = Page(id=0, url=url, host=urls.host_of(url), page_rules=page_rules)
    door = PoliteClient(web, gate, clock, keep=lambda exchange: None, listed=lambda origin, sitemaps: None)
    try:
        until = clock.now() + PATIENCE_S
        came = await visit(
            page, door=door, clock=clock, max_redirects=max_redirects, patience_until=until, choose=choose
        )
    finally:
        await door.close()
    if isinstance(came, Wait):
        raise UsageError(f"{page.host} cannot be visited within {PATIENCE_S:.0f} s: {came.why}. Try again later.")
    return came
