"""The links of a page once more, in Python, each resolved by the URL library: what the compiled kernel must give."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from webstrata.observe.html.links import PageLinks
from webstrata.observe.text_runs import hash64
from webstrata.urls import join

_NOWHERE = ("#", "mailto:", "javascript:", "data:", "tel:", "about:", "blob:")

_DOCUMENTS = frozenset(
    """7z avi bib bz2 csv djvu doc docx dvi eps epub flac gif gz jpeg jpg json m4a m4v mkv mobi mov mp3 mp4 mpeg mpg odp
    ods odt ogg ogv pdf png ppt pptx ps rar rtf svg tar tex tgz tiff tsv txt wav webm webp wmv xls xlsx xml xz
    zip""".split()  # noqa: SIM905
)

_TRACKING = re.compile(
    r"[?&](?:utm_[a-z_]+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|twclid|mc_[ce]id|_hsenc|_hsmi|mkt_tok)="
    r"[^&#]*",
    re.IGNORECASE,
)


def links(hrefs: Iterable[str], base: str, page: str) -> PageLinks:
    """What `Resolver(base).links` says of these addresses."""
    resolved = [join(base, href) for href in hrefs if href and not href.startswith(_NOWHERE)]
    urls = list(dict.fromkeys(url for url in resolved if url is not None))
    kinds = [_kind(url, _host(page)) for url in urls]
    return PageLinks(
        packed=b"".join([url.encode() + b"\0" for url in urls]),
        digest=link_digest(urls),
        hashes=link_hashes(urls),
        internal=kinds.count("internal"),
        external=kinds.count("external"),
        documents=kinds.count("documents"),
    )


def link_hashes(urls: Sequence[str]) -> bytes:
    return b"".join([value.to_bytes(8, "little") for value in sorted({hash64(url) for url in urls})])


def link_digest(urls: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(set(map(without_tracking, urls)))).encode()).hexdigest()


def without_tracking(url: str) -> str:
    left = _TRACKING.sub("", url)
    return left if left == url or "?" in left else left.replace("&", "?", 1)


def _kind(url: str, home: str) -> str:
    if url.partition("?")[0].rpartition(".")[2].lower() in _DOCUMENTS:
        return "documents"
    return "internal" if _host(url) == home else "external"


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")
