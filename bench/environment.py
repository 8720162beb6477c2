"""The environment that contenders and commands start in: modules are compiled once, as where they are installed."""

from __future__ import annotations

import os
from pathlib import Path


def compiling_once(folder: Path) -> dict[str, str]:
    """This process's environment, with compiled modules kept below `folder`."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment
