"""Packages of captures are signed, stamped and chained, and list their pages."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.flows.capture.capturing import SITE, capture, changing_at, links, site
from tests.flows.conftest import START_AT, Archiver
from tests.sharp.proof.domain_keys import DOMAIN, domain_keys
from tests.sharp.proof.stamp_authority import StampAuthority
from webstrata.archive.wacz.check import check_wacz
from webstrata.errors import BadSettings, UsageError
from webstrata.node import signature_faults
from webstrata.sharp.proof.wacz_auth import PackageSignature, checked_signature

Run = Callable[..., None]


def files_of(file: Path) -> dict[str, bytes]:
    with ZipFile(file) as package:
        return {name: package.read(name) for name in package.namelist()}


def signature_of(file: Path, *authorities: bytes) -> PackageSignature:
    files = files_of(file)
    document = json.loads(files["datapackage-digest.json"])
    signature = checked_signature(document, files["datapackage.json"], authorities)
    assert signature is not None
    return signature


def test_package_of_a_capture(run_scenario: Run) -> None:
    """The first capture makes a key, signs with it, and lists the seed and the other pages with titles and texts."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(text="words of a"), b=links())
        taken = await capture(archiver)
        file = taken.finished.file
        assert check_wacz(file, signature_faults) == []
        signature = signature_of(file)
        assert (signature.kind, signature.problems, signature.stamp) == ("anonymous", (), None)
        assert signature.fingerprint == taken.finished.key
        keys = archiver.home.keys
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (keys, *keys.iterdir())}
        assert modes == {"keys": 0o700, "keys.json": 0o600, f"{archiver.home.node_name}.pem": 0o600}

        files = files_of(file)
        about = json.loads(files["datapackage.json"])
        certificate = json.loads(files["proof/certificate.json"])
        assert (about["title"], about["mainPageUrl"]) == (certificate["title"], certificate["main_page"])
        seeds, others = (_rows(files[f"pages/{name}.jsonl"]) for name in ("pages", "extraPages"))
        assert [row["url"] for row in seeds] == [SITE]
        assert [(row["url"], row["title"]) for row in others] == [(f"{SITE}a", "page"), (f"{SITE}b", "page")]
        assert "words of a" in others[0]["text"]
        assert about["mainPageDate"] == seeds[0]["ts"]
        started = {seen["started"][:19] for page in certificate["pages"] for seen in page["observations"]}
        assert {row["ts"][:19] for row in (*seeds, *others)} <= started

    run_scenario(scenario)


def _rows(data: bytes) -> list[dict[str, Any]]:
    header, *rows = (json.loads(line) for line in data.splitlines())
    assert header["format"] == "json-pages-1.0"
    return rows


def test_chain_of_captures(run_scenario: Run) -> None:
    """The second certificate of a site names the digest of the first; the log has both, also after a restart."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=changing_at(archiver.clock.now() + 5000))
        certificates = []
        for _ in range(3):
            taken = await capture(archiver)
            certificates.append(files_of(taken.finished.file)["proof/certificate.json"])
        first, second, third = (json.loads(data) for data in certificates)
        assert (first["sequence"], first["previous"], first["site"]) == (1, None, "http://a.test")
        digests = ["sha256:" + hashlib.sha256(data).hexdigest() for data in certificates]
        assert second["previous"] == {"capture": first["capture"], "certificate": digests[0]}
        assert (third["sequence"], third["previous"]["certificate"]) == (3, digests[1])
        lines = [json.loads(line) for line in (archiver.home.captures / "log.jsonl").read_bytes().splitlines()]
        assert [line["certificate"] for line in lines] == digests
        assert [(line["sequence"], line["file"]) for line in lines] == [(n, "out.wacz") for n in (1, 2, 3)]
        assert {line["key"] for line in lines} == {taken.finished.key}

    run_scenario(scenario)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("status", [200, 500], ids=["stamped", "refused"])
def test_packages_are_stamped(status: int, run_scenario: Run, tmp_path: Path) -> None:
    """The time stamp is that of the configured authority; without one, the package is still signed."""
    authority, other = StampAuthority(tmp_path / "one"), StampAuthority(tmp_path / "other")

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links())
        taken = await capture(archiver)
        assert taken.finished.stamped == (status == 200)
        signature = signature_of(taken.finished.file, authority.root)
        assert signature.problems == ()
        assert (signature.stamped_at is not None) == (status == 200)
        if status == 200:
            refused = signature_of(taken.finished.file, other.root)
            assert "not one of the trusted ones" in refused.problems[0]

    with authority.serving(status=status) as port:
        run_scenario(
            scenario,
            f"capture.timestamp_url=http://127.0.0.9:{port}/stamp",
            f"fetch.allow_private=127.0.0.9/32:{port}",
        )


def test_signature_of_a_domain(run_scenario: Run, tmp_path: Path) -> None:
    """With a key and a certificate of a domain in the settings, packages are signed in its name."""
    now = datetime.fromtimestamp(START_AT, UTC)
    keys, old = domain_keys(begin=now - timedelta(days=1)), domain_keys(begin=now - timedelta(days=200))
    for name, data in (("key", keys.key), ("chain", keys.chain), ("old-key", old.key), ("old-chain", old.chain)):
        (tmp_path / f"{name}.pem").write_bytes(data)

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links())
        taken = await capture(archiver)
        signature = signature_of(taken.finished.file)
        assert (signature.kind, signature.domain, signature.problems) == ("domain", DOMAIN, ())
        assert not archiver.home.keys.exists(), "no other key is made"

    key, chain = (f"capture.domain_{name}={tmp_path}/" for name in ("key", "certificate"))
    run_scenario(scenario, f"{key}key.pem", f"{chain}chain.pem")
    for settings, error, why in (
        ((f"{key}key.pem",), BadSettings, "belong together"),
        ((f"{key}none.pem", f"{chain}chain.pem"), BadSettings, "cannot be read"),
        ((f"{key}key.pem", f"{chain}old-chain.pem"), UsageError, "not that of capture.domain_key"),
        ((f"{key}old-key.pem", f"{chain}old-chain.pem"), UsageError, "Renew it"),
    ):
        with pytest.raises(error, match=why):
            run_scenario(scenario, *settings)
