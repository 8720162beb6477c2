"""Expected results of captures, for tests of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from webstrata.archive.wacz.writer import CERTIFICATE
from webstrata.sharp.proof.verdicts import PAGE_VERDICTS


def verdicts(**counts: int) -> dict[str, int]:
    """The number of pages with each verdict; those that are not given have none."""
    return dict.fromkeys(PAGE_VERDICTS, 0) | counts


def certificate(file: str | Path) -> dict[str, Any]:
    """The certificate in a WACZ file, as it is written there."""
    with ZipFile(file) as package:
        return dict(json.loads(package.read(CERTIFICATE)))
