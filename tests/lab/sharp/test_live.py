"""Sharp captures of the living web over real HTTP while it changes: every verdict is correct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import call_here
from webstrata.cli.lab.sharp_live import live
from webstrata.clock import iso
from webstrata.lab.livingweb.faults import ServedFault
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.live import HOURS, START_AT
from webstrata.lab.sharp.recorded_site import CompressedSite
from webstrata.lab.sharp.truth import SiteTruth

SECONDS = HOURS * 3600


def changing_site() -> Recording:
    """Thirteen pages: some never change, some change every minute or more often, one alternates between two texts."""
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
    """No sharp page had another content at the instant, except those that changed and changed back. No unchanged page
    is blurred, both verifiers find no fault, and there are no politeness violations."""
    ways = ("single pass", "sharp", "sharp, repaired", "sharp, by links")
    rows = {row.way: row for row in live([changing_site()], 2, lambda step: None, ways)}
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


def test_verdicts_with_faults() -> None:
    """Sites that answer some requests with 403, 404, 500, a reset or another page make no page falsely sharp."""
    ways = ("sharp", "sharp, repaired")
    rows = {row.way: row for row in live([changing_site()], 2, lambda step: None, ways, with_faults=True)}
    for row in rows.values():
        assert row.served_faults > 4, row
        assert row.false_sharp == row.changed_and_back, row
        assert (row.false_blurred, row.faults) == (0, 0), row


def certified(visit: float, revisit: float, verdict: str, layers: dict[str, str]) -> dict[str, Any]:
    def observation(at: float) -> dict[str, Any]:
        return {"started": iso(START_AT + at), "ended": iso(START_AT + at + 0.5), "kind": "content", "layers": layers}

    return {
        "url": "http://restless.test/p10.html",
        "verdict": verdict,
        "visit": 0,
        "revisit": 1,
        "compared": ["visible_text", "links"],
        "observations": [observation(visit), observation(revisit)],
    }


@pytest.mark.parametrize(
    ("visit", "revisit", "verdict", "fault_at", "flags"),
    [
        (1.0, 9.0, "sharp", None, (False, False, False)),
        (1.0, 9.0, "sharp", 10.0, (False, False, False)),
        (1.0, 9.0, "sharp", 4.0, (True, False, False)),
        (1.0, 30.0, "sharp", None, (True, True, False)),
        (1.0, 15.0, "blurred", None, (False, False, False)),
        (1.0, 9.0, "blurred", None, (False, False, True)),
        (1.0, 9.0, "blurred", 4.0, (False, False, False)),
        (1.0, 21.9, "sharp", None, (True, False, False)),
    ],
    ids=[
        "true",
        "a fault later",
        "a fault in between",
        "changed and back",
        "blurred",
        "not blurred",
        "blurred by a fault",
        "false",
    ],
)
def test_wrong_verdicts_are_found(
    visit: float, revisit: float, verdict: str, fault_at: float | None, flags: tuple[bool, bool, bool]
) -> None:
    """Verdicts that contradict the recording or a served fault are found; pages that changed back are counted
    separately."""
    scale = SECONDS / 3588.0  # the recording starts with the first change, at 11 s

    def moment(at: float) -> float:
        return (at - 11.0) * scale

    fault = ServedFault(at=START_AT + moment(fault_at or 0.0), host="restless.test", path="/p10.html", kind="reset")
    recording = CompressedSite(changing_site(), START_AT, HOURS).recording
    truth = SiteTruth(recording, [] if fault_at is None else [fault])
    layers = truth.content("p10.html", "p10.html tock")
    assert layers is not None
    page = certified(moment(visit), moment(revisit), verdict, layers)
    middle = iso(START_AT + moment((visit + revisit) / 2))
    page_truth = truth.of(page, {"from": middle, "to": middle})
    assert (page_truth.false_sharp, page_truth.changed_and_back, page_truth.false_blurred) == flags


def test_the_command(tmp_path: Path) -> None:
    """`lab sharp --live` prints one JSON document, writes it to `--out`, and rejects unknown sites."""
    told = call_here("lab", "sharp", "--live", "--captures", "1", "--only", "sp500", "--out", tmp_path, "--json")
    assert told.code == 0, told.err
    assert {row["site"] for row in told.json["live"]} == {"sp500"}
    assert json.loads((tmp_path / "sharp-live.json").read_bytes()) == told.json
    assert call_here("lab", "sharp", "--live", "--only", "nothing").code == 2


def test_precomputed_schedules() -> None:
    """A capture follows the visits and revisits of a precomputed schedule, and its verdicts are correct."""
    (row,) = live([changing_site()], 1, lambda step: None, ["solar-online"])
    assert row.sharp >= 5
    assert (row.false_sharp - row.changed_and_back, row.false_blurred, row.faults) == (0, 0, 0)
    assert row.expected < row.pages - 1, "the expectation includes changes"


def test_rates_are_compressed() -> None:
    """Rates are estimated on the original time scale and grow with the compression."""
    slow, quick = CompressedSite(changing_site(), START_AT, 2 * HOURS), CompressedSite(changing_site(), START_AT, HOURS)
    paths = ["p0.html", "p4.html"]
    slow_rates, quick_rates = (
        site.rates_per_s(paths, START_AT + site_s) for site, site_s in ((slow, 3600.0), (quick, 1800.0))
    )
    assert quick_rates == pytest.approx(2 * slow_rates)
    assert slow_rates[1] > 10 * slow_rates[0]


def test_plans_contain_every_page() -> None:
    """A precomputed schedule contains every page once on each side."""
    site = CompressedSite(changing_site(), START_AT, HOURS)
    pages = [site.recording.url(path) for path in site.recording.pages]
    plan = site.plan("solar-online", pages, START_AT + 600.0)
    assert sorted(plan.visits) == sorted(plan.revisits) == sorted(pages)
    assert set(plan.rates_per_s) == set(pages)
