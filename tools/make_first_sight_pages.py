"""Makes the table of pages for the default classifier: `python tools/make_first_sight_pages.py FOLDER`.

FOLDER has recorded sites (`NAME.versions.parquet`, `NAME.blobs.parquet`). It takes about four minutes for 18 sites.
Then `webstrata train --recorded shipped --out src/webstrata/predict/first_sight/default_model.json` makes the model.
"""

from __future__ import annotations

import sys
from pathlib import Path

from webstrata.lab.first_sight.page_table import write_page_table
from webstrata.lab.first_sight.recorded_pages import read_recorded_pages

OUT = Path(__file__).parent.parent / "src" / "webstrata" / "lab" / "data" / "first_sight" / "pages.parquet"


def main() -> None:
    pages = read_recorded_pages(Path(sys.argv[1]), lambda site, number: print(f"{site}: {number} pages"))
    write_page_table(pages, OUT)
    print(f"{len(pages)} pages, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
