"""Runs commands in a terminal and draws their output as an SVG picture of a terminal."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from rich.console import Console
from rich.text import Text

PROGRAM = Path(sys.executable).with_name("webstrata")


def run(words: Sequence[str], folder: str, width: int) -> str:
    """What `webstrata WORDS` prints on a terminal of this width, with colours and without its progress."""
    reader, terminal = os.openpty()
    parts: list[bytes] = []
    reading = Thread(target=_read, args=(reader, parts))
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm-256color"}
    with subprocess.Popen(
        [PROGRAM, *words], cwd=folder, env=environment, stdout=terminal, stderr=subprocess.PIPE
    ) as process:
        os.close(terminal)
        reading.start()
        _, errors = process.communicate()
    reading.join()
    os.close(reader)
    if process.returncode:
        raise SystemExit(f"webstrata {' '.join(words)} failed: {errors.decode()}")
    return b"".join(parts).decode()


def _read(terminal: int, parts: list[bytes]) -> None:
    """Read until the end, which a terminal reports as an error when its last writer has closed it."""
    try:
        while piece := os.read(terminal, 65_536):
            parts.append(piece)
    except OSError:
        return


def draw(lines: Sequence[str], out: Path, *, title: str, width: int) -> None:
    """Write an SVG of these lines. Lines that start with `$ ` are bold; longer lines are cut."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False)
    for line in lines:
        text = Text.from_ansi(line)
        if line.startswith("$ "):
            text.stylize("bold")
        console.print(text, no_wrap=True, overflow="ellipsis", crop=True)
    svg = console.export_svg(title=title, unique_id="demo")
    # Rich refers to fonts on another server; without them, the reader's monospace font is used.
    svg = re.sub(r"@font-face\s*{.*?}\s*", "", svg, flags=re.DOTALL)
    svg = "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
    out.write_text(svg, encoding="utf-8")
