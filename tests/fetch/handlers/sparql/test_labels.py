"""Blank nodes of several pages are joined only if their labels are proved stable, in any order of rows."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable
from itertools import permutations
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fetch.local_site import page_at
from webstrata.fetch.handlers.sparql.endpoint_client import PageSizes
from webstrata.fetch.handlers.sparql.labels import BlankNodeLabels, blanks, same_except_labels
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.observe.data.sparql.results import Row, Term
from webstrata.records import Exchange, FetchResult, PostBody, Validators, VisitResult

Naming = Callable[[list[str]], dict[str, str]]
"""The nodes of a response in order of appearance -> their labels."""

# Subject, predicate, object; lower-case letters are blank nodes.
CHAIN = ["a P b", "b P c", "N P a", "c P L"]
ALONE = ["a P L", "a P M", "N P a"]


def counting(nodes: list[str]) -> dict[str, str]:
    return {node: f"b{number}" for number, node in enumerate(nodes)}


def backwards(nodes: list[str]) -> dict[str, str]:
    return counting(nodes[::-1])


def at_random(nodes: list[str]) -> dict[str, str]:
    return {node: f"r{random.random()}" for node in nodes}


def stable(nodes: list[str]) -> dict[str, str]:
    return {node: f"own-{node}" for node in nodes}


class Endpoint:
    """Rows in a given order, requested in pages; `naming` labels the blank nodes of each response."""

    def __init__(self, rows: tuple[str, ...], naming: Naming) -> None:
        self._rows = [row.split() for row in rows]
        self._naming = naming

    async def get(
        self, url: str, *, accept: str, validators: Validators | None = None, large_body: bool = False
    ) -> FetchResult:
        query = parse_qs(urlsplit(url).query)["query"][0]
        limit, offset = map(int, re.findall(r"(?:LIMIT|OFFSET) (\d+)", query))
        rows = self._rows[offset : offset + limit]
        names = self._naming(list(dict.fromkeys(node for row in rows for node in row if node.islower())))
        bound = [{name: term(node, names) for name, node in zip("spo", row, strict=True)} for row in rows]
        body = json.dumps({"head": {"vars": ["g", "s", "p", "o"]}, "results": {"bindings": bound}}).encode()
        headers = (("content-type", "application/sparql-results+json"),)
        answer = Exchange(url=url, at=0.0, duration_s=0.0, request_head=b"", status=200, headers=headers, body=body)
        return FetchResult(exchanges=(answer,))

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult:
        raise AssertionError("queries for pages are short")

    def now(self) -> float:
        return 0.0


def term(node: str, names: dict[str, str]) -> dict[str, str]:
    return {"type": "bnode", "value": names[node]} if node in names else {"type": "uri", "value": f"x:{node}"}


def read(rows: tuple[str, ...], naming: Naming, size: int) -> VisitResult:
    handler = WholeDataset(HandlerParsers(ParserPool(0)), PageSizes(rows=size))
    found = asyncio.run(handler.visit(page_at("http://e.org/sparql", handler="sparql"), Endpoint(rows, naming)))
    assert isinstance(found, VisitResult)
    return found


@pytest.mark.parametrize("naming", [counting, backwards, at_random])
@pytest.mark.parametrize("size", [2, 3])
def test_labels_per_response(naming: Naming, size: int) -> None:
    """If an endpoint assigns labels per response, its pages are never joined."""
    for rows in permutations(CHAIN):
        seen = read(rows, naming, size)
        assert seen.content is None, rows
        assert seen.failure is not None
        assert "watch a query" in seen.failure.detail


@pytest.mark.parametrize("size", [2, 3, 9])
def test_stable_labels(size: int) -> None:
    """Stable labels are proved stable in any order of rows, and all pages are joined."""
    for rows in permutations(CHAIN):
        seen = read(rows, stable, size)
        assert seen.content is not None, rows
        assert seen.content.body.count(b"\n") == len(CHAIN)


def test_a_single_blank_node() -> None:
    """A single blank node on several pages proves nothing: it is refused, unless it is on one page."""
    for naming in (stable, counting):
        seen = read(tuple(ALONE), naming, 2)
        assert seen.failure is not None
        assert "too few" in seen.failure.detail
        assert read(tuple(ALONE), naming, 9).content is not None


def test_blank_nodes_on_one_page_only() -> None:
    """If all blank nodes are on one page, their labels are sufficient."""
    seen = read(("N P L", "N P M", "a P L", "b P a"), counting, 3)
    assert seen.failure is not None  # a, b: on two pages
    assert read(("N P L", "N P M", "N P N", "a P L", "b P a"), counting, 4).failure is not None
    assert read(("a P L", "b P a", "N P L", "N P M", "N P N"), counting, 3).content is not None


def test_labels_inside_triple_terms() -> None:
    """Labels in triple terms are compared as well."""

    def row(label: str, value: str = "x:o") -> Row:
        inner = (Term("bnode", label), Term("uri", "x:p"), Term("uri", value))
        return (None, Term("uri", "x:s"), Term("uri", "x:p"), Term("triple", "", inner=inner))

    assert list(blanks(row("x"))) == ["x"]
    assert same_except_labels(row("x"), row("y"))
    assert not same_except_labels(row("x"), row("x", "x:other"))
    labels = BlankNodeLabels()
    labels.page(0, [row("x")])
    labels.page(1, [row("y")])
    assert labels.matter
    assert labels.probes == ((0, row("x")), (1, row("y")))
