"""The structure of the package: one meaning for each class name, small folders, no import cycles, public APIs only."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).parent.parent / "src" / "webstrata"

MAX_FILES = 20
"""Modules in one folder, without `__init__.py`."""
MIN_MEDIAN_LINES = 110
MIGRATIONS = SOURCE / "remember" / "migrations"


def _modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("webstrata", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_each_class_name_stands_once() -> None:
    """No two classes of the package have the same name."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in _modules().items():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_folders_are_small() -> None:
    """No folder has more than about twenty modules."""
    counts: dict[str, int] = defaultdict(int)
    for path in _modules().values():
        if path.name != "__init__.py":
            counts[str(path.parent.relative_to(SOURCE))] += 1
    assert {folder: number for folder, number in counts.items() if number > MAX_FILES} == {}


def test_modules_are_worth_opening() -> None:
    """The median module has at least 110 lines (packages' `__init__.py` and migrations are not counted)."""
    lines = [
        len(path.read_text(encoding="utf-8").splitlines())
        for path in _modules().values()
        if path.name != "__init__.py" and not path.is_relative_to(MIGRATIONS)
    ]
    assert median(lines) >= MIN_MEDIAN_LINES


def _runtime_imports(tree: ast.Module, modules: dict[str, Path]) -> Iterator[str]:
    """Modules of the package that a module imports when it is loaded; imports for type checkers are left out."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_import_cycles() -> None:
    """No module needs, directly or through others, a module that needs it."""
    modules = _modules()
    graph = {
        name: {target for target in _runtime_imports(_tree(path), modules) if target in modules and target != name}
        for name, path in modules.items()
    }
    # A package's __init__ re-exports its modules; these import each other by their own names.
    graph = {
        name: {target for target in targets if not name.startswith(f"{target}.")} for name, targets in graph.items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_only_public_parts_of_dependencies_are_imported() -> None:
    """No module imports a name or module of another project that begins with an underscore."""
    private = []
    for name, path in _modules().items():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for imported in names:
                top, *rest = imported.split(".")
                ours = top == "webstrata" or top == "__future__" or top in sys.stdlib_module_names
                if not ours and any(part.startswith("_") for part in rest):
                    private.append(f"{name} imports {imported}")
    assert private == []
