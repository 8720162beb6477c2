"""Real robots.txt files: none breaks the parser, none takes long, and a second parser agrees but for known reasons.

The reasons are the rules at the end of this file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from protego import Protego

from tests.conformance.case import play_named
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.permit.robots import Robots

FAMILY = "robots-corpus"
_LONGEST_S = 0.05
_AGENTS = ("webstrata", "googlebot", "bingbot", "gptbot")
_RULE = re.compile(r"(?im)^\s*(?:dis)?allow\s*:\s*(/[^\s#]*)")
_DELAY_BETWEEN_AGENTS = re.compile(r"(?im)^user-agent[^\n]*\s+crawl-delay[^\n]*\s+(?:#[^\n]*\s+)*user-agent")
_ALLOWED_INDEX = re.compile(r"(?im)^\s*allow:\s*\S*/index\.html?")
_MOST_PATHS = 30


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for file in sorted((*folder.glob("files/*.txt"), *folder.glob("odd/*.txt"))):
        play_named(file.name, partial(_play, file), verdict)
    return verdict


def _play(file: Path, verdict: Verdict) -> None:
    body = file.read_bytes()
    started = time.thread_time()
    robots = Robots.parse(body)
    took_s = time.thread_time() - started
    text = body.decode("utf-8-sig", "replace")
    difference = next(_differences(text, robots), None)
    if took_s > _LONGEST_S:
        verdict.failed.append(f"{file.name}: parsed in {took_s * 1000:.0f} ms")
    else:
        verdict.check(file.name, None, difference, contested=sentence_of(_RULES, text))


def _differences(text: str, robots: Robots) -> Iterator[str]:
    second = Protego.parse(text)
    paths = {path.replace("*", "xy").rstrip("$") for path in _RULE.findall(text)[:_MOST_PATHS]}
    for agent in _AGENTS:
        for path in sorted(paths | {"/", "/index.html", "/a?b=c"}):
            if "\ufffd" in path:  # octets that are not UTF-8: Protego reads text and cannot compare them
                continue
            url = f"http://example.org{path}"
            expected, actual = second.can_fetch(url, agent), robots.allows(agent, url)
            if expected != actual:
                yield f"{agent} {path}: Protego says {expected}, we {actual}"
        if second.crawl_delay(agent) != robots.crawl_delay(agent):
            yield f"{agent}: Crawl-delay {second.crawl_delay(agent)}, we {robots.crawl_delay(agent)}"


def _has_delay_between_agents(text: str) -> bool:
    """A Crawl-delay between two User-agent lines does not end the list of agents, because RFC 9309 lets only rules
    end it; Protego ends it (docs/decisions/0001-robots-parser.md)."""
    return _DELAY_BETWEEN_AGENTS.search(text) is not None


def _allows_an_index_page(text: str) -> bool:
    """An allowed index.html does not open its folder, because RFC 9309 knows no index pages; in Protego it does
    (docs/decisions/0001-robots-parser.md)."""
    return _ALLOWED_INDEX.search(text) is not None


_RULES = (_has_delay_between_agents, _allows_an_index_page)
