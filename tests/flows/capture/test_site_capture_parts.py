"""Options of captures: lists of pages, rates, weights, requisites, layers, conditional requests, several sites."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.flows.capture.capturing import SITE, capture, changing_at, links, site
from tests.flows.conftest import DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, moved, reply, robots
from webstrata.archive.wacz.reader import WaczReader
from webstrata.clock import iso
from webstrata.errors import UsageError
from webstrata.flows.capture.events import CaptureOrder, CaptureStarted, FoundPage, PageDownloaded
from webstrata.flows.capture.plan import first_revisits
from webstrata.flows.capture.state import CaptureState
from webstrata.records import PageRules
from webstrata.sharp.proof.certificate import ObservedUrl
from webstrata.sharp.proof.page_observation import PageObservation


def test_listed_pages(run_scenario: Callable[..., None]) -> None:
    """With a list, links are not followed, pages out of scope are left out, and the hottest page is at the instant."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links("/other"), b=links(), hot=changing_at(*(START_AT + DAY_S * day for day in range(40))))
        await archiver.watch(f"{SITE}hot")
        for _ in range(12):
            await archiver.crawl(after_s=3 * DAY_S)
        listed = (f"{SITE}a", f"{SITE}hot", f"{SITE}b", SITE, "http://b.test/x")
        taken = await capture(archiver, listed=listed)
        assert set(taken.verdicts()) == {"/a", "/hot", "/b", "/"}
        assert taken.certificate["policy"]["algorithm"] == "optimal"
        assert taken.page("/hot")["revisit"] is None, "its download is the instant"
        assert float(taken.page("/hot")["rate_per_day"]) > 3 * float(taken.page("/a")["rate_per_day"])
        assert "visits" in taken.page("/hot")["rate_from"]
        assert "1 page of the site" in taken.page("/a")["rate_from"]

    run_scenario(scenario, "schedule.policy=dyn", "schedule.max_interval=3d")


def test_pages_from_sitemaps(run_scenario: Callable[..., None]) -> None:
    """The pages of a capture can come from sitemaps, found by robots.txt and a sitemap index."""

    async def scenario(archiver: Archiver) -> None:
        xml: dict[str, Any] = {"kind": "application/xml"}
        space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        archiver.servers.serve("http://a.test/robots.txt", robots("Sitemap: http://a.test/maps.xml"))
        archiver.servers.serve(
            "http://a.test/maps.xml",
            reply(f"<sitemapindex {space}><sitemap><loc>{SITE}m1.xml</loc></sitemap></sitemapindex>", **xml),
        )
        rows = "".join(f"<url><loc>{url}</loc></url>" for url in (f"{SITE}a", f"{SITE}b", "http://b.test/far"))
        archiver.servers.serve("http://a.test/m1.xml", reply(f"<urlset {space}>{rows}</urlset>", **xml))
        site(archiver, a=links("/unlisted"), b=links())
        taken = await capture(archiver, use_sitemap=True)
        assert taken.verdicts() == {"/a": "sharp", "/b": "sharp"}
        again = await capture(archiver, use_sitemap=True)
        assert again.verdicts() == taken.verdicts(), "robots.txt is cached"
        assert archiver.servers.paths("a.test").count("/robots.txt") == 1

    run_scenario(scenario)


def test_rates_from_sitemaps(run_scenario: Callable[..., None]) -> None:
    """`changefreq` and `lastmod` change the rates and the plan: the page with the highest rate is at the instant."""

    async def scenario(archiver: Archiver) -> None:
        rows = {
            "lively": f"<changefreq>hourly</changefreq><lastmod>{iso(START_AT - 7200)}</lastmod>",
            "old": f"<lastmod>{iso(START_AT - 900 * DAY_S)}</lastmod>",
            "never": "<changefreq> Never </changefreq>",
            "silent": "",
        }
        entries = "".join(f"<url><loc>{SITE}{name}</loc>{fields}</url>" for name, fields in rows.items())
        space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        archiver.servers.serve(
            "http://a.test/sitemap.xml", reply(f"<urlset {space}>{entries}</urlset>", kind="application/xml")
        )
        site(archiver, **{name: links() for name in rows})
        taken = await capture(archiver, use_sitemap=True)
        pages = {name: taken.page(f"/{name}") for name in rows}
        rates = {name: float(page["rate_per_day"]) for name, page in pages.items()}
        assert rates["old"] < rates["silent"] < rates["lively"]
        assert rates["never"] < rates["silent"]
        assert {name: page["rate_from"] for name, page in pages.items()} == {
            **dict.fromkeys(rows, "the site's sitemap"),
            "silent": "pages in general",
        }
        assert pages["lively"]["revisit"] is None, "its download is the instant"
        assert float(pages["lively"]["rate_shape"]) < 2.0, "statements of a sitemap leave the rate uncertain"

    run_scenario(scenario)


