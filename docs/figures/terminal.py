"""Real output of real commands, as a picture of a terminal."""

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
    """What `webstrata WORDS` prints on a terminal of this width, colours included; its progress is left out."""
    ours, theirs = os.openpty()
    parts: list[bytes] = []
    reading = Thread(target=_read, args=(ours, parts))
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm-256color"}
    with subprocess.Popen(
        [PROGRAM, *words], cwd=folder, env=environment, stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        reading.start()
        _, problems = process.communicate()
    reading.join()
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"webstrata {' '.join(words)} failed: {problems.decode()}")
    return b"".join(parts).decode()


def _read(terminal: int, parts: list[bytes]) -> None:
    """A terminal whose last writer is gone answers with an error: that is its end."""
    try:
        while piece := os.read(terminal, 65_536):
            parts.append(piece)
    except OSError:
        return


def draw(lines: Sequence[str], out: Path, *, title: str, width: int) -> None:
    """Write an SVG of these lines, prompts in bold, each cut at the width."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False)
    for line in lines:
        text = Text.from_ansi(line)
        if line.startswith("$ "):
            text.stylize("bold")
        console.print(text, no_wrap=True, overflow="ellipsis", crop=True)
    svg = console.export_svg(title=title, unique_id="demo")
    # The fonts that Rich names are on a server of others: the reader's own monospace font will do.
    svg = re.sub(r"@font-face\s*{.*?}\s*", "", svg, flags=re.DOTALL)
    svg = "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
    out.write_text(svg, encoding="utf-8")
