"""Text extractors of other projects, run in their own environment (`.peers`) on the HTML files of a folder.

`extracted` runs this file as a script: `python extractors.py NAME FOLDER REPEATS`. The script prints a JSON document
with the texts and, for each repeat, the CPU time per page in microseconds. Webstrata is
not installed in its environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_PYTHON = Path(".peers/bin/python")
EXTRACTORS = ("trafilatura", "resiliparse")


def extracted(name: str, pages: Sequence[bytes], repeats: int = 0) -> tuple[list[str], list[float]]:
    """The main text of each page (decoded as UTF-8), and for each repeat the CPU time per page in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        for number, page in enumerate(pages):
            Path(folder, f"{number:06d}.html").write_bytes(page)
        command = [str(_PYTHON), __file__, name, folder, str(repeats)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(process.stdout)
    return result["texts"], result["cpu_us_per_page"]


def _extractor(name: str) -> Callable[[str], str]:
    if name == "trafilatura":
        import trafilatura

        return lambda html: trafilatura.extract(html, include_comments=False) or ""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html: str(extract_plain_text(html, main_content=True))


def main() -> None:
    name, folder, repeats = sys.argv[1:]
    extract = _extractor(name)
    pages = [file.read_text("utf-8", "replace") for file in sorted(Path(folder).glob("*.html"))]
    texts = [extract(page) for page in pages]
    times = []
    for _ in range(int(repeats)):
        start = time.process_time()
        for page in pages:
            extract(page)
        times.append(1e6 * (time.process_time() - start) / len(pages))
    print(json.dumps({"texts": texts, "cpu_us_per_page": times}))


if __name__ == "__main__":
    main()
