"""The verdicts that are measured: for each pair, whether it counts as a change, and how significant it is.

These judges get the pairs alone; `crawl.py` also learns the template of a site from its other pages.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from bench.contenders.watchers import watched_texts
from bench.detection.pairs import LabelledPair
from webstrata.cli.app import application


class Verdict(NamedTuple):
    """Whether a pair counts as a change. Only Webstrata says with which significance, and why."""

    changed: bool
    significance: float | None = None
    why: str = ""


def by_default_rules(pairs: Sequence[LabelledPair]) -> list[Verdict]:
    """What `webstrata compare` says of two files."""
    run = CliRunner()
    webstrata = application("compare")
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, "before"), Path(folder, "after")]
        for pair in pairs:
            for file, content in zip(files, (pair.before, pair.after), strict=True):
                file.write_bytes(content)
            address = f"https://{pair.site}.example/{pair.path}"
            words = ["compare", *map(str, files), "--type", with_charset(pair), "--url", address, "--json"]
            found = json.loads(run.invoke(webstrata, words, catch_exceptions=False).stdout)
            why = "; ".join([found["kind"], *map(str, found["reasons"])])
            verdicts.append(Verdict(found["changed"], found["significance"], why))
    return verdicts


def with_charset(pair: LabelledPair) -> str:
    """Both versions have the charset that a server would send for them."""
    try:
        (pair.before + pair.after).decode()
    except UnicodeDecodeError:
        return pair.media_type
    return f"{pair.media_type}; charset=utf-8" if pair.media_type.startswith("text/") else pair.media_type


def by_text_of(name: str, pairs: Sequence[LabelledPair]) -> list[Verdict]:
    """Whether another tool's text of the two versions differs."""
    texts = watched_texts(name, [(body, pair.media_type) for pair in pairs for body in (pair.before, pair.after)])
    return [Verdict(before != after) for before, after in zip(texts[::2], texts[1::2], strict=True)]


def by_bytes(pairs: Sequence[LabelledPair]) -> list[Verdict]:
    """Whether the bytes differ. They always do: this is the share of meaningful pairs."""
    return [Verdict(pair.before != pair.after) for pair in pairs]
