"""The home of an attack: its settings, and the healthy and hostile pages that it watches.

The settings are the defaults, except the names and addresses of the hosts. The pages have rhythms that are shorter than
the command line permits, so they are put into the store directly.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.attacks.behaviour import Behaviour
from tests.attacks.events import Places
from tests.attacks.figures import WatchedPage
from tests.attacks.healthy import HEALTHY, PAGES
from webstrata import settings as settings_file
from webstrata.flows.crawl.discovery import seeds
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import NewPage, PageRules, Site
from webstrata.urls import host_of

_SETTINGS = """\
[fetch]
allow_private = {allowed}
ca_file = {authority}

[fetch.hosts]
{hosts}
"""


def make_home(folder: Path, places: Places, more: str = "") -> Path:
    """An empty home. `more`: further sections of its settings."""
    text = _SETTINGS.format(
        allowed=json.dumps(list(places.allowed)),
        authority=json.dumps(places.authority),
        hosts="\n".join(f'"{host}" = "{place}"' for host, place in places.hosts.items()),
    )
    Home.create(folder, text + more)
    return folder


async def watch_healthy(home: Path, begins_at: float, rhythm_s: float) -> list[WatchedPage]:
    """Watch the healthy pages, with times that are spread over the rhythm: no page then waits for another one."""
    watched: list[WatchedPage] = []
    async with _node(home).store() as store:
        for number, host in enumerate(HEALTHY):
            for place, path in enumerate(PAGES):
                share = (place + number / len(HEALTHY)) / len(PAGES)
                first_at = begins_at - rhythm_s * (2 - share)
                new = NewPage(url=f"http://{host.host}{path}", host=host.host, every_s=rhythm_s)
                await store.pages.add([new], first_at)
                watched.append(WatchedPage(host=host.host, path=path, first_at=first_at, every_s=rhythm_s))
    return watched


async def watch_hostile(home: Path, behaviours: Sequence[Behaviour], begins_at: float, rhythm_s: float) -> None:
    """Watch the hostile pages from a time on."""
    async with _node(home).store() as store:
        for behaviour in behaviours:
            page = NewPage(
                url=behaviour.url,
                host=behaviour.host,
                every_s=rhythm_s,
                next_at=begins_at,
                requisites=behaviour.requisites,
                page_rules=None if behaviour.handler == "auto" else PageRules(handler=behaviour.handler),
            )
            if behaviour.site:
                site = await store.pages.add_site(Site(id=0, url=behaviour.url, scope="host"), begins_at)
                page = msgspec.structs.replace(seeds(site, ())[0], next_at=begins_at)
            await store.pages.add([page], begins_at - rhythm_s)


async def watch_urls(home: Path, urls: Sequence[str], begins_at: float, rhythm_s: float) -> None:
    """Watch further pages from a time on; they become due one after the other."""
    async with _node(home).store() as store:
        for number, url in enumerate(urls):
            first_at = begins_at + rhythm_s * number / len(urls)
            page = NewPage(url=url, host=host_of(url), every_s=rhythm_s, next_at=first_at)
            await store.pages.add([page], first_at - rhythm_s)


def _node(home: Path) -> Node:
    settings, _ = settings_file.load(home, environment={})
    return Node(Home.open(home), settings)
