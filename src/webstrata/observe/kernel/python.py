"""The kernel in Python: what runs where the package was installed without a C compiler.

It returns the same values as the compiled kernel (`library.py`). The walk through a body is in `python_walk.py`, the
selection of the main content in `python_main.py`, that of the text in it in `python_body.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from html import unescape
from struct import iter_unpack, pack

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborNode

from webstrata.observe.kernel.python_body import body_spans
from webstrata.observe.kernel.python_main import main_spans, select_main
from webstrata.observe.kernel.python_walk import LINE_ENDS, walk_body
from webstrata.observe.kernel.reserialise import INVISIBLE
from webstrata.observe.kernel.results import MAX_LINKS, BodyOutline, LinkTable, Span


def outline_body(body: LexborNode) -> BodyOutline | None:
    """The outline of a body element."""
    walked = walk_body(body)
    main = select_main(walked.boxes)
    main_lines, main_links = main_spans(walked.boxes, main)
    return BodyOutline(
        text=walked.text,
        line_ends=np.array(walked.line_ends, dtype=np.int32),
        hrefs=_packed(walked.hrefs),
        pointers=_packed(walked.pointers),
        main_lines=main_lines,
        body_lines=body_spans(walked.boxes, main, walked.own_sizes),
        main_links=b"".join([pack("=ii", *span) for span in main_links]),
    )


def _packed(texts: list[str]) -> bytes:
    return "".join([text + "\0" for text in texts]).encode("utf-8", "replace")


# ── links ───────────────────────────────────────────────────────────────────────────────────────────────────

_NOT_FETCHED = ("#", "mailto:", "javascript:", "data:", "tel:", "about:", "blob:")

_DOCUMENTS = frozenset(
    """7z avi bib bz2 csv djvu doc docx dvi eps epub flac gif gz jpeg jpg json m4a m4v mkv mobi mov mp3 mp4 mpeg mpg odp
    ods odt ogg ogv pdf png ppt pptx ps rar rtf svg tar tex tgz tiff tsv txt wav webm webp wmv xls xlsx xml xz
    zip""".split()  # noqa: SIM905
)
"""File name extensions of documents."""

_TRACKING = re.compile(
    r"[?&](?:utm_[a-z_]+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|twclid|mc_[ce]id|_hsenc|_hsmi|mkt_tok)="
    r"[^&#]*",
    re.IGNORECASE | re.ASCII,
)


def collect_links(
    hrefs: bytes,
    spans: bytes | None,
    *,
    root: bytes,
    folder: bytes,
    home: str,
    resolve: Callable[[str], str | None],
) -> LinkTable:
    """The URLs that these addresses lead to. Each is resolved by the URL parser: `root` and `folder` are not used."""
    texts = hrefs.decode("utf-8", "replace").split("\0")
    if spans is not None:
        texts = list(_selected(texts, list(iter_unpack("=ii", spans[: len(spans) // 8 * 8]))))
    resolved = [resolve(href) for href in texts if href and not href.startswith(_NOT_FETCHED)]
    urls = list(dict.fromkeys(filter(None, resolved)))[:MAX_LINKS]
    kinds = [_kind(url, home) for url in urls]
    return LinkTable(
        urls=b"".join([url.encode() + b"\0" for url in urls]),
        sorted_urls=b"\n".join(sorted({without_tracking(url).encode() for url in urls})),
        hashes=link_hashes(urls) if spans is None else b"",
        internal=kinds.count("internal"),
        external=kinds.count("external"),
        documents=kinds.count("documents"),
    )


def _selected(texts: list[str], spans: list[Span]) -> Iterator[str]:
    """The texts whose indexes are in a span; spans are used in the order given and never twice."""
    current = 0
    for index, text in enumerate(texts):
        while current < len(spans) and index >= spans[current][1]:
            current += 1
        if current == len(spans):
            return
        if index >= spans[current][0]:
            yield text


def without_tracking(url: str) -> str:
    """The URL without parameters that only say where the visitor came from."""
    shorter = _TRACKING.sub("", url)
    return shorter if shorter == url or "?" in shorter else shorter.replace("&", "?", 1)


def link_hashes(urls: Iterable[str]) -> bytes:
    """The sorted hashes of URLs, without duplicates."""
    digests = {hashlib.blake2b(url.encode(), digest_size=8).digest() for url in urls}
    return b"".join(sorted(digests, key=lambda digest: int.from_bytes(digest, "little")))


def _kind(url: str, home: str) -> str:
    if url.partition("?")[0].rpartition(".")[2].lower() in _DOCUMENTS:
        return "documents"
    return "internal" if url.partition("://")[2].partition("/")[0].removeprefix("www.") == home else "external"


# ── text without a tree ─────────────────────────────────────────────────────────────────────────────────────

_HIDING = ("<!--", *(f"<{name}" for name in INVISIBLE))


def may_hide(markup: str) -> bool:
    """Whether markup in ASCII may have a comment or an invisible element."""
    lower = markup.lower()
    return any(start in lower for start in _HIDING)


_TAG = re.compile(r"<(/?+[A-Za-z!?][^\s/<>]*+|/)[^<>]*+>?")
_VOID = frozenset({"area", "embed", "img", "input", "source", "track", "wbr"})
_STARTED, _ENDED = "\1", "\2"
_MAX_NAMES = 10_000


def scan_text(markup: str) -> str:
    """The text of markup without building a tree."""
    markup = markup.encode("utf-8", "replace").decode()
    pieces = _TAG.split(markup.replace("\n", " "))
    pieces[1::2] = map(_TagMarkers().__getitem__, pieces[1::2])
    marked = "".join(pieces).replace(_ENDED + _STARTED, " ").replace(_STARTED + _ENDED, " ")
    return unescape(marked.replace(_STARTED, "").replace(_ENDED, ""))


class _TagMarkers(dict[str, str]):
    """The name of a tag, with the slash of an end tag -> the characters that replace the tag."""

    def __missing__(self, tag: str) -> str:
        name = tag.removeprefix("/").lower()
        if name in LINE_ENDS:
            marker = "\n"
        elif name in _VOID:
            marker = " "
        elif name[:1].isalpha():
            marker = _ENDED if tag.startswith("/") else _STARTED
        else:
            marker = ""
        if len(self) < _MAX_NAMES:
            self[tag] = marker
        return marker


# ── simhash ─────────────────────────────────────────────────────────────────────────────────────────────────

_Hashes = NDArray[np.uint32]

_SPACE = 0x20
_SHINGLE = 3
_FACTOR = 0x9E3779B1
_INVERSE = pow(_FACTOR, -1, 2**32)
_BLOCK = 1 << 18
"""Bytes of text whose words are hashed together."""

_HALVES = np.array([[0xC2B2AE3D], [0x85EBCA77]], dtype=np.uint32)  # factors of the lower and the upper half
_MIX = tuple((np.uint32(shift), np.uint32(factor)) for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)))
_BITS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)
"""What a byte adds to the counts of its eight bits, lowest first."""
_COLUMNS = np.arange(8) * 256


def simhash(text: bytes) -> int:
    """The simhash of at least one word."""
    hashes = np.concatenate([_word_hashes(block) for block in _blocks(text)])
    shingles = _shingles(hashes, min(_SHINGLE, len(hashes)))
    return _majority(np.ascontiguousarray(shingles.T, dtype="<u4"))


def _blocks(text: bytes) -> Iterator[bytes]:
    """The text in pieces of whole words."""
    start = 0
    while start <= len(text):
        end = text.find(b" ", start + _BLOCK)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _word_hashes(text: bytes) -> _Hashes:
    """The hash of each word: starting with 0, for each byte multiply by `_FACTOR` and add the byte, modulo 2^32.

    All words are hashed at once: with running sums of bytes times negative powers, the hash of a word is the difference
    of two sums times a power.
    """
    array = np.frombuffer(text, dtype=np.uint8)
    powers, inverses = _powers(len(array))
    sums = np.zeros(len(array) + 1, dtype=np.uint32)
    np.cumsum(array * inverses[: len(array)], dtype=np.uint32, out=sums[1:])
    spaces = np.flatnonzero(array == _SPACE)
    starts, ends = np.concatenate(([0], spaces + 1)), np.concatenate((spaces, [len(array)]))
    hashes: _Hashes = (sums[ends] - sums[starts]) * powers[ends - 1]
    return hashes


def _powers(length: int) -> tuple[_Hashes, _Hashes]:
    """At least this many powers of the factor and of its inverse, from 0 on."""
    size = 1 << max(12, length.bit_length())
    return _tables(size) if size <= 2 * _BLOCK else _tables.__wrapped__(size)


@lru_cache(maxsize=8)
def _tables(size: int) -> tuple[_Hashes, _Hashes]:
    powers, inverses = np.full((2, size), [[_FACTOR], [_INVERSE]], dtype=np.uint32)
    powers[0] = inverses[0] = 1
    return np.multiply.accumulate(powers, dtype=np.uint32), np.multiply.accumulate(inverses, dtype=np.uint32)


def _shingles(hashes: _Hashes, length: int) -> _Hashes:
    """The hash of every `length` consecutive words: a row for the lower halves, and a row for the upper."""
    number = len(hashes) - length + 1
    state = np.zeros((2, number), dtype=np.uint32)
    for start in range(length):
        state *= _HALVES
        state += hashes[start : start + number]
    for shift, factor in _MIX:
        state ^= state >> shift
        state *= factor
    return state


def _majority(hashes: _Hashes) -> int:
    """The bits that are set in more than half of the hashes (rows of two halves, the lower first)."""
    positions = hashes.view(np.uint8).reshape(-1, 8) + _COLUMNS
    byte_counts = np.bincount(positions.ravel(), minlength=8 * 256).reshape(8, 256)
    counts = byte_counts.astype(np.float64) @ _BITS
    return int.from_bytes(np.packbits(counts.ravel() * 2 > len(hashes), bitorder="little").tobytes(), "little")
