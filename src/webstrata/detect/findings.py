"""What differs between two contents in the layer that decides, without learned noise and without the site's template.

The digests of the fingerprints tell whether a layer differs. If the runs of both versions are known, they are compared
run by run: that tells which differences are noise or belong to the template, and how many words differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from webstrata.columns import ATTRIBUTE_PARTS, Part, RunFlag
from webstrata.detect.comparison import RunComparison, RunDifference, WordCounts
from webstrata.detect.feed_entries import feed_change
from webstrata.detect.memory import PageMemory
from webstrata.detect.noise import changed_noise_count, noise_share, without_jumps
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.detect.page_difference import ALL_LINKS, page_difference
from webstrata.detect.runs import ALL_TEXT_PARTS, DATA_PARTS, MAIN_PARTS, TextRuns, parse_runs
from webstrata.detect.template import TemplateOfPage
from webstrata.records import DEFAULT_ATTRIBUTES, Observation, PageRules

_MAX_NOISE_SHARE = 0.5
"""From this share of words on, noise is the subject of the page (a price, the time of day) and counts."""
_PARTS_OF_LAYER = {"main": MAIN_PARTS, "data": DATA_PARTS}
_ENTRY_KINDS = ("feed", "calendar", "archive")
"""Kinds of data whose fields are entries."""
_LAYERS_WITH_RUNS = ("text", "main", "selected", "data")


class Findings(Struct, frozen=True, kw_only=True):
    """What differs and counts."""

    text: bool = False
    """The deciding layer."""
    links: bool = False
    """Links in the main content."""
    outside: bool = False
    """Text outside the main content that belongs to the page."""
    product: bool = False
    metadata: bool = False
    is_template_event: bool = False
    """The site's template differs, and no other page has shown this before."""
    has_template: bool = False
    """Lines of the site's template differ; they do not count unless `is_template_event`."""
    noise: int = 0
    """Learned places that differ; they do not count."""
    words: WordCounts | None = None
    """How many words differ (of data, how many values or entries); None if it is not known."""
    unit: Literal["words", "values", "entries"] = "words"
    """What `words` counts."""
    is_watched: bool = False
    """A run with a figure that people watch differs: a price, a stock, a score."""
    title: bool | None = None
    """The title differs, and is compared; None if the runs that tell it are not known."""
    noisy_links: frozenset[int] = frozenset()
    """The links of the new version that are noise, by their hashes."""
    products: frozenset[str] = frozenset()
    """The names of the values of products that differ."""

    @property
    def counts(self) -> bool:
        return self.text or self.links or self.outside or self.product or self.metadata or self.is_template_event


def findings(
    layers: dict[str, bool],
    layer: str,
    memory: PageMemory,
    after: Observation,
    page_rules: PageRules | None,
    template: TemplateOfPage | None,
) -> Findings:
    """Compare an observation with the version in memory; `layers` says which digests differ, `layer` decides."""
    text, links = layers[layer], layer == "main" and layers.get("main_links", False)
    if not layers["raw"] or not memory.runs or not after.lines or layer not in _LAYERS_WITH_RUNS:
        return Findings(text=text, links=links, title=False if layer == "selected" else None)
    old, new = parse_runs(memory.runs), parse_runs(after.lines)
    noise = applicable_noise(memory.noise, old, new, after.at - memory.at, layer)
    is_exact = layer not in ("main", "text") or (page_rules is not None and page_rules.has_layer)
    comparison = RunComparison(old, new, noise, exact=is_exact)
    if layer == "main":
        ignores_title = "title" not in _counted_attributes(page_rules, layer)
        found = _on_page(comparison, text, links, template, ignores_title=ignores_title)
    elif layer == "data" and after.fingerprint is not None and after.fingerprint.data_kind in _ENTRY_KINDS:
        found = _of_entries(comparison, text, memory.runs, after)
    else:
        found = _in_layer(comparison, text, layer)
    product, metadata = _attributes(comparison, layer, page_rules)
    has_title = layer == "text" or "title" in _counted_attributes(page_rules, layer)
    return replace(
        found,
        title=has_title and _differs(comparison, Part.TITLE),
        noisy_links=_noisy_links(comparison),
        products=_products(comparison, {*memory.products, *after.products}) if product else frozenset(),
        is_template_event=found.is_template_event and not (found.text or found.links or found.outside),
        product=product,
        metadata=metadata,
        noise=changed_noise_count(old, new, noise),
    )


