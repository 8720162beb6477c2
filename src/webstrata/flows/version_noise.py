"""What is learned noise in the difference of two versions of a page, by the same memory that judges its visits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from webstrata.columns import ATTRIBUTE_PARTS
from webstrata.detect.comparison import RunComparison
from webstrata.detect.diff.noise_filter import NoiseFilter
from webstrata.detect.findings import applicable_noise
from webstrata.detect.memory import unpack
from webstrata.detect.noise import rows_of_lists
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.detect.page_difference import ALL_LINKS
from webstrata.detect.runs import ALL_TEXT_PARTS, DATA_PARTS, TextRuns, parse_runs
from webstrata.observe.attribute_runs import attribute_value
from webstrata.observe.html.table_rows import SEPARATOR
from webstrata.observe.page import ObservedContent, observation_fields
from webstrata.observe.sketch import hash64
from webstrata.observe.text_runs import split_runs
from webstrata.records import Page, PageAttribute

_GROUPS: tuple[frozenset[int], ...] = (
    ALL_TEXT_PARTS,
    ALL_LINKS,
    DATA_PARTS,
    *(frozenset({int(part)}) for part in ATTRIBUTE_PARTS.values()),
)
"""Parts whose runs are compared with one another."""


def learned_noise(page: Page) -> tuple[NoisyPlace, ...]:
    """The places that are learned as noise now, as `webstrata noise` shows them."""
    return tuple(place for place in unpack(page.memory, page.counted).noise if place.state == "learned")


class _NoisyRuns(NamedTuple):
    """The runs of one version, by their values."""

    all: frozenset[int]
    noisy: frozenset[int]
    """Those that the other version does not have, or has elsewhere, in learned places."""
    counted: frozenset[int]
    """Those that the other version does not have, in other places."""

    def is_noise(self, values: Collection[int]) -> bool:
        """Whether all of these runs are known, some are noise, and the others are equal in both versions."""
        return self.all.issuperset(values) and not self.noisy.isdisjoint(values) and self.counted.isdisjoint(values)

    def is_noisy_line(self, line: str) -> bool:
        """The same for a line of text; the cells of a row of a table are lines of their own."""
        values = {hash64(run) for cell in line.split(SEPARATOR) for run in split_runs(cell)}
        return self.is_noise(values) or self.is_noise({hash64(run) for run in split_runs(line)})


def noise_filter(
    old: ObservedContent, new: ObservedContent, noise: tuple[NoisyPlace, ...], *, apart_s: float, layer: str
) -> NoiseFilter | None:
    """What is noise in the difference of two contents; None if nothing is.

    `layer` decides about changes of the page: noise counts if it is most of this layer, and in layers that are
    compared as a whole.
    """
    if not noise:
        return None
    before, after = (parse_runs(observation_fields(content).lines) for content in (old, new))
    noise = applicable_noise(noise, before, after, apart_s, layer)
    if not noise:
        return None
    removed, added = _noisy_runs(before, after, noise)
    return NoiseFilter(
        is_removed_line=removed.is_noisy_line,
        is_added_line=added.is_noisy_line,
        links=frozenset(_noisy_links(old, removed)) | frozenset(_noisy_links(new, added)),
        attributes=_noisy_attributes(old, removed) | _noisy_attributes(new, added),
        fields=_noisy_fields(old, removed) | _noisy_fields(new, added),
    )


def _noisy_runs(before: TextRuns, after: TextRuns, noise: tuple[NoisyPlace, ...]) -> tuple[_NoisyRuns, _NoisyRuns]:
    everything, counted = RunComparison(before, after), RunComparison(before, after, noise)
    sides = []
    for side, runs in (("removed", before), ("added", after)):
        differing, counting = (
            {i for group in _GROUPS for i in getattr(comparison.difference(group), side)}
            for comparison in (everything, counted)
        )
        # The items of a learned list are compared in a sorted order; those that one version lacks count.
        listed = rows_of_lists(runs, noise)
        counting = (counting - listed) | (differing & listed)
        values = frozenset(runs.values[i] for i in counting)
        noisy = {runs.values[i] for i in differing} - values | _shuffled(before, after, noise)
        sides.append(_NoisyRuns(frozenset(runs.values), frozenset(noisy), values))
    return sides[0], sides[1]


def _shuffled(before: TextRuns, after: TextRuns, noise: tuple[NoisyPlace, ...]) -> set[int]:
    """The items of learned lists that both versions have: a difference shows them where they moved."""
    listed = {after.values[row] for row in rows_of_lists(after, noise)}
    return listed.intersection(before.values)


def _noisy_links(content: ObservedContent, runs: _NoisyRuns) -> Iterable[str]:
    return (link for link, value in content.linked.values().items() if runs.is_noise([value]))


def _noisy_attributes(content: ObservedContent, runs: _NoisyRuns) -> frozenset[str]:
    """The shown names of the attributes of which some value is noise, and none counts."""
    values: dict[str, list[int]] = {}
    for attribute in content.attributes:
        if attribute.kind in ATTRIBUTE_PARTS:
            values.setdefault(attribute_name(attribute), []).append(attribute_value(attribute))
    return frozenset(name for name, all_values in values.items() if runs.is_noise(all_values))


def attribute_name(attribute: PageAttribute) -> str:
    """The name of an attribute in a difference."""
    return attribute.name if attribute.name.startswith(attribute.kind) else f"{attribute.kind} {attribute.name}".strip()


def _noisy_fields(content: ObservedContent, runs: _NoisyRuns) -> frozenset[str]:
    fields = content.read_fields() if content.read_fields is not None else ()
    return frozenset(field.name for field in fields if runs.is_noise([field.value]))
