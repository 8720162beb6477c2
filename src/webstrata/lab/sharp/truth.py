"""Compares the verdicts of a certificate with the recorded contents of the site, and with the faults that it served."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.lab.livingweb.faults import ServedFault
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import content_type
from webstrata.observe.visible import is_html, visible_content

_ROUNDING_S = 1e-6
"""Times in certificates are rounded."""


class PageTruth(Struct, frozen=True, kw_only=True):
    """The comparison for one page of a certificate."""

    url: str
    changes: int = 0
    """Changes between its two downloads."""
    false_sharp: bool = False
    """It is called sharp, and had another content at the instant, or a request in between was answered wrongly."""
    changed_and_back: bool = False
    false_blurred: bool = False


class SiteTruth:
    """The content of every page of a site at every instant: the visible text and links of HTML, the bytes of others."""

    def __init__(self, recording: Recording, faults: Sequence[ServedFault] = ()) -> None:
        """`faults`: the requests that were answered wrongly; the list may grow."""
        self._recording = recording
        self._faults = faults
        self._paths = {recording.url(path): path for path in recording.pages}
        self._contents: dict[tuple[str, str], dict[str, str]] = {}

    def of(self, page: dict[str, Any], instant: dict[str, str] | None) -> PageTruth:
        """Compare a page of a certificate. A single download is compared with the content at its start."""
        path = self._paths.get(page["url"])
        seen = [page["observations"][index] for index in (page["visit"], page["revisit"]) if index is not None]
        if path is None or page["visit"] is None or instant is None:
            return PageTruth(url=page["url"])
        started, ended = parse_instant(seen[0]["started"]), parse_instant(seen[-1]["started"])
        contents = self._between(path, started, ended)
        faults = self._served(page["url"], started, ended)
        is_sharp = page["verdict"] == "sharp"
        is_steady = all(content == contents[0] for content in contents)
        is_true = self._as_recorded(path, page, seen, instant, faults)
        is_false = is_sharp and not is_true
        changed_back = not is_steady and contents[0] == contents[-1] and not faults
        return PageTruth(
            url=page["url"],
            changes=sum(before != after for before, after in pairwise(contents)),
            false_sharp=is_false,
            changed_and_back=is_false and changed_back,
            false_blurred=page["verdict"] == "blurred" and len(seen) == 2 and is_steady and not faults,
        )

    def _as_recorded(
        self,
        path: str,
        page: dict[str, Any],
        seen: Sequence[dict[str, Any]],
        instant: dict[str, str],
        faults: Sequence[ServedFault],
    ) -> bool:
        """Whether the page had the downloaded content throughout the instant, and nothing was served that contradicts.

        A single download is the instant: what it showed was served at that time, also if it was a fault.
        """
        is_single = len(seen) == 1
        if faults:
            return is_single and len(faults) == 1 and faults[0].kind == "other content"
        start = parse_instant(instant["from"])
        end = start if is_single else parse_instant(instant["to"])
        certified = {name: seen[0].get("layers", {}).get(name) for name in page["compared"]}
        contents = self._between(path, start, end)
        return all(content is not None and certified.items() <= content.items() for content in contents)

    def _served(self, url: str, start: float, end: float) -> list[ServedFault]:
        """The faults that were served for this page from its visit to its revisit."""
        parts = urlsplit(url)
        return [
            fault
            for fault in self._faults
            if (fault.host, fault.path) == (parts.hostname, parts.path)
            and start - _ROUNDING_S <= fault.at <= end + _ROUNDING_S
        ]

    def _between(self, path: str, start: float, end: float) -> list[dict[str, str] | None]:
        """The content at the start, and every content published after it up to the end; None: there was no page."""
        first = self._recording.version_at(path, start)
        later = [blob for at, blob in self._recording.pages[path] if start < at <= end]
        return [self.content(path, first[1] if first else None), *(self.content(path, blob) for blob in later)]

    def content(self, path: str, blob: str | None) -> dict[str, str] | None:
        """The layers of a version, as in certificates; None if the page did not exist."""
        if blob is None:
            return None
        if (path, blob) not in self._contents:
            body = self._recording.contents[blob]
            layers = {"raw": hashlib.sha256(body).hexdigest()}
            if is_html(content_type(path, body)):
                visible = visible_content(body)
                layers = {"visible_text": visible.text, "links": visible.links}
            self._contents[path, blob] = layers
        return self._contents[path, blob]
