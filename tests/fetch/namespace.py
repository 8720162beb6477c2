"""A child process in a new network namespace in which every address is this machine.

Inside, the loopback device is up and holds a local route to 0.0.0.0/0 and ::/0, so that 10.0.0.1, 169.254.169.254 or
93.184.216.34 all lead back to the same process and nothing can leave it. Needs `unshare` (util-linux) and either
root or user namespaces; the routes are set over netlink, so that `ip` need not be installed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from functools import cache
from ipaddress import ip_address
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent
_SIOCSIFFLAGS = 0x8914
_UP_AND_RUNNING = 0x41
_NEW_ROUTE, _REQUEST_ACK_CREATE = 24, 0x405
_LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL = 255, 4, 254, 2
_OUT_DEVICE = 4
_EVERY_PROTOCOL = 3
_OUTGOING = 4
_PACKET_LEVEL, _STATISTICS = 263, 6


@cache
def unshare_command() -> tuple[str, ...] | None:
    """The command that starts a process in a new network namespace; None if this machine has none."""
    program = shutil.which("unshare")
    for options in ("-rn", "-n"):
        if program is not None and subprocess.run([program, options, "true"], capture_output=True).returncode == 0:
            return program, options
    return None


def run_inside(module: str, *arguments: str) -> str:
    """The standard output of `python -m module` in a new namespace."""
    command = unshare_command()
    assert command is not None
    return run_child(*command, sys.executable, "-m", module, *arguments)


def run_child(*command: str) -> str:
    """The standard output of a command that can import the sources and tests of this repository."""
    paths = os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])
    done = subprocess.run(
        command, cwd=_ROOT, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def make_everything_local() -> None:
    """Called in the namespace: make every IPv4 and IPv6 address local."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
    for family in (socket.AF_INET, socket.AF_INET6):
        _add_local_default_route(family)


def _add_local_default_route(family: int) -> None:
    route = struct.pack("8BI", family, 0, 0, 0, _LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL, 0)
    device = struct.pack("HHI", 8, _OUT_DEVICE, socket.if_nametoindex("lo"))
    length = 16 + len(route) + len(device)
    header = struct.pack("IHHII", length, _NEW_ROUTE, _REQUEST_ACK_CREATE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.sendto(header + route + device, (0, 0))
        (error,) = struct.unpack_from("i", netlink.recv(4096), 16)
    if error:
        raise OSError(-error, os.strerror(-error))


class ConnectionCounter:
    """Counts every attempt to open a TCP connection, successful or not."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EVERY_PROTOCOL))
        self._socket.bind(("lo", 0))
        self._socket.setblocking(False)

    def take(self) -> list[tuple[str, int]]:
        """The addresses and ports to which connections were opened since the last call."""
        seen = []
        while True:
            try:
                packet, (_, _, kind, *_) = self._socket.recvfrom(256)
            except BlockingIOError:
                break
            target = _opened(packet) if kind != _OUTGOING else None  # loopback shows each packet twice
            if target is not None:
                seen.append(target)
        _, dropped = struct.unpack("II", self._socket.getsockopt(_PACKET_LEVEL, _STATISTICS, 8))
        assert not dropped, f"{dropped} packets were not seen: call more often"
        return seen

    def close(self) -> None:
        self._socket.close()


def _opened(packet: bytes) -> tuple[str, int] | None:
    """The target of a TCP packet that opens a connection; None for all other packets."""
    if packet[0] >> 4 == 4:
        protocol, target, segment = packet[9], packet[16:20], packet[(packet[0] & 15) * 4 :]
    else:
        protocol, target, segment = packet[6], packet[24:40], packet[40:]
    if protocol != socket.IPPROTO_TCP or segment[13] & 0x12 != 0x02:
        return None
    address = ip_address(target)
    return str(address), struct.unpack_from("!H", segment, 2)[0]
