"""Broken promises, by whose they are; outcomes of visits are records, not errors.

    WebstrataError             exit code 1
    ├── UsageError             2   the caller's: a bad argument, URL, file or settings value
    │   ├── BadUrl
    │   └── BadSettings
    ├── HomeError              1   the home folder: absent, in use, from a newer version
    ├── StoreError             1   the database does not answer or does not fit
    └── ArchiveError           1   a WARC or index file is damaged or cannot be written

Every text says what to do next.
"""

from __future__ import annotations


class WebstrataError(Exception):
    exit_code = 1


class UsageError(WebstrataError):
    exit_code = 2


class BadUrl(UsageError):  # noqa: N818 - the noun says it
    """Not a URL that can be visited."""


class BadSettings(UsageError):  # noqa: N818
    """A settings value that cannot hold."""


class HomeError(WebstrataError):
    """The home folder cannot be used."""


class StoreError(WebstrataError):
    """The database cannot be used."""


class ArchiveError(WebstrataError):
    """An archive file cannot be used."""
