"""CDX keys as the Internet Archive makes them by default; its other forms are not ours and are left out."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.verdict import Verdict
from webstrata.urls import surt

FAMILY = "surt"
_DEFAULTS = {"with_scheme": False, "trailing_comma": False, "reverse_ipaddr": True, "host_massage": True}


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        options = case.get("options", {})
        by_default = all(_DEFAULTS.get(name) == value for name, value in options.items())
        if case["op"] == "surt" and by_default:
            verdict.check(case["id"], case["expected"], surt(case["input"] or ""))
    return verdict
