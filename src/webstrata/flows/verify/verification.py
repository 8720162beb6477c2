"""`verify`: checks every statement of a certificate against the bytes of the package that contains it.

The certificate is not believed in anything: records are read and parsed again, and verdicts follow from them. What no
check can show is whether the signer's records are what the servers sent, and whether requests without a response were
made as stated (docs/reference/certificate.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from webstrata.flows.verify.content_process import ContentProcess
from webstrata.flows.verify.contents import ContentCheck
from webstrata.flows.verify.document import DocumentError, certificate_document, time_of
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.flows.verify.observations import ObservationCheck
from webstrata.flows.verify.package_files import CERTIFICATE, MAX_CERTIFICATE_BYTES, certified_files, package_files
from webstrata.flows.verify.page_lists import PageListCheck
from webstrata.flows.verify.record_table import RecordTable
from webstrata.flows.verify.signer_check import CheckedSigner, TrustOptions, checked_signer
from webstrata.flows.verify.stated_verdicts import VerdictCheck
from webstrata.ports import Evidence
from webstrata.sharp.proof.stated_certificate import StatedCertificate

MAX_FAILURES = 1000
_CLOCK_TOLERANCE_S = 3600.0
"""Of a package that is wrong in everything, only so many failures are kept."""
_UNREAD = CheckedSigner(signature="missing", text="The signature was NOT CHECKED: the package is not read any further.")


class Verification(Struct, frozen=True, kw_only=True):
    """The result of the check of a package."""

    signer: CheckedSigner
    certificate: StatedCertificate | None = None
    sharp: int = 0
    """The number of sharp pages, as the verifier judges."""
    failures: tuple[FailedCheck, ...] = ()

    @property
    def is_valid(self) -> bool:
        return not self.failures

    def report(self) -> dict[str, Any]:
        """The result as plain data: the contract of both verifiers."""
        signer, certificate = self.signer, self.certificate
        counts = certificate.counts if certificate is not None else None
        instant = certificate.instant if certificate is not None else None
        return {
            "valid": self.is_valid,
            "signature": signer.signature,
            "key": signer.key,
            "signer": signer.signer,
            "trusted": signer.trusted,
            "time_stamp": signer.time_stamp,
            "pages": counts.pages if counts is not None else 0,
            "sharp": self.sharp,
            "cached": counts.cached if counts is not None else 0,
            "script_shells": counts.script_shells if counts is not None else 0,
            "layer": certificate.policy.layer if certificate is not None else None,
            "instant": {"from": instant.start, "to": instant.end} if instant is not None else None,
            "failures": [{"page": failure.page, "what": failure.what} for failure in self.failures],
        }


def refused(what: str) -> Verification:
    """The result for a file that is not read at all."""
    return Verification(signer=_UNREAD, failures=(FailedCheck(page=None, what=what),))


def verify(evidence: Evidence, options: TrustOptions | None = None) -> Verification:
    """Check a package. A package whose structure is wrong is not unpacked."""
    layout = evidence.layout_faults()
    if layout:
        return Verification(signer=_UNREAD, failures=tuple(FailedCheck(page=None, what=what) for what in layout))
    files = package_files(evidence)
    signer = checked_signer(files.digest_document, files.datapackage, options or TrustOptions())
    failures = [*signer.failures, *files.failures]
    certificate: StatedCertificate | None = None
    sharp = 0
    try:
        certificate = certificate_document(evidence.read(CERTIFICATE, MAX_CERTIFICATE_BYTES) or b"")
        failures += certified_files(certificate, files)
        failures += _time_failures(certificate, signer)
        for failure in _content_failures(certificate, evidence):
            if isinstance(failure, VerdictCheck):
                sharp = failure.sharp
            elif len(failures) < MAX_FAILURES:
                failures.append(failure)
    except DocumentError as problem:
        failures.append(FailedCheck(page=CERTIFICATE, what=str(problem)))
    return Verification(signer=signer, certificate=certificate, sharp=sharp, failures=tuple(failures))


def _time_failures(certificate: StatedCertificate, signer: CheckedSigner) -> list[FailedCheck]:
    """A certificate is issued before it is signed; the two times may be read from different clocks."""
    if signer.signed_at is None or time_of(certificate.issued) <= signer.signed_at + _CLOCK_TOLERANCE_S:
        return []
    return [FailedCheck(page=CERTIFICATE, what="it was issued in the future: after the time of its signature")]


def _content_failures(certificate: StatedCertificate, evidence: Evidence) -> Iterator[FailedCheck | VerdictCheck]:
    table = RecordTable(evidence, certificate)
    yield from table.failures
    observations = ObservationCheck(certificate, table)
    yield from observations.failures()
    with ContentProcess() as process:
        yield from ContentCheck(certificate, table, evidence).failures(process)
        yield from PageListCheck(certificate, table, evidence).failures(process)
    verdicts = VerdictCheck(certificate, observations.observed)
    yield verdicts
    yield from verdicts.failures()
