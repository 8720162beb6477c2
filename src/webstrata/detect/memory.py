"""The memory of a page: what detection keeps besides the last fingerprint, of bounded size, packed into `Page.memory`.

| part | contents | max. bytes |
|---|---|---:|
| `runs` | hashes of the last version's text runs, links and attributes, or of its data fields | about 250,000 |
| `links` | hashes of all links ever seen on the page | 8,192 |
| `versions` | hashes of the last 20 versions | 160 |
| `noise` | places that keep changing (`noisy_place.py`) | about 30,000 |

A typical page that changed needs 2 to 10 KB; one that never changed needs almost nothing.

The set of links is exact up to 512 links (64-bit hashes). Beyond that it is a Bloom filter of 8 KB, which never reports
a known link as new; with 5,000 links in it, about one new link in a hundred is taken for known. When half of its bits
are set, the filter is restarted with the links of the current version; a link that was removed earlier may then be
reported as new again. Both errors are acceptable, because new links only add to a change's significance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from webstrata.columns import LINK
from webstrata.detect.layers import is_comparable, layer_digest
from webstrata.detect.learning import learn, learn_unchanged
from webstrata.detect.noise import with_counted_places
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.detect.runs import parse_runs
from webstrata.records import Change, ChangeKind, Fingerprint, Observation, Outcome

_MAX_VERSIONS = 20
_VERSION_BYTES = 8
_MAX_ADDRESS_CHARS = 2_000
_MAX_TARGET_CHARS = 500
_TOKENS = re.compile(r"[A-Za-z0-9_-]{16,}|[0-9]+")


class PageMemory(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """The memory of one page."""

    runs: bytes = b""
    at: float = 0.0
    """Time of the last visit that updated the runs or the noise."""
    links: bytes = b""
    versions: bytes = b""
    noise: tuple[NoisyPlace, ...] = ()
    address: str = ""
    """Final URL of the last response; empty if it came from the page's own URL."""
    language: str = ""
    """Language of the last version, if the server offers several."""
    products: dict[str, str] = {}
    """What the last version states of products, by name."""
    taught: bool = False
    """The page's runs were added to the template of its site."""
    request: str = ""
    """Digest of the rules by which the last version was requested (`records.requested_by`)."""


_FORMAT = 3
"""First byte of a packed memory. A new format gets a new number; memories in an older format are discarded."""


def unpack(packed: bytes, counted: Collection[int] = ()) -> PageMemory:
    """The unpacked memory; an empty one if there is none or it cannot be decoded.

    `counted`: keys of the noisy places that the user wants to count as changes (`Page.counted`).
    """
    if not packed or packed[0] != _FORMAT:
        return PageMemory()
    try:
        memory = msgspec.msgpack.decode(packed[1:], type=PageMemory)
    except msgspec.MsgspecError:
        return PageMemory()
    noise = with_counted_places(memory.noise, counted)
    return memory if noise == memory.noise else replace(memory, noise=noise)


def pack(memory: PageMemory) -> bytes:
    """The memory as bytes for `Page.memory`."""
    return b"" if memory == PageMemory() else bytes([_FORMAT]) + msgspec.msgpack.encode(memory)


def memory_of_first_version(first: Observation, layer: str) -> PageMemory:
    """The memory of a page after one visit, compared by this layer: for judging two files as `compare` does."""
    return remember(PageMemory(), None, first, Change(outcome=Outcome.NEW, layer=layer))


def memory_under_other_rules(memory: PageMemory, before: Fingerprint | None, layer: str = "") -> PageMemory:
    """The memory of a page whose rules were edited: what depends on the old rules is forgotten.

    `before` is the last version under the new rules, compared by `layer`; None if it is not known. Learned noise is
    kept: its places are recognised by their text, so that a place which is still compared is found again, and any
    other matches nothing.
    """
    versions = b"" if before is None else version_key(before, layer)
    return replace(memory, runs=b"", products={}, versions=versions)


def remember(memory: PageMemory, before: Fingerprint | None, after: Observation, change: Change) -> PageMemory:
    """The memory after a visit. `before` and `change` are an argument and the result of `judge` for this visit."""
    now = after.fingerprint
    if now is None or change.outcome in (Outcome.GONE, Outcome.ERROR):
        return memory
    if before is not None and before.raw == now.raw and (memory.runs or not after.lines):
        return _after_unchanged(memory, after)
    return replace(
        memory,
        runs=after.lines,
        at=after.at,
        links=with_links(memory.links, after.link_hashes),
        versions=_with_version(memory.versions, version_key(now, change.layer)),
        noise=_learned_noise(memory, before, after, change),
        address=after.address[:_MAX_ADDRESS_CHARS],
        language=after.language,
        products=after.products,
    )


def _after_unchanged(memory: PageMemory, after: Observation) -> PageMemory:
    """The memory after a visit with identical bytes. It is equal for most pages, so that nothing must be written."""
    address = after.address[:_MAX_ADDRESS_CHARS]
    if address != memory.address:
        memory = replace(memory, address=address)
    if not memory.noise:
        return memory
    noise = learn_unchanged(memory.noise, at=after.at, apart_s=after.at - memory.at)
    return replace(memory, at=after.at, noise=noise)


