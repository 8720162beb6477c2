"""The examples of the Python API, run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "python-api.md"
EXAMPLE = re.compile(
    r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)
EXAMPLES = {heading: (code, output) for heading, code, output in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))}


def test_there_are_examples() -> None:
    """The page has three examples, each with its output."""
    assert len(EXAMPLES) == PAGE.read_text(encoding="utf-8").count("```python") == 3


@pytest.mark.parametrize("heading", EXAMPLES)
def test_example(heading: str, tmp_path: Path) -> None:
    """The example runs as a program without warnings and prints what the page says."""
    code, output = EXAMPLES[heading]
    program = tmp_path / "example.py"
    program.write_text(code, encoding="utf-8")

    run = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == output


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(webstrata(?:\.\w+)+)`", PAGE.read_text(encoding="utf-8")))))
def test_modules_exist(name: str) -> None:
    """Every module that the page names can be imported, and has the functions named after it."""
    module = __import__(name, fromlist=["*"])
    row = re.search(rf"`{re.escape(name)}`: ((?:`\w+`(?:, )?)+)", PAGE.read_text(encoding="utf-8"))
    for function in re.findall(r"`(\w+)`", row[1]) if row else ():
        assert hasattr(module, function), f"{name} has no {function}"
