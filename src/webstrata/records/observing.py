"""Observations of page contents, and the rules by which contents are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

UNPARSED = "unparsed"
"""The kind of data of a content that could not be parsed."""


class Fingerprint(Struct, frozen=True, kw_only=True, gc=False):
    """The layers of one content, as digests and counts. New fields are appended, with defaults."""

    raw: str
    """SHA-256 (hex) of the body after content decoding."""
    size: int
    """Size of that body in bytes."""
    media_type: str = ""
    charset: str | None = None
    title: str | None = None
    text: str | None = None
    """Digest of the useful text; None if the media type has no text layer."""
    links: str | None = None
    """Digest of the set of links."""
    link_count: int = 0
    noise: tuple[str, ...] = ()
    """Names of the parts that were recognised as noise and left out of the digests."""
    version: int = 1
    """Version of the algorithms for the fields below. Digests of different versions are not compared."""
    parts: tuple[str, str, str, str, str, str] | None = None
    """MD5 (hex) of title, header, body, side, footer, and of body and side together (docs/reference/fingerprint.md)."""
    simhash: int | None = None
    """64-bit simhash of the word shingles of the useful text."""
    main_links: str | None = None
    """Digest of the links in the main content (body and side)."""
    internal_links: int = 0
    external_links: int = 0
    document_links: int = 0
    """Number of links to PDF files and other documents."""
    data: str | None = None
    """Digest of the canonical data (graph, JSON, table, XML, feed, sitemap, spreadsheet, calendar, archive, SVG)."""
    data_kind: str | None = None
    """`graph`, `bindings`, `json`, `table`, `xml`, `feed`, `sitemap`, `spreadsheet`, `calendar`, `archive`, `svg`.

    `pages`: the rendered pages of a PDF without text. `unparsed`: the content could not be parsed, only `raw` is known.
    """
    data_note: str | None = None
    """Why a data format or a document is compared by its bytes: too large, too complex, encrypted or malformed."""
    selected: str | None = None
    """Digest of what remains after the page's include and ignore rules; None without rules."""
    picture: str | None = None
    """Of an image: its size and averages of its pixels (`observe/documents/image.py`)."""
    rules: str = ""
    """Digest of the rules under which the content was observed (`observed_by`); empty without such rules."""


class UnparsableContent(Struct, frozen=True, kw_only=True, gc=False):
    """A content that ended a parser process or exceeded its limits. It is not given to a parser again."""

    key: str
    """Digest of the bytes as sent, of their media type and coding, and of what was to be done with them."""
    size: int
    """Size of the bytes as sent."""
    reason: str
    at: float
    raw: str = ""
    """SHA-256 (hex) of the decoded bytes; of the bytes as sent if they cannot be decoded within the limits."""
    decoded_size: int = 0
    torn: bool = False


AttributeKind = Literal[
    "title", "canonical", "robots", "product", "description", "image", "label", "form", "structured"
]
ATTRIBUTE_KINDS: tuple[AttributeKind, ...] = get_args(AttributeKind)
"""The kinds of attributes that a page can have, besides its text and links."""
DEFAULT_ATTRIBUTES: tuple[AttributeKind, ...] = ("title", "canonical", "robots", "product")
"""The kinds that count if a page has no rules for attributes."""


class PageAttribute(Struct, frozen=True, gc=False):
    """One attribute of a page (docs/reference/attributes.md)."""

    kind: AttributeKind
    name: str
    """The property and, after a colon, its place: `price`, `price:A-17`, `alt:/logo.png`. May occur several times."""
    value: str


class PageRules(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """How a page is fetched and compared: its handler, the layer that decides, and the rules. For a page or a tag."""

    handler: str = "auto"
    """`auto`, `http`, `rdf`, `sparql`, `feed`, `sitemap`, `browser`."""
    layer: str = "auto"
    """The layer that decides what is a change: `auto`, `raw`, `text`, `main`, `links`, `data`."""
    include: tuple[str, ...] = ()
    """Selectors (`css:…`, `xpath:…`, `jsonpath:…`): only what they select is compared."""
    ignore: tuple[str, ...] = ()
    """Selectors: what they select is not compared."""
    ignore_text: tuple[str, ...] = ()
    """Regular expressions: text that they match is not compared."""
    min_size: float = 0.0
    """Changes of a smaller share of the text (0 to 1) do not count."""
    unordered: bool = False
    """Tables: the order of the rows does not count."""
    ordered: bool = False
    """Tables: the order of the rows counts, even if the first column identifies them."""
    indentation: bool = False
    """Plain text: the white space at the beginning of lines and the division into lines count (source code, YAML)."""
    accept: str = ""
    """Accept header; empty for the handler's default."""
    query: str = ""
    """SPARQL query; empty to read the whole dataset."""
    entries: bool = False
    """Feeds and sitemaps: each entry becomes a watched page."""
    graphs: tuple[str, ...] = ()
    """SPARQL without a query: the IRIs of the graphs to read one by one, or `all` (every named graph), or `default`.

    Empty: all graphs together.
    """
    page_rows: int = 0
    """SPARQL without a query: number of rows in each request; 0 for the default."""
    attributes: tuple[str, ...] = ()
    """Kinds of attributes that count in addition to the default ones."""
    ignore_attributes: tuple[str, ...] = ()
    """Kinds of attributes that do not count."""

    @property
    def has_layer(self) -> bool:
        """Whether the user has set the layer that decides: then every difference in it counts, stamps too."""
        return self.layer != "auto"

    @property
    def counted_attributes(self) -> tuple[AttributeKind, ...]:
        """The kinds of attributes that count, in the order of `ATTRIBUTE_KINDS`."""
        counted = {*DEFAULT_ATTRIBUTES, *self.attributes}.difference(self.ignore_attributes)
        return tuple(kind for kind in ATTRIBUTE_KINDS if kind in counted)

    def extended(self, given: PageRules) -> PageRules:
        """These rules with the given ones: selectors, expressions and kinds are added, other given fields replace."""
        changes: dict[str, object] = {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(given, name)) != getattr(_NO_RULES, name)
        }
        for name in _ADDED_UP.intersection(changes):
            changes[name] = tuple(dict.fromkeys((*getattr(self, name), *getattr(given, name))))
        changes["attributes"] = _without(self.attributes, given.ignore_attributes, and_then=given.attributes)
        changes["ignore_attributes"] = _without(
            self.ignore_attributes, given.attributes, and_then=given.ignore_attributes
        )
        if given.ordered or given.unordered:
            changes |= {"ordered": given.ordered, "unordered": given.unordered}
        return replace(self, **changes)