def test_slow_pages_are_outermost(run_scenario: Callable[..., None]) -> None:
    """A page with slow downloads is visited first and revisited last, so that it delays no other page."""

    async def scenario(archiver: Archiver) -> None:
        names = ["a", "b", "slow", "c", "d"]
        site(archiver, **{name: links() for name in names})
        listed = [
            FoundPage(f"{SITE}{name}", 1e-3, "given", duration_s=60.0 if name == "slow" else 1.0) for name in names
        ]
        order = CaptureOrder(url=SITE, listed=tuple(page.url for page in listed))
        started = CaptureStarted(
            capture="x", order=order, at=0.0, slot_s=2.0, reversion=0.0, rest_factor=1.0, pages=tuple(listed)
        )
        state = CaptureState(started)
        assert state.slots_s(list(state.pages.values())) == [2.0, 2.0, 120.0, 2.0, 2.0]
        now = 100.0
        visits = []
        while (url := state.next_page()) is not None:
            duration_s = 60.0 if url.endswith("slow") else 1.0
            seen = PageObservation(
                started=now, ended=now + duration_s, kind="content", status=200, layers={"raw": "c"}, record=url
            )
            observed = ObservedUrl(url=url, observations=(seen,))
            state.apply(PageDownloaded(url=url, pass_number=0, observations=(observed,)))
            visits.append(url)
            now += 2 * duration_s
        assert visits[0] == f"{SITE}slow"
        assert first_revisits(state).order[-1] == f"{SITE}slow"

    run_scenario(scenario)


def test_lists_without_pages(run_scenario: Callable[..., None]) -> None:
    """A list without a page of the site is an error; nothing is written."""

    async def scenario(archiver: Archiver) -> None:
        with pytest.raises(UsageError, match="no page below"):
            await capture(archiver, listed=("http://b.test/x",))
        with pytest.raises(UsageError, match="no page below"):
            await capture(archiver, use_sitemap=True)
        assert not list((archiver.home.path / "captures").glob("*"))

    run_scenario(scenario)


