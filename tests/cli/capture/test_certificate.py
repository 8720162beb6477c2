"""`webstrata certificate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import call_here
from tests.flows.verify.packages import SIGNER, make_package, repacked
from tests.flows.verify.test_signer_check import trust_file


def test_show(tmp_path: Path) -> None:
    """A certificate is shown with verdicts and notes; the first line says that it was not checked."""
    text = call_here("certificate", "show", make_package(tmp_path)).text
    assert text.startswith("NOT CHECKED")
    assert "3 sharp, 1 blurred, 1 absent, 0 error, 1 unreachable, 0 unvisited" in text
    assert "main 3, raw 2, visible 3" in text
    assert "cached" in text


def test_verify(tmp_path: Path) -> None:
    """The first line names the signer, the last one the result; an altered package has the exit code 1."""
    path = make_package(tmp_path)
    lines = call_here("certificate", "verify", path).text.splitlines()
    assert lines[0] == f"Signed with an UNKNOWN key {SIGNER.fingerprint}; give --trust FILE or --key."
    assert any(line.startswith("Valid: 3 of 6 pages sharp by the layer 'visible'") for line in lines)
    trusted = tmp_path / "trust.json"
    trusted.write_bytes(trust_file(SIGNER))
    assert call_here("certificate", "verify", path, "--trust", trusted).text.startswith(
        "Signed by The Archive (trusted"
    )
    assert call_here("certificate", "verify", path, "--key", SIGNER.fingerprint).code == 0

    def lie(certificate: dict[str, dict[str, int]]) -> None:
        certificate["counts"]["sharp"] += 1

    result = call_here("certificate", "verify", repacked(path, lie))
    assert result.code == 1
    assert "NOT VALID: 1 failure." in result.text


def test_json(tmp_path: Path) -> None:
    """The JSON has the fields of the contract, also for a file that is refused."""
    path = make_package(tmp_path)
    report = json.loads(call_here("certificate", "verify", path, "--json").text)
    fields = {"file", "valid", "signature", "key", "signer", "trusted", "time_stamp", "pages", "sharp", "cached"}
    assert report.keys() == fields | {"script_shells", "layer", "instant", "failures"}
    assert (report["valid"], report["key"], report["cached"]) == (True, SIGNER.fingerprint, 1)

    path.write_bytes(b"nothing")
    result = call_here("certificate", "verify", path, "--json")
    refused = json.loads(result.text)
    assert (result.code, refused["valid"], refused["signature"]) == (1, False, "missing")
    assert "not a WACZ file" in refused["failures"][0]["what"]


@pytest.mark.parametrize("options", [["--key", "abc"], ["--trust", "none.json"], ["--authority", "none.pem"]])
def test_wrong_usage(tmp_path: Path, options: list[str]) -> None:
    """Options that cannot be used have the exit code 2."""
    assert call_here("certificate", "verify", make_package(tmp_path), *options).code == 2


def test_a_missing_file(tmp_path: Path) -> None:
    """A file that is not there has the exit code 2."""
    assert call_here("certificate", "verify", tmp_path / "none.wacz").code == 2
    assert call_here("certificate", "show", tmp_path / "none.wacz").code == 2
