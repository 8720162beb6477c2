"""The exceptions of Webstrata, with their exit codes. Failed visits are records (`Failure`), not exceptions.

    WebstrataError             exit code 1
    ├── UsageError             2   a wrong argument, URL, file or settings value
    │   ├── BadUrl
    │   └── BadSettings
    ├── NothingFound           1   a tag, a host or a list of the caller names no page
    ├── HomeError              1   the home folder is missing, in use, or from a newer version
    ├── StoreError             1   the database is unreachable, or from a newer version
    ├── ArchiveError           1   a WARC or index file is damaged or cannot be written
    ├── ParserError            1   no parser process works, whatever the content
    └── SourceError            1   the server of another archive gives no usable answer

Every message says what is wrong and what to do next.
"""

from __future__ import annotations


class WebstrataError(Exception):
    """Base class of all errors that are reported without a traceback."""

    exit_code = 1


class UsageError(WebstrataError):
    """The caller passed a wrong argument, URL, file or settings value."""

    exit_code = 2


class BadUrl(UsageError):  # noqa: N818 - the name says that it is an error
    """The text is not a URL that can be visited."""


class BadSettings(UsageError):  # noqa: N818
    """A settings key does not exist, or its value is invalid."""


class NothingFound(WebstrataError):  # noqa: N818
    """What the caller named (a tag, a host, the lines of a list) matches no page."""


class HomeError(WebstrataError):
    """The home folder cannot be used."""


class StoreError(WebstrataError):
    """The database cannot be used."""


class DamagedStore(StoreError):  # noqa: N818
    """The database is missing or damaged: it must be restored or made again."""

    def __init__(self, fault: str, advice: str) -> None:
        """`fault`: what is wrong, without a full stop. `advice`: sentences that say what to do."""
        super().__init__(f"{fault}. {advice}")
        self.fault = fault


class ArchiveError(WebstrataError):
    """An archive file cannot be used."""


class ParserError(WebstrataError):
    """No parser process works: a fault of this machine or of its limits, not of a content."""


class SourceError(WebstrataError):
    """The server of another archive gives no usable answer. What was read before is stored."""
