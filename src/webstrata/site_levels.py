"""The site to which a page belongs, and how many levels the page is below the homepage of its site.

As in "Hybrid focused crawling with archived history": a personal homepage (`foo.edu/~bar`) is a site of its own, the
homepage is at depth 0, and `foo.edu/~bar/baz` is at depth 1. All functions take canonical URLs. http and https, and a
host with and without `www.`, are the same site: archives mix them.
"""

from __future__ import annotations

import re

from webstrata.urls import origin, path_of

_PERSONAL = re.compile("(?:~|%7[Ee]).")
_INDEX = re.compile(r"(?:index|default)\.\w{2,5}", re.IGNORECASE)
"""The file that a server sends for the folder."""


def site_of(url: str) -> str:
    """The site of a page: its host, or of a personal homepage the host and the first folder (`foo.edu/~bar`)."""
    host = _host(url)
    parts = _parts(url)
    return f"{host}/{_tilde(parts[0])}" if parts and _PERSONAL.match(parts[0]) else host


def depth_of(url: str, start: str | None = None) -> int:
    """The number of levels below the homepage of the site, or below the page `start`.

    The file that a server sends for a folder (`index.html`) is at the depth of the folder. A query at depth 0 makes
    another page of the homepage: it is at depth 1.
    """
    parts = _parts(url)
    above = len(_parts(start)) if start is not None else int(bool(parts) and _PERSONAL.match(parts[0]) is not None)
    depth = max(0, len(parts) - above)
    return depth or int("?" in path_of(url))


def _parts(url: str) -> list[str]:
    """The folders of the path, and the file at its end."""
    parts = [part for part in path_of(url).partition("?")[0].split("/") if part]
    return parts[:-1] if parts and _INDEX.fullmatch(parts[-1]) else parts


def _host(url: str) -> str:
    """Host and port, without the scheme and `www.`."""
    return origin(url).partition("://")[2].removeprefix("www.")


def _tilde(folder: str) -> str:
    return folder if folder.startswith("~") else f"~{folder[3:]}"
