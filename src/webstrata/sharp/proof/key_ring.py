"""The keys of a signer: which one signs, which ones were replaced or revoked, and the statements of succession."""

from __future__ import annotations

import base64
import re

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import iso
from webstrata.errors import UsageError
from webstrata.sharp.proof.signature import PackageSigner
from webstrata.sharp.proof.trust import (
    TRUST_TYPE,
    TRUST_VERSION,
    KeyRevocation,
    KeySuccession,
    TrustedKey,
    TrustFile,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class KeyRing(Struct, frozen=True, kw_only=True):
    """The public part of all keys of a signer. All changes give a new ring."""

    signing: str = ""
    """The name of the key that signs; empty if there is none."""
    keys: tuple[TrustedKey, ...] = ()
    successions: tuple[KeySuccession, ...] = ()

    def key(self, name: str) -> TrustedKey:
        """Raises UsageError if there is no key of this name."""
        found = next((key for key in self.keys if key.name == name), None)
        if found is None:
            known = ", ".join(key.name for key in self.keys) or "none"
            raise UsageError(f"there is no key {name!r}. The keys: {known}.")
        return found

    def with_key(self, name: str, private_key: bytes, at: float) -> KeyRing:
        """The ring with a new key. It signs if no other key can."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} cannot be the name of a key. Use letters, digits, dots, hyphens and underscores."
            )
        if any(key.name == name for key in self.keys):
            raise UsageError(f"there is a key {name!r} already. Choose another name.")
        signer = PackageSigner(private_key)
        public = base64.b64encode(signer.public_key).decode()
        new = TrustedKey(name=name, fingerprint=signer.fingerprint, public_key=public, valid_from=_second(at))
        return replace(self, keys=(*self.keys, new), signing=self.signing if self._can_sign() else name)

    def rotated(self, name: str, old_key: bytes | None, at: float) -> KeyRing:
        """The ring in which another of its keys signs. The old key (PEM) names it as its successor.

        A revoked key names no successor: nobody believes it.
        """
        new = self.key(name)
        if new.revoked is not None or new.valid_to is not None or name == self.signing:
            raise UsageError(f"the key {name!r} signs already, was replaced or was revoked. Rotate to another key.")
        if not self._can_sign() or old_key is None:
            return replace(self, signing=name)
        old = self.key(self.signing)
        statement = KeySuccession(
            predecessor=old.fingerprint, name=name, public_key=new.public_key, at=_second(at), signature=""
        )
        signature = base64.b64encode(PackageSigner(old_key).sign(statement.message)).decode()
        keys = tuple(replace(key, valid_to=_second(at)) if key.name == old.name else key for key in self.keys)
        return replace(
            self, signing=name, keys=keys, successions=(*self.successions, replace(statement, signature=signature))
        )

    def revoked(self, name: str, at: float, reason: str) -> KeyRing:
        """The ring in which a key is revoked from now on."""
        if self.key(name).revoked is not None:
            raise UsageError(f"the key {name!r} is revoked already.")
        revocation = KeyRevocation(at=_second(at), reason=" ".join(reason.split())[:500])
        keys = tuple(replace(key, revoked=revocation) if key.name == name else key for key in self.keys)
        return replace(self, keys=keys)

    def signing_key(self) -> TrustedKey | None:
        """The key that signs; None if there is none yet. Raises UsageError if it is revoked."""
        if not self.signing:
            return None
        key = self.key(self.signing)
        if key.revoked is not None:
            raise UsageError(
                f"the signing key {key.name!r} was revoked at {key.revoked.at}. `webstrata certificate keys rotate` "
                "makes a new one."
            )
        return key

    def trust_file(self) -> bytes:
        """The file by which others know these keys."""
        file = TrustFile(type=TRUST_TYPE, version=TRUST_VERSION, keys=self.keys, successions=self.successions)
        return msgspec.json.format(msgspec.json.encode(file), indent=1)

    def _can_sign(self) -> bool:
        return bool(self.signing) and self.key(self.signing).revoked is None


def _second(at: float) -> str:
    """Signatures have whole seconds; so have the limits that they are compared with."""
    return iso(float(int(at)))
