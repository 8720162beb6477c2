"""Reading files as if they were answers: for the commands that work without a home."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from webstrata.cli.session import run_async
from webstrata.errors import UsageError
from webstrata.flows.crawl.parse import ParsedContent, ParseJob
from webstrata.flows.crawl.parser_pool import ParserPool
from webstrata.records import PageRules

MAX_FILE = 500 * 10**6
NOWHERE = "http://file.invalid/"
"""The address of a file that has none: links in it are resolved against it."""


def look_at_files(
    files: list[Path], media_type: str | None, url: str | None, page_rules: PageRules
) -> list[ParsedContent]:
    """Each file read in a process of its own limits, as a crawl would read it."""
    jobs = [_job(file, media_type, url, page_rules) for file in files]
    readers = ParserPool(1, is_forked=True)

    async def read() -> list[ParsedContent]:
        try:
            return await readers.parse(jobs)
        finally:
            readers.close()

    return run_async(read)


def _with_charset(content_type: str, body: bytes) -> str | None:
    """A file has no server that tells its charset: UTF-8 where it can be that."""
    if not content_type.startswith("text/") or "charset" in content_type:
        return content_type or None
    try:
        body.decode()
    except UnicodeDecodeError:
        return content_type
    return f"{content_type}; charset=utf-8"


def _job(file: Path, media_type: str | None, url: str | None, page_rules: PageRules) -> ParseJob:
    try:
        if file.stat().st_size > MAX_FILE:
            raise UsageError(f"{file} is larger than {MAX_FILE // 10**6} MB.")
        body = file.read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}.") from None
    return ParseJob(
        url=url or NOWHERE + file.name,
        body=body,
        content_type=_with_charset(media_type or mimetypes.guess_type(file.name)[0] or "", body),
        want_links=True,
        want_lines=True,
        page_rules=page_rules,
        max_decoded=MAX_FILE,
    )
