"""Other people's extractors, in their own environment (`.peers`), as texts and CPU times."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_PYTHON = Path(".peers/bin/python")
EXTRACTORS = ("trafilatura", "resiliparse")


def extracted(name: str, pages: Sequence[bytes], repeats: int = 0) -> tuple[list[str], list[float]]:
    """The main text of each page (read as UTF-8); for each repeat, CPU microseconds per page, parsing included."""
    with tempfile.TemporaryDirectory() as folder:
        for number, page in enumerate(pages):
            Path(folder, f"{number:06d}.html").write_bytes(page)
        command = [str(_PYTHON), "bench/contenders/extractors.py", name, folder, str(repeats)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    return found["texts"], found["cpu_us_per_page"]
