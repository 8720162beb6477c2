"""What a page's first visit tells of how often it may change (after Barbosa et al., "present and past", section 3.3).

Read on demand, at a page's first visit: it parses the content once more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from webstrata.observe.html import charset as encoding
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.page import look
from webstrata.records import StaticFeatures
from webstrata.urls import host_of, path_of

_MAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_IMAGE = re.compile(r"<img[\s/>]", re.IGNORECASE)
_SCRIPT = re.compile(r"<script[\s/>]", re.IGNORECASE)
_TABLE = re.compile(r"<table[\s/>]", re.IGNORECASE)
_FORM = re.compile(r"<form[\s/>]", re.IGNORECASE)
_MAX_AGE = re.compile(r"(?:^|[,\s])(?:s-maxage|max-age)\s*=\s*\"?(\d{1,10})", re.IGNORECASE)

# Traces that content management systems and generators leave, the first that fits.
_SYSTEMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("wordpress", r"wp-content/|wp-includes/|content=\"WordPress"),
        ("drupal", r"/sites/(?:default|all)/|content=\"Drupal|data-drupal-"),
        ("joomla", r"content=\"Joomla|/media/jui/"),
        ("typo3", r"content=\"TYPO3|/typo3(?:conf|temp)/"),
        ("mediawiki", r"content=\"MediaWiki|/load\.php\?"),
        ("blogger", r"content=\"blogger|\.blogspot\."),
        ("squarespace", r"static1?\.squarespace\.com"),
        ("wix", r"static\.wixstatic\.com|content=\"Wix\.com"),
        ("shopify", r"cdn\.shopify\.com"),
        ("ghost", r"content=\"Ghost "),
        ("jekyll", r"content=\"Jekyll"),
        ("hugo", r"content=\"Hugo"),
        ("sphinx", r"_static/(?:sphinx|doctools|documentation_options)|content=\"Docutils"),
        ("doxygen", r"content=\"Doxygen"),
        ("mkdocs", r"content=\"mkdocs"),
        ("docusaurus", r"content=\"Docusaurus"),
        ("rmarkdown", r"content=\"pandoc"),
        ("org", r"content=\"Org[- ]mode"),
    )
)
_SCANNED = 200_000
"""Characters searched for them."""

# What a host's name says of the site, the first that fits. Weak signs: they serve until the page has a history.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("government", r"(?:^|\.)gov(?:\.[a-z]{2})?$|(?:^|\.)(?:gouv|gob|bund)\.[a-z]{2}$|\.europa\.eu$"),
        ("scholarly", r"(?:^|\.)edu(?:\.[a-z]{2})?$|(?:^|\.)ac\.[a-z]{2}$|(?:^|\.)(?:uni|tu|fh)-[a-z-]+\.[a-z]{2}$"),
        ("code", r"(?:^|\.)(?:github|gitlab|bitbucket|codeberg)\.[a-z]+$|(?:^|\.)(?:readthedocs|github)\.io$"),
        ("news", r"news|times|herald|tribune|zeitung|gazette|daily"),
        ("blog", r"blog|medium\.com$|substack\.com$"),
        ("wiki", r"wiki"),
    )
)


def features(body: bytes, headers: Mapping[str, str], url: str, *, depth: int = 0) -> StaticFeatures:
    """Of a content (coding removed) with its response headers (names in lower case); `depth`: links from the seed."""
    content_type = headers.get("content-type")
    kind = media_type(body, content_type)
    seen = look(body, kind, header_charset(content_type), url)
    source = _source(body, kind, content_type)
    text = seen.text or ""
    mark = seen.fingerprint
    return StaticFeatures(
        media_type=kind,
        size=len(body),
        text_size=len(text.encode("utf-8", "replace")) if text else len(body),
        links=seen.linked.count,
        internal_links=mark.internal_links,
        external_links=mark.external_links,
        document_links=mark.document_links,
        mail_addresses=len(set(_MAIL.findall(source))),
        images=len(_IMAGE.findall(source)),
        scripts=len(_SCRIPT.findall(source)),
        tables=len(_TABLE.findall(source)),
        forms=len(_FORM.findall(source)),
        has_last_modified="last-modified" in headers,
        has_etag="etag" in headers,
        cache_seconds=_cache_seconds(headers.get("cache-control", "")),
        has_feed=bool(seen.feeds),
        level=_level(url),
        depth=depth,
        system=next((name for name, trace in _SYSTEMS if trace.search(source[:_SCANNED])), ""),
        site_kind=_site_kind(host_of(url), url),
    )


def _source(body: bytes, kind: str, content_type: str | None) -> str:
    if kind in HTML:
        return encoding.decode(body, header_charset(content_type), html=True)[0]
    return encoding.decode_plain(body, header_charset(content_type))[0] if kind.startswith("text/") else ""


def _cache_seconds(control: str) -> int | None:
    """How long the server lets caches keep it; None: it does not say."""
    lower = control[:1024].lower()
    if "no-store" in lower or "no-cache" in lower:
        return 0
    found = _MAX_AGE.search(lower)
    return int(found[1]) if found else None


def _level(url: str) -> int:
    """Of the page in its server's folders: the root is 1, `/mail/` and `/mail/a.html` are 2."""
    return 1 + path_of(url).partition("?")[0].rpartition("/")[0].count("/")


def _site_kind(host: str, url: str) -> str:
    if "/~" in url:
        return "scholarly"
    return next((name for name, pattern in _KINDS if pattern.search(host)), "")
