"""What a URL is, in one place: the page's key, link resolution, the archive's key, which addresses are public.

`canonical` and `join` give the WHATWG serialisation without fragment. The functions that take such a URL apart
(`origin`, `host_of`, `port_of`, …) rely on that form and do not parse again.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from typing import Literal
from urllib.parse import unquote_to_bytes

from ada_url import idna_to_ascii, join_url, normalize_url
from publicsuffixlist import PublicSuffixList

from webstrata.clock import DAY_S
from webstrata.errors import BadUrl

# A b-tree entry of PostgreSQL holds at most 2,704 bytes, and a canonical URL is ASCII.
LONGEST_URL = 2600
"""Characters of a canonical URL. Servers refuse longer request lines, and stores index the whole of it."""

Scope = Literal["prefix", "host", "domain"]

_SURROGATES = re.compile("[\ud800-\udfff]")
_SHOWN = 120
_DEFAULT_PORTS = {"http": "80", "https": "443"}


# ── the page's key ──────────────────────────────────────────────────────────────────────────────────────────


def canonical(url: str, base: str | None = None) -> str:
    """The key under which a page is watched; BadUrl where it could never be visited."""
    href = _serialised(url, base)
    if href is None:
        raise BadUrl(f"not a URL: {_shown(url)}. Write it whole, as in https://example.org/page.")
    if not href.startswith(("http://", "https://")):
        raise BadUrl(f"only http and https can be visited, not {_shown(url)}.")
    authority = _authority(href)
    if authority[0] == "." and not host_of(href):
        raise BadUrl(f"no host in {_shown(url)}. Write it whole, as in https://example.org/page.")
    if "@" in authority:
        raise BadUrl(f"a URL with a user name or password is not kept: {_hide_credentials(href)}. Leave them out.")
    if len(href) > LONGEST_URL:
        raise BadUrl(f"longer than {LONGEST_URL} characters: {_shown(url)}")
    return href


def join(base: str, href: str) -> str | None:
    """Where a link on the page `base` leads, as a canonical URL; None if it leads nowhere that can be visited."""
    target = _serialised(href, base)
    if target is None or not target.startswith(("http://", "https://")):
        return None
    authority = _authority(target)
    if "@" in authority or len(target) > LONGEST_URL or (authority[0] == "." and not host_of(target)):
        return None
    return target


def _serialised(url: str, base: str | None) -> str | None:
    try:
        href: str = normalize_url(url) if base is None else join_url(base, url)
    except ValueError:
        if _SURROGATES.search(url):  # the standard reads a lone one as U+FFFD
            return _serialised(_SURROGATES.sub("\ufffd", url), base)
        return None
    return href.partition("#")[0]  # in the serialised form it stands nowhere but before the fragment


def _shown(url: str) -> str:
    return repr(url if len(url) <= _SHOWN else url[:_SHOWN] + "…")


def _hide_credentials(href: str) -> str:
    scheme, _, rest = href.partition("://")
    return _shown(f"{scheme}://{rest[rest.index('@') + 1 :]}")


# ── its parts ───────────────────────────────────────────────────────────────────────────────────────────────


def _authority(url: str) -> str:
    start = url.index("://") + 3
    end = url.find("/", start)
    return url[start:] if end < 0 else url[start:end]


def origin(url: str) -> str:
    """Scheme and authority of a canonical URL, without a closing slash: whose robots.txt counts."""
    end = url.find("/", url.index("://") + 3)
    return url if end < 0 else url[:end]


def host_of(url: str) -> str:
    """Host name of a canonical URL: the key of politeness. No brackets (IPv6), no closing dot."""
    authority = _authority(url)
    if authority.startswith("["):
        return authority[1 : authority.index("]")]
    return authority.partition(":")[0].rstrip(".")


def port_of(url: str) -> int:
    """Port of a canonical URL, its scheme's own where none is written."""
    authority = _authority(url)
    _, colon, port = authority.rpartition(":")
    if colon and not authority.endswith("]"):
        return int(port)
    return int(_DEFAULT_PORTS[url[: url.index(":")]])


def path_of(url: str) -> str:
    """Path and query of a canonical URL."""
    return url[len(origin(url)) :]


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str | None:
    """The domain that someone registered (`example.co.uk`); None for an address or a public suffix itself."""
    if _address(host) is not None or not host or host.startswith("."):
        return None
    domain: str | None = _public_suffixes().privatesuffix(host.lower().rstrip("."))
    return domain


def in_scope(url: str, seed: str, scope: Scope) -> bool:
    """Whether a page belongs to the watched site that began at `seed`; http and https are the same site.

    `prefix`: below the seed's folder; `host`: same host and port; `domain`: same registrable domain.
    """
    if scope == "domain":
        host, seed_host = host_of(url), host_of(seed)
        return host == seed_host or (
            registrable_domain(host) is not None and registrable_domain(host) == registrable_domain(seed_host)
        )
    if _authority(url) != _authority(seed):
        return False
    return scope == "host" or path_of(url).startswith(_folder(seed))


