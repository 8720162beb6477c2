"""The part of IIPC's urlcanon suite that speaks of our form, the WHATWG serialisation of http(s) URLs.

Left out: other schemes and the forms `aggressive`, `ssurt`, `path_dots_nonspecial`, which we do not make. Where the
form `semantic_precise` or an older WHATWG text differ from today's WHATWG, we follow the latter
(docs/decisions/0003-page-key.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.errors import BadUrl
from webstrata.urls import canonical, host_of, path_of

FAMILY = "urlcanon"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        check = _CHECKS.get(case["op"])
        if check is not None:
            check(verdict, case)
    return verdict


def _path_dots(verdict: Verdict, case: dict[str, Any]) -> None:
    expected = case["expected"].replace("\\", "/")  # which urlcanon does in a later step
    verdict.check(case["id"], expected, path_of(canonical("http://h" + case["input"])))


def _funky_ipv4(verdict: Verdict, case: dict[str, Any]) -> None:
    try:
        host = host_of(canonical(f"http://{case['input']}/"))
    except BadUrl:
        host = None
    not_an_address = case["expected"] is None and host == case["input"]  # a name like any other
    verdict.check(case["id"], case["expected"], None if not_an_address else host)


def _same_form(verdict: Verdict, case: dict[str, Any]) -> None:
    text = case["input"].strip().lower()
    if not text.startswith(("http://", "https://")):
        return
    try:
        actual = canonical(case["input"])
    except BadUrl as refused:
        actual = str(refused)
    verdict.check(case["id"], case["expected"].partition("#")[0], actual, contested=True)


def _idempotence(verdict: Verdict, case: dict[str, Any]) -> None:
    try:
        once = canonical(case["input"])
    except BadUrl:
        return
    verdict.check(case["id"], once, canonical(once))


_CHECKS: dict[str, Callable[[Verdict, dict[str, Any]], None]] = {
    "path_dots_special": _path_dots,
    "funky_ipv4": _funky_ipv4,
    "semantic_precise": _same_form,
    "supplemental_whatwg": _same_form,
    "idempotence": _idempotence,
}
