"""Which reader a body of data gets: by its media type, by its URL where the server knew no type, by its XML root."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from webstrata.observe.data import json, table
from webstrata.observe.data.data import Data
from webstrata.records import Looking

_Reader = Callable[[bytes, str | None, str, Looking], Data]


def data_of(body: bytes, media_type: str, charset: str | None, url: str, looking: Looking | None = None) -> Data | None:
    """The data in a body, or why they cannot be read as such; None if it is not of a data type. Never raises."""
    reader = _reader_of(media_type, url)
    return None if reader is None else reader(body, charset, url, looking or Looking())


def _read_json(body: bytes, charset: str | None, url: str, looking: Looking) -> Data:
    return json.read(body, charset, url)


def _read_json_lines(body: bytes, charset: str | None, url: str, looking: Looking) -> Data:
    return json.read_lines(body, charset, url)


def _read_csv(body: bytes, charset: str | None, url: str, looking: Looking) -> Data:
    return table.read(body, charset, url, delimiter=",", unordered=looking.unordered)


def _read_tsv(body: bytes, charset: str | None, url: str, looking: Looking) -> Data:
    return table.read(body, charset, url, delimiter="\t", unordered=looking.unordered)


_BY_TYPE: dict[str, _Reader] = {
    "application/json": _read_json,
    "text/json": _read_json,
    "application/jsonl": _read_json_lines,
    "application/json-lines": _read_json_lines,
    "application/x-jsonlines": _read_json_lines,
    "application/x-ndjson": _read_json_lines,
    "application/ndjson": _read_json_lines,
    "text/csv": _read_csv,
    "application/csv": _read_csv,
    "text/x-csv": _read_csv,
    "text/comma-separated-values": _read_csv,
    "text/tab-separated-values": _read_tsv,
    "text/tsv": _read_tsv,
}
_BY_SUFFIX: dict[str, _Reader] = {"+json": _read_json}

_SAYS_NOTHING = frozenset({"", "text/plain", "application/octet-stream"})
"""What servers of files give for formats that they do not know."""
_BY_EXTENSION: dict[str, str] = {
    "json": "application/json",
    "geojson": "application/geo+json",
    "jsonl": "application/jsonl",
    "ndjson": "application/jsonl",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
}


def _reader_of(media_type: str, url: str) -> _Reader | None:
    if media_type in _SAYS_NOTHING:
        media_type = _BY_EXTENSION.get(_extension(url), "")
    found = _BY_TYPE.get(media_type)
    if found is None:
        suffix = media_type[media_type.rfind("+") :] if "+" in media_type else ""
        found = _BY_SUFFIX.get(suffix)
    return found


def _extension(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return path[path.rfind("/") + 1 :].rpartition(".")[2].lower()
