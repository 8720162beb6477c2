"""The links and the attributes of a page as runs, so that they are compared like the lines of its text.

A link is one run: its value is the hash of the address, its shape that of the address with numbers and tokens masked.
An attribute is one run: its shape is the hash of its name. What a page states beyond the limits is stored in buckets.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import ATTRIBUTE_PARTS, RUN, Part, RunFlag
from webstrata.observe.figures import NO_FIGURE
from webstrata.observe.sketch import hash64, sketch_of
from webstrata.observe.text_runs import Row
from webstrata.records import PageAttribute

_MAX_LINKS = 1_000
"""Links stored one by one; the rest of a page's links are stored in buckets, each the sum of its links."""
_BUCKETS = 64
_MAX_ATTRIBUTES = 500


def runs_of_links(links: NDArray[np.void]) -> bytes:
    """The links (rows of `LINK_PLACE`) as rows of `RUN`."""
    single, rest = links[:_MAX_LINKS], links[_MAX_LINKS:]
    rows = np.zeros(len(single), dtype=RUN)
    rows["value"], rows["shape"] = single["value"], single["shape"]
    rows["part"] = np.where(single["main"], Part.MAIN_LINK, Part.OTHER_LINK)
    rows["flags"] = np.where(single["stamp"], RunFlag.STAMP, 0)
    rows["figure"] = NO_FIGURE
    return rows.tobytes() + b"".join(
        _buckets(rest["value"][rest["main"] == is_main], part)
        for is_main, part in ((True, Part.MAIN_LINK), (False, Part.OTHER_LINK))
    )


def _buckets(values: NDArray[np.uint64], part: Part) -> bytes:
    """Rows for the buckets that have links; another order of the links gives the same rows."""
    numbers = values % np.uint64(_BUCKETS)
    used = np.unique(numbers)
    rows = np.zeros(len(used), dtype=RUN)
    rows["value"] = [np.bitwise_xor.reduce(values[numbers == number]) for number in used]
    rows["shape"] = used
    rows["part"] = part
    rows["figure"] = NO_FIGURE
    return rows.tobytes()


def runs_of_attributes(attributes: Iterable[PageAttribute]) -> bytes:
    """The attributes as rows of `RUN`; the title is a run of the text already."""
    rows: list[Row] = []
    for attribute in attributes:
        part = ATTRIBUTE_PARTS.get(attribute.kind)
        if part is None or len(rows) == _MAX_ATTRIBUTES:
            continue
        words = attribute.value.encode("utf-8", "replace").split()
        shape = crc32(f"{attribute.kind}:{attribute.name}".encode("utf-8", "replace"))
        rows.append((attribute_value(attribute), sketch_of(words), shape, NO_FIGURE, 0, len(words), part, 0))
    return np.array(rows, dtype=RUN).tobytes()


def attribute_value(attribute: PageAttribute) -> int:
    """The value of the run of an attribute: a hash of its name and value."""
    return hash64(f"{attribute.kind}:{attribute.name}\0{attribute.value}")
