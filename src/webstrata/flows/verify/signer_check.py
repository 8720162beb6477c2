"""Who signed a package: the check of the signature, of the trust in its key, and of its time stamp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from webstrata.clock import iso
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.sharp.proof.trust import TrustedKeys
from webstrata.sharp.proof.wacz_auth import PackageSignature, checked_signature

DIGEST_FILE = "datapackage-digest.json"


class TrustOptions(Struct, frozen=True, kw_only=True):
    """Whom the reader of a certificate trusts."""

    key: str | None = None
    """Fingerprint of the key that must have signed."""
    keys: TrustedKeys | None = None
    """The keys of a trust file, one of which must have signed."""
    authorities: tuple[bytes, ...] = ()
    """Root certificates (PEM) of time-stamp authorities, one of which must have made the time stamp."""


class CheckedSigner(Struct, frozen=True, kw_only=True):
    """The signer of a package."""

    signature: Literal["valid", "invalid", "missing"]
    text: str
    """One sentence about the signer."""
    key: str | None = None
    """Fingerprint."""
    signer: str | None = None
    """The name of the key in the trust file, or the domain that signed."""
    trusted: bool | None = None
    """None if the reader named nobody to trust."""
    signed_at: float | None = None
    """When it was signed, by the signer's own statement."""
    time_stamp: str | None = None
    stamp_text: str = ""
    failures: tuple[FailedCheck, ...] = ()


def checked_signer(document: dict[str, Any], datapackage: bytes, options: TrustOptions) -> CheckedSigner:
    """Check the signature in `datapackage-digest.json`. A key that nobody asked about is no failure."""
    found = checked_signature(document, datapackage, options.authorities)
    if found is None:
        trusted = False if options.key or options.keys is not None else None
        return CheckedSigner(
            signature="missing",
            text="NOT SIGNED: anybody can have written this package.",
            trusted=trusted,
            failures=(_failure("the package is not signed"),),
        )
    stamp_problem = found.stamp.problem if found.stamp is not None else ""
    wrong = [problem for problem in found.problems if problem != stamp_problem]
    failures = [_failure(problem) for problem in found.problems]
    name, trusted, problems = _trust(found, options)
    failures += [_failure(problem) for problem in problems]
    if options.authorities and found.stamp is None:
        failures.append(_failure("there is no time stamp, so no authority can have made it"))
    signer = name if found.kind != "domain" or name else found.domain
    return CheckedSigner(
        signature="invalid" if wrong else "valid",
        text=_text(found, name, trusted=trusted, is_valid=not wrong),
        key=found.fingerprint,
        signer=signer,
        trusted=trusted and not wrong if trusted is not None else None,
        signed_at=found.created,
        time_stamp=iso(found.stamp.at) if found.stamp is not None and found.stamp.at is not None else None,
        stamp_text=_stamp_text(found),
        failures=tuple(failures),
    )


def _trust(found: PackageSignature, options: TrustOptions) -> tuple[str | None, bool | None, Sequence[str]]:
    """(Name in the trust file, whether the key is trusted, why it is not)."""
    name: str | None = None
    problems: list[str] = []
    if options.keys is not None:
        if not found.key:
            problems.append("the key cannot be decoded, so the trust file does not list it")
        else:
            verdict = options.keys.judge(found.key, found.created, found.stamped_at)
            name = verdict.name
            problems += [verdict.problem] if verdict.problem else []
    if options.key is not None and options.key != found.fingerprint:
        problems.append(f"it was signed with another key than the required one: {found.fingerprint}")
    if options.keys is None and options.key is None:
        return None, None, ()
    return name, not problems, problems


def _text(found: PackageSignature, name: str | None, *, trusted: bool | None, is_valid: bool) -> str:
    key = found.fingerprint or "that cannot be decoded"
    if not is_valid:
        return f"The signature is NOT VALID; it claims to be of the key {key}."
    if trusted and name:
        return f"Signed by {name} (trusted key {key})."
    if trusted:
        return f"Signed with the required key {key}."
    if name:
        return f"Signed by {name}, whose key {key} is NOT TRUSTED for this package."
    if found.kind == "domain":
        return (
            f"Signed by the domain {found.domain} (key {key}), by a certificate whose root was not checked: "
            "give --trust FILE or --key."
        )
    if trusted is False:
        return f"Signed with an UNTRUSTED key {key}."
    return f"Signed with an UNKNOWN key {key}; give --trust FILE or --key."


def _stamp_text(found: PackageSignature) -> str:
    stamp = found.stamp
    if stamp is None:
        return "No time stamp: the times are the signer's own statement."
    if stamp.problem or stamp.at is None:
        return "The time stamp is NOT VALID."
    how = "by a trusted authority" if stamp.is_trusted else "by an authority that was not checked: give --authority PEM"
    return f"Time-stamped {iso(stamp.at)} {how}."


def _failure(what: str) -> FailedCheck:
    return FailedCheck(page=DIGEST_FILE, what=what)
