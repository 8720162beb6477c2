"""Every forgery of an honest capture is refused by both verifiers, or exposed as the statement of another signer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.forgery import every_attack
from tests.attacks.forgery.attack_list import VERIFIERS, Forgery, outcome
from tests.attacks.forgery.forged_package import Depth, ForgedPackage
from tests.attacks.forgery.honest_capture import HonestCapture, make_honest_capture
from tests.cli.conftest import call_process
from webstrata.verifier import verify_capture


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> HonestCapture:
    return make_honest_capture(tmp_path_factory.mktemp("honest"))


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_the_honest_capture_is_valid(honest: HonestCapture, verifier: str) -> None:
    """The capture that the attacks start from has pages of every kind and is valid, also with its key required."""
    for key in (None, honest.fingerprint):
        report = VERIFIERS[verifier](honest.file, key)
        assert report["failures"] == []
        assert report["valid"]
        assert (report["signature"], report["key"]) == ("valid", honest.fingerprint)
    verdicts = {page["url"].rpartition("/")[2]: page["verdict"] for page in ForgedPackage(honest).certificate["pages"]}
    assert {"changing": "blurred", "flaky": "blurred", "gone": "absent", "steady": "sharp"}.items() <= verdicts.items()
    assert report["cached"] == report["script_shells"] == 1


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_the_toolkit_packs_as_the_product(honest: HonestCapture, verifier: str, tmp_path: Path) -> None:
    """A package that the toolkit takes apart, packs and signs again without an edit is valid: refused is the edit."""
    forged = ForgedPackage(honest)
    assert forged.zipped() == forged.whole
    forged.rebuild()
    forged.recount()
    file = tmp_path / "again.wacz"
    file.write_bytes(forged.pack(Depth.SIGNER))
    assert VERIFIERS[verifier](file, honest.fingerprint)["failures"] == []


def _cases() -> Iterator[Any]:
    for forgery in every_attack():
        for verifier in VERIFIERS:
            yield pytest.param(forgery, verifier, id=f"{forgery.name}, {verifier}")


@pytest.mark.parametrize(("forgery", "verifier"), list(_cases()))
def test_forgery(forgery: Forgery, verifier: str, honest: HonestCapture, tmp_path: Path) -> None:
    """A forgery is refused with a failure that fits, or exposed by its key."""
    assert outcome(forgery, honest, verifier, tmp_path).partition(":")[0] == forgery.expected


def test_each_attack_has_a_name_and_a_sentence() -> None:
    """There are many named attacks, and each says in one sentence what it does."""
    attacks = every_attack()
    assert len(attacks) >= 45
    assert len({forgery.name for forgery in attacks}) == len(attacks)
    assert all(forgery.summary.count("\n") == 0 and forgery.summary.endswith(".") for forgery in attacks)


def test_through_the_command_line(honest: HonestCapture, tmp_path: Path) -> None:
    """The first line of both programs says that the key is unknown; with the honest key required, they exit with 1."""
    file = tmp_path / "forged.wacz"
    file.write_bytes(ForgedPackage(honest).pack(Depth.OTHER_KEY))
    second = (sys.executable, verify_capture.__file__)
    required = ("--key", honest.fingerprint)
    for words, code in (((), 0), (required, 1)):
        first = call_process("certificate", "verify", file, *words)
        done = subprocess.run([*second, str(file), *words], capture_output=True, text=True, check=False)
        assert (first.code, done.returncode) == (code, code)
        for text in (first.text, done.stdout):
            assert "key" in text.splitlines()[0]
            assert honest.fingerprint not in text.splitlines()[0] or code == 1
    done = subprocess.run([*second, honest.file, *required, "--json"], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["trusted"] is True
    assert (
        "the required key"
        in subprocess.run(
            [*second, honest.file, *required], capture_output=True, text=True, check=False
        ).stdout.splitlines()[0]
    )
