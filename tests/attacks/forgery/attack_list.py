"""The list of attacks, and what both verifiers say about one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.attacks.forgery.forged_package import ForgedPackage
from tests.attacks.forgery.honest_capture import HonestCapture
from tests.cli.conftest import call_here
from webstrata.verifier.verify_capture import check

Forge = Callable[[ForgedPackage], bytes | Iterator[bytes]]
Expected = Literal["refused", "exposed"]


class Forgery(NamedTuple):
    """An attack. `refused`: both verifiers say that the package is not valid, with a failure that has one of the words.
    `exposed`: it is a statement of another signer; the key is unknown, and refused where the honest key is required."""

    name: str
    summary: str
    forge: Forge
    expected: Expected
    words: str


ATTACKS: list[Forgery] = []


def attack(words: str = "", expected: Expected = "refused") -> Callable[[Forge], Forge]:
    """Add a function to the list; `words` is a regular expression that a failure must contain."""

    def add(forge: Forge) -> Forge:
        name = getattr(forge, "__name__", "").replace("_", " ")
        ATTACKS.append(Forgery(name, forge.__doc__ or "", forge, expected, words))
        return forge

    return add


def first_verifier(file: Path, key: str | None = None) -> dict[str, Any]:
    """The report of `webstrata certificate verify`."""
    required = ("--key", key) if key else ()
    return dict(call_here("certificate", "verify", file, "--json", *required).json)


def second_verifier(file: Path, key: str | None = None) -> dict[str, Any]:
    """The report of `verify_capture.py`."""
    return check(file, key)[0]


VERIFIERS: dict[str, Callable[[Path, str | None], dict[str, Any]]] = {
    "first": first_verifier,
    "second": second_verifier,
}


def outcome(forgery: Forgery, honest: HonestCapture, verifier: str, folder: Path) -> str:
    """`refused: …`, `exposed`, or (the attack succeeded) `accepted`, of the weakest of its variants."""
    made = forgery.forge(ForgedPackage(honest))
    results = []
    for number, data in enumerate([made] if isinstance(made, bytes) else made):
        file = folder / "forged.wacz"
        file.write_bytes(data)
        results.append(_result(forgery, honest, VERIFIERS[verifier], file, number))
    assert results, "the attack made no package"
    return next((one for one in results if one.startswith("accepted")), results[0])


def _result(
    forgery: Forgery,
    honest: HonestCapture,
    verify: Callable[[Path, str | None], dict[str, Any]],
    file: Path,
    number: int,
) -> str:
    report = verify(file, None)
    failures = [f"{failure['page'] or ''} {failure['what']}" for failure in report["failures"]]
    if not report["valid"]:
        fitting = [text for text in failures if re.search(forgery.words, text, re.IGNORECASE)]
        return f"refused: {fitting[0].strip()}" if fitting else f"refused for another reason: {failures[0]}"
    unknown = report["key"] != honest.fingerprint and not verify(file, honest.fingerprint)["valid"]
    return "exposed" if unknown else f"accepted (variant {number})"
