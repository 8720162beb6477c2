"""The extract that ships with the package: two years of a dozen real sites, so that a demo needs nothing else."""

from __future__ import annotations

from importlib.resources import as_file, files

from webstrata.clock import parse_instant
from webstrata.lab.livingweb.recording import Recording, Window, read_recordings

SHIPPED_WINDOW: Window = (parse_instant("2023-01-01"), parse_instant("2025-01-01"))
"""The two years that the extract holds: the state at the first instant, and all publications up to the second."""


def load_shipped() -> list[Recording]:
    """All shipped sites, in order of their names (sources and licences: README.md beside the data)."""
    with as_file(files("webstrata.lab") / "data" / "sites") as folder:
        return read_recordings(folder)
