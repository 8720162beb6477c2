"""The tool that chooses the pairs of versions to label: what it admits, its limits, and its determinism."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.lab.livingweb.recordings import make_recording

TOOL = Path(__file__).parents[2] / "tools" / "choose_labelled_pairs.py"

Versions = list[tuple[float, str | bytes | None]]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("choose_labelled_pairs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def daily(name: str, days: range) -> Versions:
    return [(float(day), f"{name} {day}") for day in days]


def test_admitted_pairs(tool: ModuleType) -> None:
    """Successive versions of a page, not across a deletion, not of a style sheet, and not too large."""
    history: dict[str, Versions] = {
        "a.html": [(1, "one"), (2, "two"), (3, None), (4, "three")],
        "b.css": [(1, "one"), (2, "two")],
        "c.html": [(1, "one"), (2, "x" * (tool.LARGEST_BYTES + 1)), (3, "two")],
        "d.csv": [(1, "1"), (2, "2")],
    }

    found = sorted((pair.path, pair.kind) for pair in tool.candidates(make_recording("x", history)))

    assert found == [("a.html", "html"), ("d.csv", "data")]


def test_edits_are_of_small_publications(tool: ModuleType) -> None:
    """A publication of more than three pages is a rebuild. Deleted pages count as published, data files do not."""
    history: dict[str, Versions] = {
        "a.html": [(1, "one"), (2, "two"), (3, "three"), (4, "four"), (5, "five")],
        "b.html": [(1, "one"), (2, "two"), (3, "three"), (4, "four")],
        "c.html": [(1, "one"), (2, "two"), (3, "three"), (4, "four")],
        "d.html": [(1, "one"), (3, "three"), (4, None)],
        "e.csv": [(1, "1"), (2, "2"), (5, "5")],
    }
    recording = make_recording("x", history)

    found = list(tool.edits(recording, ()))

    texts = sorted((pair.path, recording.contents[pair.after]) for pair in found)
    assert texts == [("a.html", b"five"), ("a.html", b"two"), ("b.html", b"two"), ("c.html", b"two")]
    assert list(tool.edits(recording, found[1:])) == found[:1]


def test_distinct_paths_come_first(tool: ModuleType) -> None:
    """With enough pages every pair is of another page; with few pages their further versions fill the number."""
    many: dict[str, Versions] = {f"{page}.html": [(page, "one"), (page + 50, "two")] for page in range(30)}
    few: dict[str, Versions] = {"busy.html": daily("busy", range(40)), "quiet.html": [(50, "one"), (51, "two")]}

    of_many = tool.choose(tool.candidates(make_recording("x", many)))
    of_few = tool.choose(tool.candidates(make_recording("x", few)))

    assert len({pair.path for pair in of_many}) == len(of_many) == tool.PAIRS_A_SITE
    assert len(of_few) == tool.PAIRS_A_SITE
    assert [pair.path for pair in of_few].count("quiet.html") == 1


def test_publications_are_mixed(tool: ModuleType) -> None:
    """A rebuild of all pages gives no more than two pairs."""
    rebuilt: dict[str, Versions] = {f"{page}.html": [(1, "one"), (2, "two")] for page in range(30)}

    assert len(tool.choose(tool.candidates(make_recording("x", rebuilt)))) == tool.PAIRS_A_PUBLICATION


def test_choice_does_not_depend_on_order(tool: ModuleType) -> None:
    """The same recording gives the same pairs, in whatever order its pages are read."""
    history: dict[str, Versions] = {f"{page}.html": daily(str(page), range(page, page + 9)) for page in range(40)}
    forward = list(tool.candidates(make_recording("x", history)))

    assert tool.choose(forward) == tool.choose(reversed(forward))
    assert tool.choose(forward) != sorted(forward)[: tool.PAIRS_A_SITE]


def test_splits_are_halves(tool: ModuleType) -> None:
    """Half of the sites are for tuning. A site has the same place whatever the order of the names."""
    splits = tool.splits(tool.DATA_SITES)

    assert list(splits.values()).count("tune") == len(tool.DATA_SITES) // 2
    assert tool.splits(sorted(tool.DATA_SITES, reverse=True)) == splits


def test_other_pages(tool: ModuleType) -> None:
    """Pages that existed with the newer version, before and with it; those of the same folder come first."""
    history: dict[str, Versions] = {
        "blog/post.html": [(1, "one"), (5, "two")],
        "blog/near.html": [(1, "near"), (5, "near again")],
        "far.html": [(1, "far")],
        "new.html": [(5, "new")],
        "later.html": [(6, "later")],
        "gone.html": [(1, "gone"), (4, None)],
        "data.csv": [(1, "1")],
    }
    recording = make_recording("x", history)
    (pair,) = [pair for pair in tool.candidates(recording) if pair.path == "blog/post.html"]

    found = tool.other_pages(recording, "x-01", pair)

    assert found[0].path == "blog/near.html"
    assert sorted(page.path for page in found) == ["blog/near.html", "far.html", "new.html"]
    contents = {page.path: (page.before and recording.contents[page.before]) for page in found}
    assert contents == {"blog/near.html": b"near", "far.html": b"far", "new.html": None}
    assert recording.contents[found[0].after] == b"near again"


def test_written_files_are_the_same_each_time(tool: ModuleType, tmp_path: Path) -> None:
    """The files have one row for each pair, and are the same bytes when written again."""
    site = tool.HTML_SITES[0]
    recording = make_recording(site, {"a.html": [(1, "one"), (2, "two")], "b.html": [(1, "three"), (3, "four")]})
    versions = tool.choose(tool.candidates(recording))
    drawn = {
        "versions": tool.draw_pairs(recording, tool.VERSIONS, versions[:1]),
        "edits": tool.draw_pairs(recording, tool.EDITS, tool.choose(tool.edits(recording, versions[:1]))),
    }
    written = []
    for folder in (tmp_path / "1", tmp_path / "2"):
        folder.mkdir()
        tool.write(drawn, folder)
        written.append({file.name: file.read_bytes() for file in folder.iterdir()})

    assert written[0] == written[1]
    assert sorted(written[0]) == ["contents.parquet", "other-pages.csv", "pairs.csv"]
    lines = written[0]["pairs.csv"].decode().splitlines()
    assert [(line.split(",")[0], line.split(",")[-1]) for line in lines] == [
        ("id", "draw"),
        (f"{site}-01", "versions"),
        (f"{site}-e01", "edits"),
    ]
