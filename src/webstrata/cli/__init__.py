"""The command line: one file per command; `main` is the door."""

from webstrata.cli.app import main

__all__ = ["main"]