def _learned_noise(
    memory: PageMemory, before: Fingerprint | None, after: Observation, change: Change
) -> tuple[NoisyPlace, ...]:
    """The noise after this visit. Nothing is learned from another representation or language: all of it differs."""
    now = after.fingerprint
    if before is None or now is None or not memory.runs or not after.lines or not is_comparable(before, now):
        return memory.noise
    if change.kind is ChangeKind.FORM:
        return memory.noise
    return learn(
        memory.noise,
        parse_runs(memory.runs),
        parse_runs(after.lines),
        at=after.at,
        apart_s=after.at - memory.at,
        excerpts=after.excerpts,
    )


# ── versions and addresses ──────────────────────────────────────────────────────────────────────────────────


def version_key(fingerprint: Fingerprint, layer: str) -> bytes:
    """The hash by which a version is remembered: of the deciding layer, and for `main` of the links in it."""
    digest = layer_digest(fingerprint, layer) or fingerprint.raw
    if layer == "main" and fingerprint.main_links is not None:
        digest += fingerprint.main_links
    return hashlib.sha256(f"{layer}:{digest}".encode()).digest()[:_VERSION_BYTES]


def is_earlier_version(memory: PageMemory, key: bytes) -> bool:
    """Whether a version before the last one had this key."""
    earlier = memory.versions[:-_VERSION_BYTES]
    return any(earlier[i : i + _VERSION_BYTES] == key for i in range(0, len(earlier), _VERSION_BYTES))


def _with_version(versions: bytes, key: bytes) -> bytes:
    if versions[-_VERSION_BYTES:] == key:
        return versions
    return (versions + key)[-_MAX_VERSIONS * _VERSION_BYTES :]


def redirect_target(url: str, address: str) -> str:
    """Host and path to which a page redirected, with numbers and tokens masked; empty if it did not redirect.

    `address` is the final URL of the response; empty if it is the page's URL. Two responses of a page came from the
    same address if this is equal.
    """
    address = address[:_MAX_ADDRESS_CHARS]
    if not address or _host_and_path(address) == _host_and_path(url):
        return ""
    return _TOKENS.sub("#", _host_and_path(address))[:_MAX_TARGET_CHARS]


def _host_and_path(url: str) -> str:
    """The URL without scheme, `www.`, query, fragment and trailing slash, which redirects often normalise."""
    rest = url.partition("://")[2].partition("#")[0].partition("?")[0].partition(";")[0]
    return rest.removeprefix("www.").rstrip("/")


# ── the set of links ────────────────────────────────────────────────────────────────────────────────────────

MAX_EXACT_LINKS = 512
_FILTER_BITS = 65_536
_FILTER_BYTES = _FILTER_BITS // 8
_HASHES_PER_LINK = 5


def new_link_count(seen: bytes, links: bytes, without: Collection[int] = ()) -> int:
    """How many of the links are not in the set. `links` has rows of `LINK`, sorted and without duplicates.

    `without`: the hashes of links that are not counted.
    """
    now = _hashes(links)
    if without:
        now = now[~np.isin(now, np.array(sorted(without), dtype=LINK))]
    if not seen:
        return len(now)
    if _is_filter(seen):
        return int(np.count_nonzero(~_bits(seen)[_bit_positions(now)].all(axis=0)))
    return int(np.count_nonzero(~np.isin(now, _hashes(seen))))


def with_links(seen: bytes, links: bytes) -> bytes:
    """The set with the links of one more version added."""
    if not seen and len(links) <= MAX_EXACT_LINKS * LINK.itemsize:
        return links
    now = _hashes(links)
    if not _is_filter(seen):
        union = np.union1d(_hashes(seen), now)
        if len(union) <= MAX_EXACT_LINKS:
            return union.astype(LINK).tobytes()
        bits, now = np.zeros(_FILTER_BITS, dtype=np.bool_), union
    else:
        bits = _bits(seen)
        if np.count_nonzero(bits) > _FILTER_BITS // 2:
            bits = np.zeros(_FILTER_BITS, dtype=np.bool_)
    bits[_bit_positions(now)] = True
    return np.packbits(bits).tobytes()


def _is_filter(seen: bytes) -> bool:
    return len(seen) == _FILTER_BYTES


def _hashes(packed: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(packed[: len(packed) // LINK.itemsize * LINK.itemsize], dtype=LINK)


def _bits(seen: bytes) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(seen, dtype=np.uint8)).astype(np.bool_)


def _bit_positions(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The positions of each link's bits, by double hashing with the two halves of its hash."""
    low, high = hashes & np.uint64(0xFFFFFFFF), (hashes >> np.uint64(32)) | np.uint64(1)
    steps = np.arange(_HASHES_PER_LINK, dtype=np.uint64)[:, None]
    return (low[None, :] + steps * high[None, :]) % np.uint64(_FILTER_BITS)
