"""Writes the expected values of tests/data/fingerprint: `python -m tests.observe.make_vectors`.

Only for a new version of docs/reference/fingerprint.md: the vectors of a version are frozen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.observe.fingerprint_reference import Page

FOLDER = Path(__file__).parent.parent / "data" / "fingerprint"


def main() -> None:
    documents = json.loads((FOLDER / "made.json").read_text("utf-8"))
    cases: list[dict[str, Any]] = [{"name": name, "html": html, **values(html)} for name, html in documents.items()]
    cases += [
        {"name": file.stem, "file": f"pages/{file.name}", **values(file.read_bytes().decode("utf-8"))}
        for file in sorted((FOLDER / "pages").glob("*.html"))
    ]
    (FOLDER / "vectors.json").write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n", "utf-8")


def values(html: str) -> dict[str, Any]:
    page = Page(html)
    return {
        "title": page.title,
        "header": page.header,
        "body": page.body,
        "side": page.side,
        "footer": page.footer,
        "main_links": page.links,
        "parts": page.digests(),
        "simhash": page.simhash(),
    }


if __name__ == "__main__":
    main()
