"""Verifies a capture of a web site: a WACZ file with a certificate of Webstrata, version 2.

    python verify_capture.py CAPTURE.wacz [--key FINGERPRINT] [--json]

It needs Python 3.11 and the package `cryptography` (and `brotli` or `zstandard` if pages were sent so compressed). It
shares no code with Webstrata. It trusts no statement of the certificate that it can derive from the archived records
themselves. The first line names the signer; --key requires a certain key. Exit code 0: valid, 1: not valid.

What it does NOT check:
- the layers `main`, `data` and `selected`: a page that is sharp only by one of them is reported as "not confirmed"
- which requisites a page has (`parts`), how probable changes are, the texts `why` and `statement`, titles in page lists
- `ended` of a request beyond `started` <= `ended`: WARC records state only when a request began
- the chain of certificates of a domain up to a root, and the authority of a time stamp (`openssl ts -verify` does)
- the previous certificates that `previous` names (`webstrata certificate log verify` does)
"""

import base64
import contextlib
import hashlib
import importlib
import json
import mmap
import re
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

MOST_FILES, MOST_JSON, MOST_RECORD = 1000, 1 << 29, 1 << 30
"""Limits: files in the package; bytes of a JSON or index file; bytes of a record or body after decompression."""
MOST_GROWTH, FREE_GROWTH = 200, 1 << 28
"""All records of a WARC file have at most FREE_GROWTH + MOST_GROWTH × (its size) bytes after decompression."""
PACKAGE, DIGEST, CERTIFICATE = "datapackage.json", "datapackage-digest.json", "proof/certificate.json"
FILES = r"archive/[\w.-]+\.warc\.gz|indexes/index\.(cdx\.gz|idx)|pages/(pages|extraPages)\.jsonl"
CACHES = "X-Cache", "X-Cache-Status", "CF-Cache-Status", "X-Varnish-Cache", "X-Proxy-Cache", "Cache-Status"
RAW, VISIBLE = ("raw",), ("visible_text", "links")
GROUPS: dict[str, list[tuple[str, ...]]] = {"visible": [VISIBLE, RAW], "raw": [RAW], "links": [("links",), RAW]}
GROUPS |= {name: [(name,), VISIBLE, RAW] for name in ("main", "data", "selected")}
GROUPS["auto"] = [("selected",), ("data",), ("main",), VISIBLE, RAW]
VERDICTS = "sharp", "blurred", "absent", "error", "unreachable", "unvisited"


class ArchivedRecord(NamedTuple):
    """A WARC record, and where it is."""

    file: str
    offset: int
    length: int
    fields: dict[str, str]
    status: int
    head: list[tuple[str, str]]
    """The fields of its HTTP head: names in lower case."""
    sha256: str

    def of(self, name: str) -> str:
        return self.fields.get(name, "").strip("<>")

    def http(self, name: str) -> str:
        return next((value for known, value in self.head if known == name), "")

    def media_type(self) -> str:
        """The Content-Type of what was sent."""
        return self.http("content-type") if self.head else self.fields.get("content-type", "")


