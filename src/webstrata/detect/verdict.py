"""The verdict: what happened to a page between two observations.

| before | now | outcome | counts |
|---|---|---|---|
| never seen | content | new | no: there is nothing to compare it with |
| never seen | gone | gone | no |
| content | content, deciding layer equal | same | no |
| content | content, deciding layer differs only by learned noise, and there is more to the page | same | no |
| content | content, deciding layer differs | changed | yes |
| content | content, main part equal, a new sentence in header or footer | changed | yes |
| content | the same content, from another address | changed | yes |
| content | another of several representations, without a layer to compare them by | same | no |
| content | the page in another of several languages | same | no |
| content | gone | gone | yes |
| gone | gone | same | no |
| gone, or gone since first asked for | content | back | yes |

The deciding layer is chosen by `layers.py`. Whatever the verdict, every different sequence of bytes is archived.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from webstrata.detect.layers import deciding, differing, layer_of
from webstrata.detect.linkset import unseen
from webstrata.detect.memory import PageMemory, masked_address, version_key, was_seen
from webstrata.detect.noise import new_sentences, noise_share, noisy_places, quiet_form
from webstrata.detect.runs import EVERYWHERE, IN_DATA, MAIN, TextRuns, read_runs, share_changed
from webstrata.detect.significance import weigh
from webstrata.detect.status_class import StatusClass, status_class
from webstrata.records import Change, ChangeKind, Fingerprint, Observation, Outcome, PageRules

__all__ = ["judge", "layer_of"]


def judge(
    before: Fingerprint | None,
    was_gone: bool,
    after: Observation,
    *,
    page_rules: PageRules | None = None,
    memory: PageMemory | None = None,
) -> Change:
    """Compare what was last seen (`before`: the last content; `was_gone`: it had then disappeared) with what is now."""
    now = after.fingerprint
    if now is None or status_class(after.status) is StatusClass.GONE:  # a 404's body is no content of the page
        return _gone(before, was_gone)
    memory = memory or PageMemory()
    if before is None:
        # A page that was gone from the first visit on, and now exists, is back as far as anyone watching it can tell.
        return _weighed(_back() if was_gone else _new(now, after, page_rules), _UNMEASURED)
    change = _compared(before, now, after, page_rules, memory)
    extent = _extent(memory, after, change.layer) if change.raw else _UNMEASURED
    if change.counts and page_rules is not None and extent.measured and extent.size < page_rules.min_size:
        change = replace(change, counts=False, outcome=Outcome.SAME)
    change = replace(change, size=extent.size if change.kind in _SIZED else 0.0)
    if was_gone:
        change = replace(change, outcome=Outcome.BACK, kind=ChangeKind.BACK, counts=True, layer="status")
    return _weighed(change, extent._replace(title=before.title != now.title))


_SIZED = (ChangeKind.CONTENT, ChangeKind.LINKS, ChangeKind.DATA)


class _Extent(NamedTuple):
    """How much differs."""

    size: float
    passage: int
    measured: bool
    title: bool = False


_MOST_NOISE = 0.5
"""Share of the words from which on noise is what the page is about (a price, the time of day), and so counts."""
_PARTS = {"main": MAIN, "data": IN_DATA}
_UNMEASURED = _Extent(0.0, 0, measured=False)


def _compared(
    before: Fingerprint, now: Fingerprint, after: Observation, page_rules: PageRules | None, memory: PageMemory
) -> Change:
    """Content against content."""
    layers = differing(before, now)
    layer = next(name for name in deciding(now, page_rules) if name in layers)
    text = layers[layer]
    links = layers.get("main_links", False) if layer == "main" else False
    noise = 0
    if layer in ("text", "main", "selected", "data") and memory.noise:
        text, links, noise = _without_noise(memory, after, layer, text, links)
    elsewhere = layer == "main" and not text and layers.get("text", False) and _news_in_margins(memory, after)
    counts = text or links or elsewhere
    if counts and (_other_language(memory, after, page_rules) or _other_form(before, now, after, layer, page_rules)):
        layer = layer_of(now, page_rules)
        return Change(outcome=Outcome.SAME, kind=ChangeKind.FORM, layers=layers, raw=True, layer=layer)
    change = Change(
        outcome=Outcome.CHANGED if counts else Outcome.SAME,
        kind=_kind(layer, layers, text or elsewhere, links),
        layers=layers,
        raw=layers["raw"],
        text=layers.get("text", False),
        links=layers.get("links", False),
        counts=counts,
        layer="text" if elsewhere else layer,
        new_links=unseen(memory.links, after.link_hashes) if memory.versions else 0,  # else what was seen is not known
        reverted=counts and was_seen(memory, version_key(now, layer)),
        distance=_distance(before, now),
        noise=noise,
    )
    if not counts and memory.versions and masked_address(after) != memory.address:
        return replace(change, outcome=Outcome.CHANGED, kind=ChangeKind.MOVED, counts=True, layer="address")
    return change


def _other_language(memory: PageMemory, after: Observation, page_rules: PageRules | None) -> bool:
    """Whether the server chose another language than last time; who watches the bytes wants to know."""
    if page_rules is not None and page_rules.layer == "raw":
        return False
    return bool(memory.language and after.language) and memory.language != after.language


def _other_form(
    before: Fingerprint, now: Fingerprint, after: Observation, layer: str, page_rules: PageRules | None
) -> bool:
    """Whether two contents are of different media types and share no layer that would tell if they say the same."""
    if not after.negotiated:
        return False
    if before.media_type in ("", now.media_type) or (page_rules is not None and page_rules.layer == "raw"):
        return False
    return layer == "raw" or (layer != "data" and (before.parts is None) != (now.parts is None))


def _kind(layer: str, layers: dict[str, bool], text: bool, links: bool) -> ChangeKind:
    if text and layer == "data":
        return ChangeKind.DATA
    if text and layer in ("links", "main_links"):
        return ChangeKind.LINKS
    if text:
        return ChangeKind.CONTENT
    if links:
        return ChangeKind.LINKS
    return ChangeKind.MARKUP if layers["raw"] else ChangeKind.NONE


def _without_noise(
    memory: PageMemory, after: Observation, layer: str, text: bool, links: bool
) -> tuple[bool, bool, int]:
    """Whether text and links still differ without what was learned to be noise, and how many such places differ."""
    if any(slot.kind == "links" and slot.state == "learned" for slot in memory.noise):
        links = False
    if not text or not memory.runs or not after.lines:
        return text, links, 0
    old, new = read_runs(memory.runs), read_runs(after.lines)
    parts = _PARTS.get(layer, EVERYWHERE)
    share = noise_share(new, memory.noise, parts)
    # Of a list of addresses with their times, the times are half: such data are still about the addresses.
    if parts.isdisjoint(new.parts) or share > _MOST_NOISE or (share == _MOST_NOISE and layer != "data"):
        return text, links, 0
    text = quiet_form(old, memory.noise, parts) != quiet_form(new, memory.noise, parts)
    return text, links, noisy_places(old, new, memory.noise)


def _news_in_margins(memory: PageMemory, after: Observation) -> bool:
    """Whether header or footer say a whole new sentence: a banner, or content that was taken for margin."""
    if not memory.runs or not after.lines:
        return False
    old, new = read_runs(memory.runs), read_runs(after.lines)
    return new_sentences(old, new, memory.noise, EVERYWHERE - MAIN) > 0


def _extent(memory: PageMemory, after: Observation, layer: str) -> _Extent:
    if not memory.runs or not after.lines or layer == "data":
        return _UNMEASURED
    old: TextRuns = read_runs(memory.runs)
    size, passage = share_changed(old, read_runs(after.lines), MAIN if layer == "main" else EVERYWHERE)
    return _Extent(size, passage, measured=True)


def _distance(before: Fingerprint, now: Fingerprint) -> int | None:
    if before.simhash is None or now.simhash is None or before.version != now.version:
        return None
    return ((before.simhash ^ now.simhash) & (1 << 64) - 1).bit_count()


def _weighed(change: Change, extent: _Extent) -> Change:
    significance, reasons = weigh(change, passage=extent.passage, title=extent.title, measured=extent.measured)
    return replace(change, significance=significance, reasons=reasons)


def _new(now: Fingerprint, after: Observation, page_rules: PageRules | None) -> Change:
    return Change(
        outcome=Outcome.NEW,
        kind=ChangeKind.NEW,
        layer=layer_of(now, page_rules),
        new_links=unseen(b"", after.link_hashes),
    )


def _back() -> Change:
    return Change(outcome=Outcome.BACK, kind=ChangeKind.BACK, counts=True, layer="status")


def _gone(before: Fingerprint | None, was_gone: bool) -> Change:
    if was_gone:
        return Change(outcome=Outcome.SAME, layer="status")
    gone = Change(outcome=Outcome.GONE, kind=ChangeKind.GONE, counts=before is not None, layer="status")
    return _weighed(gone, _UNMEASURED)
