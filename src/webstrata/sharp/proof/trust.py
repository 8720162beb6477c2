"""Trust files: the public keys of signers that somebody believes, by name, with their validity and revocations.

A key may sign a statement that another key succeeds it. Who trusts the first then trusts the second, unless the first
was revoked: whoever stole it could have made such a statement, with any date.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from webstrata.clock import iso, parse_instant
from webstrata.errors import UsageError
from webstrata.sharp.proof.signature import ec_key, fingerprint, is_signed

TRUST_TYPE = "webstrata/trusted-keys"
TRUST_VERSION = 1
_MAX_BYTES = 4 * 1024**2
_MAX_ENTRIES = 10_000
_MAX_NAME = 200


class KeyRevocation(Struct, frozen=True, kw_only=True):
    """From when on signatures of a key are not believed, and why."""

    at: str
    reason: str = ""


class TrustedKey(Struct, frozen=True, kw_only=True):
    """A public key of a signer."""

    name: str
    fingerprint: str
    public_key: str
    """DER, base64."""
    valid_from: str | None = None
    valid_to: str | None = None
    """When another key took its place."""
    revoked: KeyRevocation | None = None

    @property
    def der(self) -> bytes:
        return base64.b64decode(self.public_key, validate=True)


class KeySuccession(Struct, frozen=True, kw_only=True):
    """The statement of a key that another key succeeds it."""

    predecessor: str
    """Fingerprint of the key that signs this statement."""
    name: str
    """Name of the new key."""
    public_key: str
    """The new key (DER, base64)."""
    at: str
    signature: str = ""
    """ECDSA with SHA-256 over `message` (DER, base64)."""

    @property
    def der(self) -> bytes:
        return base64.b64decode(self.public_key, validate=True)

    @property
    def message(self) -> bytes:
        """The bytes that are signed."""
        lines = ("webstrata key succession 1", self.predecessor, fingerprint(self.der), self.name, self.at)
        return "".join(f"{line}\n" for line in lines).encode()


class TrustFile(Struct, frozen=True, kw_only=True):
    """The document of a trust file."""

    type: str
    version: int
    keys: tuple[TrustedKey, ...]
    successions: tuple[KeySuccession, ...] = ()


class TrustVerdict(Struct, frozen=True, kw_only=True):
    """Whether the key of a package is believed: if there is no problem."""

    name: str | None
    """The name of the signer; None if the key is unknown."""
    problem: str = ""
    through: tuple[str, ...] = ()
    """The names of the keys whose successions lead to this key; empty if the trust file lists it."""


class _Successor(NamedTuple):
    """A key that is known from the statement of another: the listed key at the begin, and the names in between."""

    statement: KeySuccession
    listed: TrustedKey
    through: tuple[str, ...]


class TrustedKeys:
    """The keys of a trust file."""

    def __init__(self, keys: Sequence[TrustedKey], successions: Sequence[KeySuccession] = ()) -> None:
        self.keys = {key.fingerprint: key for key in keys}
        self._successors = _successors(self.keys, successions)

    def judge(self, public_key_der: bytes, signed_at: float | None, stamped_at: float | None) -> TrustVerdict:
        """Judge the key of a package.

        `signed_at`: the time of the signature as the signer states it. `stamped_at`: the time of a time stamp whose
        authority was checked (`PackageSignature.stamped_at`); None without one.
        """
        name = fingerprint(public_key_der)
        if (key := self.keys.get(name)) is not None:
            return TrustVerdict(name=key.name, problem=_key_problem(key, signed_at, stamped_at))
        successor = self._successors.get(name)
        if successor is None:
            return TrustVerdict(name=None, problem=f"the trust file does not list the key {name}")
        problem = _succession_problem(successor, signed_at)
        return TrustVerdict(name=successor.statement.name, problem=problem, through=successor.through)


def _successors(keys: dict[str, TrustedKey], statements: Sequence[KeySuccession]) -> dict[str, _Successor]:
    """The keys that are not listed, but known from valid statements; of revoked keys only if there is no other."""
    by_predecessor: dict[str, list[KeySuccession]] = {}
    for statement in statements:
        by_predecessor.setdefault(statement.predecessor, []).append(statement)
    found: dict[str, _Successor] = {}
    listed = sorted(keys.values(), key=lambda key: key.revoked is not None)
    pending: list[tuple[bytes, TrustedKey, tuple[str, ...]]] = [(key.der, key, (key.name,)) for key in listed]
    for predecessor, key, through in pending:
        for statement in by_predecessor.get(fingerprint(predecessor), ()):
            name = fingerprint(statement.der)
            if name not in keys and name not in found and _is_made_by(statement, predecessor):
                found[name] = _Successor(statement, key, through)
                pending.append((statement.der, key, (*through, statement.name)))
    return found


def parse_trust(data: bytes) -> TrustedKeys:
    """The keys of a trust file from any source. Raises UsageError if it is not one."""
    if len(data) > _MAX_BYTES:
        raise UsageError(f"the trust file is larger than {_MAX_BYTES} bytes. Give one with fewer keys.")
    try:
        document = msgspec.json.decode(data, type=TrustFile)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise UsageError(f"the trust file cannot be parsed ({problem}). {_ADVICE}") from None
    if document.type != TRUST_TYPE or document.version != TRUST_VERSION:
        raise UsageError(f"this is not a trust file of version {TRUST_VERSION}. {_ADVICE}")
    if len(document.keys) > _MAX_ENTRIES or len(document.successions) > _MAX_ENTRIES:
        raise UsageError(f"the trust file has more than {_MAX_ENTRIES} entries. Give one with fewer keys.")
    try:
        _check(document)
    except (binascii.Error, ValueError) as problem:
        raise UsageError(f"the trust file has a wrong entry: {problem}. {_ADVICE}") from None
    return TrustedKeys(document.keys, document.successions)


_ADVICE = "`webstrata certificate keys show --trust` of the signer prints one."


def _check(document: TrustFile) -> None:
    """Raise ValueError if a field has a wrong form."""
    prints: set[str] = set()
    for key in document.keys:
        _check_name(key.name)
        if ec_key(key.der) is None or fingerprint(key.der) != key.fingerprint:
            raise ValueError(f"the fingerprint of {key.name!r} is not that of its key")
        if key.fingerprint in prints:
            raise ValueError(f"the key {key.fingerprint} is there twice")
        prints.add(key.fingerprint)
        for at in (key.valid_from, key.valid_to, key.revoked.at if key.revoked else None):
            _instant(at)
    for statement in document.successions:
        _check_name(statement.name)
        if ec_key(statement.der) is None:
            raise ValueError(f"the key of {statement.name!r} is not a key for ECDSA")
        base64.b64decode(statement.signature, validate=True)
        _instant(statement.at)


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise ValueError(f"{name[:40]!r} is not a name")


def _is_made_by(statement: KeySuccession, predecessor: bytes) -> bool:
    return is_signed(predecessor, base64.b64decode(statement.signature), statement.message)


def _key_problem(key: TrustedKey, signed_at: float | None, stamped_at: float | None) -> str:
    """Why a listed key is not believed for a package; empty if it is."""
    if key.revoked is not None:
        revoked_at = _instant(key.revoked.at) or 0.0
        because = f"the key {key.name!r} was revoked at {key.revoked.at}"
        because += f" ({key.revoked.reason})" if key.revoked.reason else ""
        if signed_at is None or signed_at >= revoked_at:
            return f"{because}, before this package was signed"
        if stamped_at is None:
            return f"{because}, and no time stamp of a trusted authority proves that this package was signed before"
        if stamped_at >= revoked_at:
            return f"{because}, before the time stamp of this package"
    if signed_at is None:
        return "the time of the signature is missing" if key.valid_from or key.valid_to else ""
    if (begin := _instant(key.valid_from)) is not None and signed_at < begin:
        return f"the key {key.name!r} is valid from {key.valid_from}, after the signature of {iso(signed_at)}"
    if (end := _instant(key.valid_to)) is not None and signed_at > end:
        return f"the key {key.name!r} was replaced at {key.valid_to}, before the signature of {iso(signed_at)}"
    return ""


def _succession_problem(successor: _Successor, signed_at: float | None) -> str:
    """Why a key that succeeds a listed one is not believed; empty if it is."""
    newest, listed = successor.statement, successor.listed
    if listed.revoked is not None:
        return (
            f"the key {newest.name!r} is only known from the key {listed.name!r}, which was revoked at "
            f"{listed.revoked.at}: whoever had that key can have named it"
        )
    if signed_at is None or signed_at < (_instant(newest.at) or 0.0):
        return f"the key {newest.name!r} is valid from {newest.at}, after the signature"
    return ""


def _instant(text: str | None) -> float | None:
    """Raises ValueError if it is not a time."""
    if text is None:
        return None
    try:
        return parse_instant(text)
    except UsageError as problem:
        raise ValueError(str(problem)) from None