def _folder(url: str) -> str:
    path = path_of(url).partition("?")[0]
    return path[: path.rfind("/") + 1]


# ── traps ───────────────────────────────────────────────────────────────────────────────────────────────────

_TRAP_LENGTH = 2000
_TRAP_DEPTH = 20
_TRAP_PARAMETERS = 24
_TRAP_REPEATS = 4
_CALENDAR = re.compile(
    r"(?:calendar|kalender|event|agenda).*?[/=-](\d{4})[/-]\d\d?(?!\d)"
    r"|[?&](?:cal_?)?(?:year|yr|y|date|month|day|week)=(\d{4})(?!\d)",
    re.IGNORECASE,
)
_YEARS_AHEAD = 3
_CALENDAR_FROM, _CALENDAR_TO = 1900, 2100


def looks_like_trap(url: str, now: float | None = None) -> str | None:
    """Why following this link would probably never end, or None. With `now`, calendars end some years from it."""
    if len(url) > _TRAP_LENGTH:
        return f"longer than {_TRAP_LENGTH} characters"
    path, _, query = path_of(url).partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _TRAP_DEPTH:
        return f"more than {_TRAP_DEPTH} folders deep"
    if _repeats(segments):
        return "part of the path repeats itself"
    words = Counter(segment for segment in segments if not segment.isdigit())
    if words and max(words.values()) >= _TRAP_REPEATS:
        return f"a folder occurs {_TRAP_REPEATS} times in the path"
    if query.count("&") >= _TRAP_PARAMETERS:
        return f"more than {_TRAP_PARAMETERS} query parameters"
    return _calendar_trap(url, now)


