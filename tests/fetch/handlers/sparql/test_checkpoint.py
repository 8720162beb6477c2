"""An interrupted visit of a dataset is resumed if the rows are unchanged; otherwise it starts anew."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.fetch.endpoint import Endpoint, store_of
from tests.fetch.local_site import Answer, Site, page_at, serving, visited
from webstrata.clock import DAY_S
from webstrata.coding import EncodedBody
from webstrata.fetch.handlers.sparql import checkpoint
from webstrata.fetch.handlers.sparql.checkpoint import Checkpoints
from webstrata.fetch.handlers.sparql.endpoint_client import PageSizes
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import VisitResult

TERMS = ["<x:o>", '"plain"', '"tag"@en-GB', '"t\\"y\\npe"^^<x:t>', "1.50", "true", '"ünï"', "<http://e.org/é>"]
GROUND = (
    "\n".join(f"<x:s{number}> <x:p> {term} ." for number, term in enumerate(TERMS)) + "\n<x:g> { <x:s> <x:p> 1, 2 }"
)
BLANK = "<x:a> <x:p> 1, 2, 3 . _:a <x:p> 1, 2, 3 . _:b <x:p> 1, 2, 3 ."


class DatasetVisits:
    """Visits of one endpoint with a folder for checkpoints; pages from row `fail` on fail."""

    def __init__(self, folder: Path, data: str) -> None:
        self.folder = folder
        self.endpoint = Endpoint(store_of(data))
        self.fail: int | None = None
        self.endpoint.faults.append(self._fault)

    def _fault(self, query: str) -> Answer | None:
        offset = int(query.rpartition("OFFSET ")[2]) if "OFFSET" in query else -1
        return Answer(500) if self.fail is not None and offset >= self.fail else None

    def visit(self, site: Site) -> VisitResult:
        parser = HandlerParsers(ParserPool(0))
        page_sizes = PageSizes(rows=3, min_rows=2, max_tries=2)
        handler = SparqlHandler(parser, WholeDataset(parser, page_sizes, Checkpoints(self.folder)))
        self.endpoint.queries.clear()
        return visited(handler, page_at(f"{site.url}/sparql", handler="sparql"))

    @property
    def offsets(self) -> list[int]:
        """The offsets that the last visit requested; -1 for the checksum."""
        return [int(query.rpartition("OFFSET ")[2]) if "SUM(" not in query else -1 for query in self.endpoint.queries]

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*"))

    def is_complete(self, seen: VisitResult) -> bool:
        assert seen.content is not None, seen.failure
        dumped = ox.Dataset(ox.parse(seen.content.body, format=ox.RdfFormat.N_QUADS))
        there = ox.Dataset(ox.parse(self.endpoint.store.dump(format=ox.RdfFormat.N_QUADS), format=ox.RdfFormat.N_QUADS))
        for one in (dumped, there):
            one.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        return dumped == there


def interrupted(folder: Path, data: str = GROUND) -> DatasetVisits:
    visits = DatasetVisits(folder, data)
    visits.fail = 4
    return visits


def test_resume(tmp_path: Path) -> None:
    """After an interrupted visit the next one requests a checksum and continues; then the file is removed."""
    visits = interrupted(tmp_path)
    with serving(visits.endpoint) as site:
        assert visits.visit(site).failure is not None
        assert len(visits.files) == 1
        visits.fail = None
        seen = visits.visit(site)
    assert visits.offsets[:2] == [-1, 4]
    assert visits.is_complete(seen)
    assert visits.files == []


def test_resume_twice(tmp_path: Path) -> None:
    """A resumed visit that is interrupted again keeps all pages fetched so far."""
    visits = interrupted(tmp_path)
    with serving(visits.endpoint) as site:
        visits.visit(site)
        visits.fail = 7
        assert visits.visit(site).failure is not None
        visits.fail = None
        seen = visits.visit(site)
    assert visits.offsets[0] == -1
    assert visits.offsets[1] >= 6
    assert visits.is_complete(seen)


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
def test_data_that_changed(tmp_path: Path, update: str) -> None:
    """If a saved row changed, the whole dataset is fetched anew."""
    visits = interrupted(tmp_path)
    with serving(visits.endpoint) as site:
        visits.visit(site)
        visits.endpoint.store.update(update)
        visits.fail = None
        seen = visits.visit(site)
    assert visits.offsets[:2] == [-1, 0]
    assert visits.is_complete(seen)


def test_change_after_the_saved_rows(tmp_path: Path) -> None:
    """A change after the saved rows does not prevent resuming."""
    visits = interrupted(tmp_path)
    with serving(visits.endpoint) as site:
        visits.visit(site)
        visits.endpoint.store.update("INSERT DATA { <x:z> <x:p> 9 }")
        visits.fail = None
        seen = visits.visit(site)
    assert visits.offsets[:2] == [-1, 4]
    assert visits.is_complete(seen)


def no_hashes(query: str) -> Answer | None:
    return Answer(400, body=b"unknown function SHA256") if "SHA256" in query else None


def wrong_sum(query: str) -> Answer | None:
    body = b'{"head":{"vars":["n"]},"results":{"bindings":[{"n":{"type":"literal","value":"5"}}]}}'
    return Answer(headers={"Content-Type": "application/sparql-results+json"}, body=body) if "SUM(" in query else None


@pytest.mark.parametrize("fault", [no_hashes, wrong_sum])
def test_endpoint_without_checksums(tmp_path: Path, fault: Callable[[str], Answer | None]) -> None:
    """If an endpoint cannot compute the checksum, the dataset is fetched anew."""
    visits = interrupted(tmp_path)
    visits.endpoint.faults.append(fault)
    with serving(visits.endpoint) as site:
        visits.visit(site)
        visits.fail = None
        seen = visits.visit(site)
    assert visits.offsets[:2] == [-1, 0]
    assert visits.is_complete(seen)


def test_blank_nodes_prevent_checkpoints(tmp_path: Path) -> None:
    """Rows with blank nodes have no checksum, so no checkpoint is kept."""
    visits = DatasetVisits(tmp_path, BLANK)
    visits.fail = 6
    with serving(visits.endpoint) as site:
        assert visits.visit(site).failure is not None
        assert visits.files == []
        visits.fail = None
        assert visits.is_complete(visits.visit(site))


def test_unreachable_endpoint(tmp_path: Path) -> None:
    """The checkpoint is kept if the endpoint cannot be reached."""
    visits = interrupted(tmp_path)
    with serving(visits.endpoint) as site:
        visits.visit(site)
    seen = visits.visit(site)
    assert seen.failure is not None
    assert len(visits.files) == 1


def tear(content: bytes) -> bytes:
    return content[:-3]


def flip(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("damage", [tear, flip, lambda _: b"", lambda _: b"\xff" * 40])
def test_damaged_files(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """Only complete pages of a damaged file are used, and new pages are written after them."""
    visits = interrupted(tmp_path)
    with serving(visits.endpoint) as site:
        visits.visit(site)
        (path,) = visits.files
        path.write_bytes(damage(path.read_bytes()))
        assert visits.visit(site).failure is not None
        visits.fail = None
        seen = visits.visit(site)
    assert visits.offsets[:2] == [-1, 4]
    assert visits.is_complete(seen)


def body_of(content: bytes) -> EncodedBody:
    return EncodedBody(url="http://a.test/sparql", body=content, content_encoding="br")


def test_old_files_are_deleted(tmp_path: Path) -> None:
    """A file older than a day is not used, and deleted at the next visit of any endpoint."""
    old = Checkpoints(tmp_path)
    page = (body_of(b"{}"), "application/sparql-results+json")
    old.of("http://a.test/sparql", 1000.0).add(page, 1000.0)
    assert list(old.of("http://a.test/sparql", 1000.0 + DAY_S).pages()) == [page]
    old.of("http://b.test/sparql", 1001.0 + DAY_S)
    assert list(tmp_path.iterdir()) == []


def test_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint above the size limit is deleted and not continued."""
    monkeypatch.setattr(checkpoint, "MAX_BYTES", 2000)
    saved = Checkpoints(tmp_path).of("http://a.test/sparql", 0.0)
    saved.add((body_of(b"{}"), "text/plain"), 0.0)
    assert len(list(tmp_path.iterdir())) == 1
    noise = b"".join(zlib.crc32(bytes([i % 256, i // 256])).to_bytes(4, "big") for i in range(1000))
    saved.add((body_of(noise), "text/plain"), 0.0)
    saved.add((body_of(b"{}"), "text/plain"), 0.0)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A visit succeeds even if no checkpoint can be written."""
    (tmp_path / "file").write_bytes(b"")
    visits = DatasetVisits(tmp_path / "file" / "folder", GROUND)
    with serving(visits.endpoint) as site:
        assert visits.is_complete(visits.visit(site))