class PackageCheck:
    """The check of one file; `failures` collects (page or file, what is wrong)."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.failures: list[tuple[str | None, str]] = []
        self.report: dict[str, Any] = {"signature": "missing", "key": None, "signer": None, "trusted": None}
        self.report |= {"time_stamp": None, "pages": 0, "sharp": 0, "cached": 0, "script_shells": 0}
        self.report |= {"layer": None, "instant": None}
        self.files: dict[str, memoryview] = {}
        self.records: dict[str, ArchivedRecord] = {}
        self.scans: dict[tuple[str, str, bool], tuple[dict[str, str], bool]] = {}

    def fail(self, page: str | None, what: str) -> None:
        self.failures.append((page, what))

    def run(self, data: mmap.mmap) -> None:
        """Every step; a step that cannot read its input is a failure, and the others still run."""
        try:
            self.files = unzip(data)
            self.package = parsed(self.files[PACKAGE])
            self.digest = parsed(self.files[DIGEST])
            self.certificate = parsed(self.files[CERTIFICATE])
            self.instant = self.certificate["instant"]
        except Exception as problem:
            return self.fail(None, f"the package cannot be read: {told(problem)}")
        steps = self.check_files, self.check_signature, self.check_stamp, self.check_statement, self.check_records
        for step in (*steps, self.check_observations, self.check_verdicts, self.check_index, self.check_page_lists):
            try:
                step()
            except Exception as problem:  # whatever is malformed is a failure, never a crash and never valid
                self.fail(None, f"{step.__name__.replace('_', ' ')}: a field is missing or malformed, {told(problem)}")
        return None

    # ── the package and its signature ───────────────────────────────────────────────────────────────────────────

    def check_files(self) -> None:
        """Files, datapackage.json and the certificate name each other's digests; nothing else is in the package."""
        digests = {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        listed = {one["path"]: (one["hash"], one["bytes"]) for one in self.package["resources"]}
        if len(listed) != len(self.package["resources"]):
            self.fail(PACKAGE, "it lists a file twice")
        for name in sorted((digests.keys() | listed.keys()) - {PACKAGE, DIGEST}):
            if name not in listed:
                self.fail(name, f"the file is not listed in {PACKAGE}")
            elif name not in digests:
                self.fail(name, f"the file is missing; {PACKAGE} lists it")
            elif listed[name] != (digests[name], len(self.files[name])):
                self.fail(name, f"its digest or size is not that of {PACKAGE}")
        certified = self.certificate["archive"]["files"]
        for name in sorted((digests.keys() | certified.keys()) - {PACKAGE, DIGEST, CERTIFICATE}):
            if digests.get(name) != certified.get(name):
                self.fail(name, "it is not the file that the certificate names")
            if not re.fullmatch(FILES, name, re.ASCII):
                self.fail(name, "a capture has no such file")
        if (self.digest["path"], self.digest["hash"]) != (PACKAGE, digests[PACKAGE]):
            self.fail(PACKAGE, f"its digest is not that of {DIGEST}")

    def check_signature(self) -> None:
        """`signedData` (WACZ Signing and Verification 0.1.0): a bare key, or the key of a domain's certificate."""
        signed = self.digest.get("signedData")
        if signed is None:
            return self.fail(DIGEST, "there is no signature (signedData)")
        self.report["signature"] = "invalid"
        value, chain = base64.b64decode(signed["signature"], validate=True), []
        if ("domain" in signed) == ("publicKey" in signed):
            raise ValueError("signedData must have either publicKey or domain")
        if "domain" in signed:
            chain = x509.load_pem_x509_certificates(signed["domainCert"].encode())
            public: Any = chain[0].public_key()
        else:
            public = load_der_public_key(base64.b64decode(signed["publicKey"], validate=True))
            if (
                not isinstance(public, ec.EllipticCurvePublicKey)
                or public.curve.name != "secp384r1"
                or len(value) != 96
            ):
                raise ValueError("not a key and signature of ECDSA with P-384")
            value = utils.encode_dss_signature(int.from_bytes(value[:48], "big"), int.from_bytes(value[48:], "big"))
        own = (
            "sha256:" + hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
        )
        try:
            public.verify(value, signed["hash"].encode(), ec.ECDSA(SHA256()))
        except InvalidSignature:
            return self.fail(DIGEST, "the signature does not match")
        if signed["hash"] != "sha256:" + hashlib.sha256(self.files[PACKAGE]).hexdigest():
            return self.fail(DIGEST, f"the signature is of another package: it does not match {PACKAGE}")
        if (signed["created"], signed["software"]) != (self.package["created"], self.package["software"]):
            self.fail(DIGEST, f"the time or program of the signature is not that of {PACKAGE}")
        if chain and not is_of_domain(chain, signed["domain"], when(signed["created"])):
            return self.fail(DIGEST, f"the certificate is not one of the domain {signed['domain']} at that time")
        self.report |= {"signature": "valid", "key": own, "signer": signed.get("domain")}
        if self.key is not None:
            self.report["trusted"] = own == self.key
            if own != self.key:
                self.fail(DIGEST, f"signed with another key, {own}")
        return None

    def check_stamp(self) -> None:
        """The time stamp (RFC 3161) is of this signature, and later than what was signed."""
        signed = self.digest.get("signedData") or {}
        if signed.get("timeSignature"):
            at = stamped(base64.b64decode(signed["timeSignature"], validate=True), signed["signature"].encode())
            if at is None:
                return self.fail(DIGEST, "the time stamp was refused, or is of another signature")
            self.report["time_stamp"] = at.isoformat().replace("+00:00", "Z")
            if when(self.certificate["issued"]) > at + timedelta(hours=1):
                self.fail(DIGEST, "the time stamp is older than the certificate")
        return None

    def check_statement(self) -> None:
        """The form of the certificate, and what it shares with datapackage.json."""
        stated, package = self.certificate, self.package
        if (stated["type"], stated["version"]) != ("webstrata/capture", 2):
            self.fail(CERTIFICATE, "another type or version; this program verifies version 2")
        self.report |= {"layer": stated["policy"]["layer"], "instant": self.instant}
        if (stated["title"], stated["main_page"]) != (package.get("title"), package.get("mainPageUrl")):
            self.fail(PACKAGE, "its title or main page is not that of the certificate")
        if stated["site"] != "{0.scheme}://{0.netloc}".format(urlsplit(stated["main_page"])):
            self.fail(CERTIFICATE, "the site is not that of the main page")
        previous = stated["previous"]
        known = previous is None or re.fullmatch("sha256:[0-9a-f]{64}", previous["certificate"])
        if not known or (previous is None) != (stated["sequence"] == 1) or stated["sequence"] < 1:
            self.fail(CERTIFICATE, "the place in the chain (previous, sequence) is not valid")
        if when(stated["issued"]) > datetime.now(UTC) + timedelta(days=1):
            self.fail(CERTIFICATE, "issued in the future")
        ends = [when(seen["ended"]) for _, seen in self.observations()]
        if ends and max(ends) > when(stated["issued"]):
            self.fail(CERTIFICATE, "issued before its last observation ended")

    # ── records ─────────────────────────────────────────────────────────────────────────────────────────────────

    def entries(self) -> Iterator[Any]:
        return (entry for name in ("pages", "requisites", "others") for entry in self.certificate[name])

    def observations(self) -> Iterator[tuple[str, Any]]:
        return ((entry["url"], seen) for entry in self.entries() for seen in entry["observations"])

    def check_records(self) -> None:
        """Every record parses, has a name of its own and the right digests; together they are the certified ones."""
        for file in sorted(name for name in self.files if name.startswith("archive/")):
            try:
                for offset, length, plain in members(self.files[file]):
                    self.add_record(file, offset, length, plain)
            except Exception as problem:
                self.fail(file, f"not all of its records can be read: {told(problem)}")
        archive = self.certificate["archive"]
        lines = sorted(f"{name} {record.sha256}\n" for name, record in self.records.items())
        if (len(lines), hashlib.sha256("".join(lines).encode()).hexdigest()) != (archive["records"], archive["sha256"]):
            self.fail(None, "the records are not those that the certificate names")
        for record in self.records.values():
            kind, target = record.fields["warc-type"], self.records.get(record.of("warc-refers-to"))
            if kind == "request" and record.of("warc-concurrent-to") not in self.records:
                self.fail(record.of("warc-target-uri"), "there is a request without its response")
            if kind == "revisit" and (target is None or not refers(record, target)):
                self.fail(record.of("warc-target-uri"), f"{record.of('warc-record-id')} refers to no such record")

    def add_record(self, file: str, offset: int, length: int, plain: bytes) -> None:
        fields, block = warc_record(plain)
        name = fields["warc-record-id"].strip("<>")
        where = fields.get("warc-target-uri", file)
        if name in self.records:
            self.fail(where, f"two records have the id {name}")
        is_http = "application/http" in fields.get("content-type", "")
        status, pairs, body = http_message(block) if is_http else (0, [], block)
        digests = [("warc-block-digest", block)]
        if fields["warc-type"] in ("response", "resource"):
            digests.append(("warc-payload-digest", body))
        elif fields["warc-type"] not in ("warcinfo", "request", "revisit", "metadata"):
            self.fail(where, f"{name} is of the type {fields['warc-type']}, which captures do not have")
        for field, content in digests:
            if fields.get(field, digest_like("sha1:", content)) != digest_like(fields.get(field, "sha1:"), content):
                self.fail(where, f"{field} of {name} is not the digest of its content")
        sha256 = hashlib.sha256(plain).hexdigest()
        self.records[name] = ArchivedRecord(file, offset, length, fields, status, pairs, sha256)

    def scan_of(self, record: ArchivedRecord) -> tuple[dict[str, str], bool]:
        """The layers of what was sent, without content codings, and whether it is a script shell."""
        source = self.original_of(record)
        about = source if record.status == 304 else record
        codings = ",".join(value for name, value in about.head if name == "content-encoding")
        html = is_html(about.media_type())
        key = (source.of("warc-record-id"), codings, html)
        if key not in self.scans:
            packed = self.files[source.file][source.offset : source.offset + source.length]
            block = warc_record(next(members(packed))[2])[1]
            body = without_codings(http_message(block)[2], codings) if source.head else block
            layers, shell = scanned(body) if html else ({}, False)
            self.scans[key] = {"raw": hashlib.sha256(body).hexdigest()} | layers, shell
        return self.scans[key]

    def original_of(self, record: ArchivedRecord) -> ArchivedRecord:
        """The record with the payload."""
        return self.records[record.of("warc-refers-to")] if record.fields["warc-type"] == "revisit" else record

    # ── observations ────────────────────────────────────────────────────────────────────────────────────────────

    def check_observations(self) -> None:
        """Each observation is what its record says; each record belongs to one observation, or is an original."""
        named: Counter[str] = Counter()
        for url, seen in self.observations():
            try:
                named.update(seen[name] for name in ("record", "rendered", "view") if seen.get(name))
                for what in self.contradictions(url, seen):
                    self.fail(url, f"{seen['started']}: {what}")
            except Exception as problem:
                self.fail(url, f"an observation cannot be confirmed: {told(problem)}")
        began = min((when(seen["started"]) for _, seen in self.observations()), default=datetime.now(UTC))
        originals = self.certificate["archive"]["originals"]
        named.update(originals)
        referred = {record.of("warc-refers-to") for record in self.records.values()}
        for name in originals:
            if name not in self.records or name not in referred or when(self.records[name].of("warc-date")) >= began:
                self.fail(None, f"{name} is called an original, but no revisit needs it, or it is of this capture")
        for name, record in self.records.items():
            times = named.pop(name, 0)
            if record.fields["warc-type"] in ("response", "revisit", "resource") and times != 1:
                self.fail(record.of("warc-target-uri"), f"the record {name} is named by {times} observations, not by 1")
        for name in named:
            self.fail(None, f"the certificate names the record {name}, which is not there")

    def contradictions(self, url: str, seen: Any) -> Iterator[str]:
        """Statements of an observation that its records refute."""
        kind, status = seen["kind"], seen["status"]
        if when(seen["started"]) > when(seen["ended"]):
            yield "it ended before it started"
        if "record" not in seen:
            empty = seen.keys() <= {"started", "ended", "status", "kind", "why"}
            if (kind, status) != ("failure", 0) or not empty:
                yield "it has no record, and is not called a failure"
            return
        record = self.records[seen["record"]]
        about = self.original_of(record) if status == 304 else record
        target = absolute(url, record.http("location"))
        modified = http_date(record.http("last-modified"))
        age = record.http("age")
        expected = {
            "url": (url, record.of("warc-target-uri")),
            "status": (status, record.status),
            "started": (seen["started"], record.of("warc-date")),
            "payload": (seen.get("payload", ""), record.of("warc-payload-digest")),
            "content_type": (seen.get("content_type", ""), record.http("content-type") or about.http("content-type")),
            "age_s": (seen.get("age_s"), int(age) if re.fullmatch("[0-9]{1,18}", age) else None),
            "cache": (seen.get("cache", ""), cache_of(record)),
            "last_modified": (when(seen["last_modified"]) if "last_modified" in seen else None, modified),
            "target": (absolute(url, seen.get("target", "")), target if kind == "redirect" else None),
        }
        yield from (
            f"its {name} is not that of the record" for name, (ours, theirs) in expected.items() if ours != theirs
        )
        right = self.kind_of(url, record, target)
        if kind != right and not (kind == "error" and right in ("content", "redirect")):
            yield f"status {record.status} is called {kind}; it is {right}"
        shown = record
        for name, prefix in (("view", "urn:view:"), ("rendered", "urn:dom:")):
            if name in seen:
                shown = self.records[seen[name]]
                if shown.of("warc-target-uri") != prefix + url:
                    yield f"its {name} record is one of another URL"
        stated, (layers, shell) = seen.get("layers", {}), self.scan_of(shown)
        needed = layers.keys() if kind == "content" else layers.keys() & stated.keys()
        wrong = [name for name in (*RAW, *VISIBLE) if stated.get(name) != (layers[name] if name in needed else None)]
        if wrong:
            yield f"its layers {', '.join(wrong)} are not those of the archived content"
        if kind == "content" and bool(seen.get("script_shell")) != shell:
            yield f"its mark script_shell is wrong: the archived content is {'one' if shell else 'none'}"

    def kind_of(self, url: str, record: ArchivedRecord, target: str | None) -> str:
        status, source = record.status, self.original_of(record)
        cut = "warc-truncated" in source.fields
        if status == 304 and source is not record and self.certificate["policy"]["conditional_requests"]:
            return "error" if cut else "content"
        if status in (301, 302, 303, 307, 308):
            return "redirect" if target and target != absolute(url, url) else "error"
        return "absent" if status in (404, 410) else "content" if 200 <= status < 300 and not cut else "error"

    # ── verdicts ────────────────────────────────────────────────────────────────────────────────────────────────

    def check_verdicts(self) -> None:
        """Verdicts, the instant, marks and counts follow from the observations."""
        stated, layer, instant = self.certificate, self.certificate["policy"]["layer"], self.instant
        pages, parts = stated["pages"], {}
        repeated = [url for url, times in Counter(entry["url"] for entry in self.entries()).items() if times > 1]
        for url in repeated:
            self.fail(url, "it is listed twice")
        if instant and when(instant["from"]) > when(instant["to"]):
            self.fail(None, "the instant ends before it begins")
        if sum(judge(page["observations"], instant, layer).anchor for page in pages) > 1:
            self.fail(None, "two pages are each said to be the instant")
        for entry in self.entries():
            if [seen["started"] for seen in entry["observations"]] != sorted(
                seen["started"] for seen in entry["observations"]
            ):
                self.fail(entry["url"], "its observations are not in order")
        for page in pages:
            found = judge(page["observations"], instant, layer)
            for what in page_contradictions(page, found, layer, has_instant=instant is not None):
                self.fail(page["url"], what)
            plain = judge(page["observations"], instant, "visible").verdict
            if found.verdict == "sharp" != plain and layer in ("main", "data", "selected", "auto"):
                self.fail(
                    page["url"], f"not confirmed: sharp only by {page['compared']}, which this program does not compute"
                )
            parts[page["url"]] = found.as_part()
        for entry in stated["requisites"]:
            verdict = part_verdict(entry["observations"], instant)
            parts[entry["url"]] = verdict.removesuffix(" twice")
            if entry["verdict"] != parts[entry["url"]]:
                self.fail(entry["url"], f"it is {parts[entry['url']]}, not {entry['verdict']}")
            parts[entry["url"]] = {"absent twice": "coherent"}.get(verdict, parts[entry["url"]])
        for page in pages:
            sharp = page["verdict"] == "sharp" and stated["policy"]["sharp"]
            if page["composite"] != (composite(page["parts"], parts) if sharp else None):
                self.fail(page["url"], "its composite does not follow from its parts")
        self.check_instant(pages)
        self.check_counts(pages)

    def check_instant(self, pages: list[Any]) -> None:
        sharp = [page for page in pages if page["verdict"] == "sharp"]
        pairs = [(page["observations"][page["visit"]], page["revisit"], page["observations"]) for page in sharp]
        joint = [(visit["ended"], seen[revisit]["started"]) for visit, revisit, seen in pairs if revisit is not None]
        anchors = [(visit["started"], visit["ended"]) for visit, revisit, _ in pairs if revisit is None]
        begin, end = max((when(a) for a, _ in joint), default=None), min((when(b) for _, b in joint), default=None)
        if anchors:
            begin, end = when(anchors[0][0]), when(anchors[0][1])
        given = (when(self.instant["from"]), when(self.instant["to"])) if self.instant else (None, None)
        if given != (begin, end):
            self.fail(None, "the instant is not the time between the visits and revisits of the sharp pages")

    def check_counts(self, pages: list[Any]) -> None:
        stated = self.certificate["counts"]
        sharp = [page for page in pages if page["verdict"] == "sharp"]
        verdicts = [page["composite"]["verdict"] for page in sharp if page["composite"]]
        right = {name: sum(page["verdict"] == name for page in pages) for name in VERDICTS}
        right |= {"pages": len(pages), "requisites": len(self.certificate["requisites"])}
        right |= {"cached": sum(page["cached"] for page in sharp)}
        right |= {"script_shells": sum(page["script_shell"] for page in sharp)}
        self.report |= {name: right[name] for name in ("pages", "sharp", "cached", "script_shells")}
        for name in ("sharp", "coherent", "violative", "unknown"):
            if stated["composite"][name] != verdicts.count(name):
                self.fail(None, f"the counts are wrong: {name} composites")
        for name in ("raw", "visible"):
            right[f"sharp_by {name}"] = sum(
                judge(page["observations"], self.instant, name).verdict == "sharp" for page in pages
            )
        stated = stated | {f"sharp_by {name}": number for name, number in stated["sharp_by"].items()}
        for name, number in right.items():
            if stated[name] != number:
                self.fail(None, f"the counts are wrong: {name} is {number}, not {stated[name]}")

    # ── index and page lists ────────────────────────────────────────────────────────────────────────────────────

    def check_index(self) -> None:
        """The CDXJ index has one right line for each response, revisit and resource, and no other line."""
        file, lines, index = "indexes/index.cdx.gz", [], []
        for offset, length, plain in members(self.files[file]):
            index.append((plain.partition(b" {")[0].decode(), {"offset": offset, "length": length}))
            lines += plain.decode().splitlines()
        meta, *places = bytes(self.files["indexes/index.idx"]).decode().splitlines()
        if not re.match(r"!meta 0 .*\bcdxj-gzip-1\.0\b.*\bindex\.cdx\.gz\b", meta):
            self.fail("indexes/index.idx", "it has no valid first line")
        if [(line.partition(" {")[0], parsed(b"{" + line.partition(" {")[2].encode())) for line in places] != index:
            self.fail("indexes/index.idx", f"it does not name the parts of {file}")
        if lines != sorted(lines, key=lambda line: line.partition(" {")[0]):
            self.fail(file, "its lines are not in order")
        right = {(record.file.partition("/")[2], str(record.offset)): record for record in self.records.values()}
        right = {
            place: record
            for place, record in right.items()
            if record.fields["warc-type"] in ("response", "revisit", "resource")
        }
        for line in lines:
            key, stamp, _ = line.split(" ", 2)
            entry = parsed(b"{" + line.partition(" {")[2].encode())
            record = right.pop((entry.get("filename"), entry.get("offset")), None)
            if record is None:
                self.fail(entry.get("url"), "the index has a line for it that leads to no record, or a second one")
            elif (stamp, entry) != index_line(record) or not fits(key, entry["url"]):
                self.fail(entry.get("url"), "its line in the index is not that of the record")
        for record in right.values():
            self.fail(record.of("warc-target-uri"), f"{record.of('warc-record-id')} is not in the index")

    def check_page_lists(self) -> None:
        """The lists of pages for readers name only captured pages, at times of their records."""
        times = {
            page["url"]: {seen["started"][:19] for seen in page["observations"] if "record" in seen}
            for page in self.certificate["pages"]
        }
        for file in ("pages/pages.jsonl", "pages/extraPages.jsonl"):
            about, *lines = [parsed(line) for line in bytes(self.files.get(file, b"{}")).splitlines()]
            if file in self.files and about.get("format") != "json-pages-1.0":
                self.fail(file, "it has no valid first line")
            for line in lines:
                if line["ts"][:19] not in times.get(line["url"], ()):
                    self.fail(line["url"], f"{file} names it at a time at which it was not captured")
        main, at = self.package.get("mainPageUrl"), self.package.get("mainPageDate")
        if at is not None and at[:19] not in times.get(main, ()):
            self.fail(PACKAGE, "the main page was not captured at mainPageDate")


# ── verdicts of one URL ─────────────────────────────────────────────────────────────────────────────────────────────


class Judged(NamedTuple):
    """What the observations of one URL show about the instant."""

    verdict: str
    visit: int | None
    revisit: int | None
    anchor: bool = False

    def as_part(self) -> str:
        """The verdict of a page that is a part of another page."""
        both = self.visit is not None and self.revisit is not None
        return "sharp" if self.verdict == "sharp" else "violative" if self.verdict == "blurred" and both else "unknown"


def key_of(seen: Any, layer: str) -> tuple[Any, ...] | None:
    """What must be equal in two observations of the same content; None if there is no content."""
    if seen["kind"] == "redirect":
        return "redirect", seen["status"], seen["target"]
    if seen["kind"] != "content":
        return None
    media_type = re.sub(r"[\s\"']", "", seen.get("content_type", "").lower())
    status = 200 if seen["status"] == 304 else seen["status"]
    return "content", status, media_type, *((name, seen["layers"][name]) for name in group_of(seen, layer))


def group_of(seen: Any, layer: str) -> tuple[str, ...]:
    return next(group for group in GROUPS[layer] if all(name in seen["layers"] for name in group))


def judge(seen: list[Any], instant: Any, layer: str) -> Judged:
    """The verdict of a page about the instant, by all its observations."""
    if instant is None:
        return Judged(verdict_of({one["kind"] for one in seen}), None, None)
    begin, end = when(instant["from"]), when(instant["to"])
    exact = [n for n, one in enumerate(seen) if (when(one["started"]), when(one["ended"])) == (begin, end)]
    befores = [n for n, one in enumerate(seen) if when(one["ended"]) <= begin]
    afters = [n for n, one in enumerate(seen) if when(one["started"]) >= end]
    during = [n for n in range(len(seen)) if n not in befores and n not in afters]
    before, after = befores[-1] if befores else None, afters[0] if afters else None
    if before is not None and before == after:  # an observation without duration that is the instant
        during, before, after = [before], None, None
    keys = {key_of(seen[n], layer) for n in (before, after, *during) if n is not None}
    if before is not None and after is not None and len(keys) == 1 and None not in keys:
        return Judged("sharp", before, after)
    if len(during) == 1 and during == exact and key_of(seen[during[0]], layer):
        return Judged("sharp", during[0], None, anchor=True)
    return Judged(verdict_of({seen[n]["kind"] for n in (before, after, *during) if n is not None}), before, after)


def verdict_of(kinds: set[str]) -> str:
    """The verdict of a page that is not sharp."""
    if kinds & {"content", "redirect"}:
        return "blurred"
    return "unvisited" if not kinds else {"failure": "unreachable", "absent": "absent"}.get("".join(kinds), "error")


def part_verdict(seen: list[Any], instant: Any) -> str:
    """The verdict of a requisite; `absent twice` if it was absent before and after the instant."""
    found = judge(seen, instant, "raw")
    if found.verdict == "absent" and found.visit is not None and found.revisit is not None:
        return "absent twice"
    if found.verdict != "blurred" or instant is None:
        return "unknown" if found.verdict == "blurred" else found.verdict
    before, after = (None if n is None else seen[n] for n in (found.visit, found.revisit))
    earlier, later = (key_of(one, "raw") if one else None for one in (before, after))
    if earlier and later and earlier != later:
        return "violative"
    if after and after["kind"] == "content" and "last_modified" in after:
        modified = when(after["last_modified"])
        if modified > when(instant["to"]) and before is None:
            return "violative"
        if modified <= when(instant["from"]):
            return "coherent"
    return "unknown"


def composite(parts: list[str], verdicts: dict[str, str]) -> Any:
    """The verdict of a sharp page with its requisites."""
    violative = [url for url in parts if verdicts[url] == "violative"]
    unknown = [url for url in parts if verdicts[url] not in ("sharp", "coherent", "violative")]
    coherent = any(verdicts[url] == "coherent" for url in parts)
    verdict = "violative" if violative else "unknown" if unknown else "coherent" if coherent else "sharp"
    return {"verdict": verdict, "contradicting": violative, "unknown": unknown}


def page_contradictions(page: Any, found: Judged, layer: str, *, has_instant: bool) -> Iterator[str]:
    """Statements of a page that do not follow from its observations."""
    seen = page["observations"]
    if page["verdict"] != found.verdict:
        yield f"it is {found.verdict}, not {page['verdict']}"
    if has_instant and (page["visit"], page["revisit"]) != (found.visit, found.revisit):
        yield "its visit and revisit are not those around the instant"
    ends = [seen[n] for n in (page["visit"], page["revisit"]) if n is not None]
    kind = ends[0]["kind"] if page["visit"] is not None else None
    names = ["target"] if kind == "redirect" else list(group_of(ends[0], layer)) if kind == "content" else []
    if page["compared"] != names:
        yield f"the compared layers are {names}, not {page['compared']}"
    both = [one.get("layers", {}) for one in ends] if len(ends) == 2 else [{}, {}]
    if page["equal"] != {name: both[0][name] == both[1][name] for name in both[0].keys() & both[1].keys()}:
        yield "the equal layers are not those of its visit and revisit"
    for mark, right in (
        ("cached", any(one.get("age_s", 0) > 0 for one in ends)),
        ("script_shell", any(one.get("script_shell") for one in ends)),
    ):
        if page[mark] != right:
            yield f"its mark {mark} does not follow from its visit and revisit"
    if page["rules"] is None and any("selected" in one.get("layers", {}) for one in seen):
        yield "rules were applied to it, and the certificate does not state them"


# ── ZIP, WARC, HTTP ─────────────────────────────────────────────────────────────────────────────────────────────────


def unzip(data: mmap.mmap) -> dict[str, memoryview]:
    """The files of a ZIP file. They must be stored one after the other, and every other byte must be as expected."""
    wide, end = 0xFFFFFFFF, len(data) - 22
    magic, disk, first, here, count, size, at, comment = struct.unpack("<4s4H2LH", data[max(end, 0) :])
    if (magic, disk, first, comment, here) != (b"PK\5\6", 0, 0, 0, count):
        raise ValueError("the ZIP file does not end with its directory")
    if data[end - 20 : end - 16] == b"PK\6\7":
        short, end = (count, size, at), end - 76
        count, size, at = struct.unpack("<3Q", data[end + 32 : end + 56])
        expected = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, at)
        expected += struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
        if data[end : end + 76] != expected or short != (min(count, 0xFFFF), min(size, wide), min(at, wide)):
            raise ValueError("the ZIP directory was altered (ZIP64)")
    if at + size != end or count > MOST_FILES:
        raise ValueError("the ZIP directory was altered, or there are too many files")
    files: dict[str, memoryview] = {}
    common, view, next_file, directory = set(), memoryview(data), 0, at
    while at < end:
        (magic, made, system, needs, flags, method, clock, day, crc, packed, size, *lengths) = struct.unpack(
            "<4s2B5H3L3H", data[at : at + 34]
        )
        disk, internal, external, start = struct.unpack("<2H2L", data[at + 34 : at + 46])
        name, extra = data[at + 46 : at + 46 + lengths[0]], data[at + 46 + lengths[0] : at + 46 + sum(lengths)]
        longs = [number == wide for number in (size, packed, start)].count(True)
        if len(extra) != 4 * bool(longs) + 8 * longs:
            raise ValueError("the ZIP directory was altered: an entry has further fields")
        values = list(struct.unpack(f"<{longs}Q", extra[4:]))
        size, packed, start = (values.pop(0) if number == wide else number for number in (size, packed, start))
        text = name.decode("ascii", "replace")
        sound = (magic, flags, method, disk, packed, start) == (b"PK\1\2", 0, 0, 0, size, next_file)
        sound = sound and {made, needs} <= {20, 45} and extra[:4] == struct.pack("<2H", 1, 8 * longs)[: 4 * bool(longs)]
        sound = sound and lengths[2] == 0 and external >> 28 in (0, 8)  # no comment; a regular file
        head = struct.pack("<2H2HL", flags, method, clock, day, crc)
        plain = struct.pack("<2L2H", size & wide, size & wide, len(name), 0) + name
        long = struct.pack("<2L2H", wide, wide, len(name), 20) + name + struct.pack("<2H2Q", 1, 16, size, size)
        local = next((rest for rest in (plain, long) if data[start + 18 : start + 18 + len(rest)] == rest), b"")
        local_needs = [struct.pack("<4sH", b"PK\3\4", number) for number in (20, 45)]
        sound = sound and data[start : start + 6] in local_needs and data[start + 6 : start + 18] == head
        next_file = start + 18 + len(local) + size
        content = view[next_file - size : next_file]
        if not sound or not local or zlib.crc32(content) != crc:
            raise ValueError(f"the ZIP entry of {text!r} was altered, or is not stored plainly")
        if not re.fullmatch(r"([A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", text, re.ASCII):
            raise ValueError(f"the file name {text!r} is not allowed")
        if text.lower() in {known.lower() for known in files}:
            raise ValueError(f"there are two files with the name {text!r}")
        common.add((system, clock, day, internal, external))
        files[text], at = content, at + 46 + sum(lengths)
    if (at, next_file, len(files)) != (end, directory, count) or len(common) > 1:
        raise ValueError("the ZIP directory was altered")
    return files


