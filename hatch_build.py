"""Compiles the C kernels into the wheel; without a C compiler the wheel is pure Python and runs the Python kernels."""

from __future__ import annotations

import os
import re
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


def find_compiler() -> list[str] | None:
    """The command of the C compiler: the variable `CC`, or the first known one in the path; None without a compiler."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    return next(([name] for name in _COMPILERS if shutil.which(name)), None)


class KernelHook(BuildHookInterface[Any]):
    """Runs for wheels and for editable installs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, and tag the wheel for this platform and any Python version."""
        compiler = find_compiler()
        if compiler is None:
            print(
                "webstrata: no C compiler found (CC, cc, gcc, clang). Building without the compiled kernels. "
                "The Python kernels give the same results and are slower. "
                "To compile the kernels, install a C compiler and reinstall.",
                file=sys.stderr,
            )
            return  # hatchling's default is a pure wheel, py3-none-any
        for folder in FOLDERS:
            _compile(compiler, Path(self.root) / folder)
            build_data["artifacts"].append(str(folder / LIBRARY))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform_tag()}"


def _platform_tag() -> str:
    """The tag of the target platform. cibuildwheel sets it on macOS, and replaces it with manylinux on Linux."""
    named = os.environ.get("_PYTHON_HOST_PLATFORM")
    return re.sub(r"[-.]", "_", named) if named else next(iter(platform_tags()))


def _compile(compiler: list[str], folder: Path) -> None:
    output = folder / f"kernel.{os.getpid()}.tmp"
    sources = [str(source) for source in sorted(folder.glob("*.c"))]
    architecture = shlex.split(os.environ.get("ARCHFLAGS", "")) if sys.platform == "darwin" else []
    subprocess.run([*compiler, *FLAGS, *architecture, "-o", str(output), *sources, "-lm"], check=True)
    output.replace(folder / LIBRARY)  # atomically: running processes keep the library that they have loaded
