"""The verdict on a visit: what happened to a page between two observations, and whether it counts as a change.

| before | now | outcome | counts |
|---|---|---|---|
| never observed | content | new | no: there is no earlier version to compare with |
| never observed | gone | gone | no |
| content | content, deciding layer equal | same | no |
| content | content, deciding layer differs only by learned noise, and less than half of the page is noise | same | no |
| content | content, deciding layer differs | changed | yes |
| content | content, main part equal, a new sentence in header or footer | changed | yes |
| content | the same content, from another address | changed | yes |
| content | another of several representations, without a common layer to compare | same | no |
| content | the page in another of several languages | same | no |
| content | gone | gone | yes |
| gone | gone | same | no |
| gone, or gone at every visit so far | content | back | yes |

`layers.py` selects the deciding layer. Independently of the verdict, every different sequence of bytes is archived.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from webstrata.columns import Part
from webstrata.detect.layers import candidate_layers, deciding_layer, layer_differences
from webstrata.detect.memory import PageMemory, is_earlier_version, new_link_count, redirect_target, version_key
from webstrata.detect.noise import (
    changed_noise_count,
    new_sentence_count,
    noise_share,
    values_without_noise,
    without_jumps,
)
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.detect.runs import ALL_TEXT_PARTS, DATA_PARTS, MAIN_PARTS, parse_runs, share_changed
from webstrata.detect.significance import significance
from webstrata.records import Change, ChangeKind, Fingerprint, Observation, Outcome, PageRules


def judge(
    before: Fingerprint | None,
    was_gone: bool,
    after: Observation,
    *,
    page_rules: PageRules | None = None,
    memory: PageMemory | None = None,
) -> Change:
    """Compare an observation with the previous one.

    `before` is the fingerprint of the last content; `was_gone` says that the page had disappeared since then.
    """
    now = after.fingerprint
    if now is None or status_class(after.status) is StatusClass.GONE:  # the body of a 404 is not content of the page
        return _gone(before, was_gone)
    memory = memory or PageMemory()
    if before is None:
        # A page that was gone at every visit so far, and now has content, is reported as back.
        back = Change(outcome=Outcome.BACK, kind=ChangeKind.BACK, counts=True, layer="status")
        return _with_significance(back if was_gone else _new(now, after, page_rules), _UNKNOWN_EXTENT)
    change = _compare_contents(before, now, after, page_rules, memory)
    extent = _extent(memory, after, change.layer) if change.raw else _UNKNOWN_EXTENT
    if change.counts and page_rules is not None and extent.is_measured and extent.size < page_rules.min_size:
        change = replace(change, counts=False, outcome=Outcome.SAME)
    change = replace(change, size=extent.size if change.kind in _KINDS_WITH_SIZE else 0.0)
    if was_gone:
        change = replace(change, outcome=Outcome.BACK, kind=ChangeKind.BACK, counts=True, layer="status")
    return _with_significance(change, extent._replace(title_changed=before.title != now.title))


_KINDS_WITH_SIZE = (ChangeKind.CONTENT, ChangeKind.LINKS, ChangeKind.DATA)


class _Extent(NamedTuple):
    """How much of the text differs."""

    size: float
    """Share of the words, 0 to 1."""
    passage_words: int
    """Words in the longest new passage."""
    is_measured: bool
    title_changed: bool = False


_MAX_NOISE_SHARE = 0.5
"""From this share of words on, noise is the subject of the page (a price, the time of day) and counts."""
_MAIN_LINKS: frozenset[int] = frozenset({Part.MAIN_LINK})
_PARTS_OF_LAYER = {"main": MAIN_PARTS, "data": DATA_PARTS}
_UNKNOWN_EXTENT = _Extent(0.0, 0, is_measured=False)


def _compare_contents(
    before: Fingerprint, now: Fingerprint, after: Observation, page_rules: PageRules | None, memory: PageMemory
) -> Change:
    layers = layer_differences(before, now)
    layer = next(name for name in candidate_layers(page_rules) if name in layers)
    text = layers[layer]
    links = layers.get("main_links", False) if layer == "main" else False
    noise = 0
    if layer in ("text", "main", "selected", "data") and memory.noise:
        text, links, noise = _without_noise(memory, after, layer, text, links)
    outside_main = (
        layer == "main" and not text and layers.get("text", False) and _has_new_sentence_outside_main(memory, after)
    )
    counts = text or links or outside_main
    is_by_bytes = page_rules is not None and page_rules.layer == "raw"
    is_other_language = memory.language and after.language and memory.language != after.language
    if counts and not is_by_bytes and (is_other_language or _is_other_representation(before, now, after, layer)):
        layer = deciding_layer(now, page_rules)
        return Change(outcome=Outcome.SAME, kind=ChangeKind.FORM, layers=layers, raw=True, layer=layer)
    change = Change(
        outcome=Outcome.CHANGED if counts else Outcome.SAME,
        kind=_kind(layer, layers, text or outside_main, links),
        layers=layers,
        raw=layers["raw"],
        text=layers.get("text", False),
        links=layers.get("links", False),
        counts=counts,
        layer="text" if outside_main else layer,
        # Without an earlier version in memory, the links seen before are not known.
        new_links=new_link_count(memory.links, after.link_hashes) if memory.versions else 0,
        reverted=counts and is_earlier_version(memory, version_key(now, layer)),
        distance=_simhash_distance(before, now),
        noise=noise,
    )
    if not counts and memory.versions and redirect_target(after) != memory.address:
        return replace(change, outcome=Outcome.CHANGED, kind=ChangeKind.MOVED, counts=True, layer="address")
    return change


def _is_other_representation(before: Fingerprint, now: Fingerprint, after: Observation, layer: str) -> bool:
    """Whether two contents have different media types and no common layer by which to compare them."""
    if not after.negotiated or before.media_type in ("", now.media_type):
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
    """Whether text and links still differ when learned noise is left out, and how many noisy places differ."""
    if not (text or links) or not memory.runs or not after.lines:
        return text, links, 0
    old, new = parse_runs(memory.runs), parse_runs(after.lines)
    noise = without_jumps(memory.noise, old, new, after.at - memory.at)
    if links and Part.MAIN_LINK in old.parts and Part.MAIN_LINK in new.parts:
        links = values_without_noise(old, noise, _MAIN_LINKS) != values_without_noise(new, noise, _MAIN_LINKS)
    parts = _PARTS_OF_LAYER.get(layer, ALL_TEXT_PARTS)
    share = noise_share(new, noise, parts)
    # In a list of addresses with times, half of the words are times, but the addresses are its subject.
    if parts.isdisjoint(new.parts) or share > _MAX_NOISE_SHARE or (share == _MAX_NOISE_SHARE and layer != "data"):
        return text, links, 0
    text = text and values_without_noise(old, noise, parts) != values_without_noise(new, noise, parts)
    return text, links, changed_noise_count(old, new, noise)


def _has_new_sentence_outside_main(memory: PageMemory, after: Observation) -> bool:
    """Whether header or footer have a whole new sentence: a banner, or content outside the detected main part."""
    if not memory.runs or not after.lines:
        return False
    old, new = parse_runs(memory.runs), parse_runs(after.lines)
    return new_sentence_count(old, new, memory.noise, ALL_TEXT_PARTS - MAIN_PARTS) > 0


def _extent(memory: PageMemory, after: Observation, layer: str) -> _Extent:
    if not memory.runs or not after.lines or layer == "data":
        return _UNKNOWN_EXTENT
    parts = MAIN_PARTS if layer == "main" else ALL_TEXT_PARTS
    size, passage_words = share_changed(parse_runs(memory.runs), parse_runs(after.lines), parts)
    return _Extent(size, passage_words, is_measured=True)


def _simhash_distance(before: Fingerprint, now: Fingerprint) -> int | None:
    if before.simhash is None or now.simhash is None or before.version != now.version:
        return None
    return ((before.simhash ^ now.simhash) & (1 << 64) - 1).bit_count()


def _with_significance(change: Change, extent: _Extent) -> Change:
    score, reasons = significance(
        change,
        passage_words=extent.passage_words,
        title_changed=extent.title_changed,
        size_known=extent.is_measured,
    )
    return replace(change, significance=score, reasons=reasons)


def _new(now: Fingerprint, after: Observation, page_rules: PageRules | None) -> Change:
    return Change(
        outcome=Outcome.NEW,
        kind=ChangeKind.NEW,
        layer=deciding_layer(now, page_rules),
        new_links=new_link_count(b"", after.link_hashes),
    )


def _gone(before: Fingerprint | None, was_gone: bool) -> Change:
    if was_gone:
        return Change(outcome=Outcome.SAME, layer="status")
    gone = Change(outcome=Outcome.GONE, kind=ChangeKind.GONE, counts=before is not None, layer="status")
    return _with_significance(gone, _UNKNOWN_EXTENT)