def members(data: memoryview) -> Iterator[tuple[int, int, bytes]]:
    """Offset, length and content of each gzip member; an error at more bytes than the limits allow."""
    at, left = 0, FREE_GROWTH + MOST_GROWTH * len(data)
    while at < len(data):
        start, member, plain = at, zlib.decompressobj(31), bytearray()
        while not member.eof:
            packed = data[at : at + (1 << 20)]
            piece = member.decompress(packed, min(MOST_RECORD, left) + 1 - len(plain))
            plain += piece
            at += len(packed) - len(member.unused_data) - len(member.unconsumed_tail)
            if len(plain) > min(MOST_RECORD, left):
                raise ValueError("a record is too large after decompression")
            if not packed:
                raise ValueError("the last gzip member is not complete")
        left -= len(plain)
        yield start, at - start, bytes(plain)


def warc_record(plain: bytes) -> tuple[dict[str, str], bytes]:
    """The header fields (names in lower case) and the block of a record that is the whole gzip member."""
    head, _, rest = plain.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8").split("\r\n")
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or (name.lower() in fields and name.lower() != "warc-concurrent-to"):
            raise ValueError("a record has a malformed or repeated field")
        fields[name.lower()] = value.strip()
    if version not in ("WARC/1.0", "WARC/1.1") or not re.fullmatch("[0-9]{1,15}", fields["content-length"]):
        raise ValueError("a record has no valid start")
    size = int(fields["content-length"])
    if not re.fullmatch("<[a-z]+:[!-;=?-~]+>", fields["warc-record-id"]) or rest[size:] != b"\r\n\r\n":
        raise ValueError(f"the record {fields['warc-record-id']} has no valid id, or not the stated length")
    return fields, rest[:size]


