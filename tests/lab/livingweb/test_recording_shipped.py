"""The shipped extract: its size, its licences and its variety."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from webstrata.lab.livingweb.behaviour import behaviour_of
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped

FOLDER = Path(str(files("webstrata.lab"))) / "data" / "sites"


def test_it_is_small() -> None:
    """All shipped files together stay below three megabytes."""
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 3_000_000


def test_every_site_has_source_licence_and_text() -> None:
    """Each site's file and the README name source and licence; licences that require it are shipped as text."""
    readme = (FOLDER / "README.md").read_text()
    texts = {file.stem for file in (FOLDER / "licences").iterdir()}
    for recording in load_shipped():
        assert f"| {recording.site} | {recording.source.removeprefix('https://')} | {recording.licence} |" in readme
        if not recording.licence.startswith(("CC0", "ODC-PDDL")):
            assert any(recording.licence.split(" ")[0] in text for text in texts)


def test_two_years_of_varied_sites() -> None:
    """150 to 250 pages on twelve hosts, of five media types, with new, deleted and unchanged pages."""
    recordings = load_shipped()
    pages = [versions for recording in recordings for versions in recording.pages.values()]
    assert 150 <= len(pages) <= 250
    assert len(recordings) == 12
    endings = {path.rpartition(".")[2] for recording in recordings for path in recording.pages}
    assert {"html", "csv", "json", "ttl", "jsonld"} <= endings
    assert sum(versions[0][0] > SHIPPED_WINDOW[0] for versions in pages) > 20
    assert sum(versions[-1][1] is None for versions in pages) > 20
    assert sum(len(versions) == 1 for versions in pages) > 30
    assert all(versions[-1][0] <= SHIPPED_WINDOW[1] for versions in pages)


def test_shipped_sites_are_in_the_behaviour_table() -> None:
    """Every shipped site is in the table of behaviours, and one has pages that robots.txt disallows."""
    recordings = load_shipped()
    assert all(behaviour_of(recording.site).address.startswith("127.0.0.") for recording in recordings)
    assert [p for r in recordings for p in r.pages if not behaviour_of(r.site).allows(f"/{p}")]
