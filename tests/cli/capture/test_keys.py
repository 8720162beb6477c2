"""`webstrata certificate keys`."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

from tests.cli.conftest import Call
from webstrata.clock import parse_instant
from webstrata.sharp.proof.trust import parse_trust


def test_make_and_show(home: Path, call: Call) -> None:
    """The first key signs; files are private; OpenSSL reads the private and the public key, which belong together."""
    assert "no keys yet" in call("--home", home, "certificate", "keys").text
    assert "no key yet" in call("--home", home, "certificate", "keys", "show").err
    made = call("--home", home, "certificate", "keys", "make", "library", "--json").json
    assert (made["signing"], [key["name"] for key in made["keys"]]) == ("library", ["library"])
    private = home / "keys" / "library.pem"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(private.parent.stat().st_mode) == 0o700
    shown = call("--home", home, "certificate", "keys", "show").text
    assert made["keys"][0]["fingerprint"] in shown
    words = ["openssl", "pkey", "-in", str(private), "-pubout"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() in shown
    der = subprocess.run([*words, "-outform", "DER"], capture_output=True, check=True).stdout
    digest = subprocess.run(["openssl", "dgst", "-sha256", "-r"], input=der, capture_output=True, check=True).stdout
    assert made["keys"][0]["fingerprint"] == "sha256:" + digest.split()[0].decode()


def test_names(home: Path, call: Call) -> None:
    """Names are names of files: others are refused, and so is a second key of one name."""
    for name in ("../x", ".x", "a/b", "x" * 65, "a b"):
        assert call("--home", home, "certificate", "keys", "make", name).code == 2
    assert call("--home", home, "certificate", "keys", "make", "a").code == 0
    assert "Choose another name" in call("--home", home, "certificate", "keys", "make", "a").err
    assert "The keys: a." in call("--home", home, "certificate", "keys", "show", "b").err


def test_rotate_and_revoke(home: Path, call: Call) -> None:
    """The trust file has the old key's statement about the new one; a revoked key signs no more."""
    call("--home", home, "certificate", "keys", "make", "old")
    rotated = call("--home", home, "certificate", "keys", "rotate", "new", "--json").json
    old, new = rotated["keys"]
    assert (rotated["signing"], old["signing"], new["signing"]) == ("new", False, True)
    file = json.loads(call("--home", home, "certificate", "keys", "show", "--trust").text)
    (statement,) = file["successions"]
    assert (statement["predecessor"], statement["name"]) == (old["fingerprint"], "new")
    pinned = parse_trust(json.dumps(file | {"keys": [file["keys"][0]]}).encode())
    key = parse_trust(json.dumps(file).encode()).keys[new["fingerprint"]]
    verdict = pinned.judge(key.der, parse_instant(statement["at"]), None)
    assert (verdict.name, verdict.problem, verdict.through) == ("new", "", ("old",))

    call("--home", home, "certificate", "keys", "revoke", "new", "--reason", "laptop stolen")
    assert "revoked" in call("--home", home, "certificate", "keys").text
    assert "is revoked already" in call("--home", home, "certificate", "keys", "revoke", "new", "--reason", "x").err
    revoked = parse_trust(call("--home", home, "certificate", "keys", "show", "--trust").out)
    assert "laptop stolen" in revoked.judge(key.der, parse_instant(statement["at"]), None).problem
    capture = call("--home", home, "capture", "http://127.0.0.1:9/")
    assert capture.code == 2
    assert "was revoked" in capture.err
    again = call("--home", home, "certificate", "keys", "rotate", "--json").json
    assert again["signing"].startswith("key-20")
    file = json.loads(call("--home", home, "certificate", "keys", "show", "--trust").text)
    assert len(file["successions"]) == 1, "a revoked key names no successor"
    assert "signs already" in call("--home", home, "certificate", "keys", "rotate", "old").err
