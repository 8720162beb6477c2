"""`AddressGuard`: which addresses the crawler may connect to.

Public addresses and those that the operator listed are allowed. The guard checks the address that a socket is about to
be connected to, so no form of a URL, no redirect and no name server can circumvent it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from msgspec import Struct

from webstrata.errors import BadSettings
from webstrata.urls import is_public

_EXCEPTION = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<four>[^:\[\]]+)):(?P<port>\d{1,5}|\*)")


class _Exception(Struct, frozen=True):
    network: IPv4Network | IPv6Network
    port: int | None
    """None means every port."""


class AddressGuard:
    """Decides which address and port a socket may be connected to."""

    def __init__(self, exceptions: Iterable[str] = ()) -> None:
        """`exceptions` are networks with a port, which is required: `127.0.0.0/8:8480`, `[::1]:*`."""
        self._exceptions = tuple(_parse(text) for text in exceptions)
        self._cached = lru_cache(maxsize=4096)(self._allows)

    def allows(self, address: str, port: int) -> bool:
        """Whether connections to this literal address and port are allowed. A name is never allowed."""
        return self._cached(address, port)

    def _allows(self, address: str, port: int) -> bool:
        if is_public(address):
            return True
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in exception.network and exception.port in (None, port) for exception in self._exceptions)


def _parse(text: str) -> _Exception:
    match = _EXCEPTION.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        port = None if match["port"] == "*" else int(match["port"])
        if port is not None and not 0 < port < 65536:
            raise ValueError
        return _Exception(ip_network(match["six"] or match["four"], strict=False), port)
    except ValueError:
        raise BadSettings(
            f"not a network with a port: {text!r}. Write 127.0.0.0/8:8480, [::1]:443 or 10.1.0.0/16:*."
        ) from None
