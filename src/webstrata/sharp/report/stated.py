"""Reading of a certificate for its report. Certificates of others may be altered: what does not fit is refused."""

from __future__ import annotations

from typing import Any

import msgspec

from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate import TYPE, VERSION
from webstrata.sharp.proof.stated_certificate import StatedCertificate


def stated(certificate: dict[str, Any]) -> StatedCertificate:
    """The typed certificate. Raises `UsageError` if it is of another type or version, or has other fields."""
    if certificate.get("type") != TYPE or certificate.get("version") != VERSION:
        raise UsageError(
            f"the certificate has another type or version than {TYPE} {VERSION}. Make the report with the version of "
            "Webstrata that made the capture."
        )
    try:
        return msgspec.convert(certificate, StatedCertificate)
    except (msgspec.ValidationError, RecursionError) as problem:
        raise UsageError(f"the certificate was altered or is damaged, so it has no report: {problem}") from problem
