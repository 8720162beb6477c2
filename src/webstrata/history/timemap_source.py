"""`TimeMaps`: the copies that TimeMaps list, from files and from servers (archives and Memento aggregators)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.coding import decode
from webstrata.copy_rules import LeftOut, copy_at
from webstrata.errors import BadUrl, SourceError, UsageError
from webstrata.history.batch_rows import BatchRows
from webstrata.history.import_key import archive_name, file_key
from webstrata.history.index_row import IndexRow, archived_copy
from webstrata.history.timemap import (
    FurtherMap,
    Memento,
    OriginalPage,
    TimeMapItem,
    memento_archive,
    memento_instant,
    memento_page,
    timemap_items,
)
from webstrata.ports import ArchiveServer
from webstrata.records import ArchivedCopy, Failure, ReadBatch, ServerAnswer

_BATCH_ROWS = 5_000
_MOST_MAPS = 1_000
"""TimeMaps of one page: some servers divide them."""
_MAX_FILE_BYTES = 200 * 10**6
_MAX_AGE_S = DAY_S
_ACCEPT = "application/link-format, application/json;q=0.9, */*;q=0.5"
_GZIP = b"\x1f\x8b"


class AskedMap(Struct, frozen=True):
    """A TimeMap that is requested from a server."""

    url: str
    page: str = ""
    """Canonical URL of the page whose TimeMap it is; empty: the TimeMap names it."""


def asked_map(text: str, server: str | None) -> AskedMap:
    """The request for an argument: the TimeMap of a page at a server, or without a server the URL of a TimeMap.

    `server`: a URL with `{url}` where the page's URL stands, or the part of it before the page's URL. Raises BadUrl or
    UsageError for anything else.
    """
    if server is None or "/timemap/" in text:
        return AskedMap(urls.canonical(text))
    if "*" in text:
        raise UsageError(f"a TimeMap is of one page, so {text!r} has none. `webstrata import wayback` takes patterns.")
    page = urls.canonical(text)
    template = server if "{url}" in server else f"{server.rstrip('/')}/{{url}}"
    return AskedMap(urls.canonical(template.replace("{url}", page)), page)


def timemap_origin(text: str, server: str | None) -> Path | AskedMap:
    """The file or the request that an argument names."""
    if "://" not in text and (server is None or Path(text).exists()):
        return Path(text)
    return asked_map(text, server)


class _MapPlace(Struct, frozen=True, omit_defaults=True):
    """Where reading continues: the position of the import."""

    maps: int = 0
    """TimeMaps that are read."""
    skip: int = 0
    """Items of the next one that were read already."""


class _Map(NamedTuple):
    """The content of a TimeMap and where it is from."""

    name: str
    body: bytes
    page: str
    archive: str
    is_named: bool
    """The archive has this name, whatever the host of a memento."""


class TimeMaps:
    """A source of copies (`ports.CopySource`): a TimeMap, and the further ones that it names."""

    def __init__(
        self, origin: Path | AskedMap, *, requests: ArchiveServer | None, now: float, archive: str = ""
    ) -> None:
        """`requests`: may be None for a file. `archive`: the name for all copies; without it, each memento's host.

        Raises UsageError if a file cannot be read.
        """
        self._origin = origin
        self._requests = requests
        self._now = now
        self._archive = archive
        if isinstance(origin, AskedMap):
            self._body, self.key = b"", f"timemap {origin.url}"
        else:
            self._body = _file_body(origin)
            self.key = file_key("timemap", origin, len(self._body), self._body)

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position. Raises SourceError if a server cannot be read; what was read is not lost."""
        try:
            place = msgspec.json.decode(position, type=_MapPlace) if position else _MapPlace()
        except msgspec.DecodeError:
            raise UsageError("the stored position of this import is not valid. Start again with --restart.") from None
        number = 0
        async for one, done in self._maps():
            number += 1
            if number <= place.maps:
                continue
            for batch, read in _MapRows(one, self._now).batches(place.skip):
                place = replace(place, skip=read)
                yield batch.finished(_encoded(place), None)
            place = _MapPlace(number)
            yield BatchRows().finished(_encoded(place), done)

    async def _maps(self) -> AsyncIterator[tuple[_Map, float]]:
        """The TimeMaps: the first one, and those that they name. With each the share that is read after it."""
        origin, is_named = self._origin, bool(self._archive)
        if isinstance(origin, Path):
            yield _Map(origin.name, self._body, "", self._archive or archive_name(origin), is_named), 1.0
            return
        assert self._requests is not None
        known = [origin.url]
        for number, url in enumerate(known, 1):  # the list grows meanwhile
            answer = await self._requests.get(url, accept=_ACCEPT, check=_problem)
            if isinstance(answer, Failure):
                raise SourceError(
                    f"{url} cannot be read: {answer.detail or answer.kind}. What was read is stored: the same command "
                    "continues there."
                )
            self._requests.keep(url, answer, _MAX_AGE_S)
            for item in _items(answer.body):
                further = urls.join(answer.url, item.uri) if isinstance(item, FurtherMap) else None
                if further is not None and further not in known and len(known) < _MOST_MAPS:
                    known.append(further)
            archive = self._archive or urls.host_of(url)
            yield _Map(url, answer.body, origin.page, archive, is_named), number / len(known)


