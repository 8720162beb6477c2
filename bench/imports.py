"""Import of a CDX file: rows a second beside a loop that only splits the lines, and memory for a file of gigabytes.

The file is made here: twenty captures of each page, in the order of an index. For the memory it is compressed, so that
3 GB of lines need little room on the disk, and is imported as a dry run: every row is read, looked up in the store and
counted.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, cpu_seconds
from webstrata.clock import parse_instant
from webstrata.history.index_file import IndexFile

_ROWS, _ROWS_QUICK = 400_000, 20_000
_BYTES, _BYTES_QUICK = 3 * 10**9, 50 * 10**6
_CAPTURES = 20
_NOW = parse_instant("20260101")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_MAX_PEAK_MB = 300.0
_IMPORT = """
import asyncio, json, resource, sys, time
from pathlib import Path
from webstrata.flows.import_copies import import_copies
from webstrata.history.index_file import IndexFile
from webstrata.home import Home
from webstrata.node import Node
from webstrata.settings import load
from webstrata.wanted_pages import WantedPages

path, dry_run = Path(sys.argv[1]), sys.argv[2] == "dry"
home = Path(sys.argv[3])
peaks = []

def on_batch(batch, progress):
    peaks.append((batch.done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))

async def run():
    Home.create(home)
    node = Node(Home.open(home), load(home, environment={})[0])
    async with node.store() as store:
        source = IndexFile(path, now=1767225600.0)
        started = time.perf_counter(), time.process_time()
        result = await import_copies(
            store, source, 1767225600.0, wanted=WantedPages(), dry_run=dry_run, on_batch=on_batch
        )
        spent = time.perf_counter() - started[0], time.process_time() - started[1]
    quarter = next(peak for done, peak in peaks if done >= 0.25)
    print(json.dumps([result.read, result.kept, *spent, quarter, peaks[-1][1]]))

asyncio.run(run())
"""


def run(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return [*_speed(Path(folder), quick), *_memory(Path(folder), quick)]


def _speed(folder: Path, quick: bool) -> list[Figure]:
    rows, repeats = (_ROWS_QUICK, 1) if quick else (_ROWS, 3)
    path = folder / "speed.cdx"
    with path.open("w") as file:
        file.writelines(_lines(rows))
    read, split = [], []
    for _ in range(repeats):
        split.append(rows / cpu_seconds(lambda: _split(path)))
        read.append(rows / cpu_seconds(lambda: _read(path)))
    results = [_imported(path, "store", folder / f"home{number}") for number in range(repeats)]
    ratios = [one / plain for one, plain in zip(read, split, strict=True)]
    return [
        Figure(bench="imports", name="line.split() alone", values=split, unit="rows/s"),
        Figure(bench="imports", name="CDX rows read", values=read, unit="rows/s"),
        Figure(bench="imports", name="CDX rows read : line.split() alone", values=ratios),
        Figure(
            bench="imports",
            name="CDX rows imported into SQLite",
            values=[result[0] / result[2] for result in results],
            unit="rows/s",
        ),
        Figure(
            bench="imports",
            name="CDX rows imported into SQLite, processor time",
            values=[result[0] / result[3] for result in results],
            unit="rows/s",
        ),
    ]


def _memory(folder: Path, quick: bool) -> list[Figure]:
    size = _BYTES_QUICK if quick else _BYTES
    path = folder / "memory.cdx.gz"
    written = 0
    with gzip.open(path, "wt", compresslevel=1) as file:
        for line in _lines(sys.maxsize):
            file.write(line)
            written += len(line)
            if written >= size:
                break
    rows, _, _, _, quarter, peak = _imported(path, "dry", folder / "home")
    text = f"{written / 1e9:.2f} GB of CDX, {rows:,.0f} rows"
    return [
        Figure(bench="imports", name=f"peak memory, {text}", values=[peak], unit="MB", at_most=_MAX_PEAK_MB),
        Figure(bench="imports", name=f"growth after the first quarter, {text}", values=[peak - quarter], unit="MB"),
    ]


def _imported(path: Path, how: str, home: Path) -> list[float]:
    """Rows read, rows kept, seconds, processor seconds, and the peak memory after a quarter and at the end."""
    command = [sys.executable, "-c", _IMPORT, str(path), how, str(home)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"the import failed:\n{process.stderr[-2000:]}")
    found: list[float] = json.loads(process.stdout)
    return found


def _read(path: Path) -> None:
    async def read() -> int:
        return sum([batch.read async for batch in IndexFile(path, now=_NOW).batches()])

    asyncio.run(read())


def _split(path: Path) -> None:
    with path.open() as file:
        for line in file:
            line.split()


def _lines(rows: int) -> Iterator[str]:
    """The lines of an index, with as many rows."""
    yield " CDX N b a m s k r M S V g\n"
    for row in range(rows):
        page, capture = divmod(row, _CAPTURES)
        start = (page * 7 + capture // 3 * 11) % 32
        digest = _LETTERS[start:] + _LETTERS[:start]
        path = f"dir/{page // 100}/page-{page}"
        yield (
            f"org,example)/{path} 20{10 + capture // 2:02}{1 + capture % 12:02}15120000 http://example.org/{path} "
            f"text/html 200 {digest} - - {1000 + capture} {row} example-{page // 1000}.warc.gz\n"
        )
