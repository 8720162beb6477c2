"""What the documents say exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
COMMAND = re.compile(r"(?:^|[\s`/])webstrata((?: --home \S+)? (?:[a-z]+)(?: [^`\n]*)?)", re.MULTILINE)

# Assembled, so that this file does not name them either.
PRIVATE = ["/" + "work/", "/" + "root/", "pypi" + ".org", "registry" + ".npmjs.org", "deb" + ".debian.org"]
OTHERS_WORDS = "tests/data/"
"""Real-world texts that may name anything."""


def test_relative_links_lead_somewhere(documents: list[Path]) -> None:
    """Every relative link leads to a file, and its anchor to a heading there."""
    for document in documents:
        text = CODE_BLOCK.sub("", document.read_text(encoding="utf-8"))
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (document.parent / path).resolve() if path else document
            assert file.exists(), f"{document}: {target}"
            if anchor:
                headings = HEADING.findall(file.read_text(encoding="utf-8"))
                assert anchor in {_anchor(heading) for heading in headings}, f"{document}: {target}"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_document_is_linked(documents: list[Path], root: Path) -> None:
    """A reader who begins at the README can reach every document."""
    reached: set[Path] = set()
    waiting = [root / "README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached:
            continue
        reached.add(document)
        targets = (target.partition("#")[0] for target in LINK.findall(document.read_text(encoding="utf-8")))
        waiting += [
            file
            for target in targets
            if target.endswith(".md") and (file := (document.parent / target).resolve()).exists()
        ]

    assert set(documents) <= reached


def test_every_decision_is_listed(root: Path) -> None:
    """The index of decisions names every decision, and numbers are used once."""
    folder = root / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    files = sorted(folder.glob("[0-9]*.md"))

    for file in files:
        assert f"({file.name})" in index, file.name
    assert len({file.name[:4] for file in files}) == len(files)


def test_command_lines_exist(documents: list[Path], called: dict[str, Any]) -> None:
    """Every command line in README, tutorial and guides names a command that exists, with options that it has."""
    seen = 0
    for document in documents:
        if "decisions" in document.parts or document.name == "cli.md":
            continue
        for line in COMMAND.findall(document.read_text(encoding="utf-8")):
            words = _words(line)
            path = next((p for p in (f"webstrata {' '.join(words[:n])}" for n in (3, 2, 1)) if p in called), None)
            if path is None:
                assert not any(word.startswith("-") for word in words[1:]), f"{document}: webstrata {line}"
                continue
            options = {name for one in called[path].params for name in (*one.opts, *one.secondary_opts)}
            for word in words:
                if re.fullmatch(r"--?[a-z][a-z-]*", word):
                    assert word in options | {"--help"}, f"{document}: webstrata {line}"
            seen += 1

    assert seen > 40


def _words(line: str) -> list[str]:
    words = shlex.split(line.partition(" #")[0].replace("'", '"') if line.count("'") % 2 else line.partition(" #")[0])
    return words[2:] if words[0] == "--home" else words


def test_nothing_private_is_named(tracked: list[Path], root: Path) -> None:
    """No file of the repository names a private path or a package registry."""
    for file in tracked:
        if str(file.relative_to(root)).startswith(OTHERS_WORDS):
            continue
        data = file.read_bytes()
        if b"\0" in data[:4096]:
            continue
        text = data.decode("utf-8", "replace")
        for name in PRIVATE:
            assert name not in text, f"{file.relative_to(root)} names {name}"
