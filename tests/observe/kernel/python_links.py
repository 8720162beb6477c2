"""The links of a page by the Python kernel, which resolves each address with the URL parser."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import partial

from webstrata.observe.html.links import PageLinks
from webstrata.observe.kernel.choice import select_kernel
from webstrata.urls import join


def python_links(hrefs: Iterable[str], base: str, page: str) -> PageLinks:
    """What `LinkResolver(base).links` must return for these addresses."""
    table = select_kernel(compiled=False).collect_links(
        "".join([href + "\0" for href in hrefs]).encode(),
        None,
        root=b"",
        folder=b"",
        home=page.partition("://")[2].partition("/")[0].removeprefix("www."),
        resolve=partial(join, base),
    )
    return PageLinks(
        packed=table.urls,
        digest=hashlib.sha256(table.sorted_texts).hexdigest(),
        hashes=table.hashes,
        internal=table.internal,
        external=table.external,
        documents=table.documents,
        packed_contacts=table.contacts,
    )
