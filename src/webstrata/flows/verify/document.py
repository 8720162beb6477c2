"""The certificate as the verifier reads it: written exactly as certificates are, with times and numbers that parse."""

from __future__ import annotations

import re

import msgspec

from webstrata.clock import iso, parse_instant
from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate import TYPE, VERSION, encoded
from webstrata.sharp.proof.page_observation import COMPARED_LAYERS, PageObservation
from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedInterval, StatedObservation
from webstrata.sharp.proof.verdicts import Instant

_DECIMAL = re.compile(r"-?\d{1,30}(\.\d{1,9})?")


class DocumentError(Exception):
    """The bytes are not a certificate; the text says why."""


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
