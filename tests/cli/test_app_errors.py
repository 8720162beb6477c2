"""Internal errors: one line on stderr; with `--debug` the traceback and messages of level DEBUG."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import CommandResult, call_process
from webstrata import __version__
from webstrata.cli.app import _called
from webstrata.compiled import kernel_description

FAULTY = """
import logging


class Faulty:
    def __init__(self, bounds):
        logging.getLogger("faulty").debug("created")
        raise ZeroDivisionError("fault of a policy")
"""


def run_faulty(folder: Path, *options: str) -> CommandResult:
    """What a command with a policy that raises an unexpected exception prints."""
    (folder / "faulty.py").write_text(FAULTY, encoding="utf-8")
    words = (*options, "lab", "policies", "--policies", "faulty:Faulty", "--years", "0.1")
    return call_process(*words, PYTHONPATH=str(folder))


def test_internal_error(tmp_path: Path) -> None:
    """Without `--debug` an internal error is one line that names `--debug`."""
    result = run_faulty(tmp_path)

    assert result.code == 1
    assert "internal error at __init__:8: ZeroDivisionError: fault of a policy" in result.err
    assert "Run again with --debug" in result.err
    assert "Traceback" not in result.err
    assert result.err.count("\n") == 1


def test_debug(tmp_path: Path) -> None:
    """With `--debug` the traceback and the messages of level DEBUG are printed before that line."""
    result = run_faulty(tmp_path, "--debug")

    assert result.code == 1
    assert "webstrata: DEBUG faulty: created\n" in result.err
    assert "Traceback (most recent call last)" in result.err
    assert 'raise ZeroDivisionError("fault of a policy")' in result.err
    assert result.err.splitlines()[-1].startswith("webstrata: internal error at __init__:8")
    assert "--debug" not in result.err.splitlines()[-1]


def test_global_options_before_the_command() -> None:
    """Global options in any order do not prevent that only the called command is loaded."""
    assert _called(["--debug", "--home", "x", "list", "--json"]) == "list"
    assert _called(["--home", "x", "--debug", "list"]) == "list"
    assert _called(["--home=x", "list"]) == "list"
    assert _called(["--home", "list", "log"]) == "log"
    assert _called(["--home", "list"]) is None
    assert _called(["--help"]) is None
    assert _called([]) is None


def test_version_names_the_kernels() -> None:
    """`--version` prints the version and which kernels run."""
    assert call_process("--version").text == f"webstrata {__version__} ({kernel_description()})\n"
