"""Parsing of local files as page contents, for `fingerprint` and `compare`, which need no home."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING

from webstrata.cli.session import run_async
from webstrata.errors import UsageError
from webstrata.records import PageRules

if TYPE_CHECKING:
    from webstrata.flows.crawl.parse import ParsedContent, ParseJob

MAX_FILE_BYTES = 500 * 10**6
DEFAULT_URL = "http://file.invalid/"
"""Base URL of a file without --url."""


def parse_files(
    files: list[Path], media_type: str | None, url: str | None, page_rules: PageRules
) -> list[ParsedContent]:
    """Parse files in a separate process with limits, like a crawl does."""
    from webstrata.flows.parsers.parser_pool import ParserPool

    jobs = [_job(file, media_type, url, page_rules) for file in files]
    parsers = ParserPool(1, is_forked=True)

    async def parse() -> list[ParsedContent]:
        try:
            return [await parsers.submit(job) for job in jobs]
        finally:
            parsers.close()

    return run_async(parse)


def _with_charset(content_type: str, body: bytes) -> str | None:
    """A file has no Content-Type header with a charset: assume UTF-8 if its bytes are valid UTF-8."""
    if not content_type.startswith("text/") or "charset" in content_type:
        return content_type or None
    try:
        body.decode()
    except UnicodeDecodeError:
        return content_type
    return f"{content_type}; charset=utf-8"


def _guessed_type(file: Path) -> str:
    """The media type by the file's name; a compressed file is an archive, whatever it contains."""
    guessed, coding = mimetypes.guess_type(file.name)
    return "application/gzip" if coding == "gzip" else guessed or ""


def _job(file: Path, media_type: str | None, url: str | None, page_rules: PageRules) -> ParseJob:
    from webstrata.flows.crawl.parse import ParseJob

    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{file} is larger than {MAX_FILE_BYTES // 10**6} MB. Give a smaller file.")
        body = file.read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}. Check the path.") from None
    return ParseJob(
        url=url or DEFAULT_URL + file.name,
        body=body,
        content_type=_with_charset(media_type or _guessed_type(file), body),
        want_links=True,
        want_lines=True,
        page_rules=page_rules,
        max_decoded=MAX_FILE_BYTES,
    )
