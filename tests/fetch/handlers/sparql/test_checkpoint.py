"""A dataset whose reading broke off is read on where that is proved to be right, and else from the start."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.fetch.asking import Answer, Site, page_at, serving, visited
from tests.fetch.endpoint import Endpoint, store_of
from webstrata.clock import DAY_S
from webstrata.fetch.handlers.sparql import checkpoint
from webstrata.fetch.handlers.sparql.checkpoint import Checkpoints
from webstrata.fetch.handlers.sparql.endpoint_client import PageSizes
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.observe.data.sparql.responses import SparqlResponseParser
from webstrata.records import VisitResult

TERMS = ["<x:o>", '"plain"', '"tag"@en-GB', '"t\\"y\\npe"^^<x:t>', "1.50", "true", '"ünï"', "<http://e.org/é>"]
GROUND = (
    "\n".join(f"<x:s{number}> <x:p> {term} ." for number, term in enumerate(TERMS)) + "\n<x:g> { <x:s> <x:p> 1, 2 }"
)
BLANK = "<x:a> <x:p> 1, 2, 3 . _:a <x:p> 1, 2, 3 . _:b <x:p> 1, 2, 3 ."


class Reading:
    """Visits of one endpoint with a folder for bookmarks; `fail` says from which row on pages fail."""

    def __init__(self, folder: Path, data: str) -> None:
        self.folder = folder
        self.endpoint = Endpoint(store_of(data))
        self.fail: int | None = None
        self.endpoint.faults.append(self._fault)

    def _fault(self, query: str) -> Answer | None:
        offset = int(query.rpartition("OFFSET ")[2]) if "OFFSET" in query else -1
        return Answer(500) if self.fail is not None and offset >= self.fail else None

    def visit(self, site: Site) -> VisitResult:
        answers = SparqlResponseParser()
        paging = PageSizes(rows=3, least=2, tries=2)
        handler = SparqlHandler(answers, WholeDataset(answers, paging, Checkpoints(self.folder)))
        self.endpoint.queries.clear()
        return visited(handler, page_at(f"{site.url}/sparql", handler="sparql"))

    @property
    def offsets(self) -> list[int]:
        """What the last visit asked for; -1 for the sum."""
        return [int(query.rpartition("OFFSET ")[2]) if "SUM(" not in query else -1 for query in self.endpoint.queries]

    @property
    def kept(self) -> list[Path]:
        return sorted(self.folder.glob("*"))

    def is_whole(self, seen: VisitResult) -> bool:
        assert seen.content is not None, seen.failure
        dumped = ox.Dataset(ox.parse(seen.content.body, format=ox.RdfFormat.N_QUADS))
        there = ox.Dataset(ox.parse(self.endpoint.store.dump(format=ox.RdfFormat.N_QUADS), format=ox.RdfFormat.N_QUADS))
        for one in (dumped, there):
            one.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        return dumped == there


def broken_off(folder: Path, data: str = GROUND) -> Reading:
    reading = Reading(folder, data)
    reading.fail = 4
    return reading


def test_goes_on(tmp_path: Path) -> None:
    """After a visit that broke off the next one asks for a sum and goes on; then nothing is kept any more."""
    reading = broken_off(tmp_path)
    with serving(reading.endpoint) as site:
        assert reading.visit(site).failure is not None
        assert len(reading.kept) == 1
        reading.fail = None
        seen = reading.visit(site)
    assert reading.offsets[:2] == [-1, 4]
    assert reading.is_whole(seen)
    assert reading.kept == []


def test_goes_on_twice(tmp_path: Path) -> None:
    """A visit that goes on and breaks off again leaves all that came by then."""
    reading = broken_off(tmp_path)
    with serving(reading.endpoint) as site:
        reading.visit(site)
        reading.fail = 7
        assert reading.visit(site).failure is not None
        reading.fail = None
        seen = reading.visit(site)
    assert reading.offsets[0] == -1
    assert reading.offsets[1] >= 6
    assert reading.is_whole(seen)


CHANGES = {
    "one replaced by another": "DELETE DATA { <x:s1> <x:p> 'plain' } ; INSERT DATA { <x:s1> <x:p> 'Plain' }",
    "another type": "DELETE DATA { <x:s4> <x:p> 1.50 } ; INSERT DATA { <x:s4> <x:p> '1.50' }",
    "another language": "DELETE DATA { <x:s2> <x:p> 'tag'@en-GB } ; INSERT DATA { <x:s2> <x:p> 'tag'@en }",
    "one more": "INSERT DATA { <x:s0> <x:a> 1 }",
    "one less": "DELETE DATA { <x:s0> <x:p> <x:o> }",
    "nothing left": "CLEAR ALL",
    "a blank node": "DELETE DATA { <x:s0> <x:p> <x:o> } ; INSERT { <x:s0> <x:p> ?b } WHERE { BIND(BNODE() AS ?b) }",
}


@pytest.mark.parametrize("update", CHANGES.values(), ids=CHANGES.keys())
def test_data_that_changed_between(tmp_path: Path, update: str) -> None:
    """Rows of two moments are never joined: if any row that was kept changed, all is read from the start."""
    reading = broken_off(tmp_path)
    with serving(reading.endpoint) as site:
        reading.visit(site)
        reading.endpoint.store.update(update)
        reading.fail = None
        seen = reading.visit(site)
    assert reading.offsets[:2] == [-1, 0]
    assert reading.is_whole(seen)


def test_change_behind_the_place(tmp_path: Path) -> None:
    """What changed behind the rows that were kept is read as it is now, and reading goes on."""
    reading = broken_off(tmp_path)
    with serving(reading.endpoint) as site:
        reading.visit(site)
        reading.endpoint.store.update("INSERT DATA { <x:z> <x:p> 9 }")
        reading.fail = None
        seen = reading.visit(site)
    assert reading.offsets[:2] == [-1, 4]
    assert reading.is_whole(seen)


def no_hashes(query: str) -> Answer | None:
    return Answer(400, body=b"unknown function SHA256") if "SHA256" in query else None


def wrong_sum(query: str) -> Answer | None:
    body = b'{"head":{"vars":["n"]},"results":{"bindings":[{"n":{"type":"literal","value":"5"}}]}}'
    return Answer(headers={"Content-Type": "application/sparql-results+json"}, body=body) if "SUM(" in query else None


@pytest.mark.parametrize("fault", [no_hashes, wrong_sum])
def test_endpoint_without_sums(tmp_path: Path, fault: Callable[[str], Answer | None]) -> None:
    """An endpoint that cannot say the sum is read from the start."""
    reading = broken_off(tmp_path)
    reading.endpoint.faults.append(fault)
    with serving(reading.endpoint) as site:
        reading.visit(site)
        reading.fail = None
        seen = reading.visit(site)
    assert reading.offsets[:2] == [-1, 0]
    assert reading.is_whole(seen)


def test_blank_nodes_keep_nothing(tmp_path: Path) -> None:
    """Rows with blank nodes have no sum: nothing is kept of such a reading."""
    reading = Reading(tmp_path, BLANK)
    reading.fail = 6
    with serving(reading.endpoint) as site:
        assert reading.visit(site).failure is not None
        assert reading.kept == []
        reading.fail = None
        assert reading.is_whole(reading.visit(site))


def test_nobody_answers(tmp_path: Path) -> None:
    """An endpoint that cannot be reached costs nothing of what was kept."""
    reading = broken_off(tmp_path)
    with serving(reading.endpoint) as site:
        reading.visit(site)
    seen = reading.visit(site)
    assert seen.failure is not None
    assert len(reading.kept) == 1


def tear(content: bytes) -> bytes:
    return content[:-3]


def flip(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("damage", [tear, flip, lambda _: b"", lambda _: b"\xff" * 40])
def test_damaged_files(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """Of a file that a crash tore only the whole pages count, and what comes then is written behind them."""
    reading = broken_off(tmp_path)
    with serving(reading.endpoint) as site:
        reading.visit(site)
        (path,) = reading.kept
        path.write_bytes(damage(path.read_bytes()))
        assert reading.visit(site).failure is not None
        reading.fail = None
        seen = reading.visit(site)
    assert reading.offsets[:2] == [-1, 4]
    assert reading.is_whole(seen)


def test_old_files_go(tmp_path: Path) -> None:
    """What is older than a day is not used, and deleted whichever endpoint is read."""
    old = Checkpoints(tmp_path)
    old.of("http://a.test/sparql", 1000.0).add((b"{}", "application/sparql-results+json"), 1000.0)
    assert old.of("http://a.test/sparql", 1000.0 + DAY_S).pages() == [(b"{}", "application/sparql-results+json")]
    old.of("http://b.test/sparql", 1001.0 + DAY_S)
    assert list(tmp_path.iterdir()) == []


def test_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has a greatest length; a reading beyond it is not kept."""
    monkeypatch.setattr(checkpoint, "LARGEST", 2000)
    mark = Checkpoints(tmp_path).of("http://a.test/sparql", 0.0)
    mark.add((b"{}", "text/plain"), 0.0)
    assert len(list(tmp_path.iterdir())) == 1
    noise = b"".join(zlib.crc32(bytes([i % 256, i // 256])).to_bytes(4, "big") for i in range(1000))
    mark.add((noise, "text/plain"), 0.0)
    mark.add((b"{}", "text/plain"), 0.0)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Where nothing can be kept, the visit is none the worse."""
    (tmp_path / "file").write_bytes(b"")
    reading = Reading(tmp_path / "file" / "folder", GROUND)
    with serving(reading.endpoint) as site:
        assert reading.is_whole(reading.visit(site))
