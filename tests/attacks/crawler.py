"""`Crawler`: the real `webstrata run` as a process, which can be stopped, killed and started again."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[2]
STOP_WAIT_S = 90.0
"""Longest wait for the end of the crawler after the signal; then it is killed."""

_PROGRAM = (sys.executable, "-c", "from webstrata.cli import main; main()")


class Crawler:
    """Use as `with Crawler(home, log) as crawler:`; the process is killed at the end if it still runs."""

    def __init__(
        self,
        home: Path,
        log: Path,
        *,
        environment: Mapping[str, str] | None = None,
        limits: Mapping[int, int] | None = None,
    ) -> None:
        """`limits`: resource limits (`resource.RLIMIT_…`) of the process, which it cannot raise."""
        self.home = home
        self._log = log
        self._environment = dict(environment or {})
        self._limits = dict(limits or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.stop_s = 0.0
        """From the signal to the end of the process."""
        self.was_killed = False
        """It did not end after the signal."""

    def __enter__(self) -> Crawler:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_PROGRAM, "--home", str(self.home), "run"],
                stdout=log,
                stderr=log,
                env=environment(self._environment),
                preexec_fn=self._set_limits if self._limits else None,
            )

    def _set_limits(self) -> None:
        for name, value in self._limits.items():
            resource.setrlimit(name, (value, value))

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Stop it with SIGTERM and measure how long that takes."""
        assert self._process is not None
        if self._process.poll() is not None:
            return
        started = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_WAIT_S)
        except subprocess.TimeoutExpired:
            self.was_killed = True
            self.kill()
        self.stop_s = time.monotonic() - started

    def log_text(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process that runs the program from this repository."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path} | dict(more or {})


def call(home: Path, *words: str, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the program to its end."""
    command = [*_PROGRAM, "--home", str(home), *words]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment(more), check=False)
