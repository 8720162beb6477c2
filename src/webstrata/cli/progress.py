"""A bar for long work over files: on a terminal only, on stderr, so that pipes and `--json` stay clean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(what: str, total_bytes: int | None = None) -> Iterator[Callable[[int], object]]:
    """Give a function that is told of every stretch of bytes done; no total: a bar that only moves."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from webstrata.cli.display import stderr

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True) as shown:
        task = shown.add_task(what, total=total_bytes)
        yield lambda count: shown.advance(task, count)
