"""Seen -> what detection remembers of a version: its runs, its links, and how the new runs begin."""

from __future__ import annotations

from typing import NamedTuple

from webstrata.observe.page import ObservedContent
from webstrata.observe.text_runs import excerpts_of, excerpts_of_data, runs_of, runs_of_data


class ObservationFields(NamedTuple):
    """For `Observation`, field by field."""

    lines: bytes
    link_hashes: bytes
    excerpts: dict[int, str]


def observation_fields(one: ObservedContent, previous: bytes = b"", *, with_lines: bool = True) -> ObservationFields:
    """Read it where the bytes differ from the last version's; `previous` are the lines of that version."""
    if not with_lines:
        return ObservationFields(lines=b"", link_hashes=one.linked.hashes, excerpts={})
    if one.read_places is not None and (one.selected is None or one.selected.text is None):
        places = one.read_places()
        if places:
            return ObservationFields(runs_of_data(places), one.linked.hashes, excerpts_of_data(places, previous))
    title, header, body, footer = _texts(one)
    return ObservationFields(
        lines=runs_of(title, body, header, footer),
        link_hashes=one.linked.hashes,
        excerpts=excerpts_of((title, body, header, footer), previous),
    )


def _texts(one: ObservedContent) -> tuple[str, str, str, str]:
    """What is compared, part by part: what the page's rules leave, else its parts, else its text."""
    if one.selected is not None and one.selected.text is not None:
        return "", "", one.selected.text, ""
    return one.part_texts or ("", "", one.text or "", "")
