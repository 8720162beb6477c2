"""The links of one content, as the store keeps them for updates by new links and for the link graph."""

from __future__ import annotations

import numpy as np

from webstrata.columns import COPY_LINK, LinkKind
from webstrata.observe.html.links import PageLinks
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.python_links import link_kind
from webstrata.urls import host_of

_ROW = np.dtype([("value", "<u8"), ("shape", "<u4")])
_KINDS = {"internal": LinkKind.INTERNAL, "external": LinkKind.EXTERNAL, "documents": LinkKind.DOCUMENT}


def copy_links(linked: PageLinks, url: str) -> bytes:
    """The links of the page with this canonical URL, as packed rows of `COPY_LINK`, sorted, each link once. E-mail
    addresses and telephone numbers are left out."""
    home = host_of(url).removeprefix("www.")
    values = np.frombuffer(KERNEL.link_rows(linked.packed), _ROW)["value"]
    rows = np.zeros(len(values), COPY_LINK)
    rows["value"] = values
    rows["kind"] = [_KINDS[link_kind(target, home)] for target in linked.urls]
    first = np.unique(rows["value"], return_index=True)[1]
    return rows[first].tobytes()


def link_value(url: str) -> int:
    """The hash of a link to this canonical URL, as in `COPY_LINK` and `SEEN_LINK`."""
    return int(np.frombuffer(KERNEL.link_rows(url.encode() + b"\0"), _ROW)["value"][0])