def test_weights(run_scenario: Callable[..., None]) -> None:
    """Weights come from the order (by URL or pattern), else from the watched page; the certificate contains them."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=links(), c=links())
        await archiver.watch(f"{SITE}c", weight=7.0)
        taken = await capture(archiver, weights={f"{SITE}a": 5.0, "*/b": 0.5})
        weights = {path: taken.page(path)["weight"] for path in taken.verdicts()}
        assert weights == {"/": "1", "/a": "5", "/b": "0.5", "/c": "7"}

    run_scenario(scenario)


def test_requisites(run_scenario: Callable[..., None]) -> None:
    """Images and styles of any host are requested once, after all pages; they are archived and have no verdict."""

    async def scenario(archiver: Archiver) -> None:
        head = '<link rel="stylesheet" href="/s.css"><img src="http://b.test/i.png"><img src="/none.png">'
        page = reply(f"<title>t</title>{head}<main><p>words of a page</p><a href='/a'>a</a></main>")
        site(archiver, a=page)
        archiver.servers.serve(SITE, page)
        archiver.servers.serve("http://a.test/s.css", reply("p{}", kind="text/css"))
        archiver.servers.serve("http://b.test/i.png", reply(b"\x89PNG\r\n\x1a\n", kind="image/png"))
        taken = await capture(archiver)
        assert taken.capture.state.requisites == {
            "http://a.test/s.css": True,
            "http://b.test/i.png": True,
            "http://a.test/none.png": False,
        }
        asked = [request.path for request in archiver.servers.received if request.path != "/robots.txt"]
        assert sorted(asked[-3:]) == ["/i.png", "/none.png", "/s.css"]
        assert set(taken.verdicts()) == {"/", "/a"}
        with WaczReader(taken.finished.file) as package:
            kept = {record.url for record in package.kept() if not isinstance(record, str)}
        assert {"http://a.test/s.css", "http://b.test/i.png", "http://a.test/none.png"} <= kept

    run_scenario(scenario)


def test_files_of_style_sheets(run_scenario: Callable[..., None]) -> None:
    """Files of a style sheet, and of the sheets that it imports to the depth of five, are captured once."""

    async def scenario(archiver: Archiver) -> None:
        head = '<link rel="stylesheet" href="/s/main.css"><style>b{background:url(inline.png)}</style>'
        site(archiver, a=reply(f"<title>t</title>{head}<main><p>words of a page</p></main>"))
        sheets = {
            "main.css": '@import "more.css"; p{background:url(../one.png)} i{background:url(/one.png)}',
            "more.css": "@import '2.css'; @font-face{src:url(font.woff2)} p{background:url(/s/main.css)}",
        } | {f"{depth}.css": f"@import '{depth + 1}.css'; p{{background:url(/s/main.css)}}" for depth in range(2, 8)}
        for name, sheet in sheets.items():
            archiver.servers.serve(f"{SITE}s/{name}", reply(sheet, kind="text/css"))
        for path in ("inline.png", "one.png", "s/font.woff2"):
            archiver.servers.serve(f"{SITE}{path}", reply(b"\x89PNG\r\n\x1a\n", kind="image/png"))
        taken = await capture(archiver)
        captured = {url.removeprefix(SITE) for url, succeeded in taken.capture.state.requisites.items() if succeeded}
        followed = {"s/2.css", "s/3.css", "s/4.css", "s/5.css"}
        assert captured == {"s/main.css", "inline.png", "s/more.css", "one.png", "s/font.woff2"} | followed
        asked = Counter(archiver.servers.paths("a.test"))
        assert {asked[f"/{name}"] for name in captured} == {1}
        again = await capture(archiver, resume=taken.certificate["capture"])
        assert again.capture.state.requisites == taken.capture.state.requisites
        few = await capture(archiver, max_requisites=3)
        assert sum(succeeded is True for succeeded in few.capture.state.requisites.values()) == 3

    run_scenario(scenario)


def test_frames(run_scenario: Callable[..., None]) -> None:
    """A frame out of scope is a requisite with its files, two frames deep; one in scope is a page, and only a page."""

    async def scenario(archiver: Archiver) -> None:
        frame = "<iframe src='http://b.test/f1'></iframe><iframe src=/a></iframe><object data='http://b.test/o.svg'>"
        site(archiver, a=reply(f"<title>t</title><main><p>words of a page</p></main>{frame}</object>"))
        for number in range(1, 6):
            inner = f"<img src=/{number}.png><iframe src=/f{number + 1}></iframe>"
            archiver.servers.serve(f"http://b.test/f{number}", reply(f"<title>f</title><p>frame</p>{inner}"))
            archiver.servers.serve(f"http://b.test/{number}.png", reply(b"\x89PNG\r\n\x1a\n", kind="image/png"))
        archiver.servers.serve("http://b.test/o.svg", reply("<svg><image href='1.png'/></svg>", kind="image/svg+xml"))
        taken = await capture(archiver)
        assert set(taken.verdicts()) == {"/", "/a"}
        captured = {url for url, succeeded in taken.capture.state.requisites.items() if succeeded}
        assert captured == {f"http://b.test/{path}" for path in ("f1", "f2", "f3", "1.png", "2.png", "o.svg")}
        frames = {f"http://b.test/{path}" for path in ("f1", "f2", "f3", "o.svg")}
        assert taken.capture.state.frames == frames | {f"{SITE}a"}
        assert archiver.servers.paths("a.test").count("/a") == 1, "its download is the instant"

    run_scenario(scenario)


RULES = PageRules(ignore=("css:.count",))


@pytest.mark.parametrize(
    ("layer", "changing", "rules", "verdict"),
    [
        ("visible", "data-n={at}>", None, "sharp"),
        ("raw", "data-n={at}>", None, "blurred"),
        ("visible", ">{at}", None, "blurred"),
        ("visible", "><a href={at}>x</a>", None, "blurred"),
        ("links", ">{at}", None, "sharp"),
        ("main", ">{at}", None, "sharp"),
        ("auto", ">{at}", None, "sharp"),
        ("visible", ">{at}", RULES, "blurred"),
        ("raw", ">{at}", RULES, "blurred"),
        ("selected", ">{at}", RULES, "sharp"),
        ("auto", ">{at}", RULES, "sharp"),
    ],
)
def test_layers(
    layer: str, changing: str, rules: PageRules | None, verdict: str, run_scenario: Callable[..., None]
) -> None:
    """A difference blurs a page if the layer of the capture has it. Rules of a page count only if the layer is
    `selected` or `auto`, and the certificate has them word for word."""

    def counting(request: ReceivedRequest) -> Reply:
        moment = changing.format(at=f"{request.at:.0f}")
        return reply(f"<title>t</title><main><p>the same words</p></main><footer><i class=count {moment}</i></footer>")

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=counting, b=links(), c=links())
        await archiver.watch(f"{SITE}a", page_rules=rules)
        taken = await capture(archiver, layer=layer)
        assert taken.page("/a")["verdict"] == verdict
        page = await archiver.page(f"{SITE}a")
        assert page.page_rules == rules, "the capture does not change the rules of the page"
        assert taken.page("/a")["rules"] == ({"ignore": ["css:.count"]} if rules else None)
        assert taken.certificate["policy"]["layer"] == layer

    run_scenario(scenario)


@pytest.mark.parametrize("conditional", [False, True])
def test_conditional_requests(conditional: bool, run_scenario: Callable[..., None]) -> None:
    """Conditional requests are only sent if they are allowed; the certificate states it."""

    def tagged(request: ReceivedRequest) -> Reply:
        if request.headers.get("if-none-match") == '"v"':
            return reply("", 304, ETag='"v"')
        return reply("<title>t</title><main><p>tagged words</p></main>", ETag='"v"')

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=tagged, b=links())
        taken = await capture(archiver, conditional=conditional)
        assert set(taken.verdicts().values()) == {"sharp"}
        sent = ["if-none-match" in request.headers for request in archiver.servers.requests("a.test", "/a")]
        assert sent == ([False, True] if conditional else [False, False])
        assert taken.certificate["policy"]["conditional_requests"] is conditional
        statuses = [seen["status"] for seen in taken.observations("/a")]
        assert statuses == ([200, 304] if conditional else [200, 200])

    run_scenario(scenario)


def test_several_sites(run_scenario: Callable[..., None]) -> None:
    """Two sites are captured at the same time, each with the pace of its host."""

    async def scenario(archiver: Archiver) -> None:
        for host in ("a.test", "b.test"):
            archiver.servers.serve(f"http://{host}/", links("/x", "/y"))
            archiver.servers.serve(f"http://{host}/x", links())
            archiver.servers.serve(f"http://{host}/y", moved("/x"))
        async with archiver.node.capturing() as service:

            async def capture_host(host: str) -> dict[str, int]:
                running = await service.begin(CaptureOrder(url=f"http://{host}/"), lambda capture, event: None)
                await running.run()
                finished = await service.finish(running, archiver.home.path / f"{host}.wacz")
                return dict(finished.certificate["counts"])

            counts = await asyncio.gather(capture_host("a.test"), capture_host("b.test"))
        assert [count["sharp"] for count in counts] == [3, 3]
        for host in ("a.test", "b.test"):
            assert min(after - before for before, after in pairwise(archiver.servers.times(host))) >= 2
        assert archiver.servers.times("b.test")[0] < archiver.servers.times("a.test")[-1]

    run_scenario(scenario)


def test_quietest_start(run_scenario: Callable[..., None]) -> None:
    """A site that changes at one time of the day is captured at another time."""

    async def scenario(archiver: Archiver) -> None:
        by_day = [START_AT + DAY_S * day for day in range(60)]
        site(archiver, a=changing_at(*by_day))
        await archiver.watch(f"{SITE}a")
        for _ in range(40):
            await archiver.crawl(after_s=DAY_S)
        async with archiver.node.capturing() as service:
            start, past = await service.quietest_start(CaptureOrder(url=SITE, max_time_s=3600.0), DAY_S)
        assert len(past.changes_at) >= 30
        assert start.relative < 1
        assert 3600 <= start.at - archiver.clock.now() <= DAY_S

    run_scenario(scenario, "schedule.policy=dyn", "schedule.max_interval=1d")
