"""`webstrata tag`: tags are listed, added and removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Call

ONE, TWO, THREE = (f"http://{name}.example/" for name in ("one", "two", "three"))


@pytest.fixture
def tagged(home: Path, call: Call) -> Path:
    call("--home", home, "watch", ONE, "--tag", "a", "--tag", "b")
    call("--home", home, "watch", TWO, "--tag", "b")
    call("--home", home, "watch", THREE)
    return home


def tags(home: Path, call: Call) -> list[list[str]]:
    return [page["tags"] for page in call("--home", home, "list", "--json").json["pages"]]


@pytest.mark.parametrize(
    ("words", "after", "changed"),
    [
        ((ONE, "--remove", "b"), [["a"], ["b"], []], 1),
        ((ONE, THREE, "--add", "c", "--remove", "a"), [["b", "c"], ["b"], ["c"]], 2),
        (("--remove", "b"), [["a"], [], []], 2),
        (("--tag", "b", "--add", "c", "--remove", "b"), [["a", "c"], ["c"], []], 2),
        ((THREE, "--remove", "none"), [["a", "b"], ["b"], []], 0),
    ],
)
def test_changes(words: Sequence[str], after: list[list[str]], changed: int, tagged: Path, call: Call) -> None:
    """Tags are changed for the named pages, the pages with a tag, or all pages."""
    assert call("--home", tagged, "tag", *words, "--json").json["changed"] == changed
    assert tags(tagged, call) == after
    counts = {row["tag"]: row["pages"] for row in call("--home", tagged, "tag", "--json").json["tags"]}
    assert counts == {tag: sum(tag in other for other in after) for page in after for tag in page}
    assert call("--home", tagged, "check").code == 0


def test_listing(home: Path, tagged: Path, call: Call) -> None:
    """Without options the tags are listed with the number of their pages."""
    assert call("--home", tagged, "tag").text.splitlines()[1:] == ["1      a", "2      b"]


def test_a_removed_tag_is_not_given_to_new_pages(home: Path, call: Call) -> None:
    """--remove without pages also removes the tag from watched sites."""
    call("--home", home, "watch", "--site", ONE, "--tag", "a")
    assert "1 page and 1 site changed." in call("--home", home, "tag", "--remove", "a").text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--add", "x"), "--add needs pages"),
        ((ONE,), "Give --add TAG or --remove TAG."),
        ((ONE, "--add", "x", "--remove", "x"), "name the same tag (x)"),
        (("http://unknown.example/", "--add", "x"), "is not watched"),
    ],
)
def test_mistakes(words: Sequence[str], message: str, tagged: Path, call: Call) -> None:
    """Unclear commands change nothing and say what to do."""
    result = call("--home", tagged, "tag", *words)
    assert result.code == 2
    assert message in result.err
    assert tags(tagged, call) == [["a", "b"], ["b"], []]
