"""Real robots.txt files: none breaks the parser, none takes long, and a second parser agrees but for known reasons.

Protego reads two things otherwise, by design (docs/decisions/0001-robots-parser.md): a Crawl-delay ends its list of
agents, and it lets an allowed index.html open its folder. In `odd/` files it reads misspelled lines otherwise.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from protego import Protego

from tests.conformance.verdict import Verdict
from webstrata.permit.robots import Robots

FAMILY = "robots-corpus"
_LONGEST_S = 0.05
_AGENTS = ("webstrata", "googlebot", "bingbot", "gptbot")
_RULE = re.compile(r"(?im)^\s*(?:dis)?allow\s*:\s*(/[^\s#]*)")
_READ_OTHERWISE = re.compile(
    r"(?im)^user-agent[^\n]*\s+crawl-delay[^\n]*\s+(?:#[^\n]*\s+)*user-agent|^\s*allow:\s*\S*/index\.html?"
)
_MOST_PATHS = 30


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for file in sorted((*folder.glob("files/*.txt"), *folder.glob("odd/*.txt"))):
        body = file.read_bytes()
        started = time.thread_time()
        robots = Robots.parse(body)
        took_s = time.thread_time() - started
        text = body.decode("utf-8-sig", "replace")
        difference = next(_differences(text, robots), None)
        if took_s > _LONGEST_S:
            verdict.failed.append(f"{file.name}: parsed in {took_s * 1000:.0f} ms")
        elif difference is None:
            verdict.passed += 1
        else:
            known = file.parent.name == "odd" or _READ_OTHERWISE.search(text) is not None
            (verdict.contested if known else verdict.failed).append(f"{file.name}: {difference}")
    return verdict


def _differences(text: str, robots: Robots) -> Iterator[str]:
    second = Protego.parse(text)
    paths = {path.replace("*", "xy").rstrip("$") for path in _RULE.findall(text)[:_MOST_PATHS]}
    for agent in _AGENTS:
        for path in sorted(paths | {"/", "/index.html", "/a?b=c"}):
            url = f"http://example.org{path}"
            expected, actual = second.can_fetch(url, agent), robots.allows(agent, url)
            if expected != actual:
                yield f"{agent} {path}: Protego says {expected}, we {actual}"
        if second.crawl_delay(agent) != robots.crawl_delay(agent):
            yield f"{agent}: Crawl-delay {second.crawl_delay(agent)}, we {robots.crawl_delay(agent)}"
