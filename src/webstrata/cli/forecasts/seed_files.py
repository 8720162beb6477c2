"""The formats of selected pages: for people, for programs, and as seed files of other crawlers.

heritrix  a URL and a comment in each line, as its TextSeedModule reads (`seeds.txt`)
nutch     a URL and tab-separated `key=value` metadata in each line; `nutch.score` is what its injector reads
scrapy    JSON lines, each with arguments of `scrapy.Request`: url, priority (p in thousandths), meta
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from webstrata.errors import UsageError

SeedFormat = Literal["urls", "json", "parquet", "heritrix", "scrapy", "nutch"]
_PRIORITIES = 1000


class Seed(NamedTuple):
    """A selected page."""

    url: str
    p: float
    reason: str


def _heritrix(seed: Seed) -> str:
    return f"{seed.url} # p={seed.p:.4f}: {seed.reason}"


def _nutch(seed: Seed) -> str:
    return f"{seed.url}\tnutch.score={seed.p:.6f}\treason={seed.reason}"


def _scrapy(seed: Seed) -> str:
    request: dict[str, Any] = {
        "url": seed.url,
        "priority": round(seed.p * _PRIORITIES),
        "meta": {"p": seed.p, "reason": seed.reason},
    }
    return msgspec.json.encode(request).decode()


_LINES: dict[str, Callable[[Seed], str]] = {
    "urls": lambda seed: seed.url,
    "heritrix": _heritrix,
    "nutch": _nutch,
    "scrapy": _scrapy,
}


def seed_lines(format_: SeedFormat, seeds: Iterable[Seed]) -> Iterable[bytes]:
    """The lines of a text format; no line has a control character, because neither URL nor reason can have one."""
    line = _LINES[format_]
    return (line(seed).encode("utf-8", "replace") + b"\n" for seed in seeds)


def format_of(out: Path | None, chosen: SeedFormat | None) -> SeedFormat | None:
    """The format of a file, by its name unless it is chosen; None: a table for people. Raises UsageError."""
    endings: dict[str, SeedFormat] = {".parquet": "parquet", ".json": "json", ".jsonl": "scrapy", ".txt": "urls"}
    if chosen is None and out is not None and str(out) != "-":
        chosen = endings.get(out.suffix.lower())
        if chosen is None:
            known = ", ".join(get_args(SeedFormat))
            raise UsageError(f"the format of {out} is not known. Give --format: {known}.")
    if chosen == "parquet":
        if out is None or str(out) == "-":
            raise UsageError("Parquet cannot be written to stdout. Name a file with --out.")
        try:
            import webstrata.lab.parquet_table  # noqa: F401 - is the library there?
        except ImportError:
            raise UsageError(
                "Parquet needs pyarrow: `pip install 'webstrata[lab]'`. Other formats need nothing."
            ) from None
    return chosen
