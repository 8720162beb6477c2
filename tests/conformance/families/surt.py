"""CDX keys as the Internet Archive makes them by default; its other forms are not ours and are not played."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from webstrata.urls import surt

FAMILY = "surt"
_DEFAULTS = {"with_scheme": False, "trailing_comma": False, "reverse_ipaddr": True, "host_massage": True}


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    operation = case.text("op")
    if operation != "surt":
        raise UnplayableError(f"the product has no operation {operation!r}")
    options = case.part("options").fields
    if any(_DEFAULTS.get(name) != value for name, value in options.items()):
        raise UnplayableError(f"the product makes only the default form, not {', '.join(sorted(options))}")
    verdict.check(case.id, case.text("expected"), surt(case.text_or_none("input") or ""))
