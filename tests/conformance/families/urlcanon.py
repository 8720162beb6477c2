"""The part of IIPC's urlcanon suite that speaks of our form, the WHATWG serialisation of http(s) URLs.

Not played: other schemes and the forms `aggressive`, `ssurt`, `path_dots_nonspecial`, which we do not make.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.errors import BadUrl
from webstrata.urls import canonical, host_of, path_of

FAMILY = "urlcanon"
_REFUSED = "refused"
_AUTHORITY = re.compile(r"\s*https?:[/\\]*([^/\\?#]*)", re.IGNORECASE)
_FORBIDDEN = frozenset(" #%/<>?@[\\]^|")
"""Forbidden in a host by the WHATWG URL standard, besides control characters."""
_MAX_DECODINGS = 10


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    operation = case.text("op")
    if operation not in _CHECKS:
        raise UnplayableError(f"the product does not make the form {operation!r}")
    _CHECKS[operation](verdict, case)


def _path_dots(verdict: Verdict, case: Case) -> None:
    expected = case.text("expected").replace("\\", "/")  # which urlcanon does in a later step
    try:
        actual = path_of(canonical("http://h" + case.text("input")))
    except BadUrl:
        actual = _REFUSED
    verdict.check(case.id, expected, actual)


def _funky_ipv4(verdict: Verdict, case: Case) -> None:
    text, expected = case.text("input"), case.text_or_none("expected")
    try:
        host = host_of(canonical(f"http://{text}/"))
    except BadUrl:
        host = None
    not_an_address = expected is None and host == text  # a name like any other
    verdict.check(case.id, expected, None if not_an_address else host)


def _same_form(verdict: Verdict, case: Case) -> None:
    text, expected = _from_octets(case.text("input")), case.text("expected").partition("#")[0]
    if not text.strip().lower().startswith(("http://", "https://")):
        raise UnplayableError("a URL whose scheme is not http or https has no canonical form")
    try:
        actual = canonical(text)
    except BadUrl:
        actual = _REFUSED
    verdict.check(case.id, expected, actual, contested=sentence_of(_RULES, text, expected, actual))


def _idempotence(verdict: Verdict, case: Case) -> None:
    try:
        once = canonical(case.text("input"))
    except BadUrl:
        raise UnplayableError("the product refuses the URL, which therefore has no canonical form") from None
    verdict.check(case.id, once, canonical(once))


_CHECKS: dict[str, Callable[[Verdict, Case], None]] = {
    "path_dots_special": _path_dots,
    "funky_ipv4": _funky_ipv4,
    "semantic_precise": _same_form,
    "supplemental_whatwg": _same_form,
    "idempotence": _idempotence,
}


def _has_credentials(text: str, expected: str, actual: str) -> bool:
    """A URL with a user name or password is refused, because credentials would end up in logs and archives
    (docs/decisions/0003-page-key.md)."""
    return actual == _REFUSED and "@" in _authority(text)


def _has_impossible_host(text: str, expected: str, actual: str) -> bool:
    """A host that consists of dots, or has a character that the WHATWG URL standard forbids, is refused; urlcanon
    keeps or encodes it (docs/decisions/0003-page-key.md)."""
    host = unquote(_authority(text)).rpartition("@")[2]
    forbidden = any(letter in _FORBIDDEN or unicodedata.category(letter) == "Cc" for letter in host)
    return actual == _REFUSED and (forbidden or not host.strip("."))


def _is_equivalent(text: str, expected: str, actual: str) -> bool:
    """urlcanon's semantic form also decodes percent-encodings, merges slashes and sorts queries; WHATWG's form, which
    is the page's key, does not, because two such URLs can be two pages (docs/decisions/0003-page-key.md)."""
    return actual != _REFUSED and _meaning(expected) == _meaning(actual)


_RULES = (_has_credentials, _has_impossible_host, _is_equivalent)


def _from_octets(text: str) -> str:
    """The suite's URLs are octets, and the rows show each octet as one character: read them as UTF-8 if they are."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _authority(text: str) -> str:
    match = _AUTHORITY.match(text)
    return match[1] if match else ""


def _meaning(url: str) -> tuple[str, list[str]]:
    """A URL after repeated decoding, with merged slashes and a sorted query."""
    data = url.encode("utf-8", "surrogatepass")
    for _ in range(_MAX_DECODINGS):
        data = unquote_to_bytes(data)
    decoded = data.decode("utf-8", "replace")
    address, _, query = decoded.partition("?")
    return re.sub(r"/+", "/", address), sorted(query.split("&"))
