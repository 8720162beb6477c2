"""The log of certificates: the place of the next one, and everything that breaks a chain."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from webstrata.errors import UsageError
from webstrata.sharp.proof.capture_log import (
    ChainedPackage,
    LogEntry,
    checked_chains,
    log_line,
    next_link,
    parse_log,
    stated_package,
)

SITE = "https://example.org"


def package(number: int, **changes: Any) -> ChainedPackage:
    fields: dict[str, Any] = {
        "file": f"{number}.wacz",
        "certificate": f"sha256:{number}",
        "site": SITE,
        "sequence": number,
        "capture": f"c{number}",
        "issued": f"2026-01-0{number}T00:00:00Z",
        "key": "sha256:key",
        "previous_capture": f"c{number - 1}" if number > 1 else "",
        "previous": f"sha256:{number - 1}" if number > 1 else "",
    }
    return ChainedPackage(**(fields | changes))


def entry(number: int, **changes: Any) -> LogEntry:
    names = ("file", "certificate", "site", "sequence", "capture", "issued", "key")
    stated = package(number)
    return LogEntry(**({name: getattr(stated, name) for name in names} | changes))


PACKAGES = [package(number) for number in (1, 2, 3)]
LOG = [entry(number) for number in (1, 2, 3)]


def failures(log: list[LogEntry], packages: list[ChainedPackage]) -> list[str]:
    return [f"{failure.file}: {failure.what}" for failure in checked_chains(log, packages).failures]


def test_valid_chain() -> None:
    """A chain is valid by the log, by the files alone in any order, and if files are missing, which is said."""
    assert failures(LOG, PACKAGES) == []
    assert failures([], PACKAGES[::-1]) == []
    checked = checked_chains(LOG, PACKAGES[:2])
    assert checked.failures == ()
    assert [one.file for one in checked.missing] == ["3.wacz"]
    assert checked.sites == {SITE: 3}


REWRITTEN = package(2, certificate="sha256:other")


@pytest.mark.parametrize(
    ("log", "packages", "expected"),
    [
        (LOG, [PACKAGES[0], REWRITTEN, PACKAGES[2]], "2.wacz: it is not in the log of captures: number 2"),
        ([], [PACKAGES[0], REWRITTEN, PACKAGES[2]], "3.wacz: the certificate before it, sha256:2 of"),
        ([], [PACKAGES[0], PACKAGES[2]], "3.wacz: the certificate before it, sha256:2 of the capture c2, is neither"),
        ([], [*PACKAGES[:2], replace(REWRITTEN, file="x.wacz")], "x.wacz: it and 2.wacz both follow the same"),
        ([], [PACKAGES[0], package(1, certificate="sha256:x", file="x")], "x: it and 1.wacz both follow nothing"),
        (LOG, [*PACKAGES, package(4)], "4.wacz: it is not in the log of captures"),
        (LOG, [package(1, key="sha256:thief"), *PACKAGES[1:]], "1.wacz: it is signed with sha256:thief"),
        (LOG, [package(1, issued="2025-01-01")], "1.wacz: the log has other facts"),
        ([], [package(1, issued="2027-01-01"), PACKAGES[1]], "2.wacz: it is of 2026-01-02"),
        ([], [PACKAGES[0], package(3, previous="sha256:1")], "3.wacz: the certificate before it is 1.wacz"),
        ([], [package(2, previous="", previous_capture="")], "2.wacz: it is number 2, and names none before"),
        ([], [package(1, previous="sha256:0")], "1.wacz: it is number 1, and names one before"),
        ([LOG[0], LOG[2]], [], "3.wacz: the log has number 3 of https://example.org where number 2 belongs"),
        ([*LOG, entry(3)], [], "3.wacz: the log has number 3 of https://example.org where number 4 belongs"),
        ([LOG[0], entry(2, issued="2025-01-01")], [], "2.wacz: the log has a certificate of 2025-01-01 after one of"),
    ],
)  # fmt: skip
def test_broken_chains(log: list[LogEntry], packages: list[ChainedPackage], expected: str) -> None:
    """Every change of history breaks a link, and the failure says which."""
    assert any(line.startswith(expected) for line in failures(log, packages)), failures(log, packages)


def test_next_link() -> None:
    """The next certificate of a site follows its last one; other sites have their own chain."""
    other = entry(1, site="https://other.example")
    link = next_link([*LOG, other], SITE)
    assert (link.sequence, link.previous_capture, link.previous_sha256) == (4, "c3", "3")
    assert next_link([], SITE).sequence == 1
    assert next_link([*LOG, other], "https://other.example").previous_capture == "c1"


def test_lines() -> None:
    """Lines are read as they were written; others are refused with advice."""
    assert parse_log([log_line(one) for one in LOG]) == LOG
    for line in (b"{}", b"[]", b"x"):
        with pytest.raises(UsageError, match="Restore it from a backup"):
            parse_log([line])


@pytest.mark.parametrize(
    "certificate",
    [
        None,
        [],
        {},
        {"site": SITE, "sequence": "1", "capture": "c", "issued": "2026"},
        {"site": SITE, "sequence": 1, "capture": "c", "issued": "soon"},
        {"site": SITE, "sequence": 1, "capture": "c", "issued": "2026", "previous": 7},
        {"site": SITE, "sequence": 1, "capture": "c", "issued": "2026", "previous": {"capture": 1, "certificate": "x"}},
        {"site": SITE, "sequence": 2, "capture": "c", "issued": "2026", "previous": {}},
    ],
)
def test_certificates_of_any_form(certificate: object) -> None:
    """A certificate without the fields of a chain has no place in one."""
    assert stated_package(certificate, file="x", digest="sha256:1", key=None) is None
