"""One body of 2 GB from the server to the archive and back: memory and time of each command, and what others wait.

python -m bench --only bodies           2 GB, needs 6 GB on the disk of the temporary folder
python -m bench --only bodies --quick   200 MB
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from bench.figures import Figure
from tests.archive.conftest import make_capture
from tests.cli.large_files import MEASURED, LargeFiles, large_files, sha256
from webstrata.archive.warc.archive import WarcArchive
from webstrata.archive.warc.reader import WarcReader
from webstrata.clock import RealClock
from webstrata.records import Capture, Position

_SIZE, _SIZE_QUICK = 2_000_000_000, 200_000_000
_MAX_MEMORY_MB = 250.0
"""The program itself has about 100 MB."""
_PIECE = 1 << 20


def run(quick: bool) -> list[Figure]:
    size = _SIZE_QUICK if quick else _SIZE
    with tempfile.TemporaryDirectory() as folder, large_files() as files:
        home = Path(folder) / "home"
        _command(home, files, "init")
        _command(home, files, "watch", files.url(size=size))
        figures: list[Figure] = []
        for words in (
            ("crawl",),
            ("check",),
            ("cat", files.url(size=size)),
            ("reindex",),
            ("export", "warc", f"{folder}/out.warc.gz"),
            ("export", "wacz", f"{folder}/out.wacz"),
            ("rebuild", "--replace"),
        ):
            memory_mb, seconds, digest = _command(home, files, *words)
            name = " ".join(words[: 2 if words[0] == "export" else 1])
            figures += [
                Figure(
                    bench="bodies", name=f"{name}, peak memory", values=[memory_mb], unit="MB", at_most=_MAX_MEMORY_MB
                ),
                Figure(bench="bodies", name=f"{name}, time", values=[seconds], unit="s"),
            ]
            if name == "cat" and digest != sha256(size):
                raise RuntimeError("cat does not print what the server sent")
        _check_by_warcio(home)
        return [*figures, *asyncio.run(_waits(home, Path(folder) / "other"))]


def _command(home: Path, files: LargeFiles, *words: str) -> tuple[float, float, str]:
    """(peak memory in MB, seconds, SHA-256 of the output) of a command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WEBSTRATA_")}
    settings = {**kept, **files.settings, "WEBSTRATA_FETCH_MAX_PARSED": "100MB"}
    began = time.perf_counter()
    peak = home.with_name("peak")
    command = [*MEASURED, "--home", str(home), *words, str(peak)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=settings)
    assert process.stdout is not None
    digest = hashlib.sha256()
    while piece := process.stdout.read(_PIECE):
        digest.update(piece)
    process.stdout.close()
    if process.wait():
        raise RuntimeError(f"{words[0]} failed")
    return int(peak.read_text()) * 1024 / 1e6, time.perf_counter() - began, digest.hexdigest()


def _check_by_warcio(home: Path) -> None:
    for path in (home / "archive").iterdir():
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                stream = record.content_stream()
                while stream.read(_PIECE):
                    pass
                if record.digest_checker.passed is not True:
                    raise RuntimeError(f"warcio finds a wrong digest in {path}: {record.digest_checker.problems}")


async def _waits(home: Path, folder: Path) -> list[Figure]:
    """How long batches of one page take while the body is written again, and while nothing else is."""
    archive = WarcArchive(folder / "archive", software="bench", operator=None, node_name="bench", clock=RealClock())
    reader = WarcReader(home / "archive", home / "index", max_body_bytes=1_000_000)
    (large,) = (path for path in (home / "archive").iterdir() if "-large-" in path.name)
    offset = _second_record(large)
    stored = reader.read(Position(file=large.name, offset=offset, length=0, record_id=""))
    capture = make_capture(stored.url, b"")
    exchange = capture.exchange.__class__(
        url=stored.url,
        at=stored.at,
        duration_s=0.0,
        request_head=capture.exchange.request_head,
        status=200,
        response_head=stored.head,
        large=stored.large,
    )
    writing = asyncio.create_task(archive.append_large(Capture(exchange=exchange, payload=stored.payload or "")))
    during: list[float] = []
    while not writing.done():
        during.append(await _timed(archive))
    await writing
    alone = [await _timed(archive) for _ in range(max(20, len(during)))]
    await archive.close()
    return [
        Figure(bench="bodies", name="batch of one page, while it is written", values=during, unit="ms"),
        Figure(bench="bodies", name="batch of one page, alone", values=alone, unit="ms"),
    ]


async def _timed(archive: WarcArchive) -> float:
    began = time.perf_counter()
    await archive.append([make_capture()])
    return 1000 * (time.perf_counter() - began)


def _second_record(path: Path) -> int:
    """The offset of the record after the `warcinfo` record."""
    with path.open("rb") as file:
        records = ArchiveIterator(file)
        next(records).content_stream().read()
        next(records)
        return int(records.get_record_offset())
