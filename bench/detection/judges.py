"""The judges that are measured, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from bench.detection.crawl import by_crawl
from bench.detection.pairs import LabelledPair
from bench.detection.verdicts import Verdict, by_bytes, by_default_rules, by_text_of

JUDGES: dict[str, Callable[[Sequence[LabelledPair]], list[Verdict]]] = {
    "webstrata": by_default_rules,
    "webstrata, with the site": by_crawl,
    "changedetection.io": partial(by_text_of, "changedetection.io"),
    "urlwatch": partial(by_text_of, "urlwatch"),
    "bytes": by_bytes,
}
