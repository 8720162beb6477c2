"""The certificate as the verifier reads it: every field has a type, and no other field is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from webstrata.clock import iso, parse_instant
from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate import TYPE, VERSION, encoded
from webstrata.sharp.proof.page_observation import COMPARED_LAYERS, ObservationKind, PageObservation
from webstrata.sharp.proof.verdicts import Instant

_DECIMAL = re.compile(r"-?\d{1,30}(\.\d{1,9})?")


class DocumentError(Exception):
    """The bytes are not a certificate; the text says why."""


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

    def entries(self) -> Iterator[StatedPage | StatedRequisite | StatedUrl]:
        """All URLs with observations."""
        yield from self.pages
        yield from self.requisites
        yield from self.others


def certificate_document(data: bytes) -> StatedCertificate:
    """The certificate in these bytes. Raises DocumentError if it is not one, or is not written as certificates are."""
    try:
        plain = msgspec.json.decode(data)
        if not isinstance(plain, dict) or (plain.get("type"), plain.get("version")) != (TYPE, VERSION):
            raise DocumentError(f"it is not a certificate of type {TYPE}, version {VERSION}")
        if encoded(plain) != data:
            raise DocumentError("it is not written as certificates are: sorted names, each once, indented by 1")
        document = msgspec.convert(plain, StatedCertificate)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as problem:
        raise DocumentError(f"a field is missing or invalid ({str(problem)[:200]})") from None
    if document.policy.layer not in COMPARED_LAYERS:
        raise DocumentError(f"the layer {document.policy.layer[:40]!r} is not known")
    return document


def instant_of(stated: StatedInterval | None) -> Instant | None:
    """The instant as numbers. Raises DocumentError."""
    return None if stated is None else Instant(time_of(stated.start), time_of(stated.end))


def observation_of(stated: StatedObservation) -> PageObservation:
    """The observation as the verdicts need it. Raises DocumentError."""
    return PageObservation(
        started=time_of(stated.started),
        ended=time_of(stated.ended),
        kind=stated.kind,
        status=stated.status,
        why=stated.why,
        record=stated.record,
        payload=stated.payload,
        content_type=stated.content_type,
        target=stated.target,
        layers=stated.layers,
        rendered=stated.rendered,
        view=stated.view,
        age_s=stated.age_s,
        cache=stated.cache,
        last_modified=None if stated.last_modified is None else time_of(stated.last_modified),
        script_shell=stated.script_shell,
    )


def time_of(text: str) -> float:
    """A time in the one form that certificates have. Raises DocumentError."""
    try:
        at = parse_instant(text)
        if iso(at) == text:
            return at
    except (UsageError, ValueError, OverflowError):
        pass
    raise DocumentError(f"not a time as certificates have it: {text[:40]!r}")


def number_of(text: str) -> float:
    """A number that is written as a decimal. Raises DocumentError."""
    if not _DECIMAL.fullmatch(text):
        raise DocumentError(f"not a decimal number: {text[:40]!r}")
    return float(text)
