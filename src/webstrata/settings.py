"""Few settings, one loader: defaults, then the home's `webstrata.toml`, then the environment, then flags.

Read by `node` and `cli` only; everything else takes plain arguments. A key is `section.name`; the environment spells
it `WEBSTRATA_SECTION_NAME`, a flag `--set section.name=value`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from webstrata.clock import parse_span
from webstrata.errors import BadSettings, UsageError

FILE_NAME = "webstrata.toml"


class Duration(float):
    """A length of time in seconds, written `90s`, `15m`, `6h`, `2d`."""


class ByteSize(int):
    """A number of bytes, written `64KB`, `100MB`, `1GB`."""


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(description="Database; empty: SQLite in the home. `postgresql+psycopg://…` at scale.")] = (
        ""
    )


class ArchiveSettings(Struct, frozen=True, forbid_unknown_fields=True):
    max_file_size: Annotated[ByteSize, Meta(description="A WARC file is closed when it has grown to this size.")] = (
        ByteSize(10**9)
    )
    operator: Annotated[str, Meta(description="Who runs this archive; written into every WARC file.")] = ""


class PoliteSettings(Struct, frozen=True, forbid_unknown_fields=True):
    contact: Annotated[str, Meta(description="Address or URL of a person; part of the user agent. Please set it.")] = ""
    robots_token: Annotated[str, Meta(description="Product token that robots.txt files are asked for.")] = "webstrata"
    delay: Annotated[Duration, Meta(description="Least time between two requests to one host.")] = Duration(2)
    delay_factor: Annotated[float, Meta(ge=0, description="…and at least this many times the last response time.")] = (
        1.0
    )
    max_delay: Annotated[
        Duration, Meta(description="Longest Crawl-delay that is followed; longer ones are cut to it.")
    ] = Duration(300)
    address_delay: Annotated[Duration, Meta(description="Least time between two requests to one address.")] = Duration(
        0.5
    )
    connections_per_host: Annotated[int, Meta(ge=1, le=64, description="Requests to one host at a time.")] = 1
    obey_robots: Annotated[
        bool, Meta(description="Follow robots.txt (RFC 9309). Only for sites of your own: false.")
    ] = True


class FetchSettings(Struct, frozen=True, forbid_unknown_fields=True):
    connections: Annotated[int, Meta(ge=1, le=4096, description="Requests in flight, all hosts together.")] = 64
    max_body: Annotated[ByteSize, Meta(description="Longer bodies are cut (and marked so), as sent.")] = ByteSize(
        100 * 10**6
    )
    max_decoded: Annotated[ByteSize, Meta(description="Longer bodies are not read further, after decoding.")] = (
        ByteSize(200 * 10**6)
    )
    max_headers: Annotated[ByteSize, Meta(description="Longer response headers are refused.")] = ByteSize(64 * 2**10)
    max_redirects: Annotated[int, Meta(ge=0, le=50, description="Redirects followed in one visit.")] = 10
    connect_timeout: Annotated[Duration, Meta(description="Time to connect, TLS included.")] = Duration(20)
    first_byte_timeout: Annotated[Duration, Meta(description="Time to the first byte of the answer.")] = Duration(60)
    total_timeout: Annotated[Duration, Meta(description="Time for the whole answer.")] = Duration(300)
    allow_private: Annotated[
        tuple[str, ...],
        Meta(description="Networks and ports that may be visited though not public, like `127.0.0.2/32:8480`."),
    ] = ()
    hosts: Annotated[
        dict[str, str], Meta(description='Host names answered from here instead of DNS: `name = "address[:port]"`.')
    ] = {}
    ca_file: Annotated[str, Meta(description="Further certificate authorities to trust (PEM file).")] = ""


class ScheduleSettings(Struct, frozen=True, forbid_unknown_fields=True):
    policy: Annotated[
        str,
        Meta(
            description="When to visit next: the name of a policy, as `value` or `dyn`, or `module:Class` of your own."
        ),
    ] = "value"
    freshness: Annotated[
        float,
        Meta(ge=0, le=1, description="What `value` goes for: 0 captured changes, 1 fresh copies, between them a mix."),
    ] = 0.0
    min_interval: Annotated[Duration, Meta(description="No page is visited more often.")] = Duration(300)
    max_interval: Annotated[Duration, Meta(description="No page is visited less often.")] = Duration(180 * 86_400)
    start_interval: Annotated[Duration, Meta(description="Interval of a page of which nothing is known.")] = Duration(
        86_400
    )
    slot: Annotated[
        Duration,
        Meta(
            description="Visits move to neighbouring slots of this length where a host, or all, would not fit; 0: never."
        ),
    ] = Duration(3600)


class BudgetSettings(Struct, frozen=True, forbid_unknown_fields=True):
    total: Annotated[
        str,
        Meta(
            description="All visits together, as `500/day`, `20/hour`, `2GB/day` or `0.5/page/day`; empty: `1/page/day` "
            "for policies that share a budget, no limit for timers."
        ),
    ] = ""
    tags: Annotated[dict[str, str], Meta(description='The same for pages with a tag: `name = "100/day"`.')] = {}
    hosts: Annotated[dict[str, str], Meta(description='The same for a host: `"example.org" = "20/hour"`.')] = {}
    carry_over: Annotated[Duration, Meta(description="Unspent budget is kept for so long.")] = Duration(6 * 3600)


class CrawlSettings(Struct, frozen=True, forbid_unknown_fields=True):
    round: Annotated[
        Duration, Meta(description="`run` starts a round at most this often; what does not fit moves on.")
    ] = Duration(60)
    workers: Annotated[
        int,
        Meta(
            ge=0,
            le=64,
            description="Most processes that read pages; the second is started where there is much to read. 0 reads them in the main process.",
        ),
    ] = 2


class CaptureSettings(Struct, frozen=True, forbid_unknown_fields=True):
    tau: Annotated[
        float, Meta(gt=0, lt=1, description="Pages with a smaller chance to be sharp are told apart as doubtful.")
    ] = 0.9
    layer: Annotated[
        Literal["auto", "raw", "text", "main", "links", "data"],
        Meta(description="What counts as the same: `auto`, `raw`, `text`, `main`, `links` or `data`."),
    ] = "auto"
    conditional: Annotated[
        bool, Meta(description="Let servers answer 304 at revisits: quicker, but the server's word and no proof.")
    ] = False
    max_pages: Annotated[int, Meta(ge=1, description="Pages of one capture at most.")] = 10_000
    max_requisites: Annotated[
        int, Meta(ge=0, description="Images, styles and scripts of one capture at most; 0: none.")
    ] = 5000
    patience: Annotated[Duration, Meta(description="A host that asks for a longer rest fails the page.")] = Duration(
        600
    )
    timestamp_url: Annotated[
        str, Meta(description="RFC 3161 authority that stamps certificates; empty: none is asked.")
    ] = ""


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    store: StoreSettings = StoreSettings()
    archive: ArchiveSettings = ArchiveSettings()
    polite: PoliteSettings = PoliteSettings()
    fetch: FetchSettings = FetchSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    budget: BudgetSettings = BudgetSettings()
    crawl: CrawlSettings = CrawlSettings()
    capture: CaptureSettings = CaptureSettings()


class SettingInfo(Struct, frozen=True):
    """One settings key: what holds, where it comes from, what it means."""

    key: str
    value: Any
    source: str
    description: str


def load(
    home: Path, *, environment: Mapping[str, str] | None = None, flags: Iterable[str] = ()
) -> tuple[Settings, dict[str, str]]:
    """The settings that hold for a home, and where each key that is not a default comes from."""
    tree: dict[str, dict[str, Any]] = {}
    sources: dict[str, str] = {}
    file = home / FILE_NAME
    if file.exists():
        _merge(tree, sources, _read_file(file), str(file))
    for key, value, source in _from_environment(os.environ if environment is None else environment):
        _set(tree, sources, key, value, source)
    for flag in flags:
        key, equals, value = flag.partition("=")
        if not equals:
            raise UsageError(f"--set takes section.name=value, not {flag!r}.")
        _set(tree, sources, key.strip(), value.strip(), "--set")
    return _convert(tree, sources), sources


def all_settings(settings: Settings, sources: Mapping[str, str]) -> list[SettingInfo]:
    """Every key with its value, source and meaning, in the order of this file."""
    rows: list[SettingInfo] = []
    for section in msgspec.structs.fields(Settings):
        group = getattr(settings, section.name)
        for field in msgspec.structs.fields(type(group)):
            key = f"{section.name}.{field.name}"
            meta = next(part for part in get_args(field.type)[1:] if isinstance(part, Meta))
            value = getattr(group, field.name)
            rows.append(
                SettingInfo(
                    key=key,
                    value=_plain(value),
                    source=sources.get(key, "default"),
                    description=meta.description or "",
                )
            )
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, Duration):
        return float(value)
    if isinstance(value, ByteSize):
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadSettings(f"{file} cannot be read: {problem.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BadSettings(f"{file} is not valid TOML: {problem}. Mend it, or move it away for the defaults.") from None


def _merge(tree: dict[str, dict[str, Any]], sources: dict[str, str], read: dict[str, Any], source: str) -> None:
    for section, values in read.items():
        if not isinstance(values, dict):
            raise BadSettings(f"{source}: {section!r} stands outside any section; put it under [section].")
        for name, value in values.items():
            _set(tree, sources, f"{section}.{name}", value, source)


def _from_environment(environment: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    for section in msgspec.structs.fields(Settings):
        for field in msgspec.structs.fields(_section_type(section.name)):
            name = f"WEBSTRATA_{section.name}_{field.name}".upper()
            if name in environment:
                yield f"{section.name}.{field.name}", environment[name], f"environment {name}"


def _section_type(section: str) -> type[Struct]:
    kind: type[Struct] = get_type_hints(Settings)[section]
    return kind


def _set(tree: dict[str, dict[str, Any]], sources: dict[str, str], key: str, value: Any, source: str) -> None:
    section, _, name = key.partition(".")
    names = {field.name for field in msgspec.structs.fields(Settings)}
    if section not in names or name not in {f.name for f in msgspec.structs.fields(_section_type(section))}:
        raise BadSettings(f"{source}: no setting is called {key!r}. `webstrata settings` lists them all.")
    if isinstance(value, str):
        value = _from_text(_section_type(section), name, value)
    tree.setdefault(section, {})[name] = value
    sources[key] = source


def _from_text(section: type[Struct], name: str, text: str) -> Any:
    """Environment and flags are text: read lists as comma-separated, tables as `name=value` pairs, the rest as it is."""
    kind = get_type_hints(section)[name]
    if get_origin(kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if get_origin(kind) is dict:
        pairs = (part.partition("=") for part in text.split(",") if part.strip())
        return {key.strip(): value.strip() for key, _, value in pairs}
    return text


def _convert(tree: dict[str, dict[str, Any]], sources: dict[str, str]) -> Settings:
    try:
        return msgspec.convert(tree, Settings, strict=False, dec_hook=_decode)
    except msgspec.ValidationError as problem:
        where = re.search(r"\$\.([\w.]+)", str(problem))
        key = where.group(1) if where else "?"
        what = str(problem).split(" - at")[0]
        raise BadSettings(
            f"{key} ({sources.get(key, 'settings')}): {what}. `webstrata settings` shows what each key takes."
        ) from None


_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def _decode(kind: type, value: Any) -> Any:
    if kind is Duration:
        try:
            seconds = parse_span(value)
        except (UsageError, TypeError) as problem:
            raise ValueError(str(problem).rstrip(".")) from None
        if isinstance(value, bool) or not 0 <= seconds < float("inf"):
            raise ValueError(f"not a length of time: {value!r}. Write 90s, 15m, 6h or 2d")
        return Duration(seconds)
    if kind is ByteSize:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return ByteSize(value)
        match = _SIZE.fullmatch(str(value).strip())
        if not match:
            raise ValueError(f"not a size: {value!r}. Write 64KB, 100MB or 1GB")
        unit = _SIZES[match.group(2).upper()]
        if match.group(3):
            unit = 1024 ** ("", "K", "M", "G", "T").index(match.group(2).upper())
        return ByteSize(float(match.group(1)) * unit)
    raise TypeError(f"no reading for {kind}")
