"""The tool that makes the shipped extract: the pages that it chooses, and the files that it writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.lab.livingweb.recordings import DAY, T0, make_recording
from webstrata.lab.livingweb.recording import read_recording

TOOL = Path(__file__).parents[2] / "tools" / "make_extract.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_extract", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_written_files_are_read_back(tool: ModuleType, tmp_path: Path) -> None:
    """Pages, contents, source and licence are the same after writing and reading."""
    made = make_recording("x", {"a.html": [(-3, "one"), (1.5, "two"), (2, None)], "b.csv": [(0, b"\xff\x00")]})
    tool.write(tool.Recording(site="x", licence="MIT", source="s", pages=made.pages, contents=made.contents), tmp_path)
    found = read_recording(tmp_path, "x")
    assert (found.licence, found.source) == ("MIT", "s")
    assert (found.pages, found.contents) == (made.pages, made.contents)


def test_choice_of_pages(tool: ModuleType) -> None:
    """The most changed old pages, some others and some new ones are chosen; large contents and styles are not."""
    history: dict[str, list[tuple[float, str | bytes | None]]] = {
        "busy.html": [(-1, "a"), *((day, str(day)) for day in range(1, 9))],
        "quiet.html": [(-1, "b")],
        "born.html": [(5, "c")],
        "large.html": [(-1, "d" * 5000), (1, "e")],
        "style.css": [(-1, "f"), (1, "g"), (2, "h")],
    }
    assert tool.SHIPPED_WINDOW[0] == T0
    recording = make_recording("x", history).within((T0, T0 + 700 * DAY))
    assert tool.choose(recording, 1, 5, 5, 1000, ("nothing/",)) == ["born.html", "busy.html", "quiet.html"]
