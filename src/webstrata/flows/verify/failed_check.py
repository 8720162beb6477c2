"""`FailedCheck`: a statement of a certificate or a package that is wrong."""

from __future__ import annotations

from msgspec import Struct


class FailedCheck(Struct, frozen=True, kw_only=True):
    """What is wrong, and with what."""

    page: str | None
    """The URL of a page or file, or a file of the package; None if it is about the whole package."""
    what: str
