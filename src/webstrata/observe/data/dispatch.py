"""Selects the digest function for a body: by media type, by the URL's extension if the type is unknown, by XML root."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from webstrata.coding import decode
from webstrata.observe.data import feed, json, sitemap, table, xml
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.json_feed import is_json_feed
from webstrata.observe.data.rdf import graph, jsonld
from webstrata.observe.data.sparql import canonical
from webstrata.observe.documents.archive_members import archive_digest
from webstrata.observe.documents.formats import ARCHIVES, SPREADSHEETS, document_format, extension
from webstrata.observe.documents.icalendar import calendar_digest
from webstrata.observe.documents.spreadsheet_data import spreadsheet_digest
from webstrata.observe.documents.svg import svg_digest
from webstrata.records import PageRules

_DigestFunction = Callable[[bytes, str | None, str], DataDigest]

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RSS_1 = (b"http://purl.org/rss/1.0/", b"http://my.netscape.com/rdf/simple/0.9/")


def data_digest(
    body: bytes, media_type: str, charset: str | None, url: str, page_rules: PageRules | None = None
) -> DataDigest | None:
    """The digest of the data in a body, or why there is none; None if the format is not a data format. Never raises."""
    name = data_format(body, media_type, url)
    if name in ("csv", "tsv"):
        delimiter = "\t" if name == "tsv" else ","
        rules = page_rules or PageRules()
        return table.table_digest(body, charset, delimiter=delimiter, unordered=rules.unordered, ordered=rules.ordered)
    if name == "spreadsheet":
        rules = page_rules or PageRules()
        return spreadsheet_digest(body, media_type, url, unordered=rules.unordered, ordered=rules.ordered)
    function = _DIGEST_FUNCTIONS.get(name)
    return None if function is None else function(body, charset, url)


def data_format(body: bytes, media_type: str, url: str) -> str:
    """The name of a body's data format; empty if it is not a data format."""
    name = _name_of(media_type, url)
    document = document_format(body, media_type, url)
    if body.startswith(_GZIP) and (name or document == "gzip" or media_type in _UNKNOWN_TYPES):
        return "sitemap" if _is_gzipped_sitemap(body) else "archive"
    if document:
        return _OF_DOCUMENT.get(document, "")
    if name == "xml":
        return _xml_name(body)
    if name == "json" and is_json_feed(body):
        return "feed"
    if name == "rdfxml":
        namespace, _ = xml.root_element(body) or ("", "")
        return name if namespace else "turtle"  # many .owl and .rdf files are Turtle
    return name


_DIGEST_FUNCTIONS: dict[str, _DigestFunction] = {
    "json": json.json_digest,
    "json-lines": json.json_lines_digest,
    "xml": xml.xml_digest,
    "feed": feed.feed_digest,
    "sitemap": sitemap.sitemap_digest,
    "jsonld": jsonld.jsonld_digest,
    **{syntax: partial(graph.rdf_digest, syntax=syntax) for syntax in graph.FORMATS if syntax != "jsonld"},
    "svg": svg_digest,
    "calendar": calendar_digest,
    "archive": archive_digest,
    "results-json": partial(canonical.results_digest, media_type="application/sparql-results+json"),
    "results-xml": partial(canonical.results_digest, media_type="application/sparql-results+xml"),
}

_OF_DOCUMENT = {
    **dict.fromkeys(SPREADSHEETS, "spreadsheet"),
    **dict.fromkeys(ARCHIVES, "archive"),
    "calendar": "calendar",
    "svg": "svg",
}
"""The data format of documents that are compared by data; others have no data digest."""

# Media types by the name of the format.
_TYPES = {
    "json": "application/json text/json",
    "json-lines": "application/jsonl application/json-lines application/x-jsonlines application/x-ndjson "
    "application/ndjson",
    "csv": "text/csv application/csv text/x-csv text/comma-separated-values",
    "tsv": "text/tab-separated-values text/tsv",
    "turtle": "text/turtle application/x-turtle application/turtle",
    "ntriples": "application/n-triples text/x-nt",
    "nquads": "application/n-quads text/x-nquads",
    "trig": "application/trig application/x-trig",
    "n3": "text/n3 text/rdf+n3",
    "rdfxml": "application/rdf+xml",
    "jsonld": "application/ld+json",
    "results-json": "application/sparql-results+json",
    "results-xml": "application/sparql-results+xml",
    "feed": "application/rss+xml application/atom+xml application/feed+json",
    "xml": "application/xml text/xml",
}
_BY_TYPE = {media_type: name for name, types in _TYPES.items() for media_type in types.split()}
_BY_SUFFIX = {"+json": "json", "+xml": "xml", "+csv": "csv"}
_NOT_DATA = frozenset({"application/xhtml+xml"})

_UNKNOWN_TYPES = frozenset({"", "text/plain", "application/octet-stream"})
"""Media types that file servers send for formats that they do not know."""
_BY_EXTENSION = {
    "json": "json",
    "geojson": "json",
    "jsonl": "json-lines",
    "ndjson": "json-lines",
    "csv": "csv",
    "tsv": "tsv",
    "ttl": "turtle",
    "nt": "ntriples",
    "nq": "nquads",
    "trig": "trig",
    "n3": "n3",
    "rdf": "rdfxml",
    "owl": "rdfxml",
    "jsonld": "jsonld",
    "rss": "feed",
    "atom": "feed",
    "srj": "results-json",
    "srx": "results-xml",
    "xml": "xml",
}


def _name_of(media_type: str, url: str) -> str:
    if media_type in _UNKNOWN_TYPES:
        return _BY_EXTENSION.get(extension(url), "")
    if media_type in _NOT_DATA:
        return ""
    name = _BY_TYPE.get(media_type)
    if name is None and "+" in media_type:
        name = _BY_SUFFIX.get(media_type[media_type.rfind("+") :])
    return name or ""


_GZIP = b"\x1f\x8b"
_PREVIEW_BYTES = 65_536


def _is_gzipped_sitemap(body: bytes) -> bool:
    """Whether a sitemap was compressed; other gzip files are archives."""
    start = decode(body, "gzip", max_bytes=_PREVIEW_BYTES, max_ratio=_PREVIEW_BYTES).body
    return _xml_name(start) == "sitemap"


def _xml_name(body: bytes) -> str:
    """The format of an XML document, by its root element."""
    root = xml.root_element(body)
    if root is None:
        return "xml"
    namespace, local = root
    if local in ("urlset", "sitemapindex"):
        return "sitemap"
    if local in ("rss", "feed"):
        return "feed"
    if (namespace, local) == (_RDF, "RDF"):
        return "feed" if any(name in body[:4096] for name in _RSS_1) else "rdfxml"
    return "xml"