def _repeats(segments: list[str]) -> bool:
    """Whether some folders (not only numbers, as in dates) stand three times in a row."""
    for length in range(1, len(segments) // 3 + 1):
        for start in range(len(segments) - 3 * length + 1):
            run = segments[start : start + length]
            if run * 3 == segments[start : start + 3 * length] and not "".join(run).isdigit():
                return True
    return False


def _calendar_trap(url: str, now: float | None) -> str | None:
    last = _CALENDAR_TO if now is None else int(1970 + now / (365.2425 * DAY_S)) + _YEARS_AHEAD
    match = _CALENDAR.search(path_of(url))
    year = match and (match[1] or match[2])
    if year and not _CALENDAR_FROM <= int(year) <= last:
        return f"a calendar page of the year {year}"
    return None


# ── the archive's key ───────────────────────────────────────────────────────────────────────────────────────

_UNTOUCHED = re.compile(r"(?:dns|filedesc|warcinfo):|(?!https?:|ftp:)[a-z][a-z0-9+.-]*:(?![/\d])", re.IGNORECASE)
_SCHEME = re.compile(r"(https?|ftp):/*|([a-z][a-z0-9+.-]*):/+", re.IGNORECASE)
_INNER_SCHEME = re.compile(r"(https?)://+", re.IGNORECASE)
_PARTS = re.compile(r"(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?", re.DOTALL)
_HOST_PORT = re.compile(r"^(\[[^\]]*\]|[^:]*):?(.*)$", re.DOTALL)
_WWW = re.compile(r"^www\d*\.")
_NUMBERS = re.compile(r"[\d.]+", re.ASCII)
_PATH_SESSION = re.compile(r"/(?:\((?:[a-z]\([0-9a-z]{24}\))+\)|\([0-9a-z]{24}\))(?=/[^?]+\.aspx)")
_QUERY_SESSION = re.compile(
    r"(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)
_ESCAPED_PERCENT = re.compile(rb"%(?:25)+")
_MOST_PASSES = 50
_BLANKS = re.compile(r"[\x00-\x20\x7f]")
_TO_ESCAPE = re.compile(rb"[\x00-\x20\x7f-\xff#%]")


def surt(url: str) -> str:
    """The CDXJ key that the Wayback Machine and pywb use by default: reversed host, then path and sorted query.

    It merges what an archive's reader takes for one page: schemes, `www.`, letter case, session ids, the order of
    the query, a closing slash. Two live pages may share it: it is no page's key.
    """
    url = url.strip().replace("\r", "").replace("\n", "").replace("\t", "")
    if not url:
        return "-"
    if _UNTOUCHED.match(url):
        return _BLANKS.sub(lambda blank: f"%{ord(blank[0]):02X}", url)
    scheme, rest = _without_scheme(url)
    parts = _PARTS.match(rest)
    assert parts  # every part may be empty
    host, port = _surt_host(parts["authority"], scheme)
    path = _surt_path(parts["path"])
    query = _surt_query(parts["query"])
    return f"{host}{port}){path}{query}"


def _without_scheme(url: str) -> tuple[str, str]:
    scheme = "http"
    match = _SCHEME.match(url)
    while match:
        scheme, url = (match[1] or match[2]).lower(), url[match.end() :]
        match = _INNER_SCHEME.match(url)  # http://https://example.org
    return scheme, url


@lru_cache(maxsize=65_536)
def _surt_host(authority: str, scheme: str) -> tuple[str, str]:
    host, port = _HOST_PORT.findall(authority.rpartition("@")[2])[0]
    host = _unescaped(host).decode("utf-8", "replace").lower()
    host = ".".join(label for label in host.strip("[]").split(".") if label)
    if not host.isascii():
        host = idna_to_ascii(host).decode() or host
    host = _dotted_quad(host) or _WWW.sub("", host, count=1)
    reversed_host = ",".join(reversed(_escaped(host.encode()).split(".")))
    return reversed_host, "" if port in ("", _DEFAULT_PORTS.get(scheme)) else f":{port}"


def _dotted_quad(host: str) -> str | None:
    """The address that an IPv4 host stands for in any of its old spellings."""
    if not _NUMBERS.fullmatch(host):
        return None
    try:
        spelled = normalize_url(f"http://{host}/")[7:-1]
        IPv4Address(spelled)
    except ValueError:
        return None
    return spelled


def _surt_path(path: str) -> str:
    text = _escaped(_without_dots(_unescaped(path))).lower()
    text = _PATH_SESSION.sub("", text)
    return text.rstrip("/") if len(text) > 1 else "/"


def _without_dots(path: bytes) -> bytes:
    kept: list[bytes] = []
    for segment in path.split(b"/"):
        if segment == b"..":
            kept[-1:] = [] if kept and kept[-1] != b".." else [*kept[-1:], b".."]
        elif segment not in (b"", b"."):
            kept.append(segment)
    closing = b"/" if kept and path.endswith((b"/", b"/.", b"/..")) else b""
    return b"/" + b"/".join(kept) + closing


def _surt_query(query: str | None) -> str:
    if not query:
        return ""
    text = _QUERY_SESSION.sub("", _escaped(_unescaped(query)).lower())
    return "?" + "&".join(sorted(text.split("&"), key=_name_and_value)) if text else ""


def _name_and_value(parameter: str) -> list[str]:
    return parameter.split("=", 1)


def _unescaped(text: str) -> bytes:
    """Percent-decoded until nothing changes, in few passes whatever the text."""
    before = text.encode("utf-8", "surrogatepass")
    for _ in range(_MOST_PASSES):
        after = unquote_to_bytes(_ESCAPED_PERCENT.sub(b"%", before))
        if after == before:
            break
        before = after
    return before


def _escaped(data: bytes) -> str:
    return _TO_ESCAPE.sub(lambda match: b"%%%02X" % match[0][0], data).decode()


# ── addresses ───────────────────────────────────────────────────────────────────────────────────────────────

_NOT_PUBLIC_IPV4 = tuple(
    (int(network.network_address), int(network.netmask))
    for network in map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",
            "169.254.0.0/16",  # link-local, cloud metadata
            "172.16.0.0/12",
            "192.0.0.0/24",  # IETF protocols
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
_GLOBAL_IPV6 = ip_network("2000::/3")
_NOT_PUBLIC_IPV6 = tuple(
    map(
        ip_network,
        (
            "2001::/23",  # IETF protocols, with Teredo, benchmarks and ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: reaches the IPv4 address inside
            "3ffe::/16",  # 6bone, given back
            "3fff::/20",  # documentation
        ),
    )
)
_NAT64 = ip_network("64:ff9b::/96")


@lru_cache(maxsize=65_536)
def is_public(address: str) -> bool:
    """Whether a literal address is globally routable unicast. Anything else, names and zone ids included, is not."""
    parsed = _address(address)
    if parsed is None:
        return False
    if isinstance(parsed, IPv4Address):
        return _public_ipv4(int(parsed))
    if parsed.scope_id is not None:
        return False
    if parsed.ipv4_mapped is not None:
        return _public_ipv4(int(parsed.ipv4_mapped))
    if parsed in _NAT64:  # how an IPv6-only network reaches IPv4
        return _public_ipv4(int(parsed) & 0xFFFF_FFFF)
    return parsed in _GLOBAL_IPV6 and not any(parsed in network for network in _NOT_PUBLIC_IPV6)


def _public_ipv4(number: int) -> bool:
    return not any(number & mask == network for network, mask in _NOT_PUBLIC_IPV4)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return IPv6Address(text) if ":" in text else IPv4Address(text)
    except AddressValueError:
        return None
