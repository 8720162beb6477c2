"""The log of a signer's certificates, and the check of their chains.

Certificates of one site form a chain: each names the digest of the one before. Who changes an old certificate has to
change all later ones; who has a later one, or the log, notices it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate import ChainLink


class LogEntry(Struct, frozen=True, kw_only=True):
    """One line of the log."""

    site: str
    sequence: int
    capture: str
    issued: str
    certificate: str
    """`sha256:…` of the bytes of the certificate."""
    file: str
    key: str
    """The fingerprint of the key that signed the package."""


class ChainedPackage(Struct, frozen=True, kw_only=True):
    """The place in the chain that a package states."""

    file: str
    certificate: str
    """`sha256:…` of the bytes of the certificate."""
    site: str
    sequence: int
    capture: str
    issued: str
    key: str | None
    previous_capture: str = ""
    previous: str = ""
    """`sha256:…` of the certificate before; empty for the first."""


class ChainFailure(Struct, frozen=True, kw_only=True):
    """A link that is broken."""

    file: str | None
    what: str


class CheckedChains(Struct, frozen=True, kw_only=True):
    """The result of the check. Missing files are no failure: packages may be kept elsewhere."""

    sites: dict[str, int]
    """Site -> number of its certificates, in the log or among the packages."""
    missing: tuple[LogEntry, ...]
    failures: tuple[ChainFailure, ...]


def log_line(entry: LogEntry) -> bytes:
    return msgspec.json.encode(entry)


def parse_log(lines: Iterable[bytes]) -> list[LogEntry]:
    """Raises UsageError if a line is not one of the log."""
    try:
        return [msgspec.json.decode(line, type=LogEntry) for line in lines]
    except msgspec.DecodeError as problem:
        raise UsageError(f"the log of captures cannot be parsed ({problem}). Restore it from a backup.") from None


def next_link(entries: Iterable[LogEntry], site: str) -> ChainLink:
    """The place of the next certificate of a site."""
    last = max((entry for entry in entries if entry.site == site), key=lambda entry: entry.sequence, default=None)
    if last is None:
        return ChainLink()
    digest = last.certificate.removeprefix("sha256:")
    return ChainLink(sequence=last.sequence + 1, previous_capture=last.capture, previous_sha256=digest)


def stated_package(certificate: object, *, file: str, digest: str, key: str | None) -> ChainedPackage | None:
    """What a certificate (any JSON) states about its place; None if it has no such fields."""
    if not isinstance(certificate, dict):
        return None
    previous = certificate.get("previous")
    named = (
        {"previous_capture": previous.get("capture"), "previous": previous.get("certificate")}
        if isinstance(previous, dict)
        else {}
    )
    fields = {name: certificate.get(name) for name in ("site", "sequence", "capture", "issued")}
    try:
        package = msgspec.convert(fields | named | {"file": file, "certificate": digest, "key": key}, ChainedPackage)
        parse_instant(package.issued)
    except (msgspec.ValidationError, UsageError):
        return None
    return package if previous is None or named else None


def checked_chains(entries: Sequence[LogEntry], packages: Sequence[ChainedPackage]) -> CheckedChains:
    """Check the log in itself, the packages against the log, and the packages against one another."""
    failures = [*_log_failures(entries), *_package_failures(entries, packages), *_link_failures(entries, packages)]
    found = {package.certificate for package in packages}
    chains: dict[str, set[str]] = {}
    for site, certificate in [(one.site, one.certificate) for one in entries] + [
        (one.site, one.certificate) for one in packages
    ]:
        chains.setdefault(site, set()).add(certificate)
    return CheckedChains(
        sites={site: len(certificates) for site, certificates in sorted(chains.items())},
        missing=tuple(entry for entry in entries if entry.certificate not in found),
        failures=tuple(dict.fromkeys(failures)),
    )


def _log_failures(entries: Sequence[LogEntry]) -> Iterator[ChainFailure]:
    """Every site has the numbers 1, 2, 3 …, and its dates are in order."""
    last: dict[str, LogEntry] = {}
    for entry in entries:
        before = last.get(entry.site)
        expected = before.sequence + 1 if before else 1
        if entry.sequence != expected:
            what = f"the log has number {entry.sequence} of {entry.site} where number {expected} belongs"
            yield ChainFailure(file=entry.file, what=what)
        if before and _at(entry.issued) < _at(before.issued):
            what = f"the log has a certificate of {entry.issued} after one of {before.issued}"
            yield ChainFailure(file=entry.file, what=what)
        last[entry.site] = entry


def _package_failures(entries: Sequence[LogEntry], packages: Sequence[ChainedPackage]) -> Iterator[ChainFailure]:
    """Every package is in the log, as it states."""
    if not entries:
        return
    by_digest = {entry.certificate: entry for entry in entries}
    by_place = {(entry.site, entry.sequence): entry for entry in entries}
    for package in packages:
        entry = by_digest.get(package.certificate)
        if entry is None:
            logged = by_place.get((package.site, package.sequence))
            what = "it is not in the log of captures"
            if logged is not None:
                what += f": number {package.sequence} of {package.site} is the capture {logged.capture}"
                what += f" with the certificate {logged.certificate}"
            yield ChainFailure(file=package.file, what=what)
            continue
        stated = (package.site, package.sequence, package.capture, package.issued)
        if stated != (entry.site, entry.sequence, entry.capture, entry.issued):
            yield ChainFailure(file=package.file, what="the log has other facts about its certificate")
        if package.key != entry.key:
            yield ChainFailure(file=package.file, what=f"it is signed with {package.key}, the log has {entry.key}")


def _link_failures(entries: Sequence[LogEntry], packages: Sequence[ChainedPackage]) -> Iterator[ChainFailure]:
    """The certificate before each one is the one that it names, is older, and has no other successor."""
    known: dict[str, LogEntry | ChainedPackage] = {entry.certificate: entry for entry in entries}
    known |= {package.certificate: package for package in packages}
    successors: dict[tuple[str, str], ChainedPackage] = {}
    for package in packages:
        other = successors.setdefault((package.site, package.previous), package)
        if other.certificate != package.certificate:
            before = "the same certificate" if package.previous else "nothing"
            yield ChainFailure(file=package.file, what=f"it and {other.file} both follow {before}")
        if package.sequence == 1 or not package.previous:
            if package.previous or package.sequence != 1:
                what = f"it is number {package.sequence}, and names {'one' if package.previous else 'none'} before"
                yield ChainFailure(file=package.file, what=what)
            continue
        before_it = known.get(package.previous)
        if before_it is None:
            what = (
                f"the certificate before it, {package.previous} of the capture {package.previous_capture}, is neither"
            )
            yield ChainFailure(file=package.file, what=f"{what} in the log nor among the files")
        elif _place(before_it) != (package.site, package.sequence - 1, package.previous_capture):
            yield ChainFailure(file=package.file, what=f"the certificate before it is {before_it.file}, out of order")
        elif _at(before_it.issued) > _at(package.issued):
            what = f"it is of {package.issued}, the one before it of {before_it.issued}"
            yield ChainFailure(file=package.file, what=what)


def _place(item: LogEntry | ChainedPackage) -> tuple[str, int, str]:
    return item.site, item.sequence, item.capture


def _at(text: str) -> float:
    try:
        return parse_instant(text)
    except UsageError:
        return 0.0