def applicable_noise(
    noise: tuple[NoisyPlace, ...], old: TextRuns, new: TextRuns, apart_s: float, layer: str
) -> tuple[NoisyPlace, ...]:
    """The learned noise, for comparing two versions by a layer, the new one `apart_s` seconds later.

    None if most of the page is noise, because it is then the subject of the page.
    """
    if layer not in _LAYERS_WITH_RUNS:
        return ()
    noise = without_jumps(noise, old, new, apart_s)
    parts = _PARTS_OF_LAYER.get(layer, ALL_TEXT_PARTS)
    share = noise_share(new, noise, parts)
    # In a list of addresses with times, half of the words are times, but the addresses are its subject.
    is_subject = share > _MAX_NOISE_SHARE or (share == _MAX_NOISE_SHARE and layer != "data")
    return () if is_subject or parts.isdisjoint(new.parts) else noise


def _in_layer(comparison: RunComparison, differs: bool, layer: str) -> Findings:
    """The difference of plain text, of selected content or of data."""
    parts = _PARTS_OF_LAYER.get(layer, ALL_TEXT_PARTS)
    difference = comparison.difference(parts)
    return Findings(
        text=differs and bool(difference),
        words=comparison.words(difference, parts),
        unit="values" if layer == "data" else "words",
        is_watched=_has_watched(comparison, difference),
    )


def _of_entries(comparison: RunComparison, differs: bool, before: bytes, after: Observation) -> Findings:
    """The difference of a feed, a calendar or an archive. An entry that leaves the window of a feed does not count."""
    is_feed = after.fingerprint is not None and after.fingerprint.data_kind == "feed"
    change = feed_change(before, after.lines) if is_feed else None
    difference = comparison.difference(DATA_PARTS)
    return Findings(
        text=differs and bool(difference) and (change is None or change.counts),
        words=comparison.words(difference, DATA_PARTS),
        unit="entries",
    )


def _has_watched(comparison: RunComparison, difference: RunDifference) -> bool:
    old, new = comparison.old.flags, comparison.new.flags
    return any(old[i] & RunFlag.WATCHED for i in difference.removed) or any(
        new[i] & RunFlag.WATCHED for i in difference.added
    )


def _on_page(
    comparison: RunComparison, text: bool, links: bool, template: TemplateOfPage | None, *, ignores_title: bool
) -> Findings:
    """The difference of an HTML page: its main content, its links, and what is around them."""
    difference = page_difference(comparison, template, ignores_title=ignores_title)
    has_links = not ALL_LINKS.isdisjoint((*comparison.old.parts, *comparison.new.parts))
    main = difference.main if text else RunDifference()
    counted = RunDifference(
        removed=(*main.removed, *difference.outside.removed), added=(*main.added, *difference.outside.added)
    )
    return Findings(
        text=bool(main),
        links=links and (bool(difference.links) or not has_links),
        outside=bool(difference.outside),
        is_template_event=difference.is_new_event,
        has_template=difference.has_template,
        words=comparison.words(counted, MAIN_PARTS),
        is_watched=_has_watched(comparison, counted),
    )


def _attributes(comparison: RunComparison, layer: str, page_rules: PageRules | None) -> tuple[bool, bool]:
    """(Whether a product differs, whether other attributes that count do)."""
    kinds = [kind for kind in _counted_attributes(page_rules, layer) if kind in ATTRIBUTE_PARTS]
    changed = {kind for kind in kinds if _differs(comparison, ATTRIBUTE_PARTS[kind])}
    return "product" in changed, bool(changed - {"product"})


def _differs(comparison: RunComparison, part: Part) -> bool:
    """Whether some run of a part is only in one version; its order does not count."""
    difference = comparison.difference(frozenset({int(part)}))
    return bool(difference.removed or difference.added)


def _products(comparison: RunComparison, names: Iterable[str]) -> frozenset[str]:
    """The names of the values of products that differ, of these names."""
    difference = comparison.difference(frozenset({int(Part.PRODUCT)}))
    shapes = {comparison.old.shapes[i] for i in difference.removed}
    shapes |= {comparison.new.shapes[i] for i in difference.added}
    # The shape of an attribute is a hash of its kind and name (`observe/attribute_runs.py`).
    return frozenset(name for name in names if crc32(f"product:{name}".encode("utf-8", "replace")) in shapes)


def _noisy_links(comparison: RunComparison) -> frozenset[int]:
    """The links that only the new version has, in places that are learned as noise."""
    everything = RunComparison(comparison.old, comparison.new)
    added, counted = (set(one.difference(ALL_LINKS).added) for one in (everything, comparison))
    return frozenset(comparison.new.values[i] for i in added - counted)


def _counted_attributes(page_rules: PageRules | None, layer: str) -> tuple[str, ...]:
    """The kinds of attributes that count: some do by default, unless rules select a part of the page or a layer."""
    if page_rules is None:
        return DEFAULT_ATTRIBUTES if layer == "main" else ()
    return page_rules.counted_attributes if layer == "main" else page_rules.attributes
