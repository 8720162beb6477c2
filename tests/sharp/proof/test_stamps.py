"""Time stamps of a real authority (OpenSSL): accepted, and those that are not."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import ssl
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from rfc3161_client import decode_timestamp_response

from tests.sharp.proof.stamp_authority import StampAuthority
from webstrata.errors import UsageError
from webstrata.sharp.proof.signature import PackageSigner, new_key
from webstrata.sharp.proof.timestamp import checked_stamp, request, stamped
from webstrata.sharp.proof.wacz_auth import checked_signature

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")

SIGNATURE = base64.b64encode(bytes(range(96))).decode()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> StampAuthority:
    return StampAuthority(tmp_path_factory.mktemp("stamps") / "one")


@pytest.fixture(scope="module")
def stamp(authority: StampAuthority) -> dict[str, str]:
    return stamped(SIGNATURE, authority.respond(request(SIGNATURE)), "the authority")


def _token(stamp: dict[str, str]) -> bytes:
    return base64.b64decode(stamp["timeSignature"])


def test_stamp_of_a_known_authority(authority: StampAuthority, stamp: dict[str, str]) -> None:
    """Its chain is listed from the signer to the root; it is trusted if the root is given, and has the present time."""
    chain = [
        pem + "-----END CERTIFICATE-----" for pem in stamp["timestampCert"].split("-----END CERTIFICATE-----")[:-1]
    ]
    own, root = (ssl.PEM_cert_to_DER_cert(pem.decode().strip()) for pem in (authority.certificate, authority.root))
    assert [ssl.PEM_cert_to_DER_cert(pem.strip()) for pem in chain] == [own, root]
    checked = checked_stamp(SIGNATURE, stamp["timeSignature"], stamp["timestampCert"], [authority.root])
    assert (checked.problem, checked.is_trusted) == ("", True)
    assert checked.at is not None
    assert abs(checked.at - time.time()) < 3600
    unnamed = checked_stamp(SIGNATURE, stamp["timeSignature"], stamp["timestampCert"])
    assert (unnamed.problem, unnamed.is_trusted, unnamed.at) == ("", False, checked.at)


def test_openssl_verifies_the_stamp(authority: StampAuthority, stamp: dict[str, str], tmp_path: Path) -> None:
    """`openssl ts -verify` accepts the stored response as a stamp of the text of the signature, and of no other."""
    files = {"stamp.tsr": _token(stamp), "signature": SIGNATURE.encode(), "root.pem": authority.root}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    words = ["openssl", "ts", "-verify", "-data", "signature", "-in", "stamp.tsr", "-CAfile", "root.pem"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "signature").write_bytes(base64.b64decode(SIGNATURE))
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode != 0


def test_stamp_of_another_authority(authority: StampAuthority, stamp: dict[str, str], tmp_path: Path) -> None:
    """An authority that is not named is refused, also one whose certificates have the same names."""
    other = StampAuthority(tmp_path / "other")
    refused = checked_stamp(SIGNATURE, stamp["timeSignature"], stamp["timestampCert"], [other.root])
    assert "is not one of the trusted ones" in refused.problem
    assert not refused.is_trusted
    both = checked_stamp(SIGNATURE, stamp["timeSignature"], stamp["timestampCert"], [other.root, authority.root])
    assert both.is_trusted
    listed = checked_stamp(SIGNATURE, stamp["timeSignature"], other.certificate.decode())
    assert listed.problem == "timestampCert is not the certificate that signed the time stamp"


def test_stamp_of_another_signature(authority: StampAuthority, stamp: dict[str, str]) -> None:
    """A stamp belongs to one signature: it is refused for others, by us and when it is requested."""
    other = base64.b64encode(bytes(96)).decode()
    problem = checked_stamp(other, stamp["timeSignature"], stamp["timestampCert"], [authority.root]).problem
    assert problem == "the time stamp is for another signature"
    with pytest.raises(UsageError, match="the authority gave no time stamp: the time stamp is for another signature"):
        stamped(other, _token(stamp), "the authority")


def test_altered_stamps(authority: StampAuthority, stamp: dict[str, str]) -> None:
    """A stamp with another digest or another time is refused also without the root: its own signature is checked."""
    token, other = _token(stamp), base64.b64encode(bytes(96)).decode()
    old, new = (hashlib.sha256(text.encode()).digest() for text in (SIGNATURE, other))
    earlier = re.sub(rb"(?<=\x18\x0f)\d{14}Z", b"20010101000000Z", token)  # GeneralizedTime
    for text, altered in ((other, token.replace(old, new)), (SIGNATURE, earlier)):
        assert altered != token
        for roots in ([], [authority.root]):
            encoded = base64.b64encode(altered).decode()
            assert "not valid" in checked_stamp(text, encoded, stamp["timestampCert"], roots).problem


@pytest.mark.parametrize("size", [0, 1, 9, 60, 500])
def test_truncated_stamps(stamp: dict[str, str], size: int) -> None:
    """The begin of a response, an error page and a refusal are no stamps."""
    with pytest.raises(UsageError, match="cannot be parsed"):
        stamped(SIGNATURE, _token(stamp)[:size], "the authority")
    with pytest.raises(UsageError, match="cannot be parsed"):
        stamped(SIGNATURE, b"<p>Sorry</p>" * size, "the authority")


def test_refusal(authority: StampAuthority) -> None:
    """The authority's refusal of a request is no stamp."""
    response = authority.respond(b"no request")
    with pytest.raises(UsageError, match="gave no time stamp"):
        stamped(SIGNATURE, response, "the authority")


