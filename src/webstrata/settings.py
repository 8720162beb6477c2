"""The settings and their loader: defaults, then the home's `webstrata.toml`, then the environment, then `--set`.

Only `node` and `cli` use settings; other modules take plain arguments. A key is `section.name`; its environment
variable is `WEBSTRATA_SECTION_NAME`, its option `--set section.name=value`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from webstrata.clock import parse_span
from webstrata.errors import BadSettings, UsageError
from webstrata.masking import masked, masked_url, remember_secrets

FILE_NAME = "webstrata.toml"


class Duration(float):
    """A length of time in seconds, written `90s`, `15m`, `6h`, `2d`."""


class ByteSize(int):
    """A number of bytes, written `64KB`, `100MB`, `1GB`."""


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[store]`."""

    url: Annotated[
        str, Meta(description="URL of the database, like `postgresql+psycopg://…`. Empty: SQLite in the home folder.")
    ] = ""
    schema: Annotated[
        str,
        Meta(
            description="PostgreSQL only: the schema of the home's tables. Empty: one of its own. Homes that name the same "
            "schema share pages, schedule and budget."
        ),
    ] = ""


class ArchiveSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[archive]`."""

    max_file_size: Annotated[
        ByteSize, Meta(description="A WARC file that has reached this size is closed and a new one is started.")
    ] = ByteSize(10**9)
    reserve: Annotated[
        ByteSize, Meta(description="No page is requested while the disk of the archive has less free space than this.")
    ] = ByteSize(100 * 10**6)
    operator: Annotated[str, Meta(description="Name of the archive's operator; written to every WARC file.")] = ""


class PoliteSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[polite]`."""

    contact: Annotated[
        str,
        Meta(
            description="E-mail address or URL where site owners can reach you; part of the User-Agent header. "
            "Please set it."
        ),
    ] = ""
    robots_token: Annotated[str, Meta(description="Product token that is matched in robots.txt files.")] = "webstrata"
    delay: Annotated[Duration, Meta(description="Minimum time between two requests to the same host.")] = Duration(2)
    delay_factor: Annotated[
        float,
        Meta(
            ge=0,
            le=1000,
            description="The time between two requests is also at least this multiple of the last response time.",
        ),
    ] = 1.0
    max_delay: Annotated[
        Duration, Meta(description="Maximum Crawl-delay from robots.txt; longer delays are shortened to this.")
    ] = Duration(300)
    address_delay: Annotated[
        Duration, Meta(description="Minimum time between two requests to the same IP address.")
    ] = Duration(0.5)
    connections_per_host: Annotated[
        int, Meta(ge=1, le=64, description="Maximum number of simultaneous requests to one host.")
    ] = 1
    obey_robots: Annotated[
        bool, Meta(description="Obey robots.txt (RFC 9309). Set to false only for sites that you operate.")
    ] = True


class FetchSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[fetch]`."""

    connections: Annotated[
        int,
        Meta(
            ge=1,
            le=4096,
            description="Maximum number of simultaneous requests to all hosts together. Requests that are open for more "
            "than 3 s do not count; all together are at most three times this number.",
        ),
    ] = 64
    max_body: Annotated[
        ByteSize,
        Meta(
            description="Maximum size of a body as sent. Longer bodies are truncated and marked as such. It may be many "
            "GB: a body above `max_parsed` goes to a file while it is received, not into memory."
        ),
    ] = ByteSize(100 * 10**6)
    max_parsed: Annotated[
        ByteSize,
        Meta(
            description="Maximum size of a body, as sent, that is held in memory and parsed. A longer one is archived "
            "and compared by its bytes. Responses with an error status, and those that handlers and captures need, are "
            "truncated here."
        ),
    ] = ByteSize(100 * 10**6)
    max_memory: Annotated[
        ByteSize,
        Meta(
            description="Maximum memory for the bodies that are being received or processed: at least 1 MB for each "
            "connection and one body of the size `max_parsed`. Large bodies wait for it."
        ),
    ] = ByteSize(512 * 10**6)
    max_decoded: Annotated[
        ByteSize, Meta(description="Maximum size of a body after content decoding; the rest is not parsed.")
    ] = ByteSize(200 * 10**6)
    max_headers: Annotated[
        ByteSize, Meta(description="Maximum size of the response headers; longer headers fail the request.")
    ] = ByteSize(64 * 2**10)
    max_redirects: Annotated[
        int, Meta(ge=0, le=50, description="Maximum number of redirects followed in one visit.")
    ] = 10
    connect_timeout: Annotated[Duration, Meta(description="Maximum time to connect, including the TLS handshake.")] = (
        Duration(20)
    )
    first_byte_timeout: Annotated[
        Duration, Meta(description="Maximum time from the request to the first byte of the response.")
    ] = Duration(60)
    total_timeout: Annotated[
        Duration,
        Meta(
            description="Maximum time for a response together with the redirects that lead to it. Of a body above "
            "`max_parsed`, each further `max_parsed` bytes may take as long."
        ),
    ] = Duration(300)
    visit_timeout: Annotated[
        Duration,
        Meta(
            description="Maximum time for a visit: redirects, result pages of a query, contexts and sub-requests, and "
            "the waits between them. A response that is being received is not ended by it."
        ),
    ] = Duration(1800)
    visit_requests: Annotated[int, Meta(ge=1, le=10**9, description="Maximum number of requests in one visit.")] = 1000
    allow_private: Annotated[
        tuple[str, ...],
        Meta(description="Non-public networks and ports that may be visited, like `127.0.0.2/32:8480`."),
    ] = ()
    hosts: Annotated[
        dict[str, str],
        Meta(description='Addresses of host names that are not looked up in DNS: `name = "address[:port]"`.'),
    ] = {}
    name_servers: Annotated[
        tuple[str, ...],
        Meta(description="Addresses of the name servers (`address[:port]`). If empty, those of the system are used."),
    ] = ()
    ca_file: Annotated[str, Meta(description="PEM file with additional certificate authorities to trust.")] = ""


class ScheduleSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[schedule]`."""

    policy: Annotated[
        str,
        Meta(
            description="The policy that schedules visits: a name like `value` or `dyn`, or `module:Class` for your "
            "own policy."
        ),
    ] = "value"
    freshness: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="The objective of the policy `value`: 0 captures the most changes, 1 keeps copies fresh, values "
            "between weigh both.",
        ),
    ] = 0.0
    importance: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="How much the importance of a page in the link graph (`webstrata importance`) counts as its "
            "weight under budget policies: 0 not at all, 1 in proportion. A weight of the page's own takes precedence.",
        ),
    ] = 0.0
    first_sight: Annotated[
        bool,
        Meta(
            description="Let the policy `value` begin with what the classifier (`webstrata train`) expects of a page "
            "from its first content. If false, all pages begin alike."
        ),
    ] = True
    min_interval: Annotated[Duration, Meta(description="Minimum interval between two visits of a page.")] = Duration(
        600
    )
    max_interval: Annotated[Duration, Meta(description="Maximum interval between two visits of a page.")] = Duration(
        180 * 86_400
    )
    start_interval: Annotated[Duration, Meta(description="First interval of a page without history.")] = Duration(
        86_400
    )


class BudgetSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[budget]`."""

    total: Annotated[
        str,
        Meta(
            description="Budget for all visits, like `500/day`, `20/hour`, `2GB/day` or `0.5/page/day`. Empty: "
            "for policies that allocate a budget six visits per page and day, at most 600 for all pages, but at least one "
            "per page and day; no limit for timer policies."
        ),
    ] = ""
    tags: Annotated[dict[str, str], Meta(description='Budgets for the pages with a tag: `name = "100/day"`.')] = {}
    hosts: Annotated[
        dict[str, str], Meta(description='Budgets for the pages of a host: `"example.org" = "20/hour"`.')
    ] = {}
    carry_over: Annotated[
        Duration, Meta(description="Time for which unspent budget is carried over before it expires.")
    ] = Duration(6 * 3600)


class CrawlSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[crawl]`."""

    round: Annotated[
        Duration,
        Meta(
            description="Time for which `run` claims pages of a host at once; visits that do not start in this time are "
            "claimed again later. Pages are claimed within a second after they are due, whatever this time is."
        ),
    ] = Duration(60)
    workers: Annotated[
        int,
        Meta(
            ge=0,
            le=64,
            description="Maximum number of processes that parse contents; more than one is started only under load. "
            "0: contents are parsed in the main process, without limits of time and memory.",
        ),
    ] = 2
    stop_timeout: Annotated[
        Duration, Meta(description="Requests in flight may take this long after a stop; then they are cancelled.")
    ] = Duration(10)


class CaptureSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Section `[capture]`."""

    layer: Annotated[
        Literal["visible", "raw", "links", "main", "data", "selected", "auto"],
        Meta(
            description="What must be equal at the visit and the revisit of a page: `visible` (the whole visible text and "
            "all links), `raw` (the bytes), `links`, `main` (the useful content), `data` (canonical data), `selected` "
            "(what the page's rules select) or `auto` (as for changes of watched pages)."
        ),
    ] = "visible"
    conditional: Annotated[
        bool,
        Meta(
            description="Send conditional requests at revisits. A 304 response is faster, but it is only a statement of "
            "the server, not proof."
        ),
    ] = False
    max_pages: Annotated[int, Meta(ge=1, le=10**9, description="Maximum number of pages of a capture.")] = 10_000
    max_requisites: Annotated[
        int,
        Meta(ge=0, le=10**9, description="Maximum number of images, style sheets and scripts of a capture; 0: none."),
    ] = 5000
    patience: Annotated[
        Duration, Meta(description="Maximum wait for a host. If a host requires a longer wait, the page fails.")
    ] = Duration(600)
    timestamp_url: Annotated[
        str, Meta(description="URL of an RFC 3161 time-stamp authority for packages. Empty: no time stamps.")
    ] = ""
    domain_key: Annotated[
        str,
        Meta(
            description="PEM file with the private key (ECDSA) of a domain, in whose name packages are signed. Empty: "
            "packages are signed with a key of the home."
        ),
    ] = ""
    domain_certificate: Annotated[
        str, Meta(description="PEM file with the certificate of that domain, followed by those of its issuers.")
    ] = ""


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings, by section."""

    store: StoreSettings = StoreSettings()
    archive: ArchiveSettings = ArchiveSettings()
    polite: PoliteSettings = PoliteSettings()
    fetch: FetchSettings = FetchSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    budget: BudgetSettings = BudgetSettings()
    crawl: CrawlSettings = CrawlSettings()
    capture: CaptureSettings = CaptureSettings()


class SettingInfo(Struct, frozen=True):
    """One settings key: its value, where the value comes from, and its description."""

    key: str
    value: Any
    source: str
    description: str


def load(
    home: Path, *, environment: Mapping[str, str] | None = None, flags: Iterable[str] = ()
) -> tuple[Settings, dict[str, str]]:
    """The settings of a home, and the source of each value that is not a default (key -> source)."""
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
            raise UsageError(f"--set takes section.name=value, not {masked(repr(flag))}.")
        _set(tree, sources, key.strip(), value.strip(), "--set")
    return _convert(tree, sources), sources


def all_settings(settings: Settings, sources: Mapping[str, str]) -> list[SettingInfo]:
    """Every key with its value, source and description, in the order of this file."""
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
    return shown_value(value)


def shown_value(value: Any) -> Any:
    """A value without the passwords of URLs in it."""
    match value:
        case str():
            return masked_url(value)
        case tuple() | list():
            return [shown_value(item) for item in value]
        case dict():
            return {name: shown_value(item) for name, item in value.items()}
        case _:
            return value


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadSettings(f"{file} cannot be read: {problem.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BadSettings(
            f"{file} is not valid TOML: {problem}. Correct it, or remove it to use the defaults."
        ) from None


def _merge(tree: dict[str, dict[str, Any]], sources: dict[str, str], table: dict[str, Any], source: str) -> None:
    for section, values in table.items():
        if not isinstance(values, dict):
            raise BadSettings(f"{source}: {section!r} is outside of any section. Put it under a [section] heading.")
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
        raise BadSettings(f"{source}: there is no setting {key!r}. `webstrata settings` lists all settings.")
    for text in _texts(value):
        if _NOT_TEXT.search(text):
            raise BadSettings(f"{key} ({source}): the value contains a control character. Write it on one line.")
        if "://" in text or key in _WITH_PASSWORD:
            remember_secrets(text)
    if isinstance(value, str):
        value = _from_text(_section_type(section), name, value)
    tree.setdefault(section, {})[name] = value
    sources[key] = source


_WITH_PASSWORD = frozenset({"store.url"})
"""Settings whose value may contain a password even if it is not a URL."""

# Values are sent in headers, and written to WARC files and to terminals: none may begin a line of its own.
_NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _texts(value: Any) -> Iterator[str]:
    """The texts of a value of the file, also of those that have a wrong type."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in (*value, *value.values()):
                yield from _texts(item)


def _from_text(section: type[Struct], name: str, text: str) -> Any:
    """Parse a value from the environment or `--set`: lists are comma-separated, tables are `name=value` pairs."""
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
            f"{key} ({sources.get(key, 'settings')}): {what}. `webstrata settings` describes every setting."
        ) from None


_LARGEST = 8 * 10**15
_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def _decode(kind: type, value: Any) -> Any:
    if kind is Duration:
        try:
            seconds = parse_span(value)
        except (UsageError, TypeError) as problem:
            raise ValueError(str(problem).rstrip(".")) from None
        if isinstance(value, bool) or not 0 <= seconds < float("inf"):
            raise ValueError(f"not a duration: {value!r}. Write it like 90s, 15m, 6h or 2d")
        return Duration(seconds)
    if kind is ByteSize:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
            return ByteSize(value)
        match = _SIZE.fullmatch(str(value).strip())
        if not match:
            raise ValueError(f"not a size: {value!r}. Write it like 64KB, 100MB or 1GB")
        unit = _SIZES[match.group(2).upper()]
        if match.group(3):
            unit = 1024 ** ("", "K", "M", "G", "T").index(match.group(2).upper())
        count = float(match.group(1)) * unit
        if count > _LARGEST:
            raise ValueError(f"the size {str(value)[:40]!r} is too large. Write at most 8000TB")
        return ByteSize(count)
    raise TypeError(f"no decoder for {kind}")
