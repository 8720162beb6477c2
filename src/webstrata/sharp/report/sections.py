"""The sections of a report that are about the capture as a whole: counts, rules of the capture, signature, checks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from webstrata.sharp.proof.stated_certificate import StatedCertificate
from webstrata.sharp.report.tables import link, text
from webstrata.sharp.report.words import number, pages

_POLICY_NAMES = {
    "algorithm": "schedule",
    "layer": "compared layer",
    "tau": "confidence of intervals",
    "delay_s": "seconds between requests",
    "scope": "which links belong to the site",
    "seeds": "start addresses",
    "sharp": "visited and revisited",
    "conditional_requests": "conditional requests allowed",
    "rendered": "rendered in a browser",
    "repair": "further passes allowed",
    "requisites": "images, styles and scripts captured",
    "reversion": "share of changes that restore an earlier content",
}
_MAX_ITEMS = 200


class ReportedSignature(Struct, frozen=True, kw_only=True):
    """The signature of the package as it states itself; it is not checked here."""

    form: str
    fingerprint: str = ""
    domain: str = ""
    created: str = ""
    is_stamped: bool = False


def stated_signature(signed: object) -> ReportedSignature:
    """`signedData` of `datapackage-digest.json`, which may be missing or altered."""
    if not isinstance(signed, dict):
        return ReportedSignature(form="The package is not signed.")
    fields: dict[str, str] = {name: value for name, value in signed.items() if isinstance(value, str)}
    created, is_stamped = fields.get("created", ""), bool(fields.get("timeSignature"))
    if fields.get("domainCert"):
        form, domain = "WACZ Auth, with the certificate of a domain", fields.get("domain", "")
        return ReportedSignature(form=form, domain=domain, created=created, is_stamped=is_stamped)
    try:
        key = base64.b64decode(fields.get("publicKey", ""), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    return ReportedSignature(
        form="WACZ Auth, with a key of the signer (ECDSA, SHA-256)",
        fingerprint=f"sha256:{hashlib.sha256(key).hexdigest()}" if key else "",
        created=created,
        is_stamped=is_stamped,
    )


def counts(capture: StatedCertificate) -> Iterator[str]:
    """The numbers of pages by verdict, layer and state of their files."""
    found = capture.counts
    yield _tiles([(name, count, name) for name, count in found.by_verdict.items() if count or name == "sharp"])
    expected = f"{number(found.expected_sharp):,.1f}"
    yield f'<p class="note">{pages(found.pages)} in all; {expected} were expected to be sharp.</p>\n'
    if not capture.is_sharp_capture:
        return
    yield "<h3>Sharp at this instant, if another layer decides</h3>\n"
    layers = {"raw": "all bytes", "visible": "text and links", "main": "useful content"}
    yield _tiles([(name, found.sharp_by.get(layer, 0), "") for layer, name in layers.items()])
    if any(found.composite.values()):
        yield "<h3>Sharp pages together with the files that they load</h3>\n"
        order = ("sharp", "coherent", "violative", "unknown")
        kinds = {"sharp": "sharp", "coherent": "sharp", "violative": "blurred", "unknown": "error"}
        yield _tiles([(name, found.composite.get(name, 0), kinds[name]) for name in order])
        yield (
            '<p class="note">sharp: all files were the same before and after the instant; coherent: their servers '
            "state that they were not modified since; violative: a file is known to be from another time; unknown: "
            "nothing shows it.</p>\n"
        )


def _tiles(entries: Sequence[tuple[str, int, str]]) -> str:
    items = "".join(f'<li class="{kind}"><b>{count:,}</b>{text(name)}</li>' for name, count, kind in entries)
    return f'<ul class="tiles">{items}</ul>\n'


def policy(capture: StatedCertificate) -> str:
    """The rules of the capture."""
    stated = msgspec.to_builtins(capture.policy)
    rows = [(_POLICY_NAMES.get(name, name), _value(value)) for name, value in stated.items()]
    return facts(rows)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        more = f"<br>and {len(value) - _MAX_ITEMS:,} more" if len(value) > _MAX_ITEMS else ""
        return "<br>".join(link(str(item)) for item in value[:_MAX_ITEMS]) + more
    return text(value)


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """A table of names and values; the values are HTML."""
    written = "".join(f"<tr><th>{text(name)}</th><td>{value}</td></tr>\n" for name, value in rows if value)
    return f'<table class="facts">\n{written}</table>\n'


def signature(capture: StatedCertificate, signed: ReportedSignature) -> str:
    """Who signed, the place of the certificate in its chain, and the digests of the package."""
    previous = capture.previous
    chain = f"number {capture.sequence:,} of {text(capture.site)}"
    if previous is not None:
        chain += f", after {text(previous.capture)}<br><code>{text(previous.certificate)}</code>"
    files = list(capture.archive.files.items())
    listed = "<br>".join(f"{text(path)} <code>{text(digest)}</code>" for path, digest in files[:_MAX_ITEMS])
    more = f"<br>and {len(files) - _MAX_ITEMS:,} more" if len(files) > _MAX_ITEMS else ""
    return facts(
        [
            ("signature", text(signed.form)),
            ("fingerprint of the key", f"<code>{text(signed.fingerprint)}</code>" if signed.fingerprint else ""),
            ("domain", text(signed.domain)),
            ("signed at, as the signer states", text(signed.created)),
            ("time stamp of an authority", "present" if signed.is_stamped else "none"),
            ("place in the chain", chain),
            ("records", f"{capture.archive.records:,}, <code>sha256:{text(capture.archive.sha256)}</code>"),
            ("files", listed + more),
        ]
    )


def checks(file: str, signed: ReportedSignature) -> Iterator[str]:
    """How to check the capture, with and without Webstrata."""
    name = shlex.quote(file)
    yield "<p>This page repeats what the certificate states. It is not a check. These commands are:</p>\n"
    yield "<h3>With Webstrata</h3>\n"
    yield _commands(f"webstrata certificate verify {name}")
    yield "<h3>With one Python file that shares no code with Webstrata</h3>\n"
    yield _commands(f"webstrata certificate verifier > verify_capture.py\npython3 verify_capture.py {name}")
    if signed.fingerprint:
        yield "<h3>The signature, with openssl</h3>\n"
        yield _commands(_OPENSSL.format(file=name))
        yield (
            '<p class="note">The first two lines must print the same digest, the third the fingerprint above, and the '
            "last “Verified OK”.</p>\n"
        )
    yield "<h3>The package and its pages, with tools of others</h3>\n"
    yield _commands(
        f"wacz validate -f {name}                    # py-wacz: structure and digests\n"
        f"wb-manager init copy\nwb-manager add --unpack-wacz copy {name}\nwayback"
        "                                    # pywb: shows the pages at http://localhost:8080/copy/"
    )
    yield "<p>ReplayWeb.page opens the file in a browser.</p>\n"


_OPENSSL = """unzip -p {file} datapackage-digest.json > digest.json
unzip -p {file} datapackage.json | sha256sum
jq -j .signedData.hash digest.json > hash.txt; cat hash.txt; echo
jq -r .signedData.publicKey digest.json | base64 -d > key.der; sha256sum key.der
hex=$(jq -r .signedData.signature digest.json | base64 -d | od -An -v -tx1 | tr -d ' \\n')
printf 'asn1=SEQUENCE:s\\n[s]\\nr=INTEGER:0x%s\\ns=INTEGER:0x%s\\n' \\
  "$(echo $hex | cut -c1-96)" "$(echo $hex | cut -c97-192)" > signature.cnf
openssl asn1parse -genconf signature.cnf -noout -out signature.der
openssl dgst -sha256 -keyform DER -verify key.der -signature signature.der hash.txt"""


def _commands(lines: str) -> str:
    return f"<pre>{text_lines(lines)}</pre>\n"


def text_lines(lines: str) -> str:
    """Several lines as HTML."""
    return "\n".join(text(line) for line in lines.split("\n"))
