"""What detection remembers of a page beside its last fingerprint: bounded, packed into `Page.memory`.

| part | what | most bytes |
|---|---|---:|
| `runs` | the last version's text run by run, or its data place by place, hashed | 9,024 |
| `links` | every link ever seen, hashed (`linkset.py`) | 8,192 |
| `versions` | the last 20 versions, hashed | 160 |
| `noise` | places that keep changing (`noise.py`) | about 8,000 |

A usual page needs one to three kilobytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata.detect.layers import comparable, layer_digest
from webstrata.detect.learning import learn, nothing_changed
from webstrata.detect.linkset import with_links
from webstrata.detect.noise import NoisyPlace, as_wished
from webstrata.detect.runs import read_runs
from webstrata.records import Change, ChangeKind, Fingerprint, Observation, Outcome

_MOST_VERSIONS = 20
_VERSION_BYTES = 8
_LONGEST_ADDRESS = 500
_TOKENS = re.compile(r"[A-Za-z0-9_-]{16,}|[0-9]+")


class PageMemory(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One page's memory."""

    runs: bytes = b""
    at: float = 0.0
    """When the last version was seen, as far as it matters to the noise."""
    links: bytes = b""
    versions: bytes = b""
    noise: tuple[NoisyPlace, ...] = ()
    address: str = ""
    """Where the last answer came from, tokens masked; empty where it was the page's own address."""
    language: str = ""
    """Of the last version, where the server chose it among several."""


_FORM = 1
"""First byte of a packed memory: a new form gets a new number, and old memories begin afresh."""


def unpack(packed: bytes, counted: Collection[int] = ()) -> PageMemory:
    """The memory that a page keeps; an empty one where there is none that can be read.

    `counted`: keys of places that the user wants counted (`Page.counted`).
    """
    if not packed or packed[0] != _FORM:
        return PageMemory()
    try:
        memory = msgspec.msgpack.decode(packed[1:], type=PageMemory)
    except msgspec.MsgspecError:
        return PageMemory()
    wished = as_wished(memory.noise, counted)
    return memory if wished == memory.noise else replace(memory, noise=wished)


def pack(memory: PageMemory) -> bytes:
    """As the page keeps it."""
    return b"" if memory == PageMemory() else bytes([_FORM]) + msgspec.msgpack.encode(memory)


def beginning(first: Observation, layer: str) -> PageMemory:
    """The memory of a page of which one version is known, seen by this layer: what `compare` judges two files with."""
    return remember(PageMemory(), None, first, Change(outcome=Outcome.NEW, layer=layer))


def remember(memory: PageMemory, before: Fingerprint | None, after: Observation, change: Change) -> PageMemory:
    """The memory after a visit that was judged. `before` is the last content, as `judge` got it."""
    now = after.fingerprint
    if now is None or change.outcome in (Outcome.GONE, Outcome.ERROR):
        return memory
    if before is not None and before.raw == now.raw and (memory.runs or not after.lines):
        return _unchanged(memory, after)
    return replace(
        memory,
        runs=after.lines,
        at=after.at,
        links=with_links(memory.links, after.link_hashes),
        versions=_with_version(memory.versions, version_key(now, change.layer)),
        noise=_noise(memory, before, after, change),
        address=masked_address(after),
        language=after.language,
    )


def _unchanged(memory: PageMemory, after: Observation) -> PageMemory:
    """Nothing to write for most pages: only places under watch have something to learn from a visit without news."""
    address = masked_address(after)
    if address != memory.address:
        memory = replace(memory, address=address)
    if not memory.noise:
        return memory
    noise = nothing_changed(memory.noise, at=after.at, apart_s=after.at - memory.at)
    return replace(memory, at=after.at, noise=noise)


def _noise(
    memory: PageMemory, before: Fingerprint | None, after: Observation, change: Change
) -> tuple[NoisyPlace, ...]:
    """Another form or language of the page teaches nothing: all of it differs, and none of it is noise."""
    now = after.fingerprint
    if before is None or now is None or not memory.runs or not after.lines or not comparable(before, now):
        return memory.noise
    if change.kind is ChangeKind.FORM:
        return memory.noise
    return learn(
        memory.noise,
        read_runs(memory.runs),
        read_runs(after.lines),
        at=after.at,
        apart_s=after.at - memory.at,
        links_changed=change.layers.get("main_links", False),
        excerpts=after.excerpts,
    )


def version_key(mark: Fingerprint, layer: str) -> bytes:
    """A version as it is remembered: by the layer that decides about it, and of web pages by the links in there too."""
    digest = layer_digest(mark, layer) or mark.raw
    if layer == "main" and mark.main_links is not None:
        digest += mark.main_links
    return hashlib.sha256(f"{layer}:{digest}".encode()).digest()[:_VERSION_BYTES]


def was_seen(memory: PageMemory, key: bytes) -> bool:
    """Whether an earlier version had this key; the last one does not count."""
    earlier = memory.versions[:-_VERSION_BYTES]
    return any(earlier[i : i + _VERSION_BYTES] == key for i in range(0, len(earlier), _VERSION_BYTES))


def _with_version(versions: bytes, key: bytes) -> bytes:
    if versions[-_VERSION_BYTES:] == key:
        return versions
    return (versions + key)[-_MOST_VERSIONS * _VERSION_BYTES :]


def masked_address(after: Observation) -> str:
    """Host and path that the answer came from, with what redirects like to vary masked; empty: the page's own."""
    if not after.address or _bare(after.address) == _bare(after.url):
        return ""
    return _TOKENS.sub("#", _bare(after.address))[:_LONGEST_ADDRESS]


def _bare(url: str) -> str:
    """Without scheme, `www.`, query, fragment and the slash at the end: what redirects put right and nobody misses."""
    rest = url.partition("://")[2].partition("#")[0].partition("?")[0].partition(";")[0]
    return rest.removeprefix("www.").rstrip("/")
