"""The extract of the outside suites that is part of the repository, and the runner on data of any shape."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import main
from tests.conformance.case import Case, play_row, play_rows
from tests.conformance.families import public_suffix
from tests.conformance.runner import EXTRACT, Family, known_families, verdict_of, verdicts
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.urls import registrable_domain

FAMILIES = [family for family in known_families() if (EXTRACT / family.name).is_dir()]
WITH_ROWS = [family for family in FAMILIES if (EXTRACT / family.name / "cases.json").is_file()]
BY_NAME = {family.name: family for family in FAMILIES}

# Rows whose play takes seconds (time limits of sockets, servers): fewer of them are mutated.
SLOW = ("http-messages", "sparql-protocol", "ssrf", "extraction-segments")
STRANGE: tuple[Any, ...] = (None, 17, True, "no such name", [None], {"x": []}, "\ud800", "")
MISSING = object()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_family_of_the_extract(family: Family) -> None:
    """Every case passes, differs by a written rule, or is unplayed for a reason that the runner knows."""
    verdict = verdict_of(family.run, EXTRACT / family.name)

    assert verdict.failed == []
    assert [row for row in verdict.unplayed if row["reason"].startswith("the runner raised")] == []
    assert verdict.passed > 0


@pytest.mark.parametrize("family", WITH_ROWS, ids=lambda family: family.name)
def test_mutated_rows(family: Family, tmp_path: Path) -> None:
    """Rows with missing fields, fields of other types and unknown names are counted, and nothing is raised."""
    rows = json.loads((EXTRACT / family.name / "cases.json").read_text("utf-8"))
    mutated = list(mutations(rows, most=2 if family.name in SLOW else 5))
    folder = copy_with_cases(family.name, json.dumps(mutated), tmp_path)

    verdict = verdict_of(family.run, folder)

    assert [line for line in verdict.failed if "the product raised" in line] == []
    assert verdict.unplayed
    assert all(row["case"] and row["reason"] for row in verdict.unplayed)


@pytest.mark.parametrize("content", ["", "{", "null", "7", '{"a": 1}', "[" * 100_000, "\ud800"])
@pytest.mark.parametrize("family", WITH_ROWS, ids=lambda family: family.name)
def test_damaged_file_of_cases(family: Family, content: str, tmp_path: Path) -> None:
    """A file that is not a list of rows is one unplayed row with the reason."""
    folder = copy_with_cases(family.name, content, tmp_path)

    verdict = verdict_of(family.run, folder)

    assert len(verdict.unplayed) == 1
    assert verdict.unplayed[0]["reason"]


def test_missing_file_of_cases(tmp_path: Path) -> None:
    (tmp_path / "surt").mkdir()

    verdict = dict(verdicts(tmp_path))["surt"]

    assert [row["case"] for row in verdict.unplayed] == ["cases.json"]


def test_folder_without_a_runner(tmp_path: Path) -> None:
    """A family that is not known is unplayed as a whole."""
    (tmp_path / "new-family").mkdir()

    assert dict(verdicts(tmp_path))["new-family"].unplayed == [{"case": "new-family", "reason": "no runner"}]


def test_null_input(tmp_path: Path) -> None:
    """A row without an input is unplayed, and the next row is played."""
    rows = [
        {"id": "a", "input": None, "registrable_domain": None},
        {"id": "b", "input": "www.example.com", "registrable_domain": "example.com"},
    ]
    (tmp_path / "cases.json").write_text(json.dumps(rows))

    verdict = public_suffix.run(tmp_path)

    assert verdict == Verdict(passed=1, unplayed=[{"case": "a", "reason": "'input' is null, not text"}])


def test_an_exception_of_the_product_is_a_failure() -> None:
    """The same exception is a failure if it leaves a function of the product, and unplayed if it does not."""

    def product_raises(case: Case, verdict: Verdict) -> None:
        registrable_domain(None)

    def runner_raises(case: Case, verdict: Verdict) -> None:
        verdict.check(case.id, 1, 1)
        None.lower()  # type: ignore[attr-defined]

    verdict = Verdict()
    play_row("one", {}, product_raises, verdict)
    play_row("two", {}, runner_raises, verdict)

    assert verdict.passed == 0
    assert len(verdict.failed) == 1
    assert verdict.failed[0].startswith("one: the product raised ")
    assert verdict.unplayed == [
        {"case": "two", "reason": "the runner raised AttributeError: 'NoneType' object has no attribute 'lower'"}
    ]


def test_contested_rows_show_their_rule() -> None:
    def is_long(text: str) -> bool:
        """A long text is
        cut."""
        return len(text) > 3

    verdict = Verdict()
    verdict.check("a", 1, 2, contested=sentence_of([is_long], "abcd"))
    verdict.check("b", 1, 2, contested=sentence_of([is_long], "abc"))
    verdict.check("c", 2, 2, contested=sentence_of([is_long], "abcd"))

    assert verdict.contested == [{"case": "a", "difference": "expected 1, got 2", "rule": "A long text is cut."}]
    assert verdict.failed == ["b: expected 1, got 2"]
    assert verdict.passed == 1


def test_exit_code_and_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1 only if a row failed; both outputs count unplayed rows."""
    folder = tmp_path / "public-suffix"
    folder.mkdir()
    (folder / "cases.json").write_text('[{"id": "a", "input": null, "registrable_domain": null}]')

    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[0].split()[-2:] == ["failed", "unplayed"]
    assert main([str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["public-suffix"]["unplayed"][0]["case"] == "a"

    (folder / "cases.json").write_text('[{"id": "a", "input": "a.com", "registrable_domain": "b.com"}]')

    assert main([str(tmp_path)]) == 1


def test_rows_that_are_not_objects(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text('[1, null, [], "x"]')
    verdict = Verdict()

    play_rows(tmp_path / "cases.json", lambda case, played: played.check(case.id, 1, 1), verdict)

    assert verdict.passed == 0
    assert len(verdict.unplayed) == 4


def mutations(rows: list[dict[str, Any]], most: int) -> Iterator[Any]:
    """Mutations of rows of different shapes: at each place, each strange value or nothing; then rows of no shape."""
    shapes: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        shapes.setdefault(tuple(sorted(places_text(row))), row)
    for row in list(shapes.values())[:most]:
        for place in places(row):
            for value in (MISSING, *STRANGE):
                yield changed(row, place, value)
    yield from STRANGE


def places_text(row: Any) -> list[str]:
    return [str(place) for place in places(row)]


def places(value: Any, depth: int = 2) -> Iterator[tuple[Any, ...]]:
    """Keys of objects and first items of lists, also inside others."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, item in inner:
        yield (key,)
        if depth:
            yield from ((key, *rest) for rest in places(item, depth - 1))


def changed(row: dict[str, Any], place: tuple[Any, ...], value: Any) -> Any:
    result: Any = copy.deepcopy(row)
    holder = result
    for key in place[:-1]:
        holder = holder[key]
    if value is MISSING:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return result


def copy_with_cases(name: str, content: str, tmp_path: Path) -> Path:
    """A folder with the other files of a family, as links, and another `cases.json`."""
    folder = tmp_path / name
    folder.mkdir()
    for path in (EXTRACT / name).iterdir():
        if path.suffix != ".json":
            (folder / path.name).symlink_to(path)
    (folder / "cases.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    return folder
