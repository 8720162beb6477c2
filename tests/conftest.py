"""Settings for all tests: Hypothesis, the folder of temporary files, and the processes that tests start."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hypothesis import HealthCheck, settings

MEMORY = Path("/dev/shm")
NEEDED_BYTES = 4 * 1024**3
"""Far more than all temporary files of a run: a container often has a small folder there."""

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)  # the same examples every time
settings.load_profile("ci" if os.environ.get("CI") else "local")

if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > NEEDED_BYTES:
    # Homes sync every commit to the disk, as they do for users, and tests would wait for it.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
# Each process that a test starts would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
