"""The links of one content, as the store keeps them for updates by new links and for the link graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import COPY_LINK, LINK, LinkKind
from webstrata.observe.html.links import PageLinks, home_of
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.python_links import link_kind

_ROW = np.dtype([("value", "<u8"), ("shape", "<u4")])
_KINDS = {"external": LinkKind.EXTERNAL, "documents": LinkKind.DOCUMENT}


def copy_links(linked: PageLinks, url: str) -> bytes:
    """The links of the page with this canonical URL, as packed rows of `COPY_LINK`, sorted, each link once. E-mail
    addresses and telephone numbers are left out.

    The page's hashes are computed already; only links that are not internal are hashed again, to find theirs.
    """
    values = np.frombuffer(linked.hashes, LINK)
    rows = np.zeros(len(values), COPY_LINK)
    rows["value"] = values
    if linked.external or linked.documents:
        home = home_of(url)
        by_kind: dict[LinkKind, list[str]] = {kind: [] for kind in _KINDS.values()}
        for target in linked.urls:
            kind = _KINDS.get(link_kind(target, home))
            if kind is not None:
                by_kind[kind].append(target)
        for kind, targets in by_kind.items():
            rows["kind"][_places(values, targets)] = kind
    if linked.packed_contacts:
        rows = np.delete(rows, _places(values, linked.contacts))
    return rows.tobytes()


def _places(values: NDArray[np.uint64], texts: Iterable[str]) -> NDArray[np.intp]:
    """Where the hashes of these texts are among the sorted ones."""
    return np.searchsorted(values, link_values(texts))


def link_values(texts: Iterable[str]) -> NDArray[np.uint64]:
    """The hash of a link to each of these canonical URLs, as in `COPY_LINK` and `SEEN_LINK`."""
    packed = "".join([f"{text}\0" for text in texts]).encode()
    found: NDArray[np.uint64] = np.frombuffer(KERNEL.link_rows(packed), _ROW)["value"]
    return found