def _without(kinds: tuple[str, ...], removed: tuple[str, ...], *, and_then: tuple[str, ...]) -> tuple[str, ...]:
    """Some kinds without others, and then further ones, each once."""
    return tuple(dict.fromkeys((*(kind for kind in kinds if kind not in removed), *and_then)))


def observed_by(page_rules: PageRules | None) -> str:
    """A digest of the rules that decide what is observed of a content; empty if they have their defaults.

    Two fingerprints, and the runs that belong to them, can be compared only if this is equal. Other rules (the layer,
    the minimum size) decide how they are compared.
    """
    return _digest(_observing, page_rules)


def requested_by(page_rules: PageRules | None) -> str:
    """A digest of the rules that decide which content is requested; empty if they have their defaults."""
    return _digest(_requesting, page_rules)


def _observing(rules: PageRules) -> tuple[object, ...]:
    selecting = (rules.include, rules.ignore, rules.ignore_text)
    return (*selecting, rules.unordered, rules.ordered, rules.indentation, rules.counted_attributes)


def _requesting(rules: PageRules) -> tuple[object, ...]:
    return (rules.handler, rules.accept, rules.query, rules.graphs)


def _digest(chosen: Callable[[PageRules], tuple[object, ...]], page_rules: PageRules | None) -> str:
    values = chosen(page_rules or _NO_RULES)
    return "" if values == chosen(_NO_RULES) else hashlib.sha256(repr(values).encode()).hexdigest()[:_DIGEST_CHARS]


_ADDED_UP = frozenset({"include", "ignore", "ignore_text"})
_NO_RULES = PageRules()
_DIGEST_CHARS = 16


class Observation(Struct, frozen=True, kw_only=True, gc=False):
    """A fact: a page had this content (or was gone) at this time."""

    url: str
    at: float
    status: int
    fingerprint: Fingerprint | None
    """None if the page was gone."""
    source: Literal["visit", "archive", "agent"] = "visit"
    lines: bytes = b""
    """The hashed runs of the compared text (`observe/text_runs.py`); empty if there is no text."""
    link_hashes: bytes = b""
    """64-bit hashes of the page's links (`observe/text_runs.py`)."""
    excerpts: dict[int, str] = {}
    """The first characters of the runs that the previous version did not have, by the hash of the run."""
    products: dict[str, str] = {}
    """What the page states of products to programs (price, currency, availability), by name."""
    address: str = ""
    """Final URL after all redirects; empty if it is `url` or unknown."""
    negotiated: bool = False
    """The server chose among several representations, or the handler created one.

    A different media type is then a different form, not a change.
    """
    language: str = ""
    """Language of the content, if the server chose among several languages and names it; else empty."""


class Sighting(Struct, frozen=True, kw_only=True, gc=False):
    """One download of a page, by any observer: when it was, and what it showed.

    The server sent what was seen at some moment from `at` to `ended_by`; no more is known about the time.
    """

    url: str
    at: float
    """The earliest time at which the download may have begun."""
    ended_by: float
    """The latest time at which it may have ended."""
    content: str
    """A digest: equal contents have equal digests. Of a redirect, the address that it names. Empty if the content is
    not known."""
    status: int = 200
    """0 if there was no response, or if its status is not known."""
    failure: str = ""
    """Why this is no content of the page, if the status does not say it: `truncated`, `timeout-total`."""
    target: str = ""
    """Of a redirect: the address that it names."""
    resolution_s: float = 0.0
    """The resolution of the date."""
    is_end_assumed: bool = False
    """The observer did not record how long the download took."""
    evidence: Literal["payload", "revisit", "declared"] = "payload"
    """What the content rests on. `payload`: the bytes. `revisit`: the observer's statement that they were those of
    another download. `declared`: only the digest that the observer wrote."""
    has_wrong_digest: bool = False
    """The observer wrote another digest than the bytes have."""
