"""The first change of a page: the text runs of its first version are extracted from the archive.

Only the first pages of a host have their runs stored at once, because they teach the template of the site.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.archive.warc.archive import WarcArchive
from webstrata.detect.memory import unpack
from webstrata.detect.template import MAX_PAGES
from webstrata.errors import ArchiveError

PAGE = "http://a.test/page"
PARAGRAPHS = [f"<p>Paragraph {n} says in many words what happened in the year {1900 + n}.</p>" for n in range(40)]


def html(edit: str) -> str:
    return f"<title>Years</title><main>{''.join(PARAGRAPHS)}<p>{edit}</p></main>"


async def visit_two_versions(archiver: Archiver) -> None:
    others = [f"http://a.test/other/{n}" for n in range(MAX_PAGES)]
    for url in others:
        archiver.servers.serve(url, reply(html(url)))
    await archiver.watch(*others)
    await archiver.crawl()
    archiver.servers.serve(PAGE, reply(html("The first version.")), reply(html("Another version.")))
    await archiver.watch(PAGE)
    await archiver.crawl()
    assert not unpack((await archiver.page(PAGE)).memory).runs, "no runs are kept of a first version"
    await archiver.crawl(after_s=8 * DAY_S)
    assert await archiver.outcomes(PAGE) == ["new", "changed"]
    assert unpack((await archiver.page(PAGE)).memory).runs


def test_a_small_first_change_has_a_small_significance(run_scenario: Callable[..., None]) -> None:
    """One of forty paragraphs changed: the share of changed text is known already at the first change."""

    async def scenario(archiver: Archiver) -> None:
        await visit_two_versions(archiver)
        assert 0 < (await archiver.last(PAGE)).significance < 0.3

    run_scenario(scenario)


def test_an_unreadable_first_version(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If the first version cannot be read, the change counts all the same, and the log says what is not compared."""

    async def fail(self: WarcArchive, position: object) -> None:
        raise ArchiveError("cannot be read, says the test")

    monkeypatch.setattr(WarcArchive, "read", fail)
    run_scenario(visit_two_versions)
    assert f"the previous version of {PAGE} is not compared run by run" in caplog.text
