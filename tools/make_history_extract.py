"""Makes the shipped change histories: `python tools/make_history_extract.py FOLDER`.

The extract has all pages of the Parquet files in FOLDER, one file for each corpus, with their changes in the last four
years and a month before `until`: a window of three years, and a year of archive history before it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

KEPT_DAYS = 1095 + 364 + 30
OUT = Path(__file__).parent.parent / "src" / "webstrata" / "lab" / "data" / "histories"


def extract(file: Path) -> pa.Table:
    table = pq.read_table(file)
    rows = table.to_pylist()
    recent = [[at for at in row["changes"] if at > row["until"].timestamp() - KEPT_DAYS * 86_400.0] for row in rows]
    return table.set_column(
        table.column_names.index("changes"), "changes", pa.array(recent, type=table.schema.field("changes").type)
    )


def main() -> None:
    for file in sorted(Path(sys.argv[1]).glob("*.parquet")):
        table = extract(file)
        pq.write_table(
            table,
            OUT / file.name,
            compression="zstd",
            compression_level=19,
            use_dictionary=["corpus", "bucket", "until"],
            column_encoding={"changes.list.element": "DELTA_BINARY_PACKED", "page": "DELTA_BYTE_ARRAY"},
        )


if __name__ == "__main__":
    main()
