"""Compares the verdicts of a certificate with the recorded contents of the site."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.detect.layers import deciding_layer, layer_digest
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import media_type
from webstrata.observe.page import fingerprint


class PageTruth(Struct, frozen=True, kw_only=True):
    """The comparison for one page of a certificate."""

    url: str
    changes: int = 0
    """Changes between its two downloads."""
    false_sharp: bool = False
    changed_and_back: bool = False
    false_blurred: bool = False


class SiteTruth:
    """The content of every page of a site at every instant, by the layer that decides about changes.

    `gone_status`: the status with which the site responds for a removed page.
    """

    def __init__(self, recording: Recording, gone_status: int = 404) -> None:
        self._recording = recording
        self._gone = f"status:{gone_status}"
        self._paths = {recording.url(path): path for path in recording.pages}
        self._contents: dict[tuple[str, str], str] = {}

    def of(self, page: dict[str, Any], instant: dict[str, str] | None) -> PageTruth:
        """Compare a page of a certificate. A single download is compared with the content at its start."""
        path, visit = self._paths.get(page["url"]), page["visit"]
        if path is None or visit is None or instant is None:
            return PageTruth(url=page["url"])
        started = parse_instant(visit["started"])
        ended = parse_instant((page["revisit"] or visit)["started"])
        contents = self._between(path, started, ended)
        sharp = page["verdict"] == "sharp"
        steady = all(content == contents[0] for content in contents)
        as_recorded = self._as_recorded(path, visit, page["revisit"], instant)
        return PageTruth(
            url=page["url"],
            changes=sum(before != after for before, after in pairwise(contents)),
            false_sharp=sharp and not as_recorded,
            changed_and_back=sharp and not as_recorded and not steady and contents[0] == contents[-1],
            false_blurred=page["verdict"] == "blurred" and page["revisit"] is not None and steady,
        )

    def _as_recorded(
        self, path: str, visit: dict[str, Any], revisit: dict[str, Any] | None, instant: dict[str, str]
    ) -> bool:
        """Whether the page had the downloaded content throughout the instant, or at the start of a single download."""
        start = parse_instant(instant["from"])
        end = parse_instant(instant["to"]) if revisit is not None else start
        return all(content == visit["content"] for content in self._between(path, start, end))

    def _between(self, path: str, start: float, end: float) -> list[str]:
        """The content at the start, and every content published after it up to the end."""
        first = self._recording.version_at(path, start)
        later = [blob for at, blob in self._recording.pages[path] if start < at <= end]
        contents = [self._content(path, blob) for blob in later]
        return [self._content(path, first[1]) if first else "status:404", *contents]

    def _content(self, path: str, blob: str | None) -> str:
        """The content in the notation of certificates."""
        if blob is None:
            return self._gone
        if (path, blob) not in self._contents:
            body = self._recording.contents[blob]
            page_fingerprint = fingerprint(body, *media_type(path, body), self._recording.url(path))
            layer = deciding_layer(page_fingerprint)
            self._contents[path, blob] = f"{layer}:{layer_digest(page_fingerprint, layer)}"
        return self._contents[path, blob]
