"""The verdicts of a capture, computed from all observations of each URL and the instant, and from nothing else.

A page is sharp if its nearest observations before and after the instant show the same content and nothing that was
observed in between contradicts it. One page may have been observed only once, in the middle: its observation is then
the instant. Every request counts, failed ones too.

A requisite (an image, a style sheet, a script) is usually downloaded once, after the pages. It is judged in the manner
of Ainsworth and Nelson: the server's statement when it was last modified makes it coherent with the instant, or
contradicts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from webstrata.sharp.proof.page_observation import PageObservation

PageVerdict = Literal["sharp", "blurred", "absent", "error", "unreachable", "unvisited"]
RequisiteVerdict = Literal["sharp", "coherent", "violative", "unknown", "absent", "error", "unreachable", "unvisited"]
CompositeState = Literal["sharp", "coherent", "violative", "unknown"]
PAGE_VERDICTS: tuple[PageVerdict, ...] = ("sharp", "blurred", "absent", "error", "unreachable", "unvisited")


class Instant(NamedTuple):
    """The joint interval of the sharp pages: they all had their certified contents from its start to its end."""

    start: float
    end: float


class JudgedPage(Struct, frozen=True, kw_only=True):
    """The verdict on a page: `visit` and `revisit` are indexes of the nearest observations around the instant."""

    verdict: PageVerdict
    why: str
    visit: int | None = None
    revisit: int | None = None


class JudgedRequisite(Struct, frozen=True, kw_only=True):
    """The verdict on a file that pages load, and its state as a part of a page."""

    verdict: RequisiteVerdict
    why: str
    as_part: CompositeState


class CompositePage(Struct, frozen=True, kw_only=True):
    """The verdict on a page together with everything that it loads."""

    verdict: CompositeState
    contradicting: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class _Nearest(NamedTuple):
    """The indexes of the nearest observations before and after an instant, and of those that overlap it."""

    before: int | None
    after: int | None
    during: list[int]


def judged_page(observations: Sequence[PageObservation], instant: Instant | None, layer: str) -> JudgedPage:
    """Judge a page by all its observations, in the order of their start."""
    if not observations:
        return JudgedPage(verdict="unvisited", why="it was not requested")
    if instant is None:
        return JudgedPage(verdict=_not_sharp(observations), why=_last_why(observations) or "no instant is covered")
    nearest = _nearest(observations, instant)
    before, after, during = nearest
    if before is not None and after is not None:
        key = observations[before].key(layer)
        around = [observations[after], *(observations[index] for index in during)]
        if key is not None and all(observation.key(layer) == key for observation in around):
            why = "the same content before and after the instant"
            return JudgedPage(verdict="sharp", why=why, visit=before, revisit=after)
    if len(during) == 1 and is_anchor(observations[during[0]], instant, layer):
        return JudgedPage(verdict="sharp", why="its download is the instant", visit=during[0])
    seen = [observations[index] for index in (before, after, *during) if index is not None]
    return JudgedPage(verdict=_not_sharp(seen), why=_why(observations, nearest, layer), visit=before, revisit=after)


def is_anchor(observation: PageObservation, instant: Instant, layer: str) -> bool:
    """Whether this download of a content is the instant itself."""
    is_instant = (observation.started, observation.ended) == instant
    return is_instant and observation.key(layer) is not None


def judged_requisite(observations: Sequence[PageObservation], instant: Instant | None) -> JudgedRequisite:
    """Judge a file that pages load. Its bytes are compared."""
    page = judged_page(observations, instant, "raw")
    if page.verdict == "blurred":
        verdict, why = _coherence(observations, instant)
        return JudgedRequisite(verdict=verdict, why=why, as_part=_part_state(verdict))
    is_absent_throughout = page.verdict == "absent" and page.visit is not None and page.revisit is not None
    state = "coherent" if is_absent_throughout else _part_state(page.verdict)
    return JudgedRequisite(verdict=page.verdict, why=page.why, as_part=state)


def _coherence(observations: Sequence[PageObservation], instant: Instant | None) -> tuple[CompositeState, str]:
    """What is known of a file at the instant that was observed, but not with the same bytes on both sides."""
    if instant is None:
        return "unknown", "no instant is covered"
    before, after, _ = _nearest(observations, instant)
    last = observations[after] if after is not None else None
    if last is None or (content := last.key("raw")) is None:
        return "unknown", "its content was not observed after the instant"
    earlier = observations[before].key("raw") if before is not None else None
    if earlier is not None and earlier != content:
        return "violative", "it was different before and after the instant"
    if last.kind != "content" or last.last_modified is None:
        return "unknown", "it was observed after the instant, and the server does not say since when it is unchanged"
    if last.last_modified > instant.end and before is None:
        return "violative", "the server says that it was modified after the instant"
    if last.last_modified <= instant.start:
        return "coherent", "the server says that it was last modified before the instant"
    return "unknown", "the server says that it was modified during the instant, or after it"


def page_as_part(page: JudgedPage) -> CompositeState:
    """The state of a page that another page shows in a frame."""
    is_observed_twice = page.visit is not None and page.revisit is not None
    return "violative" if page.verdict == "blurred" and is_observed_twice else _part_state(page.verdict)


def composite_page(parts: Sequence[str], states: Mapping[str, CompositeState]) -> CompositePage:
    """Judge a sharp page together with its parts. `states`: of requisites and pages, by URL."""
    found = {url: states.get(url, "unknown") for url in parts}
    contradicting = tuple(url for url, state in found.items() if state == "violative")
    unknown = tuple(url for url, state in found.items() if state == "unknown")
    verdict: CompositeState = next((state for state in _WORST_FIRST if state in found.values()), "sharp")
    return CompositePage(verdict=verdict, contradicting=contradicting, unknown=unknown)


_WORST_FIRST: tuple[CompositeState, ...] = ("violative", "unknown", "coherent")


def _part_state(verdict: str) -> CompositeState:
    known: tuple[CompositeState, ...] = ("sharp", "coherent", "violative")
    return next((state for state in known if state == verdict), "unknown")


def _nearest(observations: Sequence[PageObservation], instant: Instant) -> _Nearest:
    before = after = None
    during = []
    for index, observation in enumerate(observations):
        if observation.ended <= instant.start and not _is_point(observation, instant):
            before = index
        elif observation.started >= instant.end and not _is_point(observation, instant):
            after = index if after is None else after
        else:
            during.append(index)
    return _Nearest(before, after, during)


def _is_point(observation: PageObservation, instant: Instant) -> bool:
    """A download without duration that is the instant itself is neither before nor after it."""
    return (observation.started, observation.ended) == instant


def _not_sharp(seen: Sequence[PageObservation]) -> PageVerdict:
    kinds = {observation.kind for observation in seen}
    if kinds == {"failure"}:
        return "unreachable"
    if kinds == {"absent"}:
        return "absent"
    return "error" if kinds <= {"absent", "error", "failure"} else "blurred"


def _why(observations: Sequence[PageObservation], nearest: _Nearest, layer: str) -> str:
    before, after, during = nearest
    around = [observations[index] for index in (before, *during, after) if index is not None]
    for observation in around:
        if observation.kind not in ("content", "redirect"):
            return _problem(observation)
    if before is None or after is None:
        return f"it was not downloaded {'before' if before is None else 'after'} the instant"
    first, last = observations[before], observations[after]
    if first.status != last.status:
        return f"its status changed from {first.status} to {last.status}"
    if first.key(layer) != last.key(layer):
        return "its content changed between visit and revisit"
    return "its content was different at the instant"


def _problem(observation: PageObservation) -> str:
    return observation.why or (f"status {observation.status}" if observation.status else "no response")


def _last_why(observations: Sequence[PageObservation]) -> str:
    problems = [_problem(seen) for seen in observations if seen.kind not in ("content", "redirect")]
    return problems[-1] if problems else ""