def test_certificates_in_any_order(authority: StampAuthority, stamp: dict[str, str]) -> None:
    """Certificates in an order that DER forbids are accepted, because authorities send them."""
    token = _token(stamp)
    first, second = (ssl.PEM_cert_to_DER_cert(pem.decode().strip()) for pem in (authority.certificate, authority.root))
    assert (first + second in token) or (second + first in token)
    strict = 0
    for order in (first + second, second + first):
        sent = token.replace(first + second, order).replace(second + first, order)
        again = stamped(SIGNATURE, sent, "the authority")
        assert checked_stamp(SIGNATURE, **_fields(again), authorities=[authority.root]).problem == ""
        assert again["timestampCert"] == stamp["timestampCert"]
        with suppress(ValueError):
            decode_timestamp_response(sent)
            strict += 1
    assert strict == 1, "a strict parser accepts only one order"


def _fields(stamp: dict[str, str]) -> dict[str, str]:
    return {"token": stamp["timeSignature"], "certificates": stamp["timestampCert"]}


def test_stamp_in_a_package(authority: StampAuthority) -> None:
    """The time of a stamp is proved only if its authority was named; a wrong stamp is a problem of the package."""
    digest = "sha256:" + hashlib.sha256(b"{}").hexdigest()
    signed = PackageSigner(new_key()).signed_data(digest, float(int(time.time())), "webstrata/1")
    signed |= stamped(signed["signature"], authority.respond(request(signed["signature"])), "the authority")
    document = {"hash": digest, "signedData": signed}
    for roots, is_proved in (([], False), ([authority.root], True)):
        checked = checked_signature(document, b"{}", roots)
        assert checked is not None
        assert checked.problems == ()
        assert (checked.stamped_at is not None) == is_proved
    other = PackageSigner(new_key()).signed_data(digest, float(int(time.time())), "webstrata/1")
    moved = other | {name: signed[name] for name in ("timeSignature", "timestampCert")}
    checked = checked_signature({"hash": digest, "signedData": moved}, b"{}", [authority.root])
    assert checked is not None
    assert checked.problems == ("the time stamp is for another signature",)
    assert checked.stamped_at is None