def http_message(block: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
    """The status, the header fields (names in lower case) and the body of an HTTP response."""
    end = re.search(rb"\r?\n\r?\n", block)
    head, body = (block[: end.start()], block[end.end() :]) if end else (block, b"")
    first, *lines = head.decode("latin-1").split("\n")
    status = re.match(r"HTTP/[0-9.]+ +([0-9]{3})(?![0-9])", first)
    pairs = [line.partition(":") for line in lines]
    return int(status[1]) if status else 0, [(name.strip().lower(), value.strip()) for name, _, value in pairs], body


def without_codings(body: bytes, codings: str) -> bytes:
    """A body without its content codings. A body that is not coded so stays as it is, as in browsers."""
    for coding in reversed([name.strip().lower() for name in codings.split(",")]):
        try:
            if coding in ("gzip", "x-gzip"):
                body = inflated(body, 31)
            elif coding == "deflate":
                body = inflated(body, 15 if body[:1] and body[0] & 15 == 8 else -15)
            elif coding in ("br", "zstd"):
                body = unpacked(body, coding)
            elif coding not in ("", "identity"):
                break
        except zlib.error:
            break
        if len(body) > MOST_RECORD:
            raise ValueError("a body is too large after its content coding is removed")
    return body


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise LookupError(f"a page is compressed: install the Python package {name}, then verify again") from None


def unpacked(body: bytes, coding: str) -> bytes:
    """A body without Brotli or Zstandard."""
    module: Any = library("brotli" if coding == "br" else "zstandard")
    try:
        if coding == "br":
            return bytes(module.Decompressor().process(body, output_buffer_limit=MOST_RECORD + 1))
        reader = module.ZstdDecompressor(max_window_size=1 << 23).stream_reader(body, read_across_frames=True)
        return bytes(reader.read(MOST_RECORD + 1))
    except Exception as problem:
        raise zlib.error(str(problem)) from problem


def inflated(body: bytes, kind: int) -> bytes:
    """All members of a body; a body that ends early gives what it has."""
    out = bytearray()
    while body and len(out) <= MOST_RECORD:
        member = zlib.decompressobj(kind)
        out += member.decompress(body, MOST_RECORD + 1 - len(out))
        body = member.unused_data
    return bytes(out)


def digest_like(stated: str, content: bytes) -> str:
    """The digest of a content in the form of a stated digest: SHA-1 or SHA-256, in base 32 or (SHA-256) in base 16."""
    name, _, value = stated.partition(":")
    if name not in ("sha1", "sha256"):
        raise ValueError(f"the digest {stated} is of another kind than SHA-1 and SHA-256")
    digest = hashlib.new(name, content).digest()
    return f"{name}:" + (digest.hex() if len(value) == 64 else base64.b32encode(digest).decode())


def refers(record: ArchivedRecord, target: ArchivedRecord) -> bool:
    """Whether a revisit states the payload, URL and date of the record that it refers to, which has a payload."""
    digest = record.of("warc-payload-digest")
    same = digest == target.of("warc-payload-digest") != "" and target.fields["warc-type"] in ("response", "resource")
    about = ("warc-refers-to-target-uri", "warc-target-uri"), ("warc-refers-to-date", "warc-date")
    return same and all(record.of(stated) in ("", target.of(own)) for stated, own in about)


def absolute(base: str, location: str) -> str | None:
    """The http(s) URL that a Location header means, without a fragment; None if there is none."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")  # header fields were read as Latin-1
    joined = urljoin(base, re.sub(r"[\t\r\n]", "", location).strip().replace("\\", "/")) if location else ""
    parts = urlsplit(joined)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    path = quote(parts.path or "/", safe="!$%&'()*+,/:;=@[]|~-._") + (f"?{parts.query}" if "?" in joined else "")
    return f"{parts.scheme}://{host}{port}{path}"


def http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def cache_of(record: ArchivedRecord) -> str:
    return "; ".join(f"{name}: {value}" for name in CACHES for own, value in record.head if own == name.lower())


def is_html(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "text/html"


def index_line(record: ArchivedRecord) -> tuple[str, dict[str, str]]:
    """The time stamp and the fields of the record's CDXJ line."""
    kind = record.fields["warc-type"]
    mime = "warc/revisit" if kind == "revisit" else re.split(r"[;\s]", record.media_type())[0]
    cut = record.of("warc-truncated") if kind != "revisit" else ""
    values = record.of("warc-target-uri"), mime, str(record.status or ""), record.of("warc-payload-digest"), cut
    fields = dict(zip(("url", "mime", "status", "digest", "truncated"), values, strict=True))
    fields |= {"length": str(record.length), "offset": str(record.offset), "filename": record.file.partition("/")[2]}
    return re.sub("[^0-9]", "", record.of("warc-date"))[:14], {name: value for name, value in fields.items() if value}


def fits(key: str, url: str) -> bool:
    """Whether a SURT is one of the URL: the host reversed, the path and query equal but for case, order and escapes."""
    scheme, _, rest = url.lower().partition("://")
    if scheme not in ("http", "https"):
        return pieces(key) == pieces(url)
    host, _, port = re.split("[/?]", rest)[0].partition(":")
    reverse = ",".join(reversed(re.sub(r"^www\d*\.", "", host).split(".")))
    reverse += f":{port}" if port not in ("", "80" if scheme == "http" else "443") else ""
    return key.partition(")")[0] == reverse and pieces(key.partition(")")[2]) == pieces(
        rest[len(re.split("[/?]", rest)[0]) :]
    )


def pieces(path: str) -> set[str]:
    """The parts of a path and query, without session ids, which SURTs omit."""
    while (plain := unquote(path)) != path:
        path = plain
    session = r"\(|(?:jsessionid|phpsessid|sid|aspsessionid\w*|cfid|cftoken)="
    return {piece for piece in re.split(r"[/?&;\s]+", path.lower()) if piece and not re.match(session, piece)}


# ── visible text and links: a scan of bytes ─────────────────────────────────────────────────────────────────────────

NAME, VALUE = rb"(=?[^\t\n\f\r />=]++|=)", rb"""("[^"]*"|'[^']*'|(?!["'])[^\t\n\f\r >]*+)"""
IS = rb"[\t\n\f\r ]*+="
ATTRIBUTE = NAME + rb"(?:" + IS + rb"[\t\n\f\r ]*+" + VALUE + rb"|(?!" + IS + rb"))"
TAG = re.compile(rb"<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]|(?>" + ATTRIBUTE + rb"))*+)>")
COMMENT = re.compile(rb"<!-->|<!--->|<!--.*?--!?>", re.DOTALL)
LINKS = (
    b"href src srcset poster data action formaction background cite longdesc xlink:href data-src data-srcset".split()
)
VOID = b"area base br col embed hr img input link meta source track wbr".split()
SHAPES = b"path circle rect line polyline polygon ellipse use stop".split()
TEXTS = b"alt", b"label", b"placeholder", b"srcdoc", b"start", b"title"
DROPPED, KEPT = (b"script", b"style", b"noscript"), (b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes")
INTEGRATION = b"desc", b"foreignobject", b"annotation-xml", b"mi", b"mo", b"mn", b"ms", b"mtext"


class Place:
    """Whether raw text elements are surely read as such: not in select, svg or math, nor where nesting is lost."""

    def __init__(self) -> None:
        self.open: list[bytes] = []
        self.integrations = 0
        self.in_select = self.lost = self.after_template = False

    def is_uncertain(self) -> bool:
        return self.lost or self.in_select or bool(self.open)

    def matters(self, name: bytes) -> bool:
        if not self.open:
            return name in (b"svg", b"math")
        return name not in VOID and (self.integrations > 0 or name not in SHAPES)

    def start(self, name: bytes, attributes: bytes) -> None:
        self.lost |= (name == b"template" and self.in_select) or (name == b"col" and self.after_template)
        self.after_template |= name == b"template"
        self.in_select |= name == b"select"
        last = max((one.end() for one in re.finditer(ATTRIBUTE, attributes)), default=0)
        closes_itself = attributes.endswith(b"/") and last < len(attributes)
        if self.matters(name) and closes_itself:
            self.lost |= self.integrations > 0
        elif self.matters(name):
            self.open.append(name)
            self.integrations += name in INTEGRATION

    def end(self, name: bytes) -> None:
        self.in_select &= name != b"select"
        if self.open and self.matters(name):
            top = self.open.pop()
            self.lost |= top != name
            self.integrations -= top in INTEGRATION


def scanned(body: bytes) -> tuple[dict[str, str], bool]:
    """The layers visible_text and links of an HTML page, and whether it is a script shell."""
    shown: list[bytes] = []
    links: list[bytes] = []
    length = 0  # of all texts
    has_script, place, at = False, Place(), 0

    def text(raw: bytes, *, counts: bool = True) -> None:
        nonlocal length
        clean = b" ".join(raw.split())
        length += len(clean) * counts
        shown.extend([clean] if clean else [])

    if body[:2] in (b"\xfe\xff", b"\xff\xfe") or b"\0" in body or b"\x1b" in body:
        text(body)
        at = len(body)
    while at < len(body):
        next_one = body.find(b"<", at)
        if next_one != at:
            next_one = len(body) if next_one < 0 else next_one
            text(body[at:next_one])
            at = next_one
            continue
        found: re.Match[bytes] | None = None
        if body.startswith(b"<!--", at):
            found = COMMENT.match(body, at)
        elif re.compile(rb"<[!?]|</(?![A-Za-z])").match(body, at):
            found = None if body.startswith(b"<![CDATA[", at) else re.compile(rb"[^>]*>").match(body, at)
        elif re.compile(rb"</?[A-Za-z]").match(body, at):
            found = TAG.match(body, at)
        else:
            next_one = body.find(b"<", at + 1)
            next_one = len(body) if next_one < 0 else next_one
            text(body[at:next_one])
            at = next_one
            continue
        if found is None:
            text(body[at:])
            break
        at = found.end()
        if found.re is not TAG:
            continue
        name, is_end = found[2].lower(), found[1] == b"/"
        if is_end:
            place.end(name)
            continue
        place.start(name, found[3])
        has_script = has_script or name == b"script"
        values: dict[bytes, bytes] = {}
        for one in re.finditer(ATTRIBUTE, found[3]):
            value = one[2] or b""
            values.setdefault(one[1].lower(), value[1:-1] if value[:1] in (b'"', b"'") else value)
        kind = values.get(b"http-equiv", b"").lower()
        says = name in (b"button", b"li", b"meter", b"progress") or (
            name == b"input" and values.get(b"type", b"").lower() != b"hidden"
        )
        for attribute, raw_value in values.items():
            value = b" ".join(raw_value.split())
            if value and (attribute in TEXTS or (attribute == b"value" and says)):
                shown.append(value)
            refresh = name == b"meta" and attribute == b"content" and (kind == b"refresh" or b"&" in kind)
            if refresh or (attribute in LINKS and name not in (b"script", b"link")):
                links.append(attribute + b"=" + value)
        if name == b"plaintext":
            text(body[at:])
            break
        if name in DROPPED or name in KEPT:
            end = re.compile(rb"</" + name + rb"[\t\n\f\r />]", re.IGNORECASE).search(body, at)
            raw = body[at : end.start()] if end else b""
            if (
                not end
                or (place.is_uncertain() and re.search(rb"<[A-Za-z!/?]", raw))
                or (name == b"script" and re.search(rb"(?is)<!--.*<script", raw))
            ):
                text(body[at:])
                break
            if name in KEPT or place.is_uncertain():
                text(raw, counts=name in KEPT and name != b"title")
            at = end.start()
    layers = {"visible_text": hashlib.sha256(b"\n".join(shown)).hexdigest()}
    return layers | {"links": hashlib.sha256(b"\n".join(links)).hexdigest()}, has_script and length < 100


# ── keys, time stamps, JSON, output ─────────────────────────────────────────────────────────────────────────────────


def is_of_domain(chain: list[x509.Certificate], domain: str, at: datetime) -> bool:
    """Whether a chain of certificates, whose root is not checked, begins with one of this domain, valid at a time."""
    with contextlib.suppress(InvalidSignature, TypeError, ValueError, x509.ExtensionNotFound):
        for lower, upper in pairwise(chain):
            lower.verify_directly_issued_by(upper)
        names = chain[0].extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        valid = chain[0].not_valid_before_utc <= at <= chain[0].not_valid_after_utc
        return valid and domain in names.get_values_for_type(x509.DNSName)
    return False


def der(data: bytes) -> list[bytes]:
    """The contents of consecutive DER elements."""
    contents: list[bytes] = []
    while data:
        wide = data[1] & 127 if data[1] > 127 else 0
        end = 2 + wide + (int.from_bytes(data[2 : 2 + wide], "big") if wide else data[1])
        if end > len(data):
            raise ValueError("a DER element is not complete")
        contents, data = [*contents, data[2 + wide : end]], data[end:]
    return contents


def stamped(response: bytes, content: bytes) -> datetime | None:
    """The time in TimeStampResp > SignedData > TSTInfo, if its messageImprint is the SHA-256 of the content."""
    status, token = der(der(response)[0])[:2]
    signed_data = der(der(der(token)[1])[0])
    info = der(der(der(der(signed_data[2])[1])[0])[0])
    algorithm, digest = der(info[2])
    sha256 = bytes.fromhex("608648016503040201")  # the object identifier 2.16.840.1.101.3.4.2.1
    if (
        der(status)[0] not in (b"\0", b"\1")
        or der(algorithm)[0] != sha256
        or digest != hashlib.sha256(content).digest()
    ):
        return None
    return datetime.strptime(info[4][:14].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)


@lru_cache(maxsize=100_000)
def when(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.utcoffset() != timedelta(0):
        raise ValueError(f"{text} is not a time in UTC")
    return moment


def parsed(data: memoryview | bytes) -> Any:
    """A JSON document without fractional numbers and repeated names: what every program reads in the same way."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a JSON object has a name twice")
        return dict(pairs)

    def refuse(text: str) -> Any:
        raise ValueError(f"a JSON document has the number {text}")

    if len(data) > MOST_JSON:
        raise ValueError("a JSON document is too large")
    return json.loads(bytes(data), object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse)


def told(problem: Exception) -> str:
    return f"{type(problem).__name__} {problem}" if isinstance(problem, LookupError | TypeError) else str(problem)


def check(path: str | Path, key: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """The report as a JSON document, and its failures as lines of text."""
    checked = PackageCheck(key)
    try:
        with Path(path).open("rb") as file:
            checked.run(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as problem:
        checked.fail(None, f"the file cannot be opened: {problem}")
    report = {"valid": not checked.failures} | checked.report
    report["failures"] = [{"page": page, "what": what} for page, what in checked.failures]
    return report, [f"{page}: {what}" if page else what for page, what in checked.failures]


def lines_of(report: dict[str, Any], failures: list[str]) -> list[str]:
    """The report for people; the first line says who signed."""
    known = {True: "the required key", False: "NOT the required key", None: "a key that this program does not know"}
    who = f"{report['signer']} (its certificate's root was not checked), with " if report["signer"] else ""
    signed = f"signed by {who}{known[report['trusted']]}: {report['key']}"
    lines = [signed if report["signature"] == "valid" else f"the signature is {report['signature']}", *failures]
    if report["time_stamp"]:
        lines.append(f"time stamp of {report['time_stamp']} (its authority was not checked)")
    if failures:
        return [*lines, f"NOT VALID: {len(failures)} failures"]
    instant = "{from} to {to}".format(**report["instant"]) if report["instant"] else "no instant"
    lines.append(f"valid: {report['sharp']} of {report['pages']} pages sharp by {report['layer']} as of {instant}")
    return [*lines, f"of these, {report['cached']} from caches and {report['script_shells']} that are made by scripts"]


def main(words: list[str]) -> int:
    as_json, words = "--json" in words, [word for word in words if word != "--json"]
    if not (len(words) == 1 or (len(words) == 3 and words[1] == "--key")) or words[0].startswith("-"):
        print(__doc__)
        return 2
    report, failures = check(words[0], words[2] if len(words) == 3 else None)
    text = json.dumps(report, indent=1) if as_json else "\n".join(lines_of(report, failures))
    print("".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
