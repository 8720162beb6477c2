"""One recorded site as a web server would answer for it at an instant. Pure: the time comes in with the request."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from msgspec import Struct

from webstrata.clock import iso
from webstrata.lab.livingweb.behaviour import SiteBehaviour
from webstrata.lab.livingweb.media import content_type
from webstrata.lab.livingweb.recording import Recording

_GZIP_FROM_BYTES = 256
_GZIP_LEVEL = 1  # each version is packed once and sent a few times: time matters more than size
_GZIP_ETAG = "-gzip"
_INDEX = "index.html"


class ServedResponse(Struct, frozen=True, kw_only=True, gc=False):
    """What goes on the wire, but for the headers of the connection."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class ServedSite:
    """Answers for one recording. Compressed bodies, types and validators are made once per content."""

    def __init__(self, recording: Recording, manners: SiteBehaviour) -> None:
        self.recording = recording
        self.manners = manners
        self._robots = manners.robots_txt(recording.host)
        self._gzipped: dict[str, bytes] = {}
        self._types: dict[tuple[str, str], str] = {}
        self._folders = _folders(recording.pages)

    @property
    def host(self) -> str:
        return self.recording.host

    def answer(self, target: str, headers: Mapping[str, str], at: float) -> ServedResponse:
        """The answer to GET `target` (path and query as sent) at an instant; header names in lower case."""
        path = target.partition("?")[0]
        if path == "/robots.txt":
            return _plain(HTTPStatus.OK, self._robots)
        if path == "/sitemap.xml" and self.manners.sitemap:
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
            return _plain(HTTPStatus(self.manners.gone_status), b"This page was removed.\n")
        return self._content(name, blob, published_at, headers)

    def _content(self, name: str, blob: str, published_at: float, headers: Mapping[str, str]) -> ServedResponse:
        body = self.recording.contents[blob]
        fields = [("Content-Type", self._content_type(name, blob, body))]
        coded = self.manners.gzip and len(body) >= _GZIP_FROM_BYTES
        if coded:
            fields.append(("Vary", "Accept-Encoding"))
            coded = _accepts_gzip(headers.get("accept-encoding", ""))
        etag = f'"{blob[:20]}{_GZIP_ETAG if coded else ""}"' if self.manners.etag else None
        if etag:
            fields.append(("ETag", etag))
        if self.manners.last_modified:
            fields.append(("Last-Modified", formatdate(int(published_at), usegmt=True)))
        if self._not_modified(blob, published_at, headers):
            return ServedResponse(status=HTTPStatus.NOT_MODIFIED, headers=tuple(fields))
        if coded:
            fields.append(("Content-Encoding", "gzip"))
            body = self._gzip(blob, body)
        return ServedResponse(status=HTTPStatus.OK, headers=tuple(fields), body=body)

    def _not_modified(self, blob: str, published_at: float, headers: Mapping[str, str]) -> bool:
        """RFC 9110, 13.2.2: the entity tag decides where one is sent, the date only where none is."""
        if (sent := headers.get("if-none-match")) is not None:
            return self.manners.etag and _names_tag(sent, blob[:20])
        if not self.manners.last_modified or (since := headers.get("if-modified-since")) is None:
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
        """Every page that exists and may be visited, with the time of its last publication."""
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        ]
        for path in self.recording.alive_at(at):
            if not self.manners.allows("/" + quote(path)):
                continue
            version = self.recording.version_at(path, at)
            assert version is not None  # alive
            lastmod = iso(float(int(version[0])))
            location = escape(self.recording.url(path))
            lines.append(f"<url><loc>{location}</loc><lastmod>{lastmod}</lastmod></url>")
        lines.append("</urlset>\n")
        body = "\n".join(lines).encode()
        return ServedResponse(status=HTTPStatus.OK, headers=(("Content-Type", "application/xml"),), body=body)


def _folders(paths: Mapping[str, object]) -> frozenset[str]:
    """Names of folders with an index page: asked for without their slash, they redirect to it."""
    found = {path.removesuffix(f"/{_INDEX}") for path in paths if path.endswith(f"/{_INDEX}")}
    return frozenset(found - paths.keys())


def _plain(status: HTTPStatus, body: bytes) -> ServedResponse:
    return ServedResponse(status=status, headers=(("Content-Type", "text/plain; charset=utf-8"),), body=body)


def _accepts_gzip(accepted: str) -> bool:
    for offer in accepted.lower().split(","):
        coding, _, parameters = offer.partition(";")
        if coding.strip() in ("gzip", "x-gzip", "*"):
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _names_tag(sent: str, tag: str) -> bool:
    """Weak comparison with a list of tags; the compressed variant is the same version."""
    for one in sent.split(","):
        if one.strip().removeprefix("W/").strip('"').removesuffix(_GZIP_ETAG) in (tag, "*"):
            return True
    return False
