"""Check of the files of a package: their names, their description, and what the certificate says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.flows.verify.signer_check import DIGEST_FILE
from webstrata.ports import Evidence
from webstrata.sharp.proof.stated_certificate import StatedCertificate
from webstrata.urls import origin

CERTIFICATE = "proof/certificate.json"
DATAPACKAGE = "datapackage.json"
MAX_CERTIFICATE_BYTES = 256 << 20
_MAX_JSON_BYTES = 16 << 20
_NOT_CERTIFIED = frozenset({CERTIFICATE, DATAPACKAGE, DIGEST_FILE})
_KNOWN = _NOT_CERTIFIED | {
    "indexes/index.cdx.gz",
    "indexes/index.idx",
    "pages/pages.jsonl",
    "pages/extraPages.jsonl",
}
_REQUIRED = _KNOWN - {"pages/extraPages.jsonl"}
_WARC = re.compile(r"archive/[A-Za-z0-9][A-Za-z0-9._-]*\.warc\.gz")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


class PackageFiles(Struct, frozen=True, kw_only=True):
    """The description of a package, and the digests of its files."""

    about: dict[str, Any]
    """`datapackage.json`."""
    datapackage: bytes
    digest_document: dict[str, Any]
    digests: dict[str, str]
    failures: list[FailedCheck]


def package_files(evidence: Evidence) -> PackageFiles:
    """Read the description of a package and compare it with the files."""
    sizes = evidence.sizes()
    failures = list(_name_failures(sizes))
    datapackage = evidence.read(DATAPACKAGE, _MAX_JSON_BYTES) or b""
    about = _json_object(datapackage)
    document = _json_object(evidence.read(DIGEST_FILE, _MAX_JSON_BYTES) or b"")
    if about is None:
        failures.append(FailedCheck(page=DATAPACKAGE, what="it is missing, or is not a JSON object"))
    if document is None:
        failures.append(FailedCheck(page=DIGEST_FILE, what="it is missing, or is not a JSON object"))
    digests = {path: evidence.digest(path) for path in sizes}
    failures += _listed_failures(about or {}, sizes, digests)
    stated = (document or {}).get("hash"), (document or {}).get("path")
    if stated != (digests.get(DATAPACKAGE, ""), DATAPACKAGE):
        failures.append(FailedCheck(page=DIGEST_FILE, what=f"its hash is not that of {DATAPACKAGE}"))
    return PackageFiles(
        about=about or {},
        datapackage=datapackage,
        digest_document=document or {},
        digests=digests,
        failures=failures,
    )


def _name_failures(sizes: dict[str, int]) -> Iterator[FailedCheck]:
    for path in sorted(sizes):
        if path not in _KNOWN and not _WARC.fullmatch(path):
            yield FailedCheck(page=path, what="packages of captures have no such file")
    for path in sorted(_REQUIRED - sizes.keys()):
        yield FailedCheck(page=path, what="the file is missing")
    if not any(_WARC.fullmatch(path) for path in sizes):
        yield FailedCheck(page=None, what="there is no WARC file in archive/")


def _listed_failures(about: dict[str, Any], sizes: dict[str, int], digests: dict[str, str]) -> Iterator[FailedCheck]:
    """Every file must be listed once, with its size and digest."""
    resources = about.get("resources")
    listed: set[str] = set()
    for resource in resources if isinstance(resources, list) else []:
        path = resource.get("path") if isinstance(resource, dict) else None
        if not isinstance(path, str) or path not in sizes or path in (DATAPACKAGE, DIGEST_FILE):
            yield FailedCheck(page=str(path)[:200], what=f"{DATAPACKAGE} lists a file that is not in the package")
            continue
        if path in listed:
            yield FailedCheck(page=path, what=f"{DATAPACKAGE} lists it twice")
        listed.add(path)
        if resource.get("bytes") != sizes[path]:
            yield FailedCheck(page=path, what=f"it has {sizes[path]} bytes, not as {DATAPACKAGE} says")
        if not digests[path] or resource.get("hash") != digests[path]:
            yield FailedCheck(page=path, what=f"it was altered: it has not the digest that {DATAPACKAGE} says")
    for path in sorted(sizes.keys() - listed - {DATAPACKAGE, DIGEST_FILE}):
        yield FailedCheck(page=path, what=f"{DATAPACKAGE} does not list it")


def certified_files(certificate: StatedCertificate, files: PackageFiles) -> Iterator[FailedCheck]:
    """Compare the certificate with the files and with the description of the package."""
    stated = certificate.archive.files
    found = {path: digest for path, digest in files.digests.items() if path not in _NOT_CERTIFIED}
    for path in sorted(stated.keys() | found.keys()):
        if path not in found:
            yield FailedCheck(page=path, what="the certificate names it, but it is not in the package")
        elif path not in stated:
            yield FailedCheck(page=path, what="the certificate does not name it")
        elif stated[path] != found[path]:
            yield FailedCheck(page=path, what="the file is not the certified one")
    if files.about.get("title") != certificate.title:
        yield FailedCheck(page=DATAPACKAGE, what="its title is not the certified one")
    if files.about.get("mainPageUrl") != certificate.main_page:
        yield FailedCheck(page=DATAPACKAGE, what="its main page is not the certified one")
    date = files.about.get("mainPageDate")
    if date is not None and not _is_seen(certificate, date):
        yield FailedCheck(page=DATAPACKAGE, what="the date of its main page is not that of an observation")
    if not _belong_together(certificate):
        yield FailedCheck(page=None, what="the main page, the site and the first seed do not belong together")
    yield from _chain_failures(certificate)


def _belong_together(certificate: StatedCertificate) -> bool:
    """Whether site and main page are those of the first seed."""
    seeds = certificate.policy.seeds
    has_seed = bool(seeds) and seeds[0] == certificate.main_page and "://" in certificate.main_page
    return has_seed and certificate.site == origin(certificate.main_page)


def _is_seen(certificate: StatedCertificate, date: object) -> bool:
    """Whether the main page was observed at this time; its fraction of a second may be missing."""
    times = {
        seen.started for page in certificate.pages if page.url == certificate.main_page for seen in page.observations
    }
    return date in times | {re.sub(r"\.\d+Z", "Z", time) for time in times}


def _chain_failures(certificate: StatedCertificate) -> Iterator[FailedCheck]:
    """The form of the place in the chain of certificates; `certificate log verify` checks its content."""
    previous = certificate.previous
    is_first = certificate.sequence == 1
    if certificate.sequence < 1 or is_first != (previous is None):
        yield FailedCheck(page=None, what="its number in the chain of the site's certificates is wrong")
    if previous is not None and not (previous.capture and _SHA256.fullmatch(previous.certificate)):
        yield FailedCheck(page=None, what="the certificate before it is not named by a digest")


def _json_object(raw: bytes) -> dict[str, Any] | None:
    """A JSON object; None for anything else, also if a name is there twice: readers differ in which one counts."""
    try:
        value = json.loads(raw, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is there twice")
    return value
