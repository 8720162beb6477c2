"""`webstrata certificate log`: chains of real captures, and how a change of history is noticed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.cli.conftest import Call, LocalServer
from webstrata.clock import parse_instant
from webstrata.sharp.proof.signature import PackageSigner


@pytest.fixture
def captures(home: Path, server: LocalServer, call: Call) -> list[Path]:
    """Three captures of one site."""
    files = []
    for number in range(3):
        server.pages["/"] = ("text/html", f"<title>{number}</title><p>the words of a page, edition {number}".encode())
        taken = call("--home", home, "capture", server.url(), "--delay", "0.01s", "--json", **server.settings)
        assert taken.code == 0, taken.err
        files.append(Path(taken.json["captures"][0]["file"]))
    return files


def checked(call: Call, home: Path, *files: object) -> dict[str, Any]:
    result = call("--home", home, "certificate", "log", "verify", *files, "--json")
    assert result.code == (0 if result.json["valid"] else 1)
    return dict(result.json)


def test_log_of_captures(home: Path, captures: list[Path], call: Call) -> None:
    """The log lists all captures; every link is valid, also without the home of the signer."""
    lines = call("--home", home, "certificate", "log", "--json").json
    assert [(line["sequence"], line["file"]) for line in lines] == [
        (n + 1, file.name) for n, file in enumerate(captures)
    ]
    assert captures[2].name in call("--home", home, "certificate", "log").text
    valid = checked(call, home)
    assert (valid["valid"], valid["failures"], valid["missing"], valid["files"]) == (True, [], [], 3)
    assert [site["certificates"] for site in valid["sites"]] == [3]
    (home / "webstrata.toml").unlink()
    call_without = call("certificate", "log", "verify", captures[0].parent, "--json", XDG_DATA_HOME=str(home))
    assert (call_without.code, call_without.json["files"], call_without.json["valid"]) == (0, 3, True)


def test_rewritten_history(home: Path, captures: list[Path], call: Call, tmp_path: Path) -> None:
    """An older package that is replaced by another, signed with the same key, is noticed by the log and the files."""
    signer = PackageSigner(next((home / "keys").glob("*.pem")).read_bytes())
    rewrite(captures[1], signer)
    found = checked(call, home)
    assert found["valid"] is False
    assert {failure["file"] for failure in found["failures"]} == {captures[1].name}
    assert "not in the log" in found["failures"][0]["what"]
    (home / "captures" / "log.jsonl").rename(tmp_path / "log.jsonl")
    found = checked(call, home)
    (failure,) = found["failures"]
    assert failure["file"] == captures[2].name
    assert "neither in the log nor among the files" in failure["what"]


def test_altered_package(home: Path, captures: list[Path], call: Call) -> None:
    """A package whose signature does not match is not counted."""
    rewrite(captures[0], None)
    (failure, *_) = checked(call, home)["failures"]
    assert failure["file"] == captures[0].name
    assert "its signature is not valid" in failure["what"]


def test_dropped_packages(home: Path, captures: list[Path], call: Call) -> None:
    """The last package is missed by the log; a missing file is no broken link."""
    captures[2].unlink()
    found = checked(call, home)
    assert found["valid"] is True
    assert [line["file"] for line in found["missing"]] == [captures[2].name]
    (home / "captures" / "log.jsonl").unlink()
    assert checked(call, home)["missing"] == [], "without the log, nobody knows of it"


def rewrite(file: Path, signer: PackageSigner | None) -> None:
    """Change the statement in the certificate, and sign the package again if there is a signer."""
    with ZipFile(file) as package:
        files = {entry.filename: package.read(entry) for entry in package.infolist()}
    certificate = json.loads(files["proof/certificate.json"]) | {"statement": "nothing happened"}
    files["proof/certificate.json"] = json.dumps(certificate).encode()
    about = json.loads(files["datapackage.json"])
    for resource in about["resources"]:
        data = files[resource["path"]]
        resource |= {"bytes": len(data), "hash": "sha256:" + hashlib.sha256(data).hexdigest()}
    files["datapackage.json"] = json.dumps(about).encode()
    digest = "sha256:" + hashlib.sha256(files["datapackage.json"]).hexdigest()
    document = json.loads(files["datapackage-digest.json"]) | {"hash": digest}
    if signer is not None:
        document["signedData"] = signer.signed_data(digest, parse_instant(about["created"]), "webstrata/1")
    files["datapackage-digest.json"] = json.dumps(document).encode()
    with ZipFile(file, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
