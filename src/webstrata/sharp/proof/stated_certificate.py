"""The certificate as its readers parse it: every field has a type, and no other field is allowed."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from webstrata.sharp.proof.page_observation import ObservationKind
from webstrata.sharp.proof.verdicts import PAGE_VERDICTS


class _Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class StatedInterval(_Strict, frozen=True, rename={"start": "from", "end": "to"}):
    """An instant as written."""

    start: str
    end: str


class StatedObservation(_Strict, frozen=True):
    """One request for a URL as the certificate states it."""

    started: str
    ended: str
    status: int
    kind: ObservationKind
    why: str = ""
    record: str = ""
    payload: str = ""
    content_type: str = ""
    target: str = ""
    layers: dict[str, str] = {}
    rendered: str = ""
    view: str = ""
    age_s: int | None = None
    cache: str = ""
    last_modified: str | None = None
    script_shell: bool = False


class StatedComposite(_Strict, frozen=True):
    """The verdict on a page with its parts."""

    verdict: str
    contradicting: tuple[str, ...]
    unknown: tuple[str, ...]


class StatedPage(_Strict, frozen=True):
    """A page with its observations and verdict."""

    url: str
    verdict: str
    why: str
    visit: int | None
    revisit: int | None
    compared: tuple[str, ...]
    equal: dict[str, bool]
    rules: dict[str, object] | None
    observations: tuple[StatedObservation, ...]
    cached: bool
    script_shell: bool
    parts: tuple[str, ...]
    composite: StatedComposite | None
    weight: str
    rate_per_day: str
    rate_from: str
    rate_shape: str | None
    interval_s: str | None
    expected: str
    changed_and_back: str | None

    def observation(self, index: int | None) -> StatedObservation | None:
        """The visit or the revisit."""
        return self.observations[index] if index is not None and 0 <= index < len(self.observations) else None


class StatedRequisite(_Strict, frozen=True):
    """A file that pages load, with its observations and verdict."""

    url: str
    verdict: str
    why: str
    observations: tuple[StatedObservation, ...]


class StatedUrl(_Strict, frozen=True):
    """Another URL with its observations."""

    url: str
    observations: tuple[StatedObservation, ...]


class StatedPolicy(_Strict, frozen=True):
    """The rules of the capture."""

    algorithm: str
    layer: str
    tau: str
    delay_s: str
    scope: str
    seeds: tuple[str, ...]
    sharp: bool
    conditional_requests: bool
    rendered: bool
    repair: int
    requisites: bool
    reversion: str


class StatedCounts(_Strict, frozen=True):
    """The counts of verdicts."""

    pages: int
    sharp: int
    blurred: int
    absent: int
    error: int
    unreachable: int
    unvisited: int
    sharp_by: dict[str, int]
    cached: int
    script_shells: int
    expected_sharp: str
    requisites: int
    composite: dict[str, int]

    @property
    def by_verdict(self) -> dict[str, int]:
        """The number of pages with each verdict."""
        return {verdict: getattr(self, verdict) for verdict in PAGE_VERDICTS}


class StatedArchive(_Strict, frozen=True):
    """The digests of the records and files."""

    records: int
    sha256: str
    originals: tuple[str, ...]
    files: dict[str, str]


class StatedChain(_Strict, frozen=True):
    """The certificate before this one."""

    capture: str
    certificate: str


class StatedUnfinished(_Strict, frozen=True):
    """Why the capture was cut short."""

    why: str
    not_visited: int
    not_revisited: int
    not_discovered: int | None


class StatedCertificate(_Strict, frozen=True):
    """The whole certificate."""

    type: str
    version: int
    capture: str
    software: str
    issued: str
    title: str
    main_page: str
    site: str
    previous: StatedChain | None
    sequence: int
    policy: StatedPolicy
    instant: StatedInterval | None
    counts: StatedCounts
    pages: tuple[StatedPage, ...]
    requisites: tuple[StatedRequisite, ...]
    others: tuple[StatedUrl, ...]
    archive: StatedArchive
    unfinished: StatedUnfinished | None
    statement: str

    @property
    def is_sharp_capture(self) -> bool:
        """Whether pages were visited and revisited, and some of them are proved."""
        return self.policy.sharp and self.instant is not None and self.counts.sharp > 0

    def entries(self) -> Iterator[StatedPage | StatedRequisite | StatedUrl]:
        """All URLs with observations."""
        yield from self.pages
        yield from self.requisites
        yield from self.others
