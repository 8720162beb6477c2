"""What the visits of any collection prove about one instant."""

from __future__ import annotations

from webstrata.records import Sighting
from webstrata.sharp.proof.collection import Coherence, coherence

WHOLE_SECONDS = {"resolution_s": 1.0}


def seen(url: str, *sightings: tuple[float, str], **fields: float) -> list[Sighting]:
    """Sightings of whole seconds; the content "!" is an error, and ">x" a redirect to x."""
    return [
        Sighting(
            url=url,
            at=at,
            ended_by=at + 1.0,
            content=content.removeprefix(">"),
            target=content[1:] if content[0] == ">" else "",
            status=500 if content == "!" else 302 if content[0] == ">" else 200,
            **fields,  # type: ignore[arg-type]  # only numbers are given
        )
        for at, content in sightings
    ]


def standings(result: Coherence) -> dict[str, str]:
    return {page.url: page.standing for page in result.pages}


COLLECTION = [
    *seen("a", (0, "x"), (10, "x")),
    *seen("b", (2, "y"), (12, "y")),
    *seen("c", (3, "z"), (13, "zz")),
    *seen("d", (4, "w")),
    *seen("e", (11, "v")),
    *seen("f", (2, "u"), (5, "!"), (12, "u")),
    *seen("g", (2, "!"), (12, "!")),
]


def test_standings_at_the_best_instant() -> None:
    """Pages seen before and after are proved; the standing of each other page says why it is not."""
    result = coherence(COLLECTION)

    assert result.instant == (3.0, 10.0)
    expected = {"a": "proved", "b": "proved", "c": "changed", "d": "open", "e": "later", "f": "interrupted"}
    assert standings(result) == expected | {"g": "error"}
    assert (result.proved, result.first, result.last, result.sightings) == (2, 0, 13, 13)


def test_standings_at_a_given_instant() -> None:
    result = coherence(COLLECTION, at=11.5)

    expected = {"a": "open", "b": "proved", "c": "changed", "d": "open", "e": "uncertain", "f": "interrupted"}
    assert standings(result) == expected | {"g": "error"}


def test_a_quick_pass_proves_nothing() -> None:
    """Forty pages in one second: no page is proved, and the result says that it was a single pass."""
    result = coherence([one for page in range(40) for one in seen(f"p{page}", (7, f"{page}"), **WHOLE_SECONDS)])

    assert (result.proved, result.instant, result.is_single_pass, result.uncertainty_s) == (0, None, True, 1.0)
    assert set(standings(result).values()) == {"open"}


def test_two_passes_in_one_second_are_one() -> None:
    """Two equal sightings in one second prove nothing about any instant between them."""
    result = coherence([*seen("a", (7, "x"), (7, "x")), *seen("b", (7, "y"), (7, "y"))])

    assert (result.proved, result.is_single_pass) == (0, True)


def test_uncertainty_is_that_of_the_dates_that_prove() -> None:
    """A coarse date that proves nothing at the instant does not count."""
    fine = [*seen("a", (0, "x"), (10, "x"), resolution_s=0.001), *seen("b", (0, "y"), (10, "y"), resolution_s=0.01)]

    assert coherence([*fine, *seen("c", (50, "z"), resolution_s=86400.0)]).uncertainty_s == 0.01
    assert coherence([]).uncertainty_s == 0.0


def test_a_page_that_is_gone_has_changed() -> None:
    gone = [
        *seen("a", (0, "x")),
        Sighting(url="a", at=9.0, ended_by=10.0, content="x", status=404),
        *seen("b", (0, "y"), (9, "y")),
    ]
    result = coherence(gone)

    assert standings(result) == {"a": "changed", "b": "proved"}
    assert [(page.status, page.statuses) for page in result.pages] == [(404, (200, 404)), (200, (200,))]


def test_the_content_of_a_redirect_is_its_target() -> None:
    """The same target before and after is proved; another one is a change; a redirect has its own status."""
    result = coherence([*seen("a", (0, ">x"), (9, ">x")), *seen("b", (0, ">x"), (9, ">y"))])

    assert standings(result) == {"a": "proved", "b": "changed"}
    assert [page.status for page in result.pages] == [302, 302]


def test_redirect_loops_are_errors() -> None:
    """A loop, a redirect to itself and one that leads into a loop are no content, however often they were seen."""
    redirects = {"a": ">b", "b": ">a", "self": ">self", "into": ">a", "out": ">page"}
    result = coherence(
        [one for url, content in redirects.items() for one in seen(url, (0, content), (9, content))]
        + seen("page", (0, "x"), (9, "x"))
    )

    expected = {"a": "error", "b": "error", "self": "error", "into": "error", "out": "proved", "page": "proved"}
    assert standings(result) == expected


def test_a_long_chain_of_redirects() -> None:
    """30,000 redirects, each to the next one, are followed once."""
    chain = [one for step in range(30_000) for one in seen(f"{step}", (0, f">{step + 1}"))]

    assert set(standings(coherence([*chain, *seen("30000", (0, "x"))])).values()) == {"open"}


def test_evidence_is_counted() -> None:
    """Contents known by declared digests only, wrong digests and unknown durations are counted."""
    weak = [
        Sighting(url="a", at=0, ended_by=1, content="x", evidence="declared", is_end_assumed=True),
        Sighting(url="a", at=9, ended_by=10, content="x", evidence="declared", has_wrong_digest=True),
    ]
    result = coherence(weak)

    assert (result.proved, result.declared, result.assumed_ends) == (1, 2, 1)
    assert [(wrong.url, wrong.at) for wrong in result.wrong_digests] == [("a", 9)]
    assert [page.window and page.window.evidence for page in result.pages] == ["declared"]


def test_other_instants_are_for_other_pages() -> None:
    result = coherence(
        [*seen("a", (0, "x"), (9, "x")), *seen("b", (0, "y"), (9, "y")), *seen("c", (20, "z"), (30, "z"))]
    )

    assert (result.instant, result.proved) == ((1.0, 9.0), 2)
    assert [(other.start, other.end, other.pages) for other in result.others] == [(21.0, 30.0, (2,))]
