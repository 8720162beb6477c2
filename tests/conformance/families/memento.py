"""Link headers of archives as Memento clients read them (RFC 7089, RFC 8288); requests to a server are not played."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from webstrata.history.timemap import Memento, WebLink, memento_instant, timemap_items, web_links
from webstrata.records import Failure

FAMILY = "memento"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    operation = case.text("op")
    if operation != "parse_link_header":
        raise UnplayableError(f"the runner does not play the operation {operation!r}")
    header = case.text("header")
    expected = {
        "links": case.number("expect_links"),
        "rels": sorted(case.texts("expect_rels")),
        "mementos": case.number("expect_mementos"),
        "datetimes": case.texts("datetimes"),
        "dated": case.number("expect_mementos"),
    }
    links = [link for link in web_links(header) if isinstance(link, WebLink)]
    found = timemap_items(header.encode())
    mementos = [] if isinstance(found, Failure) else [item for item in found if isinstance(item, Memento)]
    actual = {
        "links": len(links),
        "rels": sorted(link.parameters.get("rel", "") for link in links),
        "mementos": len(mementos),
        "datetimes": [memento.datetime for memento in mementos],
        "dated": sum(memento_instant(memento) is not None for memento in mementos),
    }
    verdict.check(case.id, expected, actual)
