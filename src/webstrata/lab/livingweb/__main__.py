"""The living web as a separate process: `python -m webstrata.lab.livingweb [--data FOLDER] [--clock …]`.

    --clock real                          the time of this machine: every site in its last version
    --clock fixed 2023-06-01              stays at this instant; a line on stdin with a later instant moves the clock
    --clock scaled 2023-01-01 86400       starts at this instant; one second of real time is one day

The first line on stdout is a JSON object with `hosts`, `exceptions` (for the address guard) and `pages`. Each line on
stdin is answered with `at INSTANT`, so that a crawler with a jumping clock can set the time of the web before it jumps.
SIGINT or SIGTERM ends the process. Its last line contains the number of requests and of politeness violations.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import msgspec

from webstrata.clock import ManualClock, RealClock, ScaledClock, iso, parse_instant
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import load_shipped, read_recordings
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.ports import Clock


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        clock = _clock(options.clock)
        recordings = read_recordings(options.data, options.site) if options.data else load_shipped()
        if options.site:
            recordings = [recording for recording in recordings if recording.site in options.site]
        web = LivingWeb(recordings, clock, port=options.port, minimum_gap_s=options.gap)
        asyncio.run(_serve(web, clock))
    except UsageError as error:
        print(f"living web: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m webstrata.lab.livingweb", description="Serve recorded sites.")
    parser.add_argument("--port", type=int, default=0, help="port on every address; 0: any free port")
    parser.add_argument("--clock", nargs="+", default=["real"], help="real | fixed AT | scaled AT FACTOR")
    parser.add_argument("--data", type=Path, help="folder of recordings (default: the shipped ones)")
    parser.add_argument("--site", action="append", help="serve only this site; may be repeated")
    parser.add_argument(
        "--gap", type=float, default=1.0, help="least polite time between two requests to a host, in seconds"
    )
    return parser


def _clock(words: Sequence[str]) -> Clock:
    match words:
        case ["real"]:
            return RealClock()
        case ["fixed", at]:
            return ManualClock(parse_instant(at))
        case ["scaled", at, factor] if factor.replace(".", "", 1).isdecimal() and float(factor) > 0:
            return ScaledClock(parse_instant(at), float(factor))
    raise UsageError("--clock must be `real`, `fixed AT` or `scaled AT FACTOR`.")


async def _serve(web: LivingWeb, clock: Clock) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with web:
        pages = len(web.urls())
        _print(msgspec.json.encode({"hosts": web.hosts(), "exceptions": web.exceptions(), "pages": pages}).decode())
        if isinstance(clock, ManualClock):
            Thread(target=_read_instants, args=(loop, clock), daemon=True).start()
        await ended.wait()
    _print(f"requests {web.meter.requests.total()}, politeness violations {web.meter.count}")


def _read_instants(loop: asyncio.AbstractEventLoop, clock: ManualClock) -> None:
    """Read stdin in a daemon thread without buffering: not every stdin can be polled, and exit must not wait for it."""
    pending = b""
    while piece := os.read(0, 4096):
        *lines, pending = (pending + piece).split(b"\n")
        for line in lines:
            loop.call_soon_threadsafe(_move_clock, clock, line.decode("utf-8", "replace"))


def _move_clock(clock: ManualClock, line: str) -> None:
    try:
        clock.move_to(parse_instant(line))
    except UsageError as error:
        print(f"living web: {error}", file=sys.stderr)
    _print(f"at {iso(clock.now())}")


def _print(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
