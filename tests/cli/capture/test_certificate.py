"""`webstrata certificate`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import call_here
from tests.flows.capture.test_verify import make_wacz


def test_show_and_verify(tmp_path: Path) -> None:
    """A valid certificate is shown and verified; an altered file fails."""
    path = make_wacz(tmp_path)

    assert "3 sharp" in call_here("certificate", "show", path).text
    assert "Valid: 3 of 4 pages sharp" in call_here("certificate", "verify", path).text

    whole = path.read_bytes()
    offset = whole.index(b"example.com/a", whole.index(b"certificate.json"))
    path.write_bytes(whole[:offset] + b"E" + whole[offset + 1 :])
    assert call_here("certificate", "verify", path).code != 0


def test_no_certificate(tmp_path: Path) -> None:
    """A file that is not a WACZ file gives one sentence."""
    path = tmp_path / "no.wacz"
    path.write_bytes(b"nothing")
    result = call_here("certificate", "verify", path)
    assert result.code == 1
    assert "not a WACZ file" in result.err


def test_the_second_verifier_runs_alone(tmp_path: Path) -> None:
    """The printed program runs without Webstrata and agrees."""
    path = make_wacz(tmp_path)
    program = tmp_path / "verify_capture.py"
    program.write_text(call_here("certificate", "verifier").text, encoding="utf-8")

    accepted = subprocess.run(
        [sys.executable, "-I", str(program), str(path)], capture_output=True, text=True, check=False
    )
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    assert accepted.stdout.startswith("valid: 3 pages sharp")
    path.write_bytes(path.read_bytes().replace(b"PK\3\4", b"PK\3\5", 1))
    rejected = subprocess.run(
        [sys.executable, "-I", str(program), str(path)], capture_output=True, text=True, check=False
    )
    assert rejected.returncode == 1
