"""`python extractors.py NAME FOLDER REPEATS`: one extractor over the HTML files of a folder, by name.

Run by the peers' Python, which has the libraries but not ours. One JSON document: the texts, and for each repeat the
CPU time per page in microseconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def _trafilatura() -> Callable[[str], str]:
    import trafilatura

    return lambda html: trafilatura.extract(html, include_comments=False) or ""


def _resiliparse() -> Callable[[str], str]:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html: str(extract_plain_text(html, main_content=True))


MAKERS = {"trafilatura": _trafilatura, "resiliparse": _resiliparse}


def main() -> None:
    name, folder, repeats = sys.argv[1:]
    extract = MAKERS[name]()
    pages = [file.read_text("utf-8", "replace") for file in sorted(Path(folder).glob("*.html"))]
    texts = [extract(page) for page in pages]
    spans = []
    for _ in range(int(repeats)):
        begun = time.process_time()
        for page in pages:
            extract(page)
        spans.append(1e6 * (time.process_time() - begun) / len(pages))
    print(json.dumps({"texts": texts, "cpu_us_per_page": spans}))


if __name__ == "__main__":
    main()
