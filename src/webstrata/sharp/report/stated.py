"""What a certificate states, as typed rows. Certificates of others may be altered: what does not fit is refused."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate import TYPE, VERSION


class ReportedObservation(Struct, frozen=True, kw_only=True):
    """One request for a URL."""

    started: str
    ended: str
    status: int
    kind: str
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
    last_modified: str = ""
    script_shell: bool = False


class ReportedComposite(Struct, frozen=True, kw_only=True):
    """The state of a page together with the files that it loads."""

    verdict: str
    contradicting: list[str] = []
    unknown: list[str] = []


class ReportedUrl(Struct, frozen=True, kw_only=True):
    """A URL with all requests for it; a verdict if it is a page or a requisite."""

    url: str
    observations: list[ReportedObservation]
    verdict: str = ""
    why: str = ""


class ReportedPage(ReportedUrl, frozen=True, kw_only=True):
    """A page."""

    visit: int | None = None
    revisit: int | None = None
    compared: list[str] = []
    equal: dict[str, bool] = {}
    rules: dict[str, Any] | None = None
    cached: bool = False
    script_shell: bool = False
    parts: list[str] = []
    composite: ReportedComposite | None = None
    rate_per_day: str = ""
    rate_from: str = ""
    expected: str = ""
    changed_and_back: str | None = None

    def observation(self, index: int | None) -> ReportedObservation | None:
        """The visit or the revisit."""
        return self.observations[index] if index is not None and 0 <= index < len(self.observations) else None


class ReportedCounts(Struct, frozen=True, kw_only=True):
    """The counts of pages."""

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
    composite: dict[str, int]

    @property
    def by_verdict(self) -> dict[str, int]:
        """The number of pages with each verdict."""
        return {
            "sharp": self.sharp,
            "blurred": self.blurred,
            "absent": self.absent,
            "error": self.error,
            "unreachable": self.unreachable,
            "unvisited": self.unvisited,
        }


class ReportedInstant(Struct, frozen=True, kw_only=True):
    """The instant of the capture."""

    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")


class ReportedGap(Struct, frozen=True, kw_only=True):
    """What is missing in a capture that was cut short."""

    why: str
    not_visited: int
    not_revisited: int
    not_discovered: int | None = None


class ReportedArchive(Struct, frozen=True, kw_only=True):
    """The digests of the records and files."""

    records: int
    sha256: str
    files: dict[str, str]


class ReportedCapture(Struct, frozen=True, kw_only=True):
    """A certificate."""

    type: str
    version: int
    capture: str
    software: str
    issued: str
    title: str
    main_page: str
    site: str
    sequence: int
    previous: dict[str, str] | None
    policy: dict[str, Any]
    instant: ReportedInstant | None
    counts: ReportedCounts
    pages: list[ReportedPage]
    requisites: list[ReportedUrl]
    others: list[ReportedUrl]
    archive: ReportedArchive
    unfinished: ReportedGap | None
    statement: str

    @property
    def layer(self) -> str:
        return str(self.policy.get("layer", ""))

    @property
    def is_sharp_capture(self) -> bool:
        """Whether pages were visited and revisited, and some of them are proved."""
        return bool(self.policy.get("sharp")) and self.instant is not None and self.counts.sharp > 0


def stated(certificate: dict[str, Any]) -> ReportedCapture:
    """The typed certificate. Raises `UsageError` if it is of another type or version, or has other fields."""
    if certificate.get("type") != TYPE or certificate.get("version") != VERSION:
        raise UsageError(
            f"the certificate has another type or version than {TYPE} {VERSION}. Make the report with the version of "
            "Webstrata that made the capture."
        )
    try:
        return msgspec.convert(certificate, ReportedCapture)
    except (msgspec.ValidationError, RecursionError) as problem:
        raise UsageError(f"the certificate was altered or is damaged, so it has no report: {problem}") from problem
