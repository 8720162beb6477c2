"""Tags that a user names to select pages: a tag that no page and no site has is an error, with similar tags."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated

import typer

from webstrata.cli.output import printable
from webstrata.errors import NothingFound, UsageError
from webstrata.ports import Store

_LONGEST_TAG = 200
"""PostgreSQL indexes tags with at most 2,704 bytes."""
CreateOption = Annotated[
    bool,
    typer.Option("--create", help="Accept a --tag that no page or site has yet, and apply it to those that get it."),
]


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags that are to be given to pages. Raises UsageError if one is empty, too long, or not plain text."""
    checked = tuple(tags)
    for tag in checked:
        if not tag.strip() or len(tag) > _LONGEST_TAG or printable(tag) != tag or "\t" in tag:
            raise UsageError(
                f"{tag[:40]!r} cannot be a tag. Write 1 to {_LONGEST_TAG} characters, without control characters."
            )
    return checked


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
