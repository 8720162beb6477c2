"""The versions of recorded pages as a certificate compares them: by the whole visible text and the links.

Content without a text layer (data files) is compared by its bytes. A deleted page has no content.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import media_type
from webstrata.observe.page import fingerprint

Content = tuple[str | None, str | None] | None
"""Digests of text (or of the bytes) and links; None: the page does not exist."""


class VisibleVersions:
    """The visible versions of one site."""

    def __init__(self, recording: Recording) -> None:
        self._versions = {path: _visible(recording, path) for path in recording.pages}

    @property
    def pages(self) -> Sequence[str]:
        """The paths of all pages."""
        return list(self._versions)

    @property
    def published(self) -> Sequence[float]:
        """The times of all visible changes, in order, from the first publication on."""
        return sorted({at for versions in self._versions.values() for at, _ in versions})

    def content(self, path: str, at: float) -> Content:
        """The content that is served at an instant."""
        versions = self._versions[path]
        index = bisect_right(versions, at, key=itemgetter(0))
        return versions[index - 1][1] if index else None

    def changed_at(self, path: str) -> list[float]:
        """When the page was first published, and the times of its visible changes."""
        return [at for at, _ in self._versions[path]]

    def alive_at(self, at: float) -> list[str]:
        """The pages that exist at an instant."""
        return [path for path in self._versions if self.content(path, at) is not None]


def _visible(recording: Recording, path: str) -> list[tuple[float, Content]]:
    """The versions of a page that differ from the one before."""
    versions: list[tuple[float, Content]] = []
    contents: dict[str, Content] = {}
    for at, blob in recording.pages[path]:
        if blob is not None and blob not in contents:
            body = recording.contents[blob]
            digests = fingerprint(body, *media_type(path, body), recording.url(path))
            contents[blob] = digests.text or digests.raw, digests.links
        content = contents[blob] if blob is not None else None
        if not versions or versions[-1][1] != content:
            versions.append((at, content))
    return versions
