"""`SiteTemplates`: the templates of the hosts that a crawl visits, loaded from the store and written with its batches.

Visits are judged in the order in which they are committed, so that the first page that shows a change of the site's
template is told of it, and the next ones are not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from webstrata.detect.template import MAX_PAGES, SiteTemplate, pack_template, taught, unpack_template
from webstrata.flows.crawl.judge import JudgedVisit, judge_visit
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.ports import Store
from webstrata.records import Page, VisitResult

_MAX_HOSTS = 2_000
"""Templates held in memory; the one used least recently is dropped, unless it is not stored yet."""
_EMPTY = SiteTemplate()


class SiteTemplates:
    """The templates of a crawl. `load` the hosts of a batch, `judge` its visits, write `unsaved` with the batch."""

    def __init__(self) -> None:
        self._by_host: OrderedDict[str, SiteTemplate] = OrderedDict()
        self._untaught: dict[str, list[bytes]] = {}
        """The hashes of first versions that are not in the template yet, by host."""
        self._unsaved: set[str] = set()

    async def load(self, hosts: Collection[str], store: Store) -> None:
        """Load the templates of these hosts that are not in memory."""
        for host in hosts:
            if host in self._by_host:
                self._by_host.move_to_end(host)
        missing = sorted({host for host in hosts if host not in self._by_host})
        if not missing:
            return
        stored = await store.pages.templates(missing)
        for host in missing:
            # Another batch may have loaded and changed it meanwhile.
            self._by_host.setdefault(host, unpack_template(stored.get(host, b"")))
        self._drop(keep=hosts)

    def wants(self, page: Page) -> bool:
        """Whether the first version of a page should teach the template of its host."""
        return page.fingerprint is None and self._has_room(page.host)

    def _has_room(self, host: str) -> bool:
        return self._by_host.get(host, _EMPTY).pages + len(self._untaught.get(host, ())) < MAX_PAGES

    def judge(self, result: VisitResult, parsed: ParsedContent | None) -> JudgedVisit:
        """Judge a visit with the template of its host, which then learns from the visit."""
        host = result.page.host
        if parsed is not None and parsed.template_values and self._has_room(host):
            first = judge_visit(result, parsed, _EMPTY, teaches=True)  # a first version is compared with nothing
            if first.change is not None:  # an error page says nothing about the site
                self._untaught.setdefault(host, []).append(parsed.template_values)
            return first
        before = self._taught(host)
        judged = judge_visit(result, parsed, before)
        if judged.template is not None and judged.template != before:
            self._by_host[host] = judged.template
            self._unsaved.add(host)
        return judged

    def _taught(self, host: str) -> SiteTemplate:
        """The template with all pages that taught it so far."""
        pages = self._untaught.pop(host, ())
        if pages:
            self._by_host[host] = taught(self._by_host.get(host, _EMPTY), pages)
            self._unsaved.add(host)
        return self._by_host.get(host, _EMPTY)

    def unsaved(self) -> tuple[tuple[str, bytes], ...]:
        """The templates that are not stored yet, packed, by host."""
        for host in list(self._untaught):
            self._taught(host)
        return tuple((host, pack_template(self._by_host[host])) for host in sorted(self._unsaved))

    def saved(self) -> None:
        """The templates of the last `unsaved` are stored."""
        self._unsaved.clear()

    def _drop(self, keep: Collection[str]) -> None:
        for host in list(self._by_host):
            if len(self._by_host) <= _MAX_HOSTS:
                return
            if host not in self._unsaved and host not in keep:
                del self._by_host[host]
