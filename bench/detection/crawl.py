"""The verdict of the crawl loop: a pair's page is one of several pages of its site, whose template is learned.

All pages are visited before the publication of the pair's newer version, and again after it. The pair's page is the
last one, as nearly every page of a site of hundreds of pages is visited after others. The functions are those of the
loop; only the network, the archive and the store are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.detection.pairs import LabelledPair
from bench.detection.verdicts import Verdict, with_charset
from webstrata.detect.memory import unpack
from webstrata.flows.crawl.archive_entries import VisitPositions
from webstrata.flows.crawl.judge import JudgedVisit, finished_visit
from webstrata.flows.crawl.parse import ParseJob, parse_content
from webstrata.flows.crawl.site_templates import SiteTemplates
from webstrata.records import Exchange, Page, VisitResult

_DAY_S = 86_400.0
_MAX_DECODED = 50_000_000


def by_crawl(pairs: Sequence[LabelledPair]) -> list[Verdict]:
    """The verdict on each pair."""
    return [_verdict(pair) for pair in pairs]


def _verdict(pair: LabelledPair) -> Verdict:
    site = _Site(pair)
    versions = [(other.path, other.before, other.after) for other in pair.others]
    versions.append((pair.path, pair.before, pair.after))
    for path, before, _ in versions:
        if before is not None:
            site.visit(path, before, at=0.0)
    judged = {path: site.visit(path, after, at=_DAY_S) for path, _, after in versions}
    change = judged[pair.path].change
    if change is None:
        return Verdict(changed=False, why=str(judged[pair.path].failure))
    return Verdict(change.counts, change.significance, "; ".join([change.kind, *change.reasons]))


class _Site:
    """The pages of a host, and its template."""

    def __init__(self, pair: LabelledPair) -> None:
        self._host = f"{pair.site}.example"
        self._content_type = with_charset(pair)
        self._pages: dict[str, Page] = {}
        self._templates = SiteTemplates()

    def visit(self, path: str, body: bytes, at: float) -> JudgedVisit:
        url = f"https://{self._host}/{path}"
        page = self._pages.get(path) or Page(id=len(self._pages) + 1, url=url, host=self._host)
        job = ParseJob(
            url=url,
            body=body,
            content_type=self._content_type,
            before=page.fingerprint,
            lines=unpack(page.memory).runs,
            want_lines=True,
            want_template=page.fingerprint is None,
            max_decoded=_MAX_DECODED,
        )
        exchange = Exchange(
            url=url,
            at=at,
            duration_s=0.0,
            request_head=b"",
            status=200,
            headers=(("content-type", self._content_type),),
            body=body,
        )
        result = VisitResult(page=page, at=at, exchanges=(exchange,))
        judged = self._templates.judge(result, parse_content(job))
        self._pages[path] = finished_visit(judged, None, VisitPositions(exchanges=(None,))).page
        return judged
