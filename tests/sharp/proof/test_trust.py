"""Trust files: known, unknown, replaced and revoked keys, and files that are no trust files."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.sharp.proof.signature import PackageSigner, new_key
from webstrata.sharp.proof.trust import (
    KeyRevocation,
    KeySuccession,
    TrustedKey,
    TrustedKeys,
    TrustFile,
    TrustVerdict,
    parse_trust,
)

OLD, NEW, NEWER = (PackageSigner(new_key()) for _ in range(3))
MARCH, JUNE, AUGUST = (parse_instant(f"2026-{month}-01") for month in ("03", "06", "08"))


def listed(signer: PackageSigner, name: str, **fields: Any) -> TrustedKey:
    public = base64.b64encode(signer.public_key).decode()
    return TrustedKey(name=name, fingerprint=signer.fingerprint, public_key=public, **fields)


def succession(old: PackageSigner, new: PackageSigner, name: str, at: str = "2026-05-01T00:00:00Z") -> KeySuccession:
    public = base64.b64encode(new.public_key).decode()
    plain = KeySuccession(predecessor=old.fingerprint, name=name, public_key=public, at=at)
    return replace(plain, signature=base64.b64encode(old.sign(plain.message)).decode())


def trust(*keys: TrustedKey, successions: tuple[KeySuccession, ...] = ()) -> TrustedKeys:
    """The keys after a way through the bytes of a file."""
    file = TrustFile(type="webstrata/trusted-keys", version=1, keys=keys, successions=successions)
    return parse_trust(msgspec.json.encode(file))


def test_known_and_unknown_keys() -> None:
    """A listed key has a name; another one has none, and the problem says its fingerprint."""
    keys = trust(listed(OLD, "Library"))
    assert keys.judge(OLD.public_key, MARCH, None) == TrustVerdict(name="Library")
    unknown = keys.judge(NEW.public_key, MARCH, None)
    assert unknown.name is None
    assert NEW.fingerprint in unknown.problem


@pytest.mark.parametrize(
    ("signed_at", "stamped_at", "problem"),
    [
        (MARCH, MARCH, ""),
        (MARCH, None, "no time stamp of a trusted authority proves"),
        (MARCH, AUGUST, "before the time stamp"),
        (AUGUST, MARCH, "before this package was signed"),
        (None, MARCH, "before this package was signed"),
    ],
)
def test_revoked_key(signed_at: float | None, stamped_at: float | None, problem: str) -> None:
    """Only what was signed and stamped before the revocation is believed; the message says what is missing."""
    revoked = KeyRevocation(at="2026-06-01T00:00:00Z", reason="laptop stolen")
    verdict = trust(listed(OLD, "Library", revoked=revoked)).judge(OLD.public_key, signed_at, stamped_at)
    assert verdict.name == "Library"
    assert bool(verdict.problem) == bool(problem)
    assert problem in verdict.problem
    assert not problem or "revoked at 2026-06-01T00:00:00Z (laptop stolen)" in verdict.problem


def test_validity() -> None:
    """A key is not believed for signatures before its first and after its last day."""
    key = listed(OLD, "Library", valid_from="2026-04-01", valid_to="2026-07-01")
    for signed_at, problem in ((MARCH, "valid from"), (JUNE, ""), (AUGUST, "was replaced at"), (None, "is missing")):
        found = trust(key).judge(OLD.public_key, signed_at, None).problem
        assert problem in found
        assert bool(found) == bool(problem)


def test_successor() -> None:
    """Whoever lists the first key believes the third, through two signed statements; but not for earlier packages."""
    statements = (succession(NEW, NEWER, "third", at="2026-07-01"), succession(OLD, NEW, "second"))
    keys = trust(listed(OLD, "first", valid_to="2026-05-01"), successions=statements)
    assert keys.judge(NEW.public_key, JUNE, None) == TrustVerdict(name="second", through=("first",))
    assert keys.judge(NEWER.public_key, AUGUST, None) == TrustVerdict(name="third", through=("first", "second"))
    assert "valid from 2026-07-01, after the signature" in keys.judge(NEWER.public_key, JUNE, None).problem


def test_forged_succession() -> None:
    """A statement that another key signed, or that was altered, names no successor."""
    genuine = succession(OLD, NEW, "second")
    forged = replace(succession(NEWER, NEW, "second"), predecessor=OLD.fingerprint)
    for statement in (forged, replace(genuine, at="2025-01-01"), replace(genuine, name="x")):
        assert trust(listed(OLD, "first"), successions=(statement,)).judge(NEW.public_key, JUNE, None).name is None
        both = trust(listed(OLD, "first"), successions=(statement, genuine))
        assert both.judge(NEW.public_key, JUNE, None).problem == "", "a forged statement hides no genuine one"
    circle = (succession(NEW, NEWER, "a"), succession(NEWER, NEW, "b"))
    assert trust(listed(OLD, "first"), successions=circle).judge(NEW.public_key, JUNE, None).name is None


def test_a_revoked_key_names_no_successor() -> None:
    """Whoever stole a key can date a statement back, so that the successor must be listed itself."""
    revoked = KeyRevocation(at="2026-06-01")
    statement = succession(OLD, NEW, "second", at="2026-01-01")
    found = trust(listed(OLD, "first", revoked=revoked), successions=(statement,)).judge(NEW.public_key, MARCH, MARCH)
    assert "only known from the key 'first', which was revoked" in found.problem
    both = trust(listed(OLD, "first", revoked=revoked), listed(NEW, "second"), successions=(statement,))
    assert both.judge(NEW.public_key, MARCH, MARCH) == TrustVerdict(name="second")


def test_statement_is_checked_by_openssl(tmp_path: Path) -> None:
    """The statement is five lines of text, and OpenSSL verifies its signature."""
    statement = succession(OLD, NEW, "second")
    lines = ["webstrata key succession 1", OLD.fingerprint, NEW.fingerprint, "second", "2026-05-01T00:00:00Z"]
    files = {
        "message": "".join(f"{line}\n" for line in lines).encode(),
        "signature": base64.b64decode(statement.signature),
        "key": OLD.public_key,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    words = ["openssl", "dgst", "-sha256", "-verify", "key", "-keyform", "DER", "-signature", "signature", "message"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout == b"Verified OK\n"


def _file(**changes: Any) -> bytes:
    plain = {"type": "webstrata/trusted-keys", "version": 1, "keys": [msgspec.to_builtins(listed(OLD, "Library"))]}
    return msgspec.json.encode(plain | changes)


def _key(**changes: Any) -> bytes:
    return _file(keys=[msgspec.to_builtins(listed(OLD, "Library")) | changes])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "cannot be parsed"),
        (b"[]", "cannot be parsed"),
        (b"[" * 100_000, "cannot be parsed"),
        (b"\xff{}", "cannot be parsed"),
        (b" " * (4 * 1024**2 + 1), "larger than"),
        (_file(version=2), "not a trust file of version 1"),
        (_file(type="x"), "not a trust file"),
        (_file(keys={}), "cannot be parsed"),
        (_file(keys=[msgspec.to_builtins(listed(OLD, "A"))] * 2), "is there twice"),
        (_key(fingerprint="sha256:00"), "not that of its key"),
        (_key(public_key="!"), "wrong entry"),
        (_key(public_key="AAAA"), "wrong entry"),
        (_key(public_key="\u00e9"), "wrong entry"),
        (_key(name=""), "is not a name"),
        (_key(name="a\u202eb"), "is not a name"),
        (_key(name="x" * 1000), "is not a name"),
        (_key(valid_from="soon"), "not a time"),
        (_key(revoked={"at": "never"}), "not a time"),
        (_key(revoked={}), "cannot be parsed"),
        (_file(successions=[{"predecessor": "x", "name": "n", "public_key": "AAAA", "at": "2026"}]), "wrong entry"),
    ],
)
def test_files_that_are_no_trust_files(data: bytes, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_trust(data)
