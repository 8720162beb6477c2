"""Addresses with an optional port, as the settings write them: `127.0.0.2`, `127.0.0.2:8480`, `[::1]:8480`."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address

from webstrata.errors import BadSettings


@lru_cache(maxsize=4096)
def is_address(text: str) -> bool:
    """Whether this is a literal IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def parse_endpoint(text: str) -> tuple[str, int | None]:
    """The address and the port, if there is one. Raises BadSettings for anything else."""
    address, port = text.strip(), ""
    if not is_address(address.strip("[]")):
        address, _, port = address.rpartition(":")
    address = address.strip("[]")
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536
    if not is_address(address) or (port and not is_port):
        raise BadSettings(f"not an address: {text[:100]!r}. Write 127.0.0.2, 127.0.0.2:8480 or [::1]:8480.")
    return address, int(port) if port else None
