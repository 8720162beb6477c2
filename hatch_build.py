"""Builds the compiled kernels into the package: with the system's C compiler, or else with Zig's."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

FOLDERS = (Path("src/webstrata/observe/kernel"), Path("src/webstrata/predict/kernel"))
FLAGS = ["-std=c11", "-O2", "-g0", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-shared"]
LIBRARY = "kernel.so"
_COMPILERS = ("cc", "gcc", "clang")


def compiler() -> list[str] | None:
    """The command of the system's C compiler; `CC` names another. None: there is none."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    return next(([name] for name in _COMPILERS if shutil.which(name)), None)


class KernelHook(BuildHookInterface[Any]):
    """Runs for wheels and for editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Zig brings a C compiler to machines that have none."""
        return [] if compiler() else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and mark the wheel as one for this platform and any Python."""
        for folder in FOLDERS:
            _compile(Path(self.root) / folder)
            build_data["artifacts"].append(str(folder / LIBRARY))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{next(iter(platform_tags()))}"


def _compile(folder: Path) -> None:
    command = compiler() or [sys.executable, "-m", "ziglang", "cc"]
    made = folder / f"kernel.{os.getpid()}.tmp"
    subprocess.run([*command, *FLAGS, "-o", str(made), *map(str, sorted(folder.glob("*.c"))), "-lm"], check=True)
    made.replace(folder / LIBRARY)  # at once: a running process keeps the one that it has loaded
