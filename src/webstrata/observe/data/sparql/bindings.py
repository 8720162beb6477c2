"""SPARQL results as data: the order of rows and the labels of blanks do not count."""

from __future__ import annotations

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.sparql.canonical import canonical
from webstrata.observe.data.sparql.results import JSON, NotResults, read_results

MOST_BYTES = 100_000_000


def read(body: bytes, charset: str | None, url: str, media_type: str = JSON) -> DataDigest:
    """The results in a body. Never raises."""
    if len(body) > MOST_BYTES:
        return refused("bindings", f"longer than {MOST_BYTES} bytes")
    try:
        results = read_results(body, media_type)
    except NotResults as why:
        return refused("bindings", why)
    return DataDigest(kind="bindings", digest=digest_of("bindings", [canonical(results)]), size=len(results.rows))
