"""The WACZ file of a finished capture, with its certificate: signed, and time-stamped if an authority is set."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.flows.capture.download import CaptureDownloader
from webstrata.flows.capture.events import CaptureStarted
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock
from webstrata.records import Position, PostBody, Wait
from webstrata.sharp.proof.capture_outcome import CaptureOutcome
from webstrata.sharp.proof.certificate import CapturePolicy, certify
from webstrata.sharp.proof.signature import fingerprint_of, sign
from webstrata.sharp.proof.timestamp import REQUEST_TYPE, RESPONSE_TYPE, request, stamped

log = logging.getLogger("webstrata.capture")

_STAMP_PATIENCE_S = 60.0

Certify = Callable[[dict[str, str], dict[str, str]], Coroutine[Any, Any, bytes]]
"""(record -> SHA-256, file -> digest) -> the bytes of the certificate."""
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

    async def finish(self, state: CaptureState, out: Path) -> FinishedCapture:
        """Write the WACZ file of a capture in its current state."""
        outcome = state.outcome()
        certificate: dict[str, Any] = {}
        has_stamp = False

        async def certify_records(records: dict[str, str], files: dict[str, str]) -> bytes:
            nonlocal certificate, has_stamp
            certificate = certify(
                outcome.pages,
                _policy(state.started),
                capture=state.started.capture,
                software=self._software,
                issued=self._clock.now(),
                records=records,
                files=files,
            )
            envelope = sign(certificate, self._key)
            if self._authority:
                envelope = await self._stamped(envelope)
                has_stamp = "timestamp" in envelope
            return msgspec.json.format(msgspec.json.encode(envelope), indent=1)

        title = f"{state.started.order.url}, captured {state.started.capture[:8]}"
        records = await self._pack(state.positions, out, title, certify_records)
        return FinishedCapture(
            file=out,
            records=records,
            outcome=outcome,
            certificate=certificate,
            key=fingerprint_of(self._key),
            stamped=has_stamp,
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


def _policy(started: CaptureStarted) -> CapturePolicy:
    order = started.order
    algorithm = "single pass" if not order.sharp else "optimal" if order.pages_known else "optimal-online"
    return CapturePolicy(
        algorithm=order.schedule.algorithm if order.schedule is not None else algorithm,
        tau=order.tau,
        delay_s=started.slot_s,
        layer=order.layer,
        scope=order.scope,
        seeds=(order.url,),
        sharp=order.sharp,
        conditional_requests=order.conditional,
        reversion=started.reversion,
    )
