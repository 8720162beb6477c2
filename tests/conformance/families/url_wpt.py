"""URL parsing and link resolution, by the web-platform-tests."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.errors import BadUrl
from webstrata.urls import canonical, join

FAMILY = "url-wpt"
_REFUSED = "refused"


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    text, base = case.text("input"), case.text_or_none("base")
    if case.has("failure") and case.boolean("failure"):
        verdict.check(case.id, _REFUSED, _canonical(text, base))
        return
    expected = case.text("href").partition("#")[0]
    rule = sentence_of(_RULES, case)
    actual = _canonical(text, base)
    if rule is not None and actual != _REFUSED:
        verdict.failed.append(f"{case.id}: {actual!r} should have been refused")
    else:
        verdict.check(case.id, expected, actual, contested=rule)


def _canonical(url: str, base: str | None) -> str:
    try:
        found = canonical(url, base)
    except BadUrl:
        found = _REFUSED
    if base is not None and (join(base, url) or _REFUSED) != found:
        return f"join says {join(base, url)!r}, canonical {found!r}"
    return found


def _has_other_scheme(case: Case) -> bool:
    """A URL whose scheme is not http or https is refused, because it cannot be visited
    (docs/decisions/0003-page-key.md)."""
    return case.text("protocol") not in ("http:", "https:")


def _has_credentials(case: Case) -> bool:
    """A URL with a user name or password is refused, because credentials would end up in logs and archives
    (docs/decisions/0003-page-key.md)."""
    return bool(case.text("username") or case.text("password"))


def _has_host_of_dots(case: Case) -> bool:
    """A URL whose host is empty or consists of dots is refused, because no such host can exist
    (docs/decisions/0003-page-key.md)."""
    return not case.text("hostname").strip(".")


_RULES = (_has_other_scheme, _has_credentials, _has_host_of_dots)
