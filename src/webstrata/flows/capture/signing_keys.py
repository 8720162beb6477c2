"""`SigningKeys`: makes, rotates and revokes the keys that sign packages, and signs with the present one."""

from __future__ import annotations

import msgspec

from webstrata.clock import iso
from webstrata.errors import HomeError
from webstrata.ports import Clock, KeyFiles
from webstrata.sharp.proof.key_ring import KeyRing
from webstrata.sharp.proof.signature import PackageSigner, new_key

_RING = "keys.json"


class SigningKeys:
    """The keys in the home. A private key is written before the ring that names it."""

    def __init__(self, files: KeyFiles, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def ring(self) -> KeyRing:
        data = self._files.read(_RING)
        if data is None:
            return KeyRing()
        try:
            return msgspec.json.decode(data, type=KeyRing)
        except msgspec.DecodeError as problem:
            raise HomeError(f"keys/{_RING} cannot be parsed ({problem}). Restore it from a backup.") from None

    def make(self, name: str) -> KeyRing:
        """Make a key. It signs if there is no other that can."""
        private = new_key()
        ring = self.ring().with_key(name, private, self._clock.now())
        self._files.write(_file(name), private)
        return self._saved(ring)

    def rotate(self, name: str = "") -> KeyRing:
        """Let another key sign; it is made if there is none of this name."""
        ring = self.ring()
        name = name or _free_name(ring, iso(self._clock.now())[:10])
        if not any(key.name == name for key in ring.keys):
            ring = self.make(name)
        if ring.signing == name:  # made, and there was no other
            return ring
        return self._saved(ring.rotated(name, self._files.read(_file(ring.signing)), self._clock.now()))

    def revoke(self, name: str, reason: str) -> KeyRing:
        return self._saved(self.ring().revoked(name, self._clock.now(), reason))

    def signer(self, first_name: str) -> PackageSigner:
        """The signer with the present key; without any, a key of this name is made."""
        ring = self.ring()
        key = ring.signing_key()
        if key is None:
            key = self.make(first_name).signing_key()
        assert key is not None
        private = self._files.read(_file(key.name))
        if private is None:
            raise HomeError(
                f"keys/{_file(key.name)} is missing. Restore it from a backup, or make a new key with `webstrata "
                "certificate keys rotate`."
            )
        return PackageSigner(private, origin=f"keys/{_file(key.name)}")

    def _saved(self, ring: KeyRing) -> KeyRing:
        self._files.write(_RING, msgspec.json.format(msgspec.json.encode(ring), indent=1))
        return ring


def _file(name: str) -> str:
    return f"{name}.pem"


def _free_name(ring: KeyRing, day: str) -> str:
    taken = {key.name for key in ring.keys}
    names = [f"key-{day}", *(f"key-{day}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)
