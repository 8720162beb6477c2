"""The links of a page in Python: their URLs, kinds, hashes, and the texts by which they are compared.

Part of the Python kernel (`python.py`); link_spelling.c, link_rows.c and links.c are the compiled functions. The rules
are those of docs/reference/fingerprint.md, section 6.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from struct import iter_unpack, pack
from zlib import crc32

from webstrata.observe.kernel.results import MAX_CONTACTS, MAX_LINKS, LinkTable, Span
from webstrata.urls import LONGEST_URL

_NOT_FETCHED = ("#", "javascript:", "data:", "about:", "blob:")

_DOCUMENTS = frozenset(
    """7z avi bib bz2 csv djvu doc docx dvi eps epub flac gif gz jpeg jpg json m4a m4v mkv mobi mov mp3 mp4 mpeg mpg odp
    ods odt ogg ogv pdf png ppt pptx ps rar rtf svg tar tex tgz tiff tsv txt wav webm webp wmv xls xlsx xml xz
    zip""".split()  # noqa: SIM905
)
"""File name extensions of documents."""

TRACKING_PARAMETERS = frozenset(
    """__hsfp __hssc __hstc _branch_match_id _bta_c _bta_tid _ga _gac _gl _hsenc _hsmi _kx _openstat at_campaign
    at_medium awc cjevent cmpid dclid dm_i ef_id elqtrack elqtrackid epik fb_action_ids fb_action_types fb_ref
    fb_source fbclid gad_campaignid gad_source gbraid gclid gclsrc guccounter guce_referrer guce_referrer_sig
    hsctatracking icid igsh igshid irclickid irgwc li_fat_id mc_cid mc_eid mkt_tok ml_subscriber ml_subscriber_hash
    msclkid ncid ns_campaign ns_linkname ns_mchannel ns_source oly_anon_id oly_enc_id piwik_campaign piwik_keyword
    piwik_kwd pk_campaign pk_cid pk_content pk_keyword pk_kwd pk_medium pk_source rb_clickid ref_src ref_url s_cid
    s_kwcid sc_cid scm soc_src soc_trk spm srsltid trkcampaign ttclid twclid vero_conv vero_id wbraid wickedid wprov
    wt.mc_id wt_mc wt_zmc xtor yadclid yclid ysclid zanpid""".split()  # noqa: SIM905
)
"""Parameters that say from where a visitor came."""
_CAMPAIGN = re.compile(r"(?:hsa|matomo|mtm|utm)_.")
"""The beginning of further names of such parameters."""
SESSION_PARAMETERS = frozenset(
    """cfid cftoken cgisessid jsessionid oscsid phpsessid sessid session_id sessionid xtcsid zenid""".split()  # noqa: SIM905
)
"""Parameters that say who visits."""
TOKEN_SESSION_PARAMETERS = frozenset({"s", "session", "sid", "ssid"})
"""Names that are also used for other purposes: only a token as value is a session."""
_LONGEST_NAME = 32
_TOKEN = re.compile(r"(?=.*[0-9])[A-Za-z0-9_,.-]{16,}")
_PARAMETER = re.compile(r"[?&]")
_SESSION_SEGMENT = re.compile(r"\((?:[A-Za-z]\([A-Za-z0-9_-]{8,}\))+\)")
_DEFAULT_PORT = re.compile(r"(?<=.):(?:80|443)\Z")
_BLANKS = bytes([*range(33), 127])
_LEADING_BLANKS = "".join(map(chr, range(33)))
_CONTACT = re.compile(r"(mailto|tel):([^?#]*)", re.IGNORECASE | re.ASCII)
_NOT_A_DIGIT = re.compile(r"%[0-9A-Fa-f]{2}|[^0-9]")
_LONG_VALUE = re.compile(r"=[^&]{24,}")
_UUID_OR_RUN = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![A-Za-z0-9])|[A-Za-z0-9]+")
_NUMBER = re.compile(r"[0-9]+")


def collect_links(
    hrefs: bytes,
    spans: bytes | None,
    *,
    root: bytes,
    folder: bytes,
    home: str,
    resolve: Callable[[str], str | None],
) -> LinkTable:
    """The URLs that these addresses lead to. Each is resolved by the URL parser: `root` and `folder` are not used."""
    texts = hrefs.decode("utf-8", "replace").split("\0")
    if spans is not None:
        texts = list(_selected(texts, list(iter_unpack("=ii", spans[: len(spans) // 8 * 8]))))
    texts = [href for href in texts if href and not href.startswith(_NOT_FETCHED)]
    contacts = {href: contact(href) for href in dict.fromkeys(texts)}
    resolved = [resolve(href) for href in texts if contacts[href] is None]
    urls = list(dict.fromkeys(filter(None, resolved)))[:MAX_LINKS]
    people = list(dict.fromkeys(filter(None, contacts.values())))[:MAX_CONTACTS]
    compared = {*map(link_text, urls), *people}
    kinds = [link_kind(url, home) for url in urls]
    return LinkTable(
        urls=b"".join([url.encode() + b"\0" for url in urls]),
        sorted_texts=b"\n".join(sorted([text.encode() for text in compared])),
        hashes=link_hashes(compared) if spans is None else b"",
        contacts=b"".join([text.encode() + b"\0" for text in people]),
        internal=kinds.count("internal"),
        external=kinds.count("external"),
        documents=kinds.count("documents"),
    )


def _selected(texts: list[str], spans: list[Span]) -> Iterator[str]:
    """The texts whose indexes are in a span; spans are used in the order given and never twice."""
    current = 0
    for index, text in enumerate(texts):
        while current < len(spans) and index >= spans[current][1]:
            current += 1
        if current == len(spans):
            return
        if index >= spans[current][0]:
            yield text


# ── the text by which a link is compared ────────────────────────────────────────────────────────────────────


def link_text(url: str) -> str:
    """The text by which a canonical URL is compared; the same for http and https, sessions, tracking parameters.

    Other texts, such as contacts, are returned unchanged.
    """
    if not url.startswith(("http://", "https://")):
        return url
    address, _, query = url.partition("://")[2].partition("?")
    authority, slash, path = address.partition("/")
    if ";" in path or "(" in path:
        segments = [_without_path_sessions(segment) for segment in path.split("/")]
        path = "/".join([segment for segment in segments if not _SESSION_SEGMENT.fullmatch(segment)])
    parameters = [name for name in _PARAMETER.split(query) if name and not _is_dropped(name)] if query else []
    head = f"https://{_DEFAULT_PORT.sub('', authority)}{(slash + path).rstrip('/')}"
    return f"{head}?{'&'.join(parameters)}" if parameters else head


def _without_path_sessions(segment: str) -> str:
    first, *parameters = segment.split(";")
    return ";".join([first, *(one for one in parameters if not _is_dropped(one, is_in_path=True))])


def _is_dropped(parameter: str, *, is_in_path: bool = False) -> bool:
    """Whether a parameter `name=value` says only who follows the link, or from where."""
    name, equals, value = parameter.partition("=")
    if not equals or not 0 < len(name) <= _LONGEST_NAME:
        return False
    name = name.lower()
    if name in SESSION_PARAMETERS or (name.startswith("aspsessionid") and name != "aspsessionid"):
        return True
    if name in TOKEN_SESSION_PARAMETERS:
        return _TOKEN.fullmatch(value) is not None
    return not is_in_path and (name in TRACKING_PARAMETERS or _CAMPAIGN.match(name) is not None)


def contact(href: str) -> str | None:
    """The text of an address with the scheme `mailto` or `tel`; empty if nothing follows, None for other addresses."""
    found = _CONTACT.match(href.lstrip(_LEADING_BLANKS))
    if found is None:
        return None
    scheme = found[1].lower()
    rest = _NOT_A_DIGIT.sub("", found[2]) if scheme == "tel" else _mail_address(found[2])
    text = f"{scheme}:{rest}"
    return text if rest and len(text.encode()) <= LONGEST_URL else ""


def _mail_address(text: str) -> str:
    """In lower case, without blanks; an escaped @ is unescaped, escaped spaces at both ends are removed."""
    address = text.encode("utf-8", "replace").translate(None, _BLANKS).lower().replace(b"%40", b"@")
    while address.endswith(b"%20"):
        address = address[:-3]
    while address.startswith(b"%20"):
        address = address[3:]
    return address.decode()


# ── hashes and shapes ───────────────────────────────────────────────────────────────────────────────────────


def link_hashes(texts: Iterable[str]) -> bytes:
    """The sorted hashes of the texts by which links are compared, without duplicates."""
    digests = {_hash(text) for text in texts}
    return b"".join(sorted(digests, key=lambda digest: int.from_bytes(digest, "little")))


def link_rows(packed: bytes) -> bytes:
    """For each URL or contact (each followed by a 0): the hash of its text, and the CRC-32 of its shape."""
    written = [text.decode("utf-8", "replace") for text in packed.split(b"\0") if 0 < len(text) <= LONGEST_URL]
    texts = map(link_text, written)
    return b"".join([_hash(text) + pack("<I", crc32(link_shape(text).encode())) for text in texts])


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def link_shape(text: str) -> str:
    """The text of a link with numbers, tokens and long values of the query masked. Contacts are not masked."""
    if not text.startswith("https://"):
        return text
    address, mark, query = text.partition("?")
    return _UUID_OR_RUN.sub(_masked, address + mark + _LONG_VALUE.sub("=0", query))


def _masked(found: re.Match[str]) -> str:
    run = found[0]
    return "0" if "-" in run or _is_random(run) else _NUMBER.sub("0", run)


def _is_random(run: str) -> bool:
    """Whether letters and digits are no word and no number: digits and letters, or upper and lower case, alternate."""
    if run.isdigit() or (run.isalpha() and len(run) < _RANDOM_LETTERS):
        return False
    classes = ["0" if char.isdigit() else "A" if char.isupper() else "a" for char in run]
    changes = sum(one != other for one, other in pairwise(classes))
    if run.isalpha():
        return 2 * changes >= len(run)
    return (len(run) >= _RANDOM_RUN and 3 * changes >= len(run)) or len(run) >= _LONG_RUN


_RANDOM_LETTERS, _RANDOM_RUN, _LONG_RUN = 20, 6, 32


# ── kinds ───────────────────────────────────────────────────────────────────────────────────────────────────


def link_kind(url: str, home: str) -> str:
    """`internal`, `external` or `documents`; `home` is the host of the page without `www.`."""
    if url.partition("?")[0].rpartition(".")[2].lower() in _DOCUMENTS:
        return "documents"
    return "internal" if url.partition("://")[2].partition("/")[0].removeprefix("www.") == home else "external"
