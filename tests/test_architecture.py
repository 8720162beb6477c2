"""Who may import whom, said aloud: the design's import rules, checked on the syntax trees of the sources."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "webstrata"

FLOOR = {"records", "columns", "clock", "urls", "errors", "coding", "compiled"}
THINKING = {"observe", "detect", "predict", "schedule", "plan", "sharp", "permit", "receive"}
TOUCHING = {"fetch", "archive", "remember", "history", "notify", "cluster"}

MAY_IMPORT: dict[str, set[str]] = {
    **dict.fromkeys(FLOOR, FLOOR),
    "ports": FLOOR,
    "settings": FLOOR,
    "home": FLOOR,
    **dict.fromkeys(THINKING, FLOOR),
    **{name: FLOOR | {"ports"} for name in TOUCHING},
    "flows": FLOOR | {"ports"} | THINKING,
    "lab": FLOOR | {"ports", "flows"} | THINKING,
    "plots": FLOOR | {"lab"} | THINKING,
    "serve": FLOOR | {"ports", "flows"} | THINKING,
    "node": FLOOR | {"ports", "settings", "home", "flows"} | THINKING | TOUCHING,
    "cli": FLOOR | {"ports", "settings", "home", "flows", "node", "lab", "plots"} | THINKING,
    "testing": FLOOR | {"ports"} | THINKING,
    "verifier": set(),  # shares no code: a fault elsewhere cannot hide itself there
}

# Each third-party library has one home (NumPy and msgspec may be anywhere). A second room needs a reason here.
HOMES: dict[str, set[str]] = {
    "ada_url": {"urls"},
    "cryptography": {"sharp", "verifier"},  # the second verifier must do without the first
    "rfc3161_client": {"sharp"},
    "httptools": {"fetch"},
    "alembic": {"remember"},
    "brotli": {"coding"},
    "isal": {"coding", "archive"},  # content codings come in through the one, gzip members go out through the other
    "jsonpath": {"observe"},
    "lxml": {"observe"},
    "re2": {"observe"},
    "matplotlib": {"plots"},
    "platformdirs": {"home"},
    "playwright": {"fetch"},
    "psycopg": {"remember"},
    "publicsuffixlist": {"urls"},
    "pyarrow": {"lab"},
    "pyoxigraph": {"observe"},
    "rich": {"cli"},
    "selectolax": {"observe"},
    "sqlalchemy": {"remember"},
    "typer": {"cli"},
    "uvloop": {"cli"},
    "zstandard": {"coding"},
    "hypothesis": {"testing"},
    "pytest": {"testing"},
}
ANYWHERE = {"numpy", "msgspec", "webstrata"}


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute dotted names that a file imports, those only for type checkers apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module == "webstrata":
                yield from ((f"webstrata.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module or "", node.lineno


def _room(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0].removesuffix(".py")


def _files() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", _files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_design(path: Path) -> None:
    """A file imports only from the rooms that its own room may see, and libraries only in their home."""
    room = _room(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in tests/test_architecture.py what it may import"
    for name, line in _imports(path):
        top, _, rest = name.partition(".")
        where = f"{path.relative_to(SOURCE)}:{line} imports {name}"
        if top == "webstrata":
            target = rest.partition(".")[0]
            allowed = MAY_IMPORT[room] | {room}
            assert target in allowed or target in ("__version__", "__init__"), where
        elif top not in sys.stdlib_module_names and top not in ANYWHERE:
            assert top in HOMES, f"{where}: give it a home in tests/test_architecture.py"
            assert room in HOMES[top], where


@pytest.mark.parametrize("room", sorted(THINKING))
def test_thinking_is_pure(room: str) -> None:
    """Thinking folders have no async, no clock reading, no files, sockets or processes."""
    forbidden = {"asyncio", "socket", "subprocess", "threading", "time", "os", "pathlib", "shutil", "random", "secrets"}
    for path in (SOURCE / room).rglob("*.py") if (SOURCE / room).exists() else ():
        names = {name.partition(".")[0] for name, _ in _imports(path)}
        assert not names & forbidden, f"{path.relative_to(SOURCE)} imports {names & forbidden}"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asynchronous = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]
        assert not asynchronous, f"{path.relative_to(SOURCE)} is asynchronous"


def test_nothing_ships_the_tests() -> None:
    """Nothing in the package imports `webstrata.testing`, which is for its users' tests."""
    for path in _files():
        if _room(path) != "testing":
            assert not any(name.startswith("webstrata.testing") for name, _ in _imports(path)), path


def test_settings_are_read_in_one_place() -> None:
    """Only `node` and `cli` read settings; only `settings` and `cli` read the environment."""
    for path in _files():
        text = path.read_text(encoding="utf-8")
        if _room(path) not in ("node", "cli", "settings"):
            assert "webstrata.settings" not in text, path
        if _room(path) not in ("cli", "settings"):
            assert "os.environ" not in text, path
            assert "os.getenv" not in text, path
