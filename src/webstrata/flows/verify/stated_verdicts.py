"""Check of verdicts, instant and counts: all are computed again from the observations, after these were checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from webstrata.flows.verify.document import instant_of, number_of
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.sharp.proof.certificate import changed_and_back
from webstrata.sharp.proof.page_observation import PageObservation, equal_layers
from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedComposite, StatedPage
from webstrata.sharp.proof.verdicts import (
    PAGE_VERDICTS,
    CompositeState,
    Instant,
    JudgedPage,
    composite_page,
    is_anchor,
    judged_page,
    judged_requisite,
    page_as_part,
)

_COMPOSITES = ("sharp", "coherent", "violative", "unknown")
PartStates = Mapping[str, CompositeState]
_COUNTED_LAYERS = ("raw", "visible", "main")
_ROUNDING = 1e-6


class VerdictCheck:
    """Judges all pages again."""

    def __init__(self, certificate: StatedCertificate, observed: Mapping[str, Sequence[PageObservation]]) -> None:
        self._certificate = certificate
        self._observed = observed
        self._instant = instant_of(certificate.instant)
        self._layer = certificate.policy.layer
        self.judged = [self._judge(page, self._layer) for page in certificate.pages]
        self._requisites = {
            entry.url: judged_requisite(observed.get(entry.url, ()), self._instant) for entry in certificate.requisites
        }

    @property
    def sharp(self) -> int:
        """The number of pages that are sharp."""
        return sum(page.verdict == "sharp" for page in self.judged)

    def failures(self) -> Iterator[FailedCheck]:
        yield from self._instant_failures()
        states = {url: judged.as_part for url, judged in self._requisites.items()}
        states |= {
            page.url: page_as_part(judged) for page, judged in zip(self._certificate.pages, self.judged, strict=True)
        }
        for page, judged in zip(self._certificate.pages, self.judged, strict=True):
            for what in self._page_faults(page, judged, states):
                yield FailedCheck(page=page.url, what=what)
        for entry in self._certificate.requisites:
            found = self._requisites[entry.url].verdict
            if entry.verdict != found:
                what = f"its verdict is {entry.verdict!r}, but its observations give {found!r}"
                yield FailedCheck(page=entry.url, what=what)
        for what in self._count_faults():
            yield FailedCheck(page=None, what=what)

    def _judge(self, page: StatedPage, layer: str) -> JudgedPage:
        return judged_page(self._observed.get(page.url, ()), self._instant, layer)

    def _instant_failures(self) -> Iterator[FailedCheck]:
        """The instant is the time that all sharp pages have in common, or the download of one of them."""
        instant = self._instant
        visits: list[float] = []
        revisits: list[float] = []
        anchors: list[str] = []
        for page, judged in zip(self._certificate.pages, self.judged, strict=True):
            seen = self._observed.get(page.url, ())
            if instant is None or judged.verdict != "sharp" or judged.visit is None:
                continue
            if judged.revisit is not None:
                visits.append(seen[judged.visit].ended)
                revisits.append(seen[judged.revisit].started)
            elif is_anchor(seen[judged.visit], instant, self._layer):
                anchors.append(page.url)
        if instant is None:
            return
        if not visits and not anchors:
            yield FailedCheck(page=None, what="there is an instant, but no page is sharp")
        if len(anchors) > 1:
            yield FailedCheck(page=anchors[1], what="only one page can be sharp by a single download")
        joint = Instant(max(visits), min(revisits)) if visits and not anchors else instant
        if joint != instant or instant.start > instant.end:
            yield FailedCheck(page=None, what="the instant is not the time that the sharp pages have in common")

    def _page_faults(self, page: StatedPage, judged: JudgedPage, states: PartStates) -> Iterator[str]:
        if page.verdict != judged.verdict:
            yield f"its verdict is {page.verdict!r}, but its observations give {judged.verdict!r}: {judged.why}"
        if (page.visit, page.revisit) != (judged.visit, judged.revisit):
            yield "its visit and revisit are not its nearest observations around the instant"
        seen = self._observed.get(page.url, ())
        visit = seen[judged.visit] if judged.visit is not None else None
        revisit = seen[judged.revisit] if judged.revisit is not None else None
        if page.compared != (visit.compared(self._layer) if visit is not None else ()):
            yield "the layers that are said to be compared are not those of the policy"
        if page.equal != (equal_layers(visit, revisit) if visit is not None and revisit is not None else {}):
            yield "what is said about equal layers is wrong"
        ends = [one for one in (visit, revisit) if one is not None]
        if page.cached != any(one.is_cached for one in ends):
            yield f"it was {'' if not page.cached else 'not '}answered by a cache"
        if page.script_shell != any(one.script_shell for one in ends):
            yield f"it is {'' if not page.script_shell else 'not '}a script shell"
        if page.composite != self._composite(page, judged, states):
            yield "the verdict on the page with its parts is wrong"
        yield from self._model_faults(page, judged, visit, revisit)

    def _composite(self, page: StatedPage, judged: JudgedPage, states: PartStates) -> StatedComposite | None:
        if judged.verdict != "sharp" or not self._certificate.policy.sharp:
            return None
        return msgspec.convert(msgspec.to_builtins(composite_page(page.parts, states)), StatedComposite)

    def _model_faults(
        self, page: StatedPage, judged: JudgedPage, visit: PageObservation | None, revisit: PageObservation | None
    ) -> Iterator[str]:
        """The chance that the page changed and changed back, by the rate that the certificate states."""
        if (page.changed_and_back is None) != (judged.verdict != "sharp"):
            yield "changed_and_back is there if, and only if, a page is sharp"
        if page.changed_and_back is None:
            return
        shape = None if page.rate_shape is None else number_of(page.rate_shape)
        span_s = revisit.started - visit.ended if visit is not None and revisit is not None else 0.0
        if shape is not None and shape <= 0:
            yield "the shape of its rate is not positive"
            return
        modelled = changed_and_back(
            number_of(page.rate_per_day), shape, span_s, number_of(self._certificate.policy.reversion)
        )
        if abs(modelled - number_of(page.changed_and_back)) > 1e-4:
            yield "changed_and_back does not follow from its rate and the time between its downloads"

    def _count_faults(self) -> Iterator[str]:
        counts, pages = self._certificate.counts, self._certificate.pages
        verdicts = Counter(page.verdict for page in self.judged)
        sharp = [page for page, judged in zip(pages, self.judged, strict=True) if judged.verdict == "sharp"]
        composites = Counter(page.composite.verdict for page in sharp if page.composite is not None)
        expected: dict[str, object] = {
            "pages": len(pages),
            **{verdict: verdicts[verdict] for verdict in PAGE_VERDICTS},
            "sharp_by": {
                layer: sum(self._judge(page, layer).verdict == "sharp" for page in pages) for layer in _COUNTED_LAYERS
            },
            "cached": sum(page.cached for page in sharp),
            "script_shells": sum(page.script_shell for page in sharp),
            "requisites": len(self._certificate.requisites),
            "composite": {state: composites[state] for state in _COMPOSITES},
        }
        for name, value in expected.items():
            if (stated := getattr(counts, name)) != value:
                yield f"the count {name!r} is {stated}, but the pages give {value}"
        total = sum(number_of(page.expected) for page in pages)
        if abs(total - number_of(counts.expected_sharp)) > _ROUNDING * (1 + len(pages)):
            yield "the count 'expected_sharp' is not the sum of the pages' chances"
