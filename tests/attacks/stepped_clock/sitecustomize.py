"""Steps of the clock in one process: Python loads this module at its start if its folder is in PYTHONPATH.

`ATTACK_CLOCK` names a file with the present step in seconds, which is added to `time.time()`. The clock of the machine
and monotonic clocks are not changed, just as a step by an administrator does not change monotonic clocks.
"""

import os
import time
from pathlib import Path

_real_time = time.time
_real_time_ns = time.time_ns
_file = Path(os.environ.get("ATTACK_CLOCK", "/nonexistent"))


def _step() -> float:
    try:
        return float(_file.read_text() or 0)
    except (OSError, ValueError):
        return 0.0


time.time = lambda: _real_time() + _step()
time.time_ns = lambda: _real_time_ns() + int(_step() * 1_000_000_000)
