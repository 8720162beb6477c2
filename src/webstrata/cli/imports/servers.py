"""The options of the commands of `import` that ask servers of other archives."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import typer

from webstrata.errors import UsageError

_LIMITED = ("web.archive.org", 24.0)
"""This host blocks clients that send more requests per minute."""

PerMinuteOption = Annotated[
    float | None,
    typer.Option(
        "--per-minute",
        min=0.01,
        max=6000,
        metavar="N",
        help="Send at most N requests per minute to each host (default: 24, as the Wayback Machine allows; more only to "
        "archives that permit it).",
        show_default=False,
    ),
]
RefreshOption = Annotated[
    bool,
    typer.Option("--refresh", help="Read from the start and request everything again, also what is in the cache."),
]


def checked_rate(per_minute: float | None, *addresses: str) -> float | None:
    """The value of --per-minute. Raises UsageError if one of these servers allows less."""
    host, limit = _LIMITED
    if per_minute is not None and per_minute > limit and any(_host(address) == host for address in addresses):
        raise UsageError(
            f"{host} allows {limit:.0f} requests per minute and blocks clients that send more. Leave --per-minute out, "
            "or set less."
        )
    return per_minute


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").removesuffix(".")
    except ValueError:
        return ""
