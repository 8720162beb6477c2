"""The verdict on a visit: what happened to a page between two observations, and whether it counts as a change.

| before | now | outcome | counts |
|---|---|---|---|
| never observed | content | new | no: there is no earlier version to compare with |
| never observed | gone | gone | no |
| content | content, deciding layer equal | same | no |
| content | content, deciding layer differs only by learned noise, and less than half of the page is noise | same | no |
| content | content, deciding layer differs | changed | yes |
| content | content, main part equal, text of the page alone differs in header or footer | changed | yes |
| content | content, only lines of the site's template differ | changed, for the first page; then same | first page |
| content | content, the price or availability of a product, or an attribute that counts, differs | changed | yes |
| content | the same content, from another address | changed | yes |
| content | another of several representations, without a common layer to compare | same | no |
| content | the page in another of several languages | same | no |
| content | other bytes, after an edit of the rules, and the last content cannot be observed under them | same | no |
| content | other bytes that cannot be parsed, or the reverse: the contents cannot be compared | same | no |
| content | gone | gone | yes |
| gone | gone | same | no |
| gone, or gone at every visit so far | content | back | yes |

`layers.py` selects the deciding layer, `findings.py` compares it. Independently of the verdict, every different
sequence of bytes is archived.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from webstrata.detect.findings import Findings, findings
from webstrata.detect.layers import candidate_layers, deciding_layer, layer_differences
from webstrata.detect.memory import (
    PageMemory,
    is_earlier_version,
    memory_of_first_version,
    new_link_count,
    redirect_target,
    version_key,
)
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.detect.significance import significance
from webstrata.detect.template import TemplateOfPage
from webstrata.records import UNPARSED, Change, ChangeKind, Fingerprint, Observation, Outcome, PageRules, ValueChange


def judge(
    before: Fingerprint | None,
    was_gone: bool,
    after: Observation,
    *,
    page_rules: PageRules | None = None,
    memory: PageMemory | None = None,
    template: TemplateOfPage | None = None,
    incomparable: str = "",
) -> Change:
    """Compare an observation with the previous one.

    `before` is the fingerprint of the last content; `was_gone` says that the page had disappeared since then;
    `template` is that of the page's site, if it is known; `incomparable` says why different contents cannot be
    compared (the rules of the page were edited), so that the new one is only what the next one is compared with.
    """
    now = after.fingerprint
    if now is None or status_class(after.status) is StatusClass.GONE:  # the body of a 404 is not content of the page
        return _gone(before, was_gone)
    memory = memory or PageMemory()
    if before is None:
        # A page that was gone at every visit so far, and now has content, is reported as back.
        back = Change(outcome=Outcome.BACK, kind=ChangeKind.BACK, counts=True, layer="status")
        return _with_significance(back if was_gone else _new(now, after, page_rules), Findings())
    if incomparable and before.raw != now.raw:
        change, found = _form(layer_differences(before, now), now, page_rules), Findings()
    else:
        change, found = _compare_contents(before, now, after, page_rules, memory, template)
    if change.counts and page_rules is not None and found.words is not None and change.size < page_rules.min_size:
        change = replace(change, counts=False, outcome=Outcome.SAME)
    if was_gone:
        change = replace(change, outcome=Outcome.BACK, kind=ChangeKind.BACK, counts=True, layer="status")
    title_changed = before.title != now.title if found.title is None else found.title
    change = _with_significance(change, found, title_changed=title_changed)
    return replace(change, reasons=(incomparable,)) if incomparable and change.kind is ChangeKind.FORM else change


def judge_alone(before: Observation, after: Observation, page_rules: PageRules | None = None) -> Change:
    """The verdict on two contents of which nothing else is known, as `webstrata compare` gives it."""
    if before.fingerprint is None:
        return judge(None, True, after, page_rules=page_rules)
    memory = memory_of_first_version(before, deciding_layer(before.fingerprint, page_rules))
    return judge(before.fingerprint, False, after, page_rules=page_rules, memory=memory)


_KINDS_WITH_SIZE = (ChangeKind.CONTENT, ChangeKind.LINKS, ChangeKind.DATA)


def _compare_contents(
    before: Fingerprint,
    now: Fingerprint,
    after: Observation,
    page_rules: PageRules | None,
    memory: PageMemory,
    template: TemplateOfPage | None,
) -> tuple[Change, Findings]:
    layers = layer_differences(before, now)
    layer = next(name for name in candidate_layers(page_rules) if name in layers)
    found = findings(layers, layer, memory, after, page_rules, template)
    is_by_bytes = page_rules is not None and page_rules.layer == "raw"
    is_other_language = memory.language and after.language and memory.language != after.language
    is_other_form = _is_other_representation(before, now, after, layer) or _is_one_unparsed(before, now)
    if found.counts and not is_by_bytes and (is_other_language or is_other_form):
        return _form(layers, now, page_rules), Findings()
    kind = _kind(layer, layers, found)
    words = found.words if kind in _KINDS_WITH_SIZE else None
    change = Change(
        outcome=Outcome.CHANGED if found.counts else Outcome.SAME,
        kind=kind,
        size=words.share if words is not None else 0.0,
        words_added=words.added if words is not None else 0,
        words_removed=words.removed if words is not None else 0,
        product_values=_value_changes(memory.products, after.products, found.products),
        layers=layers,
        raw=layers["raw"],
        text=layers.get("text", False),
        links=layers.get("links", False),
        counts=found.counts,
        layer="text" if found.outside and not found.text else layer,
        # Without an earlier version in memory, the links seen before are not known.
        new_links=new_link_count(memory.links, after.link_hashes, found.noisy_links) if memory.versions else 0,
        reverted=found.counts and is_earlier_version(memory, version_key(now, layer)),
        distance=_simhash_distance(before, now),
        noise=found.noise,
    )
    if memory.versions and redirect_target(after.url, after.address) != redirect_target(after.url, memory.address):
        move = ValueChange(name="address", before=memory.address or after.url, after=after.address or after.url)
        change = replace(change, move=move)
        if not found.counts:
            change = replace(change, outcome=Outcome.CHANGED, kind=ChangeKind.MOVED, counts=True, layer="address")
    return change, found


def _form(layers: dict[str, bool], now: Fingerprint, page_rules: PageRules | None) -> Change:
    """The verdict on contents that cannot be compared."""
    layer = deciding_layer(now, page_rules)
    return Change(outcome=Outcome.SAME, kind=ChangeKind.FORM, layers=layers, raw=True, layer=layer)


def _is_other_representation(before: Fingerprint, now: Fingerprint, after: Observation, layer: str) -> bool:
    """Whether two contents have different media types and no common layer by which to compare them."""
    if not after.negotiated or before.media_type in ("", now.media_type):
        return False
    return layer == "raw" or (layer != "data" and (before.parts is None) != (now.parts is None))


def _is_one_unparsed(before: Fingerprint, now: Fingerprint) -> bool:
    """Whether only one of two contents could be parsed: different bytes are all that is known of them."""
    return (before.data_kind == UNPARSED) != (now.data_kind == UNPARSED)


def _kind(layer: str, layers: dict[str, bool], found: Findings) -> ChangeKind:
    if found.text and layer == "data":
        return ChangeKind.DATA
    if found.text and layer in ("links", "main_links"):
        return ChangeKind.LINKS
    if found.text or found.outside:
        return ChangeKind.CONTENT
    if found.product:
        return ChangeKind.PRODUCT
    if found.links:
        return ChangeKind.LINKS
    if found.metadata:
        return ChangeKind.METADATA
    if found.has_template:
        return ChangeKind.TEMPLATE
    return ChangeKind.MARKUP if layers["raw"] else ChangeKind.NONE


def _value_changes(before: dict[str, str], after: dict[str, str], differing: Iterable[str]) -> tuple[ValueChange, ...]:
    """The values that differ, by name."""
    names = sorted(name for name in differing if before.get(name) != after.get(name))
    return tuple(ValueChange(name=name, before=before.get(name), after=after.get(name)) for name in names)


def _simhash_distance(before: Fingerprint, now: Fingerprint) -> int | None:
    if before.simhash is None or now.simhash is None or before.version != now.version:
        return None
    return ((before.simhash ^ now.simhash) & (1 << 64) - 1).bit_count()


def _with_significance(change: Change, found: Findings, *, title_changed: bool = False) -> Change:
    score, reasons = significance(change, found, title_changed=title_changed)
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
    return _with_significance(gone, Findings())
