"""The true changes of every page, computed from the recorded versions. No policy ever receives them.

`TruthProcess` computes them in another process while a crawl runs: every recorded version must be fingerprinted, which
takes almost as long as the crawl.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Container, Iterable, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Literal

import msgspec
from msgspec import Struct

from webstrata.detect.verdict import judge, judge_alone
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import media_type
from webstrata.observe.page import fingerprint, observation_of, observe_typed
from webstrata.records import Fingerprint, Observation

ComputeFingerprint = Callable[[bytes, str, str | None, str], Fingerprint]
"""(body, media type, charset, url) -> fingerprint."""
Counts = Callable[[Fingerprint, Fingerprint], bool]
"""Whether the difference between two consecutive contents counts as a change."""
Load = Callable[[], list[Recording]]
"""A module-level function, because the other process loads the recordings itself."""

_NICENESS = 10
"""The other process runs at a lower priority than the crawl."""


class TrueChange(Struct, frozen=True, kw_only=True, gc=False):
    """One publication that changed the bytes that a visitor receives."""

    url: str
    at: float
    kind: Literal["changed", "gone", "back", "new"]
    """`new`: the path was published for the first time; `back`: it was published again after its deletion."""
    counts: bool
    """Whether the useful content changed too; it always did if the page was published or deleted."""


def what_happened(
    recordings: Iterable[Recording],
    start_at: float,
    end_at: float,
    *,
    compute_fingerprint: ComputeFingerprint = fingerprint,
    counts: Counts | None = None,
    only: Container[str] | None = None,
) -> list[TrueChange]:
    """All changes in (start_at, end_at], by URL and time; with `only`, of those URLs.

    Two versions are compared as a visitor receives them, with the media type and charset that the living web declares,
    by default with the fingerprint and the verdict of the crawl loop for two versions alone (`webstrata compare`).
    """
    changes: list[TrueChange] = []
    for recording in recordings:
        for path in recording.pages:
            url = recording.url(path)
            if only is None or url in only:
                changes += _page(recording, path, url, (start_at, end_at), compute_fingerprint, counts)
    return sorted(changes, key=lambda change: (change.url, change.at))


def _differs(before: Fingerprint, after: Fingerprint) -> bool:
    """Whether the digests of the deciding layer differ."""
    return judge(before, False, Observation(url="", at=0.0, status=200, fingerprint=after)).counts


def _page(
    recording: Recording,
    path: str,
    url: str,
    window: tuple[float, float],
    compute_fingerprint: ComputeFingerprint,
    counts: Counts | None,
) -> Iterable[TrueChange]:
    before: str | None = None
    published = False
    fingerprints: dict[str, Fingerprint] = {}

    def of_blob(blob: str) -> Fingerprint:
        if blob not in fingerprints:
            body = recording.contents[blob]
            fingerprints[blob] = compute_fingerprint(body, *media_type(path, body), url)
        return fingerprints[blob]

    def observed(blob: str) -> Observation:
        body = recording.contents[blob]
        content = observe_typed(body, *media_type(path, body), url)
        return observation_of(content, url, 0.0)

    def is_change(old: str, new: str) -> bool:
        if counts is not None:
            return counts(of_blob(old), of_blob(new))
        return _differs(of_blob(old), of_blob(new)) and judge_alone(observed(old), observed(new)).counts

    for at, blob in recording.pages[path]:
        if window[0] < at <= window[1]:
            if before and blob:
                yield TrueChange(url=url, at=at, kind="changed", counts=is_change(before, blob))
            else:
                kind: Literal["gone", "back", "new"] = "gone" if before else "back" if published else "new"
                yield TrueChange(url=url, at=at, kind=kind, counts=True)
        before = blob
        published = True


class TruthProcess:
    """Another process that computes the true changes: `with TruthProcess(load, start_at, end_at, only=urls) as truth:`.

    `truth.result()` waits for it. Leaving the block ends the process, finished or not.
    """

    def __init__(self, load: Load, start_at: float, end_at: float, *, only: Sequence[str]) -> None:
        self._arguments = (load, start_at, end_at, tuple(only))
        self._receiver, sender = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.get_context("spawn").Process(
            target=_send_truth, args=(sender, *self._arguments), name="webstrata-truth", daemon=True
        )
        self._process.start()
        sender.close()

    @property
    def pid(self) -> int | None:
        """The id of the other process."""
        return self._process.pid

    def result(self) -> list[TrueChange]:
        """All changes as `what_happened` returns them by default; waits until the other process has computed them."""
        try:
            return msgspec.msgpack.decode(self._receiver.recv_bytes(), type=list[TrueChange])
        except EOFError:  # the process was killed: compute them here
            return _truth(*self._arguments)

    def __enter__(self) -> TruthProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._receiver.close()
        self._process.kill()
        self._process.join()
        self._process.close()


def _truth(load: Load, start_at: float, end_at: float, only: Sequence[str]) -> list[TrueChange]:
    return what_happened(load(), start_at, end_at, only=frozenset(only))


def _send_truth(sender: Connection, load: Load, start_at: float, end_at: float, only: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent process
    os.nice(_NICENESS)
    sender.send_bytes(msgspec.msgpack.encode(_truth(load, start_at, end_at, only)))
