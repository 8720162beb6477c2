"""URLs: canonical form, link resolution, crawler traps, the archive's index key (SURT), and public IP addresses.

`canonical` and `join` return the WHATWG serialisation without the fragment. The functions that return a part of a URL
(`origin`, `host_of`, `port_of`, …) require this form and do not parse the URL again.
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
from webstrata.masking import masked_url

# A B-tree entry of PostgreSQL has at most 2,704 bytes, and a canonical URL is ASCII.
LONGEST_URL = 2600
"""Maximum length of a canonical URL. Many servers reject longer request lines, and the store indexes the whole URL."""

Scope = Literal["prefix", "host", "domain"]

_SURROGATES = re.compile("[\ud800-\udfff]")
_SHOWN = 120
_DEFAULT_PORTS = {"http": "80", "https": "443"}


# ── canonical form ──────────────────────────────────────────────────────────────────────────────────────────


def canonical(url: str, base: str | None = None) -> str:
    """The canonical form of a URL, which identifies a page. Raises BadUrl if the URL cannot be visited."""
    href = _serialised(url, base)
    if href is None:
        raise BadUrl(_problem(url))
    if not href.startswith(("http://", "https://")):
        raise BadUrl(f"only http and https URLs can be visited, not {_shown(url)}.")
    authority = _authority(href)
    if authority[0] == "." and not host_of(href):
        raise BadUrl(f"there is no host in {_shown(url)}. Write the whole URL, like https://example.org/page.")
    if "@" in authority:
        raise BadUrl(f"URLs with a user name or password are not supported: {_shown(href)}. Remove the credentials.")
    if len(href) > LONGEST_URL:
        raise BadUrl(f"the URL is longer than {LONGEST_URL} characters: {_shown(url)}. Use a shorter one.")
    return href


def join(base: str, href: str) -> str | None:
    """The canonical URL of a link on the page `base`; None if it cannot be visited."""
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
        if _SURROGATES.search(url):  # the standard treats a lone surrogate as U+FFFD
            return _serialised(_SURROGATES.sub("\ufffd", url), base)
        return None
    return href.partition("#")[0]  # in the serialised form, # occurs only before the fragment


def _shown(url: str) -> str:
    url = masked_url(url)
    return repr(url if len(url) <= _SHOWN else url[:_SHOWN] + "…")


_PORT = re.compile(r"\s*https?:[/\\]+[^/\\?#\s]*?:(?P<port>[^:@\]/\\?#]+)(?:[/\\?#]|$)", re.IGNORECASE)


def _problem(url: str) -> str:
    """What is wrong with a URL that cannot be parsed, and what to write."""
    port = _PORT.match(url)
    if port is not None and not (port["port"].isdecimal() and int(port["port"][:6]) <= 65_535):
        return f"the port in {_shown(url)} is not a number from 0 to 65535. Correct it, or leave it out."
    return f"not a URL: {_shown(url)}. Write the whole URL, like https://example.org/page."


# ── parts of a URL ──────────────────────────────────────────────────────────────────────────────────────────


def _authority(url: str) -> str:
    start = url.index("://") + 3
    end = url.find("/", start)
    return url[start:] if end < 0 else url[start:end]


def origin(url: str) -> str:
    """Scheme and authority of a canonical URL, without a trailing slash. Each origin has its own robots.txt."""
    end = url.find("/", url.index("://") + 3)
    return url if end < 0 else url[:end]


def host_of(url: str) -> str:
    """Host name of a canonical URL, without brackets (IPv6) and trailing dot. Politeness is per host name."""
    authority = _authority(url)
    if authority.startswith("["):
        return authority[1 : authority.index("]")]
    return authority.partition(":")[0].rstrip(".")


def port_of(url: str) -> int:
    """Port of a canonical URL; the default port of its scheme if it names none."""
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
    """The registrable domain of a host (`example.co.uk`); None for an IP address or a public suffix."""
    if _address(host) is not None or not host or host.startswith("."):
        return None
    domain: str | None = _public_suffixes().privatesuffix(host.lower().rstrip("."))
    return domain


def in_scope(url: str, seed: str, scope: Scope) -> bool:
    """Whether a page belongs to the site with the start page `seed`. http and https are the same site.

    `prefix`: below the folder of the start page; `host`: same host and port; `domain`: same registrable domain.
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


