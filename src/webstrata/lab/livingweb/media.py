"""Media types as a plain file server gives them: from the name's ending, with a charset where it is certain."""

from __future__ import annotations

_BY_ENDING = {
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
    """(media type, charset). The charset is declared for text that is UTF-8; else the content must tell."""
    kind = _BY_ENDING.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "application/octet-stream")
    if not kind.startswith("text/"):
        return kind, None
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return kind, None
    return kind, "utf-8"


def content_type(path: str, body: bytes) -> str:
    """The Content-Type header's value."""
    kind, charset = media_type(path, body)
    return f"{kind}; charset={charset}" if charset else kind
