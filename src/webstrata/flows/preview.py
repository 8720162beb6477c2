"""`visit_once` and `preview`: one visit that stores no content, and what a page's rules would compare of it."""

from __future__ import annotations

from msgspec import Struct

from webstrata import urls
from webstrata.detect.layers import candidate_layers
from webstrata.errors import UsageError
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.observe.page import observe
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Web
from webstrata.records import Fingerprint, Page, PageAttribute, PageRules, VisitResult, Wait

PATIENCE_S = 60.0


class Preview(Struct, frozen=True, kw_only=True):
    """What a visit would compare."""

    media_type: str
    layers: tuple[str, ...]
    """The layers that may count; the first one that both versions have decides."""
    before: str
    """The text before the rules."""
    after: str | None
    """The text that the rules leave; none without rules that match."""
    attributes: list[PageAttribute]
    """The attributes that count by the rules."""
    note: str | None
    fingerprint: Fingerprint


def preview(body: bytes, content_type: str | None, url: str, page_rules: PageRules | None) -> Preview:
    """Parse a content with and without the rules."""
    observed = observe(body, content_type, url, page_rules)
    return Preview(
        media_type=observed.fingerprint.media_type,
        layers=tuple(candidate_layers(page_rules)),
        before=observed.text if observed.text is not None else body.decode("utf-8", "replace"),
        after=None if observed.selected is None else observed.selected.text,
        attributes=observed.attributes,
        note=(None if observed.selected is None else observed.selected.note) or observed.fingerprint.data_note,
        fingerprint=observed.fingerprint,
    )


async def visit_once(
    url: str,
    page_rules: PageRules | None,
    *,
    web: Web,
    gate: PermitGate,
    leases: HostLeases | None,
    clock: Clock,
    choose: ChooseHandler,
    max_redirects: int,
) -> VisitResult:
    """Visit a page with a permit, like the loop, and store nothing but the politeness of its host."""
    page = Page(id=0, url=url, host=urls.host_of(url), page_rules=page_rules)
    client = PoliteClient(web, gate, clock, leases=leases, max_redirects=max_redirects)
    try:
        result = await choose(page).visit(page, PoliteVisit(client, patience_until=clock.now() + PATIENCE_S))
    finally:
        await client.close()
    if isinstance(result, Wait):
        raise UsageError(f"{page.host} cannot be visited within {PATIENCE_S:.0f} s: {result.why}. Try again later.")
    return result
