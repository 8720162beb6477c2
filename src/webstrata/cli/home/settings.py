"""`webstrata settings`: what holds, and where it comes from."""

from __future__ import annotations

from typing import Any

from webstrata import settings as settings_file
from webstrata.cli.output import print_json, print_table, size
from webstrata.cli.session import HomeOption, JsonOption, SetOption, home_path
from webstrata.clock import span
from webstrata.settings import FILE_NAME, ByteSize, Duration, Settings


def command(home: HomeOption = None, settings: SetOption = None, as_json: JsonOption = False) -> None:
    """Show every setting: its value, where it comes from (default, file, environment, flag), its meaning."""
    path = home_path(home)
    held, sources = settings_file.load(path, flags=settings or ())
    rows = settings_file.all_settings(held, sources)
    file = str(path / FILE_NAME)
    if as_json:
        print_json({"file": file, "settings": rows})
        return
    print_table(
        ("setting", "value", "from", "meaning"),
        (
            (row.key, _written(held, row.key), FILE_NAME if row.source == file else row.source, row.description)
            for row in rows
        ),
    )


def _written(held: Settings, key: str) -> str:
    """A value as it is written in the file or after --set."""
    section, _, name = key.partition(".")
    value: Any = getattr(getattr(held, section), name)
    match value:
        case Duration():
            return span(value)
        case ByteSize():
            return size(value)
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(map(str, value)) or "-"
        case dict():
            return ",".join(f"{name}={given}" for name, given in value.items()) or "-"
        case _:
            return str(value) or "-"
