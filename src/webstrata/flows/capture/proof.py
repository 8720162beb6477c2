"""The WACZ file of a finished capture, with its certificate: signed, and time-stamped if an authority is set."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.flows.capture.certified import certified_capture
from webstrata.flows.capture.download import CaptureDownloader
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock
from webstrata.records import Position, PostBody, Wait
from webstrata.sharp.proof.capture_outcome import CaptureOutcome
from webstrata.sharp.proof.certificate import ChainLink, PackedArchive, certify, encoded
from webstrata.sharp.proof.signature import fingerprint_of
from webstrata.sharp.proof.timestamp import REQUEST_TYPE, RESPONSE_TYPE, request, stamped

log = logging.getLogger("webstrata.capture")

_STAMP_PATIENCE_S = 60.0

Certify = Callable[[PackedArchive], Coroutine[Any, Any, bytes]]
"""The contents of the package -> the bytes of the certificate."""
Pack = Callable[[Sequence[Position], Path, str, Certify], Awaitable[int]]
"""(records, file to write, title, function that makes the certificate) -> number of captures in the file."""


class FinishedCapture(Struct, frozen=True, kw_only=True):
    """A finished capture: its file, outcome and certificate."""

    file: Path
    records: int
    outcome: CaptureOutcome
    certificate: dict[str, Any]
    key: str
    """The fingerprint of the signing key."""
    stamped: bool


class CertificateSigner:
    """Certifies captures with one signing key."""

    def __init__(
        self, *, key: bytes, software: str, authority: str, downloads: CaptureDownloader, pack: Pack, clock: Clock
    ) -> None:
        self._key = key
        self._software = software
        self._authority = authority
        self._downloads = downloads
        self._pack = pack
        self._clock = clock

    async def finish(self, state: CaptureState, out: Path, *, stopped: str = "") -> FinishedCapture:
        """Write the WACZ file of a capture in its current state. `stopped`: why it ended early."""
        subject = certified_capture(state, software=self._software, stopped=stopped)
        certificate: dict[str, Any] = {}

        async def certify_records(archive: PackedArchive) -> bytes:
            nonlocal certificate
            certificate = certify(subject, archive, ChainLink(), issued=self._clock.now())
            return encoded(certificate)

        records = await self._pack(state.positions, out, subject.title, certify_records)
        return FinishedCapture(
            file=out,
            records=records,
            outcome=subject.outcome,
            certificate=certificate,
            key=fingerprint_of(self._key),
            stamped=False,
        )

    async def _stamped(self, envelope: dict[str, object]) -> dict[str, object]:
        """The envelope with a time stamp; without one, and a warning in the log, if the authority gives none."""
        result = await self._downloads.post(
            self._authority,
            PostBody(body=request(envelope), content_type=REQUEST_TYPE),
            accept=RESPONSE_TYPE,
            patience_until=self._clock.now() + _STAMP_PATIENCE_S,
        )
        response = None if isinstance(result, Wait) or result.failure is not None else result.answer
        try:
            if response is None or response.status != 200:
                status = f"status {response.status}" if response is not None else "no response"
                why = result.why if isinstance(result, Wait) else result.failure or status
                raise UsageError(f"{self._authority} gave no time stamp: {why}.")
            return stamped(envelope, response.body, self._authority)
        except UsageError as problem:
            log.warning("%s The certificate is signed, but not time-stamped.", problem)
            return envelope
