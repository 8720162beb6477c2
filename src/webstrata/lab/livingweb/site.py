"""The HTTP responses of one recorded site at an instant, and the media types of its files. No I/O, no clock."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from msgspec import Struct

from webstrata.clock import iso
from webstrata.lab.livingweb.behaviour import SiteBehaviour
from webstrata.lab.livingweb.recording import Recording

_GZIP_FROM_BYTES = 256
_GZIP_LEVEL = 1  # each version is compressed once and sent a few times: time matters more than size
_GZIP_ETAG = "-gzip"
_INDEX = "index.html"


class ServedResponse(Struct, frozen=True, kw_only=True, gc=False):
    """A response without the headers that belong to the connection."""

    status: int
    """0: the connection is closed without a response."""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


SitemapEntries = Callable[[float], Iterable[tuple[str, float]]]
"""Instant -> (path, `lastmod`) of the entries that a sitemap has at this instant."""


class ServedSite:
    """Responds for one recording. Compressed bodies and media types are computed once per content."""

    def __init__(
        self, recording: Recording, behaviour: SiteBehaviour, sitemap_entries: SitemapEntries | None = None
    ) -> None:
        """`sitemap_entries`: what the sitemap says instead of the truth."""
        self.recording = recording
        self.behaviour = behaviour
        self._sitemap_entries = sitemap_entries or self._publications
        self._robots = behaviour.robots_txt(recording.host)
        self._gzipped: dict[str, bytes] = {}
        self._types: dict[tuple[str, str], str] = {}
        self._folders = _folders(recording.pages)

    @property
    def host(self) -> str:
        return self.recording.host

    def respond(self, target: str, headers: Mapping[str, str], at: float) -> ServedResponse:
        """The response to GET `target` (path and query as sent) at an instant. Header names are in lower case."""
        path = target.partition("?")[0]
        if path == "/robots.txt":
            return _plain(HTTPStatus.OK, self._robots)
        if path == "/sitemap.xml" and self.behaviour.sitemap:
            return self._sitemap(at)
        name = unquote(path[1:])
        if name in self._folders:
            return ServedResponse(status=HTTPStatus.MOVED_PERMANENTLY, headers=(("Location", f"{path}/"),))
        if not name or name.endswith("/"):
            name += _INDEX
        version = self.recording.version_at(name, at)
        if version is None:
            return _plain(HTTPStatus.NOT_FOUND, b"There is no such page.\n")
        published_at, blob = version
        if blob is None:
            return _plain(HTTPStatus(self.behaviour.gone_status), b"This page was removed.\n")
        return self._content(name, blob, published_at, headers)

    def _content(self, name: str, blob: str, published_at: float, headers: Mapping[str, str]) -> ServedResponse:
        body = self.recording.contents[blob]
        fields = [("Content-Type", self._content_type(name, blob, body))]
        coded = self.behaviour.gzip and len(body) >= _GZIP_FROM_BYTES
        if coded:
            fields.append(("Vary", "Accept-Encoding"))
            coded = _accepts_gzip(headers.get("accept-encoding", ""))
        etag = f'"{blob[:20]}{_GZIP_ETAG if coded else ""}"' if self.behaviour.etag else None
        if etag:
            fields.append(("ETag", etag))
        if self.behaviour.last_modified:
            fields.append(("Last-Modified", formatdate(int(published_at), usegmt=True)))
        if self._not_modified(blob, published_at, headers):
            return ServedResponse(status=HTTPStatus.NOT_MODIFIED, headers=tuple(fields))
        if coded:
            fields.append(("Content-Encoding", "gzip"))
            body = self._gzip(blob, body)
        return ServedResponse(status=HTTPStatus.OK, headers=tuple(fields), body=body)

    def _not_modified(self, blob: str, published_at: float, headers: Mapping[str, str]) -> bool:
        """RFC 9110, 13.2.2: If-None-Match decides if it is sent; If-Modified-Since only if it is not."""
        if (sent := headers.get("if-none-match")) is not None:
            return self.behaviour.etag and _matches_tag(sent, blob[:20])
        if not self.behaviour.last_modified or (since := headers.get("if-modified-since")) is None:
            return False
        try:
            moment = parsedate_to_datetime(since)
        except ValueError:
            return False
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return datetime.fromtimestamp(int(published_at), UTC) <= moment

    def _content_type(self, name: str, blob: str, body: bytes) -> str:
        key = (name.rpartition(".")[2], blob)
        if (known := self._types.get(key)) is None:
            known = self._types[key] = content_type(name, body)
        return known

    def _gzip(self, blob: str, body: bytes) -> bytes:
        if (known := self._gzipped.get(blob)) is None:
            packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)
            known = self._gzipped[blob] = packer.compress(body) + packer.flush()
        return known

    def _sitemap(self, at: float) -> ServedResponse:
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        ]
        for path, dated in self._sitemap_entries(at):
            location = escape(self.recording.url(path))
            lines.append(f"<url><loc>{location}</loc><lastmod>{iso(float(int(dated)))}</lastmod></url>")
        lines.append("</urlset>\n")
        body = "\n".join(lines).encode()
        return ServedResponse(status=HTTPStatus.OK, headers=(("Content-Type", "application/xml"),), body=body)

    def _publications(self, at: float) -> Iterator[tuple[str, float]]:
        """Every page that exists and that robots.txt allows, with the time of its last publication."""
        for path in self.recording.alive_at(at):
            version = self.recording.version_at(path, at)
            if version is not None and self.behaviour.allows("/" + quote(path)):
                yield path, version[0]


def _folders(paths: Mapping[str, object]) -> frozenset[str]:
    """Names of folders with an index page. A request without the final slash is redirected to the folder."""
    folders = {path.removesuffix(f"/{_INDEX}") for path in paths if path.endswith(f"/{_INDEX}")}
    return frozenset(folders - paths.keys())


def _plain(status: HTTPStatus, body: bytes) -> ServedResponse:
    return ServedResponse(status=status, headers=(("Content-Type", "text/plain; charset=utf-8"),), body=body)


def _accepts_gzip(accepted: str) -> bool:
    for offer in accepted.lower().split(","):
        coding, _, parameters = offer.partition(";")
        if coding.strip() in ("gzip", "x-gzip", "*"):
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _matches_tag(sent: str, tag: str) -> bool:
    """Weak comparison with a list of tags. The compressed variant counts as the same version."""
    tags = (each.strip().removeprefix("W/").strip('"').removesuffix(_GZIP_ETAG) for each in sent.split(","))
    return any(each in (tag, "*") for each in tags)


_MEDIA_TYPES = {
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "css": "text/css",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "md": "text/markdown",
    "xml": "application/xml",
    "rss": "application/rss+xml",
    "atom": "application/atom+xml",
    "json": "application/json",
    "geojson": "application/geo+json",
    "jsonld": "application/ld+json",
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "rdf": "application/rdf+xml",
    "owl": "application/rdf+xml",
    "svg": "image/svg+xml",
}


def media_type(path: str, body: bytes) -> tuple[str, str | None]:
    """(media type, charset) by the file name extension. A charset is declared only for text that is valid UTF-8."""
    kind = _MEDIA_TYPES.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "application/octet-stream")
    if not kind.startswith("text/"):
        return kind, None
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return kind, None
    return kind, "utf-8"


def content_type(path: str, body: bytes) -> str:
    """The value of the Content-Type header."""
    kind, charset = media_type(path, body)
    return f"{kind}; charset={charset}" if charset else kind
