"""Contract of `ArchiveCopies`: which copies a policy has still to learn from, and the pages to learn from."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import ArchivedCopy, Batch, NewPage, PageRole
from webstrata.testing.store.examples import NOW, entry_of, new, page_of

_ARCHIVE = "archive.example"


def _copy(url: str, at: float = 100.0) -> ArchivedCopy:
    return ArchivedCopy(url=url, at=at, archive=_ARCHIVE, digest="sha1:A")


async def hosts_are_to_be_learned_until_they_are(store: Store) -> None:
    """A host is named while a page of it has copies that the policy has not learned from: new ones, more of them, or
    those that another policy learned."""
    assert await store.copies.hosts_to_learn("value") == []
    urls = [f"https://{host}.example/{n}" for host, n in (("a", 1), ("a", 2), ("b", 1))]
    await store.copies.add([_copy(url) for url in urls], None, NOW)
    assert await store.copies.hosts_to_learn("value") == [("a.example", 2), ("b.example", 1)]
    ids = await store.pages.known(urls)
    await store.copies.save_learned("value", [(id_, b"state") for id_ in ids.values()], [], NOW)
    assert await store.copies.hosts_to_learn("value") == []
    assert await store.copies.hosts_to_learn("dyn") == [("a.example", 2), ("b.example", 1)]
    await store.copies.add([_copy(urls[0]), _copy(urls[2])], None, NOW)  # known
    assert await store.copies.hosts_to_learn("value") == []
    await store.copies.add([_copy(urls[2], 200.0)], None, NOW)
    assert await store.copies.hosts_to_learn("value") == [("b.example", 1)]


async def a_visit_during_the_learning_is_not_lost(store: Store) -> None:
    """A page that was visited since the copies and visits were read keeps its state, and has still to be learned."""
    await store.pages.add([new("1"), new("2")], NOW - 9)
    ids = [(await page_of(store, name)).id for name in "12"]
    await store.copies.add([_copy((await page_of(store, name)).url) for name in "12"], None, NOW - 9)
    page = replace(await page_of(store, "1"), policy="value", policy_state=b"own")
    await store.visit_log.commit(Batch(entries=(entry_of(page, at=NOW),)))
    await store.copies.save_learned("value", [(id_, b"learned") for id_ in ids], [], NOW - 5)
    assert [(await page_of(store, name)).policy_state for name in "12"] == [b"own", b"learned"]
    assert await store.copies.hosts_to_learn("value") == [("a.example", 2)]


async def sighted_pages_have_copies_or_visits(store: Store) -> None:
    """The pages of the hosts that were seen, with their first visits; others and requisites are left out."""
    await store.pages.add([new("1"), new("2"), new("3"), new("4", role=PageRole.REQUISITE)], NOW)
    await store.pages.add([NewPage(url="https://b.example/", host="b.example")], NOW)
    await store.copies.add(
        [_copy("https://a.example/1"), _copy("https://a.example/5"), _copy("https://a.example/4")], None, NOW
    )
    for name in "24":
        for at, payload in ((NOW, "sha1:A"), (NOW + 5, "sha1:B")):
            page = replace(await page_of(store, name), last_seen_at=at)
            headers = {"content-encoding": "gzip"}
            entry = entry_of(page, at=at, payload=payload, text=f"text of {at}", headers=headers)
            await store.visit_log.commit(Batch(entries=(entry,)))
    found = await store.copies.sighted_pages(["a.example", "b.example", "c.example"])
    names = {(await page_of(store, name)).id: name for name in "1235"}
    assert [(names[page.page_id], page.has_copies, page.first_at) for page in found] == [
        ("1", True, None),
        ("2", False, NOW),
        ("5", True, None),
    ]
    assert {page.host for page in found} == {"a.example"}
    assert (found[0].first_text, found[0].first_payload, found[0].first_coding) == ("", "", "")
    assert (found[1].first_text, found[1].first_payload, found[1].first_coding) == (f"text of {NOW}", "sha1:A", "gzip")
    assert await store.copies.sighted_pages([]) == []
