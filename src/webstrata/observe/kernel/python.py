"""The kernel in Python: what runs where the package was installed without a C compiler.

It returns the same values as the compiled kernel (`library.py`). The walk through a body is in `python_walk.py`, the
selection of the main content in `python_main.py`, that of the text in it in `python_body.py`, the functions for links
in `python_links.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from struct import pack

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborNode

from webstrata.observe.kernel.python_body import body_spans
from webstrata.observe.kernel.python_links import collect_links, link_rows
from webstrata.observe.kernel.python_main import main_spans, select_main
from webstrata.observe.kernel.python_walk import LINE_ENDS, walk_body
from webstrata.observe.kernel.reserialise import INVISIBLE
from webstrata.observe.kernel.results import BodyOutline

__all__ = ["collect_links", "link_rows", "may_hide", "outline_body", "scan_text", "simhash"]


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
