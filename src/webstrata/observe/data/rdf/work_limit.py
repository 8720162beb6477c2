"""A limit on work that no input can talk round."""

from __future__ import annotations

from webstrata.errors import WebstrataError


class TooHardError(WebstrataError):
    """The graph is too symmetric to be told from others within the limit of work."""


class WorkLimit:
    """Steps that may still be made."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooHardError("too many blank nodes that look alike")
