"""The command line: one file per command. `main` is the entry point."""

from webstrata.cli.app import main

__all__ = ["main"]