# ── crawler traps ───────────────────────────────────────────────────────────────────────────────────────────

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
    """Why this URL is probably part of a crawler trap (an endless set of pages); None if it is not.

    With `now`, pages of calendars count as a trap if they are more than a few years after it.
    """
    if len(url) > _TRAP_LENGTH:
        return f"longer than {_TRAP_LENGTH} characters"
    path, _, query = path_of(url).partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _TRAP_DEPTH:
        return f"more than {_TRAP_DEPTH} folders deep"
    if _repeats(segments):
        return "a part of the path is repeated"
    words = Counter(segment for segment in segments if not segment.isdigit())
    if words and max(words.values()) >= _TRAP_REPEATS:
        return f"a folder occurs {_TRAP_REPEATS} times in the path"
    if query.count("&") >= _TRAP_PARAMETERS:
        return f"more than {_TRAP_PARAMETERS} query parameters"
    return _calendar_trap(url, now)


def _repeats(segments: list[str]) -> bool:
    """Whether a sequence of folders occurs three times in a row. Folders of digits only (dates) do not count."""
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


# ── the index key of archives ───────────────────────────────────────────────────────────────────────────────

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
_MAX_PASSES = 50
_BLANKS = re.compile(r"[\x00-\x20\x7f]")
_TO_ESCAPE = re.compile(rb"[\x00-\x20\x7f-\xff#%]")


def surt(url: str) -> str:
    """The CDXJ key that the Wayback Machine and pywb use by default: reversed host, then path and sorted query.

    URLs that differ only in scheme, `www.`, letter case, session ids, the order of the query or a trailing slash have
    the same key. Two different live pages may have the same key, so it does not identify a page.
    """
    url = url.strip().replace("\r", "").replace("\n", "").replace("\t", "")
    if not url:
        return "-"
    if _UNTOUCHED.match(url):
        return _BLANKS.sub(lambda blank: f"%{ord(blank[0]):02X}", url)
    scheme, rest = _without_scheme(url)
    parts = _PARTS.match(rest)
    assert parts  # every part may be empty, so the pattern always matches
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
    """The dotted form of an IPv4 address in any of its historical notations; None if the host is not an address."""
    if not _NUMBERS.fullmatch(host):
        return None
    try:
        dotted = normalize_url(f"http://{host}/")[7:-1]
        IPv4Address(dotted)
    except ValueError:
        return None
    return dotted


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
    """Percent-decode repeatedly, until nothing changes or the maximum number of passes is reached."""
    before = text.encode("utf-8", "surrogatepass")
    for _ in range(_MAX_PASSES):
        after = unquote_to_bytes(_ESCAPED_PERCENT.sub(b"%", before))
        if after == before:
            break
        before = after
    return before


def _escaped(data: bytes) -> str:
    return _TO_ESCAPE.sub(lambda match: b"%%%02X" % match[0][0], data).decode()


# ── IP addresses ────────────────────────────────────────────────────────────────────────────────────────────

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
            "2002::/16",  # 6to4: leads to the embedded IPv4 address
            "3ffe::/16",  # 6bone, returned
            "3fff::/20",  # documentation
        ),
    )
)
_NAT64 = ip_network("64:ff9b::/96")


@lru_cache(maxsize=65_536)
def is_public(address: str) -> bool:
    """Whether a text is a globally routable unicast address. Host names and addresses with a zone id are not."""
    parsed = _address(address)
    if parsed is None:
        return False
    if isinstance(parsed, IPv4Address):
        return _public_ipv4(int(parsed))
    if parsed.scope_id is not None:
        return False
    if parsed.ipv4_mapped is not None:
        return _public_ipv4(int(parsed.ipv4_mapped))
    if parsed in _NAT64:  # the translation of IPv4 addresses in networks with IPv6 only
        return _public_ipv4(int(parsed) & 0xFFFF_FFFF)
    return parsed in _GLOBAL_IPV6 and not any(parsed in network for network in _NOT_PUBLIC_IPV6)


def _public_ipv4(number: int) -> bool:
    return not any(number & mask == network for network, mask in _NOT_PUBLIC_IPV4)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return IPv6Address(text) if ":" in text else IPv4Address(text)
    except AddressValueError:
        return None
