"""`PageObservation`: one request for a URL during a capture, and the content key by which two of them are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

ObservationKind = Literal["content", "redirect", "absent", "error", "failure"]
ComparedLayer = Literal["visible", "raw", "links", "main", "data", "selected", "auto"]
COMPARED_LAYERS: tuple[ComparedLayer, ...] = get_args(ComparedLayer)

_VISIBLE, _RAW = ("visible_text", "links"), ("raw",)
_GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "visible": (_VISIBLE, _RAW),
    "raw": (_RAW,),
    "links": (("links",), _RAW),
    "main": (("main",), _VISIBLE, _RAW),
    "data": (("data",), _VISIBLE, _RAW),
    "selected": (("selected",), _VISIBLE, _RAW),
    "auto": (("selected",), ("data",), ("main",), _VISIBLE, _RAW),
}
"""For each layer that a user can choose, groups of layers; the first group that a content has is compared."""

ContentKey = tuple[object, ...]


class PageObservation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request for a URL: what the server sent between `started` and `ended`, or why it sent nothing.

    `content`: a complete body. `redirect`: a redirect to another URL. `absent`: 404 or 410. `error`: any other
    response, or an error page with status 200. `failure`: no response. Times are rounded to microseconds, as written.
    """

    started: float
    ended: float
    kind: ObservationKind
    status: int = 0
    """0 without a response."""
    why: str = ""
    """Of an error or a failure: the reason."""
    record: str = ""
    """WARC-Record-ID of the response or revisit record."""
    payload: str = ""
    """The payload digest in that record."""
    content_type: str = ""
    """The Content-Type header."""
    target: str = ""
    """Of a redirect: the absolute URL to which it leads."""
    layers: dict[str, str] = {}
    """Layer -> digest: `raw`, of HTML `visible_text`, `links` and `main`, and `data`, `selected` where they exist."""
    rendered: str = ""
    """WARC-Record-ID of the DOM after the page's scripts ran; the layers are then those of the DOM."""
    view: str = ""
    """WARC-Record-ID of the screenshot."""
    age_s: int | None = None
    """The Age header: a cache sent a copy that was so old."""
    cache: str = ""
    """What caches say about the response: `X-Cache: HIT`."""
    last_modified: float | None = None
    """The Last-Modified header."""
    script_shell: bool = False
    """The page has scripts and nearly no text: scripts load what readers see."""

    def key(self, layer: str) -> ContentKey | None:
        """What is compared by this layer: two observations with equal keys show the same content. None: no content."""
        if self.kind == "redirect":
            return "redirect", self.status, self.target
        if self.kind != "content":
            return None
        status = 200 if self.status == 304 else self.status
        compared = tuple((name, self.layers[name]) for name in self.compared(layer))
        return "content", status, _plain_type(self.content_type), compared

    def compared(self, layer: str) -> tuple[str, ...]:
        """The names of the layers that are compared."""
        if self.kind != "content":
            return ("target",) if self.kind == "redirect" else ()
        return next((group for group in _GROUPS[layer] if all(name in self.layers for name in group)), ())

    @property
    def is_cached(self) -> bool:
        """Whether a cache sent a copy that is older than the request."""
        return self.age_s is not None and self.age_s > 0


def equal_layers(visit: PageObservation, revisit: PageObservation) -> dict[str, bool]:
    """For every layer that both have: whether it is equal."""
    return _equal(visit.layers, revisit.layers)


def _equal(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, bool]:
    return {name: digest == second[name] for name, digest in first.items() if name in second}


def _plain_type(content_type: str) -> str:
    """The header without differences that have no meaning: letter case, white space, quotes."""
    return "".join(content_type.lower().replace('"', "").split())
