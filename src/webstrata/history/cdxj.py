"""Lines of CDXJ files: a key, a time of 14 to 17 digits, and a JSON object with the rest."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from webstrata.history.index_row import IndexRow
from webstrata.urls import LONGEST_URL


class _CdxjFields(Struct, frozen=True, gc=False):
    url: str | None = None
    status: str | int | None = None
    mime: str | None = None
    digest: str | None = None


_decoder = msgspec.json.Decoder(_CdxjFields)
_MAX_KEY = 4 * LONGEST_URL


def cdxj_row(line: str) -> IndexRow | str:
    """The row of a line; a sentence if it is not a CDXJ line.

    A line without a URL has a plain URL as its key, or a SURT from which the URL is restored as far as it tells.
    """
    head, brace, rest = line.partition("{")
    parts = head.split()
    if not brace or len(parts) != 2 or len(parts[0]) > _MAX_KEY:
        return "not a key, a time and a JSON object"
    try:
        fields = _decoder.decode("{" + rest)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as problem:
        return f"its JSON cannot be read ({problem})"
    status = fields.status
    if isinstance(status, int) and not 0 <= status < 1000:
        return "its status is not a status"
    return IndexRow(
        url=fields.url if fields.url is not None else url_of_key(parts[0]),
        timestamp=parts[1],
        mime=fields.mime or "",
        status="" if status is None else status if isinstance(status, str) else f"{status:03d}",
        digest=fields.digest or "",
    )


def url_of_key(key: str) -> str:
    """The URL for which a key stands: a SURT has no scheme, no `www.` and no upper case any more."""
    if "://" in key.partition(")")[0] and not key.startswith(("http://(", "https://(")):
        return key
    host, bracket, path = key.partition(")")
    if not bracket:
        return key
    name, _, port = host.removeprefix("http://(").removeprefix("https://(").rstrip(",").partition(":")
    return f"http://{'.'.join(reversed(name.split(',')))}{f':{port}' if port else ''}{path or '/'}"
