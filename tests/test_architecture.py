"""The import rules of the design, checked on the syntax trees of the sources."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "webstrata"

FLOOR = {"records", "columns", "clock", "urls", "errors", "coding", "compiled", "masking", "wording"}
THINKING = {"observe", "detect", "predict", "schedule", "plan", "sharp", "permit", "receive"}
TOUCHING = {"fetch", "archive", "remember", "history", "notify", "cluster"}

MAY_IMPORT: dict[str, set[str]] = {
    **dict.fromkeys(FLOOR, FLOOR),
    "ports": FLOOR,
    "settings": FLOOR,
    "home": FLOOR,
    **dict.fromkeys(THINKING, FLOOR),
    "schedule": FLOOR | {"predict"},  # policies and schedules use forecasts, site events and the prior
    "sharp": FLOOR | {"predict"},  # captures use the same prior
    **{name: FLOOR | {"ports"} for name in TOUCHING},
    "flows": FLOOR | {"ports"} | THINKING,
    "lab": FLOOR | {"ports", "flows"} | THINKING,
    "plots": FLOOR | {"lab"} | THINKING,
    "serve": FLOOR | {"ports", "flows"} | THINKING,
    "setting_values": FLOOR | {"settings"} | THINKING | TOUCHING,
    "node": FLOOR | {"ports", "settings", "home", "flows"} | THINKING | TOUCHING,
    "cli": FLOOR | {"ports", "settings", "home", "flows", "node", "lab", "plots", "setting_values"} | THINKING,
    "testing": FLOOR | {"ports"} | THINKING,
    "verifier": set(),  # shares no code: a fault elsewhere cannot hide itself there
}

# Each third-party library has one home folder (NumPy and msgspec may be anywhere). A second one needs a reason here.
HOMES: dict[str, set[str]] = {
    "ada_url": {"urls"},
    "aiodns": {"fetch"},
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
    "PIL": {"observe"},
    "publicsuffixlist": {"urls"},
    "pyarrow": {"lab", "history"},  # experiments read and write tables; histories are imported from them
    "pycares": {"fetch"},
    "pyoxigraph": {"observe"},
    "pypdfium2": {"observe"},
    "rich": {"cli"},
    "selectolax": {"observe"},
    "sklearn": {"predict"},
    "sqlalchemy": {"remember"},
    "threadpoolctl": {"predict"},  # a dependency of scikit-learn
    "typer": {"cli"},
    "uvloop": {"cli"},
    "zstandard": {"coding"},
    "hypothesis": {"testing"},
    "pytest": {"testing"},
}
ANYWHERE = {"numpy", "msgspec", "webstrata"}


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute dotted names that a file imports at run time: not those under `if TYPE_CHECKING:`."""
    for node in _run_time_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module == "webstrata":
                yield from ((f"webstrata.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module or "", node.lineno


def _run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree without the bodies of `if TYPE_CHECKING:`."""
    yield node
    is_type_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    children = node.orelse if isinstance(node, ast.If) and is_type_only else ast.iter_child_nodes(node)
    for child in children:
        yield from _run_time_nodes(child)


def _folder(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0].removesuffix(".py")


def _files() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", _files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_design(path: Path) -> None:
    """A file imports only from the folders that its own folder may import, and libraries only in their home."""
    folder = _folder(path)
    assert folder in MAY_IMPORT, f"{folder} is a new folder: add what it may import to tests/test_architecture.py"
    for name, line in _imports(path):
        top, _, rest = name.partition(".")
        where = f"{path.relative_to(SOURCE)}:{line} imports {name}"
        if top == "webstrata":
            target = rest.partition(".")[0]
            allowed = MAY_IMPORT[folder] | {folder}
            assert target in allowed or target in ("__version__", "__init__"), where
        elif top not in sys.stdlib_module_names and top not in ANYWHERE:
            assert top in HOMES, f"{where}: give it a home in tests/test_architecture.py"
            assert folder in HOMES[top], where


@pytest.mark.parametrize("folder", sorted(THINKING))
def test_thinking_is_pure(folder: str) -> None:
    """Thinking folders have no async, no clock reading, no files, sockets or processes."""
    forbidden = {"asyncio", "socket", "subprocess", "threading", "time", "os", "pathlib", "shutil", "random", "secrets"}
    for path in (SOURCE / folder).rglob("*.py") if (SOURCE / folder).exists() else ():
        names = {name.partition(".")[0] for name, _ in _imports(path)}
        assert not names & forbidden, f"{path.relative_to(SOURCE)} imports {names & forbidden}"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asynchronous = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]
        assert not asynchronous, f"{path.relative_to(SOURCE)} is asynchronous"


def test_nothing_ships_the_tests() -> None:
    """Nothing in the package imports `webstrata.testing`, which is for its users' tests."""
    for path in _files():
        if _folder(path) != "testing":
            assert not any(name.startswith("webstrata.testing") for name, _ in _imports(path)), path


def test_settings_are_read_in_one_place() -> None:
    """Only `node` and `cli` read settings; only `settings` and `cli` read the environment."""
    for path in _files():
        text = path.read_text(encoding="utf-8")
        if _folder(path) not in ("node", "cli", "settings", "setting_values"):
            assert "webstrata.settings" not in text, path
        if _folder(path) not in ("cli", "settings"):
            assert "os.environ" not in text, path
            assert "os.getenv" not in text, path


def test_policies_are_classes_of_the_registry_only() -> None:
    """No code asks for the class of a policy, a schedule or a policy state: a user's own policy is treated alike."""
    classes = _classes_of("schedule", ("Policy", "PolicyBase", "Schedule", "PolicyState")) | {"TimerSchedule"}
    assert {"Value", "ValueSchedule", "PolicyState", "Dyn", "Uniform"} <= classes
    for path in _files():
        if path == SOURCE / "schedule" / "registry.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                assert not asked & classes, f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}"


def _classes_of(folder: str, endings: tuple[str, ...]) -> set[str]:
    """Classes of a folder whose name has one of these endings, or that have a class attribute `name` like a policy."""
    found: set[str] = set()
    for path in (SOURCE / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                attributes = {ast.unparse(part.targets[0]) for part in node.body if isinstance(part, ast.Assign)}
                if node.name.endswith(endings) or "name" in attributes:
                    found.add(node.name)
    return found
