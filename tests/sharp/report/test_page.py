"""The report of a capture: what it says, that hostile values stay text, and that large captures stay readable."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from selectolax.lexbor import LexborHTMLParser

from tests.sharp.report.certified_site import SITE, certificate, history, seen
from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate import UnfinishedCapture
from webstrata.sharp.report.page import capture_report
from webstrata.sharp.report.sections import _OPENSSL
from webstrata.sharp.report.style import POLICY, SCRIPT
from webstrata.sharp.report.tables import MAX_EVIDENCE

KEY = base64.b64encode(b"a public key").decode()
SIGNED = {"hash": "sha256:1", "created": "2026-11-18T10:19:10Z", "publicKey": KEY, "signature": "", "software": "w"}


def report(document: dict[str, Any], signed: object = SIGNED) -> LexborHTMLParser:
    return LexborHTMLParser(capture_report(document, signed, file="site.wacz"))


def words(page: LexborHTMLParser, selector: str = "body") -> str:
    return " ".join(" ".join(node.text(separator=" ").split()) for node in page.css(selector))


def test_what_is_proved() -> None:
    """The first sentence names the number of pages, the instant and what was equal."""
    proved = words(report(certificate()), ".proof")
    assert proved == (
        "These 6 pages existed together from 10:17:45 to 10:17:57 UTC on 18 November 2026 with exactly this text and "
        "these links."
    )
    anchored = [history("/", seen(0, "x"), seen(20, "x")), history("/one", seen(10, "y"))]
    assert words(report(certificate(anchored)), ".proof").startswith("These 2 pages existed together at 10:17:10 UTC")
    alone = [history("/", seen(0, "x"), seen(20, "x"))]
    assert words(report(certificate(alone, policy={"layer": "raw"})), ".proof").startswith("This page existed from")


def test_nothing_is_proved_without_revisits() -> None:
    """A single pass, and a capture without an instant, prove nothing, and the report says so."""
    single = [history("/", seen(0, "x")), history("/a", seen(5, "y"))]
    page = report(certificate(single, policy={"sharp": False}))
    assert "downloaded once. This proves of no two of them" in words(page, ".proof.none")
    page = report(certificate([history("/gone", seen(0, "", status=404, kind="absent"))]))
    assert "Of none of the pages (1 page in all) is it proved" in words(page, ".proof.none")


def test_the_limits_of_the_proof() -> None:
    """Layer, caches, script shells, changes and back, contradictions, clock and key are named."""
    limits = words(report(certificate()), ".limits")
    for expected in (
        "Not compared was how pages look",
        "1 page came from a cache whose copy was older",
        "1 page consists of scripts",
        "changed and changed back",
        "Nothing is proved about the other 5 pages",
        "2 pages of the proved ones load files that are known to be from another time",
        "clock of the computer that made the capture. No time-stamp authority",
        "compare the fingerprint of the key",
    ):
        assert expected in limits
    stamped = words(report(certificate(), SIGNED | {"timeSignature": "AA=="}), ".limits")
    assert "A time-stamp authority confirms" in stamped


def test_the_limits_with_one_other_page() -> None:
    """One page that is not proved is named in the singular."""
    proved = [history("/", seen(0, "home"), seen(115, "home")), history("/a", seen(5, "a"), seen(110, "a"))]
    gone = history("/gone", *(seen(at, "", status=404, kind="absent") for at in (30, 85)))

    limits = words(report(certificate([*proved, gone])), ".limits")

    assert "Nothing is proved about the other page of the capture." in limits


def test_every_page_with_its_evidence() -> None:
    """Each page has its verdict, reason, times, status, equal layers, marks and all observations."""
    document = certificate()
    page = report(document)
    rows = {words_of.partition(" ")[0]: words_of for words_of in (_row(row) for row in page.css(".list tbody tr"))}
    assert len(rows) == len(document["pages"]) + len(document["requisites"])
    assert "blurred" in rows[f"{SITE}/news"]
    assert "its content changed between visit and revisit" in rows[f"{SITE}/news"]
    assert "≠ bytes ≠ text ≠ links" in rows[f"{SITE}/news"]
    assert "≠ bytes = text = links" in rows[f"{SITE}/about"]
    assert "with its files: contradicted by 1 file" in rows[f"{SITE}/about"]
    assert "the server closed the connection" in rows[f"{SITE}/far"]
    assert "it was not requested" in rows[f"{SITE}/later"]
    assert "cached" in rows[f"{SITE}/cached"]
    assert "2026-11-18 10:17:25" in rows[f"{SITE}/news"]
    assert "2026-11-18 10:18:30" in rows[f"{SITE}/news"]
    everything = words(page)
    for entry in (*document["pages"], *document["requisites"]):
        for observation in entry["observations"]:
            stated = [observation["started"], observation.get("record", ""), *observation.get("layers", {}).values()]
            assert all(value in rows[entry["url"]] for value in stated)
    assert hashlib.sha256(b"a public key").hexdigest() in everything
    assert document["statement"] in everything
    assert '"css:.clock"' in words(page, "pre")


def _row(row: Any) -> str:
    first, *others = (" ".join(cell.text(separator=" ").split()) for cell in row.css("td"))
    return " ".join([others[0], first, *others[1:]])


def test_a_capture_that_was_cut_short() -> None:
    """The report says why, and what is missing."""
    gap = UnfinishedCapture(why="the time limit", not_visited=3, not_revisited=1, not_discovered=12)
    assert words(report(certificate(unfinished=gap)), ".alarm") == (
        "The capture was cut short: the time limit. 3 pages not visited, 1 page not revisited, about 12 pages not "
        "discovered."
    )


HOSTILE = "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m'\"&"


def test_hostile_values_stay_text() -> None:
    """Markup in titles, URLs, reasons, rules and headers is shown as text, and other addresses are no links."""
    rows = [
        history("javascript:alert(1)", seen(0, HOSTILE), seen(20, HOSTILE)),
        history(f"{SITE}/{HOSTILE}", seen(1, "x", content_type=HOSTILE, cache=HOSTILE), seen(19, "x")),
        history("data://x/,<b>", seen(2, "", status=500, kind="error", why=HOSTILE), rules={HOSTILE: [HOSTILE]}),
        history("/r", *(seen(at, "", status=302, kind="redirect", target="javascript:a()") for at in (3, 18))),
    ]
    document = certificate(rows, title=HOSTILE, policy={"seeds": (f"javascript:{HOSTILE}",), "scope": HOSTILE})
    document["statement"] = document["site"] = document["software"] = HOSTILE
    page = report(document, SIGNED | {"created": HOSTILE})
    scripts = page.css("script")
    assert [script.text() for script in scripts] == [SCRIPT]
    assert not page.css("img, b[onerror], [onerror], iframe, object, base, link")
    addresses = {node.attributes["href"] for node in page.css("[href]")}
    assert all(address and address.startswith(("https://example.org/", "https://other.")) for address in addresses)
    assert page.css("title")[0].text() == HOSTILE.replace("\u202e", "\ufffd").replace("\x1b", "\ufffd")
    assert "\u202e" not in (page.html or "")
    assert "alert(1)" in words(page)


def test_nothing_is_loaded_and_only_the_filter_runs() -> None:
    """The page has a policy that forbids requests and all scripts but its own, and refers to no other file."""
    page = report(certificate())
    policy = page.css("meta[http-equiv=Content-Security-Policy]")[0].attributes["content"]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert policy == POLICY
    assert f"script-src 'sha256-{digest}';" in POLICY
    assert POLICY.startswith("default-src 'none';")
    assert not page.css("[src]")


def test_ten_thousand_pages() -> None:
    """All pages are listed; the requests of the first ones are, and the report says of how many they are not."""
    rows = [history(f"/{number}", seen(0, f"{number}"), seen(60, f"{number}")) for number in range(9_990)]
    rows += [history(f"/new{number}", seen(1, "a"), seen(59, "b")) for number in range(10)]
    html = capture_report(certificate(rows), SIGNED, file="site.wacz")
    page = LexborHTMLParser(html)
    assert len(page.css(".list tbody tr")) == 10_002
    assert len(html) < 16_000_000
    assert len(page.css("tr:has(.seen)")) == MAX_EVIDENCE
    assert all(row.css(".seen") for row in page.css("tr:has(.blurred)"))
    assert f"the requests of {10_002 - MAX_EVIDENCE:,} pages and files are not listed" in words(page, ".note")


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"type": "other"},
        {"pages": {}},
        {"counts": None},
        {"policy": {}},
        {"pages": [{"url": 1, "observations": []}]},
        {"instant": {"from": None, "to": "x"}},
    ],
)
def test_certificates_that_are_none(change: dict[str, Any]) -> None:
    """An altered certificate, or one of another version, gives one sentence."""
    with pytest.raises(UsageError, match="certificate"):
        report(certificate() | change)


@pytest.mark.parametrize("change", [{"instant": {"from": "yesterday", "to": "never"}}, {"issued": "9" * 30}])
def test_odd_values_are_shown(change: dict[str, Any]) -> None:
    """Times that mean nothing do not stop the report."""
    assert report(certificate() | change).css("h1")


def test_visits_that_do_not_exist() -> None:
    """An index of an observation that does not exist is shown as no observation."""
    document = certificate()
    for page in document["pages"]:
        page["visit"], page["revisit"] = 99, -1
    assert "–" in words(report(document), ".list td")


@pytest.mark.parametrize(
    ("signed", "expected"),
    [
        (None, "The package is not signed."),
        ("x", "The package is not signed."),
        ({"publicKey": "%"}, "with a key of the signer"),
        ({"domain": "example.org", "domainCert": "PEM"}, "with the certificate of a domain"),
    ],
)
def test_forms_of_signatures(signed: object, expected: str) -> None:
    """The form of the signature is named; without a key of its own there is no recipe for openssl."""
    page = report(certificate(), signed)
    assert expected in words(page, ".facts")
    assert "openssl" not in words(page, "pre")


@pytest.mark.skipif(not all(map(shutil.which, ("openssl", "jq", "unzip"))), reason="needs openssl, jq and unzip")
def test_the_recipe_for_openssl_works(tmp_path: Path) -> None:
    """The commands on the page verify a real signature, and reject one of another text."""
    key = ec.generate_private_key(ec.SECP384R1())
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    datapackage = b'{"profile": "data-package"}'
    digest = f"sha256:{hashlib.sha256(datapackage).hexdigest()}"
    r, s = decode_dss_signature(key.sign(digest.encode(), ec.ECDSA(hashes.SHA256())))
    signature = base64.b64encode(r.to_bytes(48, "big") + s.to_bytes(48, "big")).decode()
    signed = {"hash": digest, "publicKey": base64.b64encode(public).decode(), "signature": signature}
    page = report(certificate(), signed)
    recipe = next(unescape(node.text()) for node in page.css("pre") if "openssl" in node.text())
    assert recipe == _OPENSSL.format(file="site.wacz")
    for stated, expected in ((digest, "Verified OK"), (digest[:-1] + "x", "Verification failure")):
        with ZipFile(tmp_path / "site.wacz", "w") as package:
            package.writestr("datapackage.json", datapackage)
            package.writestr("datapackage-digest.json", _json({"signedData": signed | {"hash": stated}}))
        run = subprocess.run(["sh", "-c", recipe], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert expected in run.stdout.splitlines()[-1] + run.stderr, run.stdout + run.stderr
        assert hashlib.sha256(public).hexdigest() in run.stdout


def _json(document: object) -> bytes:
    return msgspec.json.encode(document)