class _MapRows:
    """The copies of one TimeMap."""

    def __init__(self, one: _Map, now: float) -> None:
        self._map = one
        self._now = now
        self._page = one.page or self._original()

    def _original(self) -> str:
        for item in _items(self._map.body):
            if isinstance(item, OriginalPage):
                return _canonical(item.uri)
        return ""

    def batches(self, skip: int) -> Iterator[tuple[BatchRows, int]]:
        """The rows after the first `skip` items, and the number of items up to the end of each batch."""
        batch, number = BatchRows(), 0
        found = timemap_items(self._map.body)
        if isinstance(found, Failure):  # of a file; an answer was checked
            batch.skip("malformed", f"{self._map.name}:1", found.detail)
            found = iter(())
        for number, item in enumerate(found, 1):
            if number <= skip or isinstance(item, FurtherMap | OriginalPage):
                continue
            self._add(item, f"{self._map.name}:{number}", batch)
            if batch.read >= _BATCH_ROWS:
                yield batch, number
                batch = BatchRows()
        if batch.read:
            yield batch, number

    def _add(self, item: Memento | IndexRow | str, where: str, batch: BatchRows) -> None:
        if isinstance(item, str):
            batch.skip("malformed", where, item)
            return
        copy = self._indexed(item) if isinstance(item, IndexRow) else self._listed(item)
        if isinstance(copy, LeftOut):
            batch.skip(copy.reason, where, copy.detail)
        else:
            batch.keep(copy, where)

    def _listed(self, memento: Memento) -> ArchivedCopy | LeftOut:
        """The copy that a memento is: it has no digest and no status."""
        host = "" if self._map.is_named else memento_archive(memento)
        return copy_at(
            url=self._page or memento_page(memento),
            at=memento_instant(memento),
            shown_time=memento.datetime or memento.uri,
            status="",
            digest="",
            archive=host or self._map.archive,
            now=self._now,
        )

    def _indexed(self, row: IndexRow) -> ArchivedCopy | LeftOut:
        copy = archived_copy(row, self._map.archive, self._now)
        is_same = isinstance(copy, ArchivedCopy) and self._page and urls.surt(copy.url) == urls.surt(self._page)
        return replace(copy, url=self._page) if is_same else copy


def _items(body: bytes) -> Iterator[TimeMapItem]:
    found = timemap_items(body)
    return iter(()) if isinstance(found, Failure) else found


def _problem(answer: ServerAnswer) -> Failure | None:
    found = timemap_items(answer.body)
    return found if isinstance(found, Failure) else None


def _canonical(url: str) -> str:
    """The canonical form; empty if the URL cannot be visited."""
    try:
        return urls.canonical(url) if url else ""
    except BadUrl:
        return ""


def _file_body(path: Path) -> bytes:
    """The content of a file, decompressed. Raises UsageError if it cannot be read."""
    try:
        with path.open("rb") as file:
            body = file.read(_MAX_FILE_BYTES + 1)
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}. Check the path and its permissions.") from None
    if body.startswith(_GZIP):
        body = decode(body, "gzip", max_bytes=_MAX_FILE_BYTES + 1).body
    if len(body) > _MAX_FILE_BYTES:
        raise UsageError(f"{path} is larger than 200 MB, as no TimeMap is. `webstrata import cdx` reads large indexes.")
    return body


def _encoded(place: _MapPlace) -> str:
    return msgspec.json.encode(place).decode()
