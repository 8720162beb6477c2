"""`webstrata coherence`: shows which pages of a collection provably coexisted, and when."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from webstrata.cli.capture.coherence_report import show
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import iso_or_none, print_json, progress_bar
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_instant, parse_span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.records import Sighting
    from webstrata.sharp.proof.collection import Coherence, PageStanding


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE…", show_default=False, help="WARC, ARC or WACZ files of any crawler."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="SITE",
            help="Instead of files, use the visits of the home to this host, or to URLs that begin with this URL.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="The instant, like 2026-11-15T08:30:00Z. Default: the one that most pages share.",
        ),
    ] = None,
    layer: Annotated[
        Literal["content", "raw"],
        typer.Option("--layer", help="With --store: compare the useful content, or all bytes (raw)."),
    ] = "content",
    media_type: Annotated[
        str | None, typer.Option("--type", metavar="MEDIA", help="Only pages of this media type, like text/html.")
    ] = None,
    longest_download: Annotated[
        str,
        typer.Option(
            "--longest-download",
            metavar="SPAN",
            help="How long a download took at most, where the files do not state it.",
        ),
    ] = "1s",
    every: Annotated[bool, typer.Option("--all", help="List all pages, not only the first 40.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which pages provably coexisted at one instant: seen with the same content before and after it."""
    from webstrata.sharp.proof.collection import coherence

    if bool(files) == (store is not None):
        raise UsageError("name archive files, or a site in the home with --store.")
    longest_s = parse_span(longest_download)
    damaged: list[object] = []
    if store is not None:
        found = _store_sightings(home, store, layer)
    else:
        found = _file_sightings(files or [], media_type, longest_s, damaged)
    result = coherence(found, at=parse_instant(at) if at is not None else None)
    if as_json:
        print_json(_document(result, len(damaged), longest_s))
    else:
        show(result, len(damaged), longest_s, lists_all=every, from_store=store is not None)


def _store_sightings(home: Path | None, site: str, layer: str) -> Iterable[Sighting]:
    from webstrata.flows.versions import logged_sightings

    node = open_node(home)

    async def read() -> list[Sighting]:
        async with node.store() as store:
            longest_visit_s = float(node.settings.fetch.visit_timeout)
            return await logged_sightings(store, site, layer=layer, longest_visit_s=longest_visit_s)

    return run_async(read)


def _file_sightings(
    files: list[Path], media_type: str | None, longest_download_s: float, damaged: list[object]
) -> list[Sighting]:
    from webstrata.node import sightings

    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise UsageError(f"there is no file {', '.join(missing)}.")
    with progress_bar("reading", sum(file.stat().st_size for file in files)) as on_progress:
        return list(
            sightings(
                files,
                media_type=media_type,
                longest_download_s=longest_download_s,
                on_progress=on_progress,
                on_damage=damaged.append,
            )
        )


def _document(result: Coherence, damaged: int, longest_download_s: float) -> dict[str, Any]:
    return {
        "pages": [_page(page) for page in result.pages],
        "instant": None if result.instant is None else dict(zip(("from", "to"), _period(result.instant), strict=True)),
        "proved": result.proved,
        "uncertainty_s": result.uncertainty_s,
        "single_pass": result.is_single_pass,
        "first": iso_or_none(result.first),
        "last": iso_or_none(result.last),
        "spread_s": 0.0 if result.first is None or result.last is None else result.last - result.first,
        "sightings": result.sightings,
        "unknown_durations": result.assumed_ends,
        "longest_download_s": longest_download_s,
        "declared_digests": result.declared,
        "wrong_digests": [{"url": wrong.url, "at": iso_or_none(wrong.at)} for wrong in result.wrong_digests],
        "damaged": damaged,
        "revisit": [page.url for page in result.pages if page.standing == "open"],
        "other_instants": [
            {"from": iso_or_none(other.start), "to": iso_or_none(other.end), "pages": len(other.pages)}
            for other in result.others
        ],
    }


def _page(page: PageStanding) -> dict[str, Any]:
    return {
        "url": page.url,
        "status": page.status,
        "windows": [_period((window.start, window.end)) for window in page.windows],
        "proved": page.standing == "proved",
        "standing": page.standing,
        "statuses": page.statuses,
        "evidence": None if page.window is None else page.window.evidence,
        "sightings": page.sightings,
    }


def _period(period: tuple[float, float]) -> tuple[str | None, str | None]:
    return iso_or_none(period[0]), iso_or_none(period[1])
