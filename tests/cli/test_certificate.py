"""`webstrata certificate` as users call it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import call_here
from tests.flows.test_verify import make_wacz


def test_show_and_verify(tmp_path: Path) -> None:
    """A good certificate is shown and holds; an altered file fails with the place that was altered."""
    path = make_wacz(tmp_path)

    assert "3 sharp" in call_here("certificate", "show", path).text
    assert "It holds: 3 of 4 pages sharp" in call_here("certificate", "verify", path).text

    whole = path.read_bytes()
    place = whole.index(b"example.com/a", whole.index(b"certificate.json"))
    path.write_bytes(whole[:place] + b"E" + whole[place + 1 :])
    assert call_here("certificate", "verify", path).code != 0


def test_no_certificate(tmp_path: Path) -> None:
    """A file that is no WACZ, or holds no certificate, is refused in a sentence."""
    path = tmp_path / "no.wacz"
    path.write_bytes(b"nothing")
    told = call_here("certificate", "verify", path)
    assert told.code == 1
    assert "not a WACZ file" in told.err


def test_the_second_verifier_runs_alone(tmp_path: Path) -> None:
    """Printed into a file it runs without Webstrata, and agrees."""
    path = make_wacz(tmp_path)
    program = tmp_path / "verify_capture.py"
    program.write_text(call_here("certificate", "verifier").text, encoding="utf-8")

    held = subprocess.run([sys.executable, "-I", str(program), str(path)], capture_output=True, text=True, check=False)
    assert held.returncode == 0, held.stdout + held.stderr
    assert held.stdout.startswith("holds: 3 pages sharp")
    path.write_bytes(path.read_bytes().replace(b"PK\3\4", b"PK\3\5", 1))
    again = subprocess.run([sys.executable, "-I", str(program), str(path)], capture_output=True, text=True, check=False)
    assert again.returncode == 1
