"""What a capture ends with: its certificate, signed, stamped where an authority is named, inside the WACZ."""

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
from webstrata.sharp.proof.timestamp import ANSWER_TYPE, REQUEST_TYPE, request, stamped

log = logging.getLogger("webstrata.capture")

_STAMP_PATIENCE_S = 60.0

Certify = Callable[[dict[str, str], dict[str, str]], Coroutine[Any, Any, bytes]]
"""(record -> SHA-256, file -> digest) -> the certificate's bytes."""
Pack = Callable[[Sequence[Position], Path, str, Certify], Awaitable[int]]
"""(records, file to write, title, maker of the certificate) -> captures in it."""


class FinishedCapture(Struct, frozen=True, kw_only=True):
    """A finished capture: its file and what it shows."""

    file: Path
    records: int
    outcome: CaptureOutcome
    certificate: dict[str, Any]
    key: str
    """Fingerprint of the key that signed."""
    stamped: bool


class CertificateSigner:
    """Certifies captures with one key."""

    def __init__(
        self, *, key: bytes, software: str, authority: str, downloads: CaptureDownloader, pack: Pack, clock: Clock
    ) -> None:
        self._key = key
        self._software = software
        self._authority = authority
        self._downloads = downloads
        self._pack = pack
        self._clock = clock

    async def prove(self, state: CaptureState, out: Path) -> FinishedCapture:
        """Write the WACZ of a capture as it stands."""
        result = state.outcome()
        told: dict[str, Any] = {}
        has_stamp = False

        async def certificate(records: dict[str, str], files: dict[str, str]) -> bytes:
            nonlocal told, has_stamp
            told = certify(
                result.pages,
                _policy(state.began),
                capture=state.began.capture,
                software=self._software,
                issued=self._clock.now(),
                records=records,
                files=files,
            )
            envelope = sign(told, self._key)
            if self._authority:
                envelope = await self._stamped(envelope)
                has_stamp = "timestamp" in envelope
            return msgspec.json.format(msgspec.json.encode(envelope), indent=1)

        title = f"{state.began.order.url}, captured {state.began.capture[:8]}"
        records = await self._pack(state.positions, out, title, certificate)
        return FinishedCapture(
            file=out,
            records=records,
            outcome=result,
            certificate=told,
            key=fingerprint_of(self._key),
            stamped=has_stamp,
        )

    async def _stamped(self, envelope: dict[str, object]) -> dict[str, object]:
        """With the authority's time stamp, if it gives one: a capture is not lost for the lack of it."""
        came = await self._downloads.ask(
            self._authority,
            PostBody(body=request(envelope), content_type=REQUEST_TYPE),
            accept=ANSWER_TYPE,
            patience_until=self._clock.now() + _STAMP_PATIENCE_S,
        )
        answer = None if isinstance(came, Wait) or came.failure is not None else came.answer
        try:
            if answer is None or answer.status != 200:
                why = came.why if isinstance(came, Wait) else came.failure or f"status {answer and answer.status}"
                raise UsageError(f"{self._authority} gave no time stamp: {why}.")
            return stamped(envelope, answer.body, self._authority)
        except UsageError as problem:
            log.warning("%s The certificate is signed, but not stamped.", problem)
            return envelope


def _policy(began: CaptureStarted) -> CapturePolicy:
    order = began.order
    known = order.listed is not None or order.use_sitemap
    algorithm = "single pass" if not order.sharp else "optimal" if known else "optimal-online"
    return CapturePolicy(
        algorithm=order.ready.algorithm if order.ready is not None else algorithm,
        tau=order.tau,
        delay_s=began.slot_s,
        layer=order.layer,
        scope=order.scope,
        seeds=(order.url,),
        sharp=order.sharp,
        conditional_requests=order.conditional,
        reversion=began.reversion,
    )
