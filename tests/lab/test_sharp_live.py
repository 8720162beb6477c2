"""Sharp captures of the living web, over real HTTP, while it changes: every verdict equals the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import call_here
from webstrata.cli.lab.sharp_live import live
from webstrata.clock import iso
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.live import HOURS, START_AT
from webstrata.lab.sharp.recorded_site import CompressedSite
from webstrata.lab.sharp.truth import SiteTruth

SECONDS = HOURS * 3600


def restless() -> Recording:
    """Thirteen pages: some still, some that change every minute or sooner, one that goes back and forth."""
    pages: dict[str, list[tuple[float, str | None]]] = {}
    contents: dict[str, bytes] = {}

    def publish(path: str, times: list[float], texts: list[str | None]) -> None:
        versions: list[tuple[float, str | None]] = []
        for at, text in zip(times, texts, strict=True):
            blob = None if text is None else f"{path} {text}"
            if blob is not None:
                contents[blob] = f"<title>{path}</title><main><h1>{path}</h1><p>It says {text}.</p></main>".encode()
            versions.append((at, blob))
        pages[path] = versions

    links = "".join(f'<a href="/p{number}.html">p{number}</a> ' for number in range(12))
    publish("index.html", [0.0], [f"home {links}"])
    for number in range(4):
        publish(f"p{number}.html", [0.0], ["always the same"])
    for number in range(4, 10):
        every_s = 7.0 * number
        steps = range(int(3599.0 / every_s))
        publish(f"p{number}.html", [every_s * step for step in steps], [f"version {step}" for step in steps])
    publish("p10.html", [11.0 * step for step in range(320)], ["tick" if step % 2 else "tock" for step in range(320)])
    publish("p11.html", [0.0, 1810.0, 3599.0], ["here", None, "here"])
    return Recording(site="restless", pages=pages, contents=contents)


def test_every_verdict_is_true() -> None:
    """No page is called sharp that was not as recorded at the instant, but for one that changed and changed back;
    no page that stayed the same is called blurred; both verifiers agree; the servers have nothing to complain of."""
    ways = ("single pass", "sharp", "sharp, repaired", "sharp, by links")
    rows = {row.way: row for row in live([restless()], 2, lambda what: None, ways)}
    assert tuple(rows) == ways
    for row in rows.values():
        assert row.false_sharp == row.changed_and_back, row
        assert (row.false_blurred, row.faults, row.politeness_violations) == (0, 0, 0), row
    sharp = rows["sharp"]
    assert sharp.changes > 1
    assert sharp.blurred > 1
    assert sharp.sharp >= 2 * 5
    assert rows["sharp, repaired"].sharp >= sharp.sharp
    assert rows["single pass"].sharp == 2


def certified(visit: float, revisit: float, verdict: str = "sharp", content: str = "") -> dict[str, Any]:
    def download(at: float) -> dict[str, Any]:
        return {"started": iso(START_AT + at), "ended": iso(START_AT + at + 0.5), "content": content}

    return {
        "url": "http://restless.test/p10.html",
        "verdict": verdict,
        "visit": download(visit),
        "revisit": download(revisit),
    }


@pytest.mark.parametrize(
    ("visit", "revisit", "verdict", "flags"),
    [
        (1.0, 9.0, "sharp", (False, False, False)),
        (1.0, 30.0, "sharp", (True, True, False)),
        (1.0, 15.0, "blurred", (False, False, False)),
        (1.0, 9.0, "blurred", (False, False, True)),
        (1.0, 21.9, "sharp", (True, False, False)),
    ],
    ids=["true", "changed and back", "truly blurred", "not blurred", "a lie"],
)
def test_the_truth_tells_lies(visit: float, revisit: float, verdict: str, flags: tuple[bool, bool, bool]) -> None:
    """A verdict that does not fit the recording is found, and what changed back is told apart."""
    truth = SiteTruth(
        CompressedSite(restless(), START_AT, HOURS).recording
    )  # its first change, at 11 s, is where the hurry begins
    pace = SECONDS / 3588.0
    content = truth._content("p10.html", "p10.html tock")
    page = certified((visit - 11.0) * pace, (revisit - 11.0) * pace, verdict, content)
    middle = iso(START_AT + ((visit + revisit) / 2 - 11.0) * pace)
    judged = truth.of(page, {"from": middle, "to": middle})
    assert (judged.false_sharp, judged.changed_and_back, judged.false_blurred) == flags


def test_the_command(tmp_path: Path) -> None:
    """`lab sharp --live` prints one document, writes it where asked, and names sites that it does not know."""
    told = call_here("lab", "sharp", "--live", "--captures", "1", "--only", "sp500", "--out", tmp_path, "--json")
    assert told.code == 0, told.err
    assert {row["site"] for row in told.json["live"]} == {"sp500"}
    assert json.loads((tmp_path / "sharp-live.json").read_bytes()) == told.json
    assert call_here("lab", "sharp", "--live", "--only", "nothing").code == 2


def test_schedules_made_beforehand_are_followed() -> None:
    """A strategy's own order of visits and revisits is what is asked for, and its verdicts are as true."""
    (row,) = live([restless()], 1, lambda what: None, ["solar-online"])
    assert row.sharp >= 5
    assert (row.false_sharp - row.changed_and_back, row.false_blurred, row.faults) == (0, 0, 0)
    assert row.expected < row.pages - 1, "it knows that pages change"


def test_rates_are_hurried_too() -> None:
    """Rates are estimated from what happened before the capture, at the site's own pace, and grow as it is hurried."""
    slow, quick = CompressedSite(restless(), START_AT, 2 * HOURS), CompressedSite(restless(), START_AT, HOURS)
    paths = ["p0.html", "p4.html"]
    one, other = (site.rates_per_s(paths, START_AT + site_s) for site, site_s in ((slow, 3600.0), (quick, 1800.0)))
    assert other == pytest.approx(2 * one)
    assert one[1] > 10 * one[0]


def test_plans_of_strategies_are_kept() -> None:
    """A plan made beforehand names every page once on each side."""
    site = CompressedSite(restless(), START_AT, HOURS)
    pages = [site.recording.url(path) for path in site.recording.pages]
    plan = site.plan("solar-online", pages, START_AT + 600.0)
    assert sorted(plan.visits) == sorted(plan.revisits) == sorted(pages)
    assert set(plan.rates_per_s) == set(pages)
