"""The WACZ file of a finished capture: its certificate in the chain of its site, its signature and its time stamp."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Container, Coroutine, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.flows.capture.certified import certified_capture
from webstrata.flows.capture.download import CaptureDownloader
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock, Journal
from webstrata.records import Position, PostBody, Wait
from webstrata.sharp.proof.capture_log import LogEntry, log_line, next_link, parse_log
from webstrata.sharp.proof.capture_outcome import CaptureOutcome
from webstrata.sharp.proof.certificate import CertifiedCapture, PackedArchive, certify, encoded
from webstrata.sharp.proof.signature import PackageSigner
from webstrata.sharp.proof.timestamp import REQUEST_TYPE, RESPONSE_TYPE, request, stamped

log = logging.getLogger("webstrata.capture")

_STAMP_PATIENCE_S = 60.0

Certify = Callable[[PackedArchive], Coroutine[Any, Any, bytes]]
"""The contents of the package -> the bytes of the certificate."""
Sign = Callable[[str, float], Coroutine[Any, Any, dict[str, str]]]
"""(digest of the description of the package, its time) -> the signature."""


class CapturePackage(Struct, frozen=True, kw_only=True):
    """What the package of a capture contains."""

    positions: Sequence[Position]
    out: Path
    title: str
    seeds: tuple[str, ...]
    pages: Container[str]
    since: float
    """The begin of the capture."""
    instant: float
    """The time at which replay of the pages begins."""
    certify: Certify
    sign: Sign


Pack = Callable[[CapturePackage], Awaitable[int]]
"""Writes the package; returns the number of captures in the file."""


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
    """Certifies captures with one signing key, one after the other: the certificates of a site form a chain."""

    def __init__(
        self,
        *,
        signer: PackageSigner,
        software: str,
        authority: str,
        downloads: CaptureDownloader,
        pack: Pack,
        chain: Journal,
        clock: Clock,
    ) -> None:
        """`chain`: the log of all certificates."""
        self._signer = signer
        self._software = software
        self._authority = authority
        self._downloads = downloads
        self._pack = pack
        self._chain = chain
        self._entries = parse_log(chain.lines())
        self._clock = clock
        self._turn = asyncio.Lock()

    async def finish(self, state: CaptureState, out: Path, *, stopped: str = "") -> FinishedCapture:
        """Write the WACZ file of a capture in its current state. `stopped`: why it ended early."""
        subject = certified_capture(state, software=self._software, stopped=stopped)
        certificate: dict[str, Any] = {}
        data = b""
        has_stamp = False

        async def certify_records(archive: PackedArchive) -> bytes:
            nonlocal certificate, data
            link = next_link(self._entries, subject.site)
            certificate = certify(subject, archive, link, issued=self._clock.now())
            data = encoded(certificate)
            return data

        async def sign(digest: str, created: float) -> dict[str, str]:
            nonlocal has_stamp
            signed = self._signer.signed_data(digest, created, self._software)
            stamp = await self._stamp(signed["signature"]) if self._authority else {}
            has_stamp = bool(stamp)
            await self._add_to_chain(subject, certificate, data, out)
            return signed | stamp

        instant = subject.outcome.instant
        async with self._turn:
            records = await self._pack(
                CapturePackage(
                    positions=state.positions,
                    out=out,
                    title=subject.title,
                    seeds=subject.policy.seeds,
                    pages=state.pages,
                    since=state.started.at,
                    instant=state.started.at if instant is None else (instant.start + instant.end) / 2,
                    certify=certify_records,
                    sign=sign,
                )
            )
        return FinishedCapture(
            file=out,
            records=records,
            outcome=subject.outcome,
            certificate=certificate,
            key=self._signer.fingerprint,
            stamped=has_stamp,
        )

    async def _add_to_chain(
        self, subject: CertifiedCapture, certificate: dict[str, Any], data: bytes, out: Path
    ) -> None:
        """Write the log before the file gets its name, so that no two files ever have the same place in the chain."""
        entry = LogEntry(
            site=subject.site,
            sequence=certificate["sequence"],
            capture=subject.capture,
            issued=certificate["issued"],
            certificate=f"sha256:{hashlib.sha256(data).hexdigest()}",
            file=out.name,
            key=self._signer.fingerprint,
        )
        await self._chain.append([log_line(entry)])
        self._entries.append(entry)

    async def _stamp(self, signature: str) -> dict[str, str]:
        """The fields of a time stamp; none, and a warning in the log, if the authority gives none."""
        result = await self._downloads.post(
            self._authority,
            PostBody(body=request(signature), content_type=REQUEST_TYPE),
            accept=RESPONSE_TYPE,
            patience_until=self._clock.now() + _STAMP_PATIENCE_S,
        )
        response = None if isinstance(result, Wait) or result.failure is not None else result.answer
        try:
            if response is None or response.status != 200:
                status = f"status {response.status}" if response is not None else "no response"
                why = result.why if isinstance(result, Wait) else result.failure or status
                raise UsageError(f"{self._authority} gave no time stamp: {why}.")
            return stamped(signature, response.body, self._authority)
        except UsageError as problem:
            log.warning("%s The package is signed, but not time-stamped.", problem)
            return {}
