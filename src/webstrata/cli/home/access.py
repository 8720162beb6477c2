"""The warning about files of the home that other users may read, for `status` and `check`."""

from __future__ import annotations

import shlex
from typing import Any

from webstrata.home import Home


def access_json(home: Home) -> list[dict[str, Any]]:
    """What is open to other users, with its mode and the mode that `init` would give it."""
    return [
        {"path": str(path), "mode": f"{mode:04o}", "wanted": f"{wanted:04o}"}
        for path, mode, wanted in home.open_to_others()
    ]


def access_warning(home: Home) -> str | None:
    """What to do about it in one sentence; None if only the owner can read the home."""
    wide = home.open_to_others()
    if not wide:
        return None
    commands = []
    for wanted in sorted({wanted for _, _, wanted in wide}, reverse=True):
        paths = [str(path) for path, _, other in wide if other == wanted]
        commands.append(f"chmod {wanted:o} {shlex.join(paths)}")
    names = ", ".join(f"{path.name} ({mode:04o})" for path, mode, _ in wide)
    return f"other users may read {names}. To prevent it: {' && '.join(commands)}"
