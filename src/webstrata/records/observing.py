"""What was seen of a content, and how to look."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Fingerprint(Struct, frozen=True, kw_only=True, gc=False):
    """What was seen of one content, layer by layer. Later layers are added behind, with defaults."""

    raw: str
    """SHA-256 (hex) of the body after content decoding."""
    size: int
    """Bytes of that body."""
    media_type: str = ""
    charset: str | None = None
    title: str | None = None
    text: str | None = None
    """Digest of the useful text; none where the media type has no text layer."""
    links: str | None = None
    """Digest of the set of links."""
    link_count: int = 0
    noise: tuple[str, ...] = ()
    """Parts recognised as noise and left out of the digests."""
    version: int = 1
    """Of the rules by which the layers below were made; digests of different versions are never compared."""
    parts: tuple[str, str, str, str] | None = None
    """MD5 (hex) of title, header, body and footer (docs/reference/fingerprint.md)."""
    simhash: int | None = None
    """64 bits over the word shingles of the whole useful text."""
    main_links: str | None = None
    """Digest of the links inside the body part."""
    internal_links: int = 0
    external_links: int = 0
    document_links: int = 0
    """Links to PDF and other documents."""
    data: str | None = None
    """Digest of the canonical data (graph, JSON, table, XML, feed, sitemap)."""
    data_kind: str | None = None
    data_note: str | None = None
    """Why there is no data digest though the media type is one of data: too large, too hard, broken."""
    selected: str | None = None
    """Digest of what the page's own include and ignore rules leave; none without such rules."""


class PageRules(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """How a page is to be looked at: its handler, the layer that counts, and what to compare. Per page or per tag."""

    handler: str = "auto"
    """`auto`, `http`, `rdf`, `sparql`, `feed`, `sitemap`, `browser`."""
    layer: str = "auto"
    """What counts as a change: `auto`, `raw`, `text`, `main`, `links`, `data`."""
    include: tuple[str, ...] = ()
    """`css:…`, `xpath:…` or `jsonpath:…`: only this is compared."""
    ignore: tuple[str, ...] = ()
    """The same: this is left out."""
    ignore_text: tuple[str, ...] = ()
    """Regular expressions; what they match is left out."""
    min_size: float = 0.0
    """Changes of a smaller share of the text (0 to 1) do not count."""
    unordered: bool = False
    """Tables: the order of the rows does not count."""
    ordered: bool = False
    """Tables: it does, even where the first column names the rows."""
    accept: str = ""
    """Accept header; empty: the handler's own."""
    query: str = ""
    """SPARQL query; empty: everything."""
    entries: bool = False
    """Feeds and sitemaps: each entry becomes a page."""
    graphs: tuple[str, ...] = ()
    """SPARQL without a query: these graphs, one by one; `all` named ones, the `default` one; none: all in one go."""
    page_rows: int = 0
    """SPARQL without a query: rows asked for at a time; 0: as many as usual."""


class Observation(Struct, frozen=True, kw_only=True, gc=False):
    """A fact: this content (or its absence) was seen at this time."""

    url: str
    at: float
    status: int
    fingerprint: Fingerprint | None
    """None: the page was gone."""
    source: Literal["visit", "archive", "agent"] = "visit"
    lines: bytes = b""
    """The compared text run by run, hashed (`observe/text_runs.py`); empty where there is none."""
    link_hashes: bytes = b""
    """64-bit hashes of the page's links (`observe/text_runs.py`)."""
    excerpts: dict[int, str] = {}
    """Beginnings of the runs that the version before did not have, by their hash."""
    address: str = ""
    """Where the answer came from after all redirects; empty: from `url`, or not known."""
    negotiated: bool = False
    """The server chose among several representations, or our handler made one: another media type is another form."""
    language: str = ""
    """Of the content, where the server chose among several languages; empty: it did not, or does not say."""


class Sighting(Struct, frozen=True, kw_only=True):
    """A page was seen with this content at this time, by whomever."""

    url: str
    at: float
    content: str
    """A digest; what is the same has the same."""
    status: int = 200
