"""Tags that a user names to select pages: a tag that no page and no site has is an error, with similar tags."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated

import typer

from webstrata.errors import NothingFound
from webstrata.ports import Store

CreateOption = Annotated[
    bool,
    typer.Option("--create", help="Accept a --tag that no page or site has yet, and apply it to those that get it."),
]


async def require_tags(store: Store, tags: Iterable[str], *, stored: Iterable[str] = (), advice: str = "") -> None:
    """Raise NothingFound unless each tag is that of a page or of a site, or one of `stored`."""
    named = set(tags) - set(stored)
    if not named:
        return
    known = set(await store.maintenance.tag_counts())
    known.update(tag for site in await store.pages.sites() for tag in site.tags)
    for tag in sorted(named - known):
        similar = get_close_matches(tag, sorted(known), n=3)
        hint = f" Similar tags: {', '.join(map(repr, similar))}." if similar else ""
        raise NothingFound(
            f"no page or site has the tag {tag[:100]!r}.{hint} `webstrata tag` lists all tags, `webstrata tag URL --add "
            f"TAG` adds one to a page.{advice}"
        )


CREATE_ADVICE = " To prepare a tag before pages have it, add --create."
