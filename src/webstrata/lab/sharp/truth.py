"""What a recorded site really showed, beside what a certificate says of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.detect.layers import candidate_layers, layer_digest
from webstrata.lab.livingweb.media import media_type
from webstrata.lab.livingweb.recording import Recording
from webstrata.observe.page import fingerprint


class PageTruth(Struct, frozen=True, kw_only=True):
    """One page of a certificate, judged."""

    url: str
    changes: int = 0
    """Between its two downloads."""
    false_sharp: bool = False
    changed_and_back: bool = False
    false_blurred: bool = False


class SiteTruth:
    """Knows every content of a site at every instant, by the layer that counts.

    `gone_status`: what the site answers for a page that was removed.
    """

    def __init__(self, recording: Recording, gone_status: int = 404) -> None:
        self._recording = recording
        self._gone = f"status:{gone_status}"
        self._paths = {recording.url(path): path for path in recording.pages}
        self._contents: dict[tuple[str, str], str] = {}

    def of(self, page: dict[str, Any], instant: dict[str, str] | None) -> PageTruth:
        """A page of a certificate. A single download is held against the moment at which the server answered."""
        path, visit = self._paths.get(page["url"]), page["visit"]
        if path is None or visit is None or instant is None:
            return PageTruth(url=page["url"])
        begun = parse_instant(visit["started"])
        ended = parse_instant((page["revisit"] or visit)["started"])
        shown = self._between(path, begun, ended)
        sharp = page["verdict"] == "sharp"
        steady = all(content == shown[0] for content in shown)
        as_recorded = self._as_recorded(path, visit, page["revisit"], instant)
        return PageTruth(
            url=page["url"],
            changes=sum(before != after for before, after in pairwise(shown)),
            false_sharp=sharp and not as_recorded,
            changed_and_back=sharp and not as_recorded and not steady and shown[0] == shown[-1],
            false_blurred=page["verdict"] == "blurred" and page["revisit"] is not None and steady,
        )

    def _as_recorded(
        self, path: str, visit: dict[str, Any], revisit: dict[str, Any] | None, instant: dict[str, str]
    ) -> bool:
        """Whether the page showed what was downloaded: all through the instant, or when a single download began."""
        start = parse_instant(instant["from"])
        end = parse_instant(instant["to"]) if revisit is not None else start
        return all(content == visit["content"] for content in self._between(path, start, end))

    def _between(self, path: str, start: float, end: float) -> list[str]:
        """What was shown at the start, and every content published since, up to the end."""
        first = self._recording.version_at(path, start)
        later = [blob for at, blob in self._recording.pages[path] if start < at <= end]
        shown = [self._content(path, blob) for blob in later]
        return [self._content(path, first[1]) if first else "status:404", *shown]

    def _content(self, path: str, blob: str | None) -> str:
        """As a certificate names it."""
        if blob is None:
            return self._gone
        if (path, blob) not in self._contents:
            body = self._recording.contents[blob]
            mark = fingerprint(body, *media_type(path, body), self._recording.url(path))
            layer, digest = next((name, one) for name in candidate_layers(None) if (one := layer_digest(mark, name)))
            self._contents[path, blob] = f"{layer}:{digest}"
        return self._contents[path, blob]
