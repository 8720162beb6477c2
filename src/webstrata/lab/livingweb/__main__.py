"""The living web as a process of its own: `python -m webstrata.lab.livingweb [--data FOLDER] [--clock …]`.

    --clock real                          the machine's time: every site as it was last
    --clock fixed 2023-06-01              stands there; a line with a later instant on stdin moves it on
    --clock scaled 2023-01-01 86400       starts there and passes a day in a second

The first line on stdout is one JSON object: `hosts`, `exceptions` (for the address guard) and `pages`. After each line
on stdin the answer is `at INSTANT`, so that a crawler's jumping clock can tell the web the time before it jumps.
SIGINT or SIGTERM ends it, with a last line that says how polite the visitors were.
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
    chosen = _parser().parse_args(arguments)
    try:
        clock = _clock(chosen.clock)
        recordings = read_recordings(chosen.data, chosen.site) if chosen.data else load_shipped()
        if chosen.site:
            recordings = [recording for recording in recordings if recording.site in chosen.site]
        living = LivingWeb(recordings, clock, port=chosen.port, minimum_gap_s=chosen.gap)
        asyncio.run(_serve(living, clock))
    except UsageError as error:
        print(f"living web: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m webstrata.lab.livingweb", description="Serve recorded sites.")
    parser.add_argument("--port", type=int, default=0, help="on every address; 0: a free one on each")
    parser.add_argument("--clock", nargs="+", default=["real"], help="real | fixed AT | scaled AT FACTOR")
    parser.add_argument("--data", type=Path, help="folder of recordings (default: the shipped ones)")
    parser.add_argument("--site", action="append", help="only this site; may be repeated")
    parser.add_argument("--gap", type=float, default=1.0, help="seconds between requests that count as polite")
    return parser


def _clock(words: Sequence[str]) -> Clock:
    match words:
        case ["real"]:
            return RealClock()
        case ["fixed", at]:
            return ManualClock(parse_instant(at))
        case ["scaled", at, factor] if factor.replace(".", "", 1).isdecimal() and float(factor) > 0:
            return ScaledClock(parse_instant(at), float(factor))
    raise UsageError("--clock is `real`, `fixed AT` or `scaled AT FACTOR`.")


async def _serve(living: LivingWeb, clock: Clock) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with living:
        pages = len(living.urls())
        _say(msgspec.json.encode({"hosts": living.hosts(), "exceptions": living.exceptions(), "pages": pages}).decode())
        if isinstance(clock, ManualClock):
            Thread(target=_listen, args=(loop, clock), daemon=True).start()
        await ended.wait()
    _say(f"requests {living.meter.requests.total()}, politeness violations {living.meter.count}")


def _listen(loop: asyncio.AbstractEventLoop, clock: ManualClock) -> None:
    """A thread of its own, with unbuffered reads: not every stdin can be polled, and none may hold up the end."""
    pending = b""
    while piece := os.read(0, 4096):
        *lines, pending = (pending + piece).split(b"\n")
        for line in lines:
            loop.call_soon_threadsafe(_obey, clock, line.decode("utf-8", "replace"))


def _obey(clock: ManualClock, line: str) -> None:
    try:
        clock.move_to(parse_instant(line))
    except UsageError as error:
        print(f"living web: {error}", file=sys.stderr)
    _say(f"at {iso(clock.now())}")


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
