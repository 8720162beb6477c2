"""`webstrata train`: models of a home, and explanations of pages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.cli.conftest import Call
from webstrata.clock import DAY_S
from webstrata.home import Home
from webstrata.node import Node
from webstrata.predict.first_sight.model_file import decode
from webstrata.records import ArchivedCopy, Importance, NewPage
from webstrata.settings import Settings

START = 1.6e9
HOSTS, PAGES, COPIES = 4, 15, 20


def _url(number: int) -> str:
    return f"http://h{number % HOSTS}.example/{number}"


async def _fill(node: Node) -> None:
    """Pages with copies every ten days: those with many links change at half of them, the others hardly ever."""
    random = np.random.default_rng(1)
    async with node.store() as store:
        links = random.integers(0, 100, HOSTS * PAGES).tolist()
        copies = []
        for number, count in enumerate(links):
            version = 0
            for copy in range(COPIES):
                version += bool(random.random() < (0.5 if count > 50 else 0.03))
                at = START + copy * 10 * DAY_S
                copies.append(
                    ArchivedCopy(url=_url(number), at=at, archive="old.example", digest=f"sha1:{version}", status=200)
                )
        await store.pages.add([NewPage(url=_url(0), host="h0.example")], START)
        await store.copies.add(copies, None, START + 300 * DAY_S)
        known = await store.pages.known([_url(number) for number in range(len(links))])
        features = {
            known[_url(number)]: {"internal_links": float(count), "size": float(random.integers(1000, 2000))}
            for number, count in enumerate(links)
        }
        await store.facts.save_features(features, START + 300 * DAY_S)
        await store.facts.save_importance([Importance(page_id=known[_url(0)], rank=2.0, in_links=7)])


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, call: Call) -> Path:
    """A home with pages that archives have copies of, and their features."""
    path = tmp_path_factory.mktemp("train") / "home"
    assert call("--home", path, "init", "--contact", "someone@example.org").code == 0
    asyncio.run(_fill(Node(Home.open(path), Settings())))
    return path


def test_training_from_a_home(filled: Path, call: Call, tmp_path: Path) -> None:
    """The model is written to the home and explains its pages; the report has the tree, as text and as a picture."""
    picture = tmp_path / "tree.svg"

    result = call("--home", filled, "train", "--k", "2", "--method", "tree", "--plot", picture, "--json")

    report: dict[str, Any] = result.json
    assert result.code == 0, result.err
    assert report["model"] == str(filled / "model.json")
    assert (report["pages"], report["sites"], report["chosen"]) == (HOSTS * PAGES, HOSTS, "tree")
    tree = next(row for row in report["methods"] if row["method"] == "tree")
    assert tree["unseen_sites"]["error"] < 0.3
    assert report["tree"][0].startswith("internal_links <= ")
    assert "internal_links" in picture.read_text()
    assert decode((filled / "model.json").read_bytes()).origin.source == "this home"

    shown = call("--home", filled, "train", "--show", _url(0))
    document = call("--home", filled, "train", "--show", _url(0), "--json").json
    assert "Path through the tree" in shown.text
    assert "internal_links = " in shown.text
    assert document["explanation"]["path"][0]["feature"] == "internal_links"
    assert sum(document["explanation"]["chances"]) == pytest.approx(1)


def test_dry_run_and_other_files(filled: Path, call: Call, tmp_path: Path) -> None:
    """With --dry-run nothing is written; with --out the model goes to that file."""
    before = (filled / "model.json").read_bytes() if (filled / "model.json").exists() else None
    out = tmp_path / "other.json"

    dry = call("--home", filled, "train", "--k", "2", "--method", "tree-unpruned", "--dry-run", "--json")
    written = call("--home", filled, "train", "--k", "2", "--method", "tree-unpruned", "--out", out)

    assert dry.json["model"] is None
    assert f"Model written to {out}." in written.text
    assert decode(out.read_bytes()).origin.method == "tree-unpruned"
    assert ((filled / "model.json").read_bytes() if (filled / "model.json").exists() else None) == before


def test_the_default_model_explains_pages(home: Path, call: Call) -> None:
    """Without training, --show uses the shipped model; a page without features gets a message."""
    page = "http://one.example/data/table.csv"
    call("--home", home, "watch", page)

    assert "no features of" in call("--home", home, "train", "--show", page).err
    asyncio.run(_save_features(Node(Home.open(home), Settings()), page))
    result = call("--home", home, "train", "--show", page)

    assert result.code == 0, result.err
    assert "What counts most" in result.text
    assert "is_data = 1" in result.text or "size = 90000" in result.text
    assert "2196 pages of 18 sites" in result.text


async def _save_features(node: Node, url: str) -> None:
    async with node.store() as store:
        known = await store.pages.known([url])
        features = {"size": 90_000.0, "words": 10_000.0, "is_data": 1.0, "is_page": 0.0, "directory_level": 3.0}
        await store.facts.save_features({known[url]: features}, START)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "0 usable pages"),
        (("--method", "nearest-1", "--recorded", "shipped"), "cannot hold"),
        (("--plot", "x.bmp"), "picture format"),
        (("--show", "http://nobody.example/"), "not watched"),
        (("--show", "http://a.example/", "--dry-run"), "Leave out"),
        (("--recorded", "/nowhere"), "no recorded site"),
    ],
)
def test_errors_of_use(home: Path, call: Call, words: tuple[str, ...], message: str) -> None:
    """A home without data, unknown methods, formats and pages end with advice and exit code 1 or 2."""
    result = call("--home", home, "train", *words)

    assert result.code in (1, 2)
    assert message in result.err


def test_a_damaged_model(home: Path, call: Call) -> None:
    """A damaged model in the home is reported before anything else."""
    call("--home", home, "watch", "http://one.example/")
    (home / "model.json").write_bytes(msgspec.json.encode({"webstrata_first_sight": 1}))

    result = call("--home", home, "train", "--show", "http://one.example/")

    assert result.code == 2
    assert "not a valid model" in result.err
