"""The wheel, built with and without a C compiler: both install, and both give the same results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
LIBRARIES = {f"webstrata/{folder}/kernel/kernel.so" for folder in ("observe", "predict")}
PROGRAM = Path(__file__).parent / "installed_results.py"


def build_and_install(folder: Path, environment: dict[str, str]) -> tuple[Path, str]:
    """Build a wheel in this environment and install it, without its dependencies; the wheel and what was printed."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=110)
    (wheel,) = folder.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run(
        [*install, "--disable-pip-version-check", "--target", str(folder / "site"), str(wheel)],
        check=True,
        capture_output=True,
        timeout=110,
    )
    return wheel, built.stderr


def run(folder: Path, *arguments: str) -> str:
    """What Python prints with the wheel in this folder installed."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "site")}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=environment, cwd=folder, check=True, capture_output=True, text=True, timeout=110
    ).stdout


def results(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(run(folder, str(PROGRAM), str(ROOT / "tests" / "data" / "fingerprint")))
    assert values.pop("package") == str(folder / "site" / "webstrata")
    return values


def libraries(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as opened:
        return {name for name in opened.namelist() if name.endswith(".so")}


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler on this machine")
def test_wheels_with_and_without_a_compiler(tmp_path: Path) -> None:
    """With a compiler the wheel is for its platform and holds the kernels; without one it is pure Python and says so.

    Both give the fingerprints of the published vectors, the same links and texts, and the same forecasts.
    """
    compiled, pure = tmp_path / "compiled", tmp_path / "pure"
    without_compiler = {key: value for key, value in os.environ.items() if key != "CC"} | {"PATH": str(tmp_path)}

    compiled_wheel, _ = build_and_install(compiled, dict(os.environ))
    pure_wheel, printed = build_and_install(pure, without_compiler)

    assert "-py3-none-" in compiled_wheel.name
    assert not compiled_wheel.name.endswith("-any.whl")
    assert libraries(compiled_wheel) == LIBRARIES
    assert pure_wheel.name.endswith("-py3-none-any.whl")
    assert libraries(pure_wheel) == set()
    assert "no C compiler" in printed
    of_compiled, of_pure = results(compiled), results(pure)
    assert of_compiled["mismatches"] == of_pure["mismatches"] == []
    assert of_pure.pop("rates") == pytest.approx(of_compiled.pop("rates"), rel=1e-10)
    assert of_pure == of_compiled
    version = ("-c", "import sys; from webstrata.cli import main; sys.argv = ['webstrata', '--version']; main()")
    assert "(compiled kernels)" in run(compiled, *version)
    assert "(Python kernels" in run(pure, *version)
